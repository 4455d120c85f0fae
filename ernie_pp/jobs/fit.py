"""Training with its evaluations on dev; the best model goes to best/ as it is found."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ernie_pp.config import RunConfig
from ernie_pp.data.batches import build_micro_batch, order_for_evaluation
from ernie_pp.export.check import save_batches
from ernie_pp.jobs.bundling import pick_check_rows
from ernie_pp.jobs.model_settings import build_model_settings
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.jobs.splits import Split
from ernie_pp.jobs.trained import CHECK_ROWS
from ernie_pp.models.ernie import paddlenlp_config
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.step import StepEngine
from ernie_pp.parallel.world import World
from ernie_pp.tasks.interface import Decoding, Evaluation
from ernie_pp.training.logits import compute_logits
from ernie_pp.training.loop import Hooks, train
from ernie_pp.training.model_folder import save_model_folder
from ernie_pp.training.record import Record
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")


@dataclass(frozen=True)
class Outcome:
    """One evaluation on dev: its step, the best metric's value, logits [rows, ...], decision rule and figures."""

    step: int
    value: float
    logits: np.ndarray
    decoding: Decoding
    evaluation: Evaluation


@dataclass(frozen=True)
class Model:
    """The stack, of which a rank keeps its own layers only, and the size of the whole."""

    stack: ErnieStack
    num_parameters: int


class Fit:
    """Trains one stack on a run's rows, on every rank of `world`; rank 0 writes."""

    def __init__(
        self,
        config: RunConfig,
        prepared: Prepared,
        *,
        model: Model,
        engine: StepEngine,
        folder: RunFolder,
        world: World,
    ) -> None:
        self.config, self.prepared, self.folder, self.world = config, prepared, folder, world
        self.model, self.engine = model, engine

    def run(self, record: Record) -> Outcome:
        """The best dev evaluation; its model stands in best/."""
        hooks = Hooks(evaluate=partial(self._evaluate, record), keep=self._keep)
        rows, pad_id = self.prepared.splits["train"].rows, self.prepared.tokenizer.pad_id
        return train(self.engine, rows, self.config, pad_id=pad_id, hooks=hooks, record=record)

    def logits(self, split: Split) -> np.ndarray:
        """The engine's present answers on a split."""
        return compute_logits(
            self.engine,
            split.rows,
            max_tokens=self.config.train.micro_batch_tokens,
            pad_id=self.prepared.tokenizer.pad_id,
            title=f"evaluating {split.name}",
        )

    def _evaluate(self, record: Record, step: int) -> Outcome:
        task, dev = self.prepared.task, self.prepared.splits["dev"]
        logits = self.logits(dev)
        decoding = task.settle_decoding(logits, dev.targets)
        evaluation = task.measure(logits, dev.targets, decoding)
        record.write("evaluate", step, {"split": "dev", **evaluation.values})
        name = task.best_metric()
        LOG.info("step %d: dev %s %.4f", step, name, evaluation.values[name])
        return Outcome(step, evaluation.values[name], logits, decoding, evaluation)

    def _keep(self, best: Outcome) -> None:
        weights = self.engine.weights()
        if not self.world.is_writer:
            return
        task = self.prepared.task
        save_model_folder(
            self.folder.best,
            weights=weights,
            config=paddlenlp_config(self.model.stack, labels=task.label_names),
            settings=build_model_settings(
                self.config, task, decoding=best.decoding, step=best.step, dev=best.evaluation.to_json()
            ),
            save_extras=self._save_extras,
        )

    def _save_extras(self, folder: Path) -> None:
        # The rows an export of this folder is checked with, so that it needs no other file of the run.
        rows = self.prepared.splits["dev"].rows
        picked = rows.select(pick_check_rows(rows.lengths, self.config.export.check_rows))
        pad_id = self.prepared.tokenizer.pad_id
        parts = order_for_evaluation(picked.lengths, max_tokens=self.config.train.micro_batch_tokens)
        batches = [build_micro_batch(picked, part, pad_id=pad_id) for part in parts]
        save_batches(folder / CHECK_ROWS, [(batch.input_ids, batch.token_type_ids) for batch in batches])
        self.prepared.tokenizer.save(folder)
