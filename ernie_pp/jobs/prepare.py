"""What a run needs before its model: the task, the tokenizer, and every split read, checked and tokenised."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ernie_pp.config import RunConfig
from ernie_pp.data.batches import check_token_budget
from ernie_pp.data.faults import Faults
from ernie_pp.errors import DataError
from ernie_pp.jobs.splits import Split, build_tokenizer, read_examples, tokenise, unknown_rate
from ernie_pp.models.ernie import find_vocabulary
from ernie_pp.tasks import load_task
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Prepared:
    """A run's task (with its labels settled), tokenizer and splits by name."""

    task: Any
    tokenizer: Tokenizer
    splits: Mapping[str, Split]


def prepare(config: RunConfig, folder: RunFolder) -> Prepared:
    """Read and tokenise everything; every fault of settings and data shows here, before the first step."""
    task = load_task(config.task)(config)
    task.best_metric()
    tokenizer = build_tokenizer(find_vocabulary(config.model), config.text)
    faults = Faults(on_error=config.data.on_error)
    sources = {name: getattr(config.data, name) for name in SPLITS if getattr(config.data, name) is not None}
    examples = {name: read_examples(config, task, name, source, faults) for name, source in sources.items()}
    if faults.count:
        faults.write(folder.skipped)
        LOG.warning("%d bad rows are left out and listed in %s", faults.count, folder.skipped)
    cache = Path(config.data.cache_dir) if config.data.cache_dir is not None else folder.cache
    splits = {}
    for name, found in examples.items():
        if not found:
            raise DataError(sources[name], f"has no usable row for data.{name}", "Look at the rows left out.")
        splits[name] = tokenise(config, task, tokenizer, name=name, source=sources[name], examples=found, cache=cache)
        check_token_budget(splits[name].rows.lengths, max_tokens=config.train.micro_batch_tokens)
        rate = unknown_rate(splits[name].rows, tokenizer)
        LOG.info("%s: %.2f %% of the tokens are unknown to the vocabulary", name, 100 * rate)
    return Prepared(task, tokenizer, splits)
