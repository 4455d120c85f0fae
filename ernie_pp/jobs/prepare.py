"""What a run needs before its model: the task, the tokenizer, and every split read, checked and tokenized."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.config import RunConfig
from ernie_pp.data.batches import check_token_budget
from ernie_pp.data.faults import Faults
from ernie_pp.data.split import Split
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.data_files import check_files, named_sources
from ernie_pp.jobs.splits import SplitReader, build_tokenizer, unknown_rate
from ernie_pp.models.ernie import find_vocabulary, model_values
from ernie_pp.tasks import load_task
from ernie_pp.tasks.interface import Task
from ernie_pp.text.tokenizer import Tokenizer

LOG = logging.getLogger("ernie_pp")


@dataclass(frozen=True)
class Prepared:
    """A run's task (with its labels settled), tokenizer, splits by name, and the rows left out of them."""

    task: Task
    tokenizer: Tokenizer
    splits: Mapping[str, Split]
    faults: Faults


def prepare(config: RunConfig, *, cache: Path) -> Prepared:
    """Read and tokenize everything; every fault of settings and data shows here, before the first step.

    `cache` is where tokens are kept.
    """
    task = load_task(config.task)(config)
    task.best_metric()
    sources = named_sources(config.data)
    check_files(config.data)  # before a model is downloaded for them
    tokenizer = build_tokenizer(find_vocabulary(config.model), config.text)
    _check_positions(config, tokenizer)
    faults = Faults(on_error=config.data.on_error)
    reader = SplitReader(config, task, tokenizer, faults, cache)
    examples = {name: reader.read_examples(source, dataset_split=own) for name, (source, own) in sources.items()}
    task.settle_labels(examples["train"])
    splits = {}
    for name, (source, _) in sources.items():
        splits[name] = reader.tokenize(name, source, examples[name], is_training=name == "train")
        check_token_budget(splits[name].rows.lengths, max_tokens=config.train.micro_batch_tokens)
        rate = unknown_rate(splits[name].rows, tokenizer)
        LOG.info("%s: %.2f %% of the tokens are unknown to the vocabulary", name, 100 * rate)
    return Prepared(task, tokenizer, splits, faults)


def _check_positions(config: RunConfig, tokenizer: Tokenizer) -> None:
    values = model_values(config.model, vocab_size=tokenizer.vocab_size, pad_id=tokenizer.pad_id)
    positions = values["max_position_embeddings"]
    if config.text.max_length > positions:
        what = f"is {config.text.max_length}, and the model has {positions} positions"
        raise ConfigError("text.max_length", what, f"Set it to {positions} or less.")
