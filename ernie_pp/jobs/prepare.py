"""What a run needs before its model: the task, the tokenizer, and every split read, checked and tokenized."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ernie_pp.config import RunConfig
from ernie_pp.data.batches import check_token_budget
from ernie_pp.data.faults import Faults
from ernie_pp.data.split import Split
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.data_files import check_files, named_sources
from ernie_pp.jobs.holding_out import hold_out
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
    check_files(config.data)  # before a model is downloaded for them
    tokenizer = build_tokenizer(find_vocabulary(config.model), config.text)
    _check_positions(config, tokenizer)
    faults = Faults(on_error=config.data.on_error)
    reader = SplitReader(config, task, tokenizer, faults, cache)
    examples = _read(config, reader)
    task.settle_labels(examples["train"])
    splits = {}
    for name, found in examples.items():
        source = _name_source(config, name)
        splits[name] = reader.tokenize(name, source, found, is_training=name == "train")
        check_token_budget(splits[name].rows.lengths, max_tokens=config.train.micro_batch_tokens)
        rate = unknown_rate(splits[name].rows, tokenizer)
        LOG.info("%s: %.2f %% of the tokens are unknown to the vocabulary", name, 100 * rate)
    return Prepared(task, tokenizer, splits, faults)


def _read(config: RunConfig, reader: SplitReader) -> dict[str, Sequence[Any]]:
    """The examples of every split, by its name; of several files one after the other."""
    examples: dict[str, Sequence[Any]] = {}
    for name, (sources, own) in named_sources(config.data).items():
        parts = [reader.read_examples(source, dataset_split=own) for source in sources]
        examples[name] = parts[0] if len(parts) == 1 else [one for part in parts for one in part]
    share = config.data.dev_share
    if share is None:
        return examples
    groups, source = [reader.task.group_of(one) for one in examples["train"]], _name_source(config, "train")
    train, dev = hold_out(examples["train"], groups, share=share, seed=config.seed, source=source)
    LOG.info("dev: %d of %d examples of train held out (data.dev_share %g)", len(dev), len(train) + len(dev), share)
    return {"train": train, "dev": dev, **{name: one for name, one in examples.items() if name != "train"}}


def _name_source(config: RunConfig, name: str) -> str:
    sources = named_sources(config.data)
    return ", ".join(sources[name if name in sources else "train"][0])


def _check_positions(config: RunConfig, tokenizer: Tokenizer) -> None:
    values = model_values(config.model, vocab_size=tokenizer.vocab_size, pad_id=tokenizer.pad_id)
    positions = values["max_position_embeddings"]
    if config.text.max_length > positions:
        what = f"is {config.text.max_length}, and the model has {positions} positions"
        raise ConfigError("text.max_length", what, f"Set it to {positions} or less.")
