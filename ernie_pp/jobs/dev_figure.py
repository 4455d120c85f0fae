"""The dev split of a run, read again to measure what an export costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.config import ModelConfig, RunConfig
from ernie_pp.data.batches import build_micro_batch, order_for_evaluation
from ernie_pp.data.split import Split
from ernie_pp.export.batches import Batch
from ernie_pp.export.parity import DevFigure
from ernie_pp.export.sessions import Session
from ernie_pp.jobs.prepare import Prepared, prepare
from ernie_pp.jobs.trained import Trained
from ernie_pp.models.ernie import load_stack
from ernie_pp.progress import track
from ernie_pp.tasks import load_codec, load_task
from ernie_pp.tasks.interface import Task
from ernie_pp.training.answers import Pass, compute_answers
from ernie_pp.training.build import build_forward

_CALIBRATION_TOKENS = 1 << 16
_CALIBRATION_ROWS = 512
_BATCH_TOKENS = 4096


@dataclass(frozen=True)
class RunRows:
    """The rows of a run as its model folder has them encoded: `dev` measures, `train` calibrates."""

    config: RunConfig
    model: Trained
    prepared: Prepared

    def calibration(self) -> list[Batch]:
        """Batches of training rows, spread over all lengths."""
        rows, pad_id = self.prepared.splits["train"].rows, self.prepared.tokenizer.pad_id
        order = np.argsort(rows.lengths, kind="stable")
        picked = order[
            np.unique(np.linspace(0, len(order) - 1, min(len(order), _CALIBRATION_ROWS)).round().astype(int))
        ]
        rows = rows.select(picked)
        batches = order_for_evaluation(rows.lengths, max_tokens=max(_BATCH_TOKENS, int(rows.lengths.max())))
        found, num_tokens = [], 0
        # Every length has its turn before the bound ends it.
        for index in np.random.default_rng(0).permutation(len(batches)):
            micro_batch = build_micro_batch(rows, batches[index], pad_id=pad_id)
            found.append((micro_batch.input_ids, micro_batch.token_type_ids))
            num_tokens += micro_batch.input_ids.size
            if num_tokens >= _CALIBRATION_TOKENS:
                break
        return found

    def shapes(self) -> dict[str, list[int]]:
        """The least, most and usual [rows, tokens] of a batch of dev rows, for runtimes that are built for ranges."""
        lengths = self.prepared.splits["dev"].rows.lengths
        most = max(1, _BATCH_TOKENS // int(lengths.max()))
        usual = max(1, min(8, most))
        return {"min": [1, 1], "opt": [usual, int(np.median(lengths))], "max": [most, int(lengths.max())]}

    def dev_figure(self) -> DevFigure:
        """The run's own best metric on its dev split."""
        task = load_task(self.config.task).restore(self.config, self.model.settings)
        measured = _Measured(task, self.prepared.splits["dev"], self.model, self.prepared.tokenizer.pad_id)
        return DevFigure(
            name=task.best_metric(),
            of_model=lambda: measured.of_model(self.config),
            of_bundle=measured.of_bundle,
            max_loss=self.config.export.max_loss,
        )


@dataclass(frozen=True)
class _Measured:
    task: Task
    split: Split
    model: Trained
    pad_id: int

    def of_model(self, config: RunConfig) -> float:
        train = config.train.model_copy(update={"precision": "fp32"})
        forward = build_forward(load_stack(self.model.folder, self.model.head), config=train)
        how = Pass(config.train.micro_batch_tokens, self.pad_id, "measuring the model", self.task.condense)
        return self._figure(compute_answers(forward, self.split.rows, how))

    def of_bundle(self, session: Session, decoding: Any) -> float:
        rows, condense = self.split.rows, load_codec(self.model.settings["task"]).decode.condense
        answers: list[Any] = [None] * len(rows)
        batches = order_for_evaluation(rows.lengths, max_tokens=max(_BATCH_TOKENS, int(rows.lengths.max())))
        with track("measuring the bundle", len(rows), unit="rows") as tracker:
            for batch in batches:
                micro_batch = build_micro_batch(rows, batch, pad_id=self.pad_id)
                logits = session.run(micro_batch.input_ids, micro_batch.token_type_ids)
                for index, answer in zip(batch, condense(logits, rows.select(batch), decoding), strict=True):
                    answers[index] = answer
                tracker.advance(len(batch))
        return self._figure(answers)

    def _figure(self, answers: list[Any]) -> float:
        values: Mapping[str, float] = self.task.measure(answers, self.split, self.model.decoding).values
        return values[self.task.best_metric()]


def read_run_rows(config: RunConfig, model: Trained, *, cache: Path) -> RunRows:
    """The run's rows with the vocabulary that stands beside its best model; DataError where they are not there."""
    own = config.model_copy(update={"model": ModelConfig(path=str(model.folder))})
    return RunRows(config, model, prepare(own, cache=cache))
