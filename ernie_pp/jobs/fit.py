"""Training with its evaluations on dev; the best model goes to best/ as it is found."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.config import RunConfig
from ernie_pp.data.batches import build_micro_batch, order_for_evaluation
from ernie_pp.data.split import Split
from ernie_pp.errors import RunError
from ernie_pp.export.batches import save_batches
from ernie_pp.jobs.bundling import pick_check_rows
from ernie_pp.jobs.checkpoints import Saver, identify
from ernie_pp.jobs.going_on import go_on
from ernie_pp.jobs.model import Model
from ernie_pp.jobs.model_settings import build_model_settings
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.jobs.trained import CHECK_ROWS
from ernie_pp.models.ernie import load_stack, paddlenlp_config
from ernie_pp.parallel.beats import Phase
from ernie_pp.parallel.world import World
from ernie_pp.tasks.interface import Decoding, Evaluation
from ernie_pp.training.answers import Pass, compute_answers
from ernie_pp.training.checkpoint.saved import Checkpoint
from ernie_pp.training.loop import Course, Hooks, train
from ernie_pp.training.loop_state import BestSoFar, LoopState
from ernie_pp.training.model_folder import save_model_folder
from ernie_pp.training.position import check_place
from ernie_pp.training.record import Record
from ernie_pp.training.run_folder import RunFolder
from ernie_pp.training.stops import Stops

LOG = logging.getLogger("ernie_pp")
_MAX_NOT_KEPT = 2  # in a row


@dataclass(frozen=True)
class Outcome:
    """One evaluation on dev: its step, the best metric's value, one answer a row, decision rule and figures."""

    step: int
    value: float
    answers: Sequence[Any]
    decoding: Decoding
    evaluation: Evaluation


class Fit:
    """Trains one stack on a run's rows, on every rank of `world`; rank 0 writes."""

    def __init__(
        self,
        config: RunConfig,
        prepared: Prepared,
        *,
        model: Model,
        folder: RunFolder,
        world: World,
    ) -> None:
        self.config, self.prepared, self.folder, self.world = config, prepared, folder, world
        self.model, self.engine = model, model.engine
        self.stops, self.num_not_kept = Stops(world.control, has_launcher=world.launcher != "none"), 0

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Of the whole model's weights."""
        return self.model.shapes

    def run(self, record: Record, start: Checkpoint | None) -> Outcome:
        """The best dev evaluation; its model stands in best/. `start` is the checkpoint that the run goes on from."""
        rows, pad_id = self.prepared.splits["train"].rows, self.prepared.tokenizer.pad_id
        place = LoopState() if start is None else go_on(self, start)
        where = "the beginning" if start is None else str(start.folder)
        check_place(place, num_rows=len(rows), config=self.config.train, where=where)
        course = Course(rows, self.config, pad_id, stops=self.stops, start=place, beats=self.world.beats)
        hooks = Hooks(evaluate=partial(self._evaluate, record), keep=self.keep)
        if self.config.checkpoint.enabled:
            identity = identify(self.config, self.prepared, self.model, start=start, folder=self.folder)
            saver = Saver(self.config, identity=identity, engine=self.engine, folder=self.folder, world=self.world)
            hooks = replace(hooks, save=partial(self._save, saver, record))
        self.world.beats.begin(Phase.TRAIN)
        best = train(self.engine, course, hooks=hooks, record=record)
        self.world.beats.begin(Phase.FINISH)
        return best.outcome or self._recall(best.found)

    def answers(self, split: Split) -> Sequence[Any]:
        """The engine's present answers on a split, one a row."""
        pad_id, title = self.prepared.tokenizer.pad_id, f"evaluating {split.name}"
        condense = self.prepared.task.condense
        how = Pass(self.config.train.micro_batch_tokens, pad_id, title, condense, between=self._between)
        return compute_answers(self.engine, split.rows, how)

    def load_best(self) -> None:
        """Give the engine the weights in best/."""
        head = self.model.stack.head_spec
        self.engine.load_weights(load_stack(self.folder.best, head).state() if self.world.is_writer else {})

    def measure(self, step: int) -> Outcome:
        """The evaluation of the engine's present model on dev."""
        task, dev = self.prepared.task, self.prepared.splits["dev"]
        answers = self.answers(dev)
        decoding = task.settle_decoding(answers, dev)
        evaluation = task.measure(answers, dev, decoding)
        return Outcome(step, evaluation.values[task.best_metric()], answers, decoding, evaluation)

    def keep(self, best: Outcome) -> bool:
        """Save the engine's present model in best/; False where there is no room, RunError the second time in a row.

        All ranks hear of it alike.
        """
        phase, failure = self.world.beats.phase, b""
        self.world.beats.begin(Phase.SAVE)
        weights = self.engine.weights()
        if self.world.is_writer:
            try:
                self._save_best(best, weights)
            except RunError as error:
                failure = str(error).encode()
        failure = self.world.control.broadcast(failure).decode()
        self.world.beats.begin(phase)
        self.num_not_kept = self.num_not_kept + 1 if failure else 0
        if self.num_not_kept >= _MAX_NOT_KEPT:
            raise RunError(str(self.folder.best), f"was not saved twice in a row: {failure}", "Make room, and go on.")
        if failure and self.world.is_writer:
            LOG.warning("the model of step %d is not kept as the best: %s", best.step, failure)
        return not failure

    def _save(self, saver: Saver, record: Record, loop: LoopState) -> bool:
        self.world.beats.begin(Phase.SAVE)
        # What the checkpoint takes for logged must outlive a power cut as it does.
        record.sync()
        return saver.save(loop)

    def _recall(self, best: BestSoFar) -> Outcome:
        """The best evaluation once more: an earlier process has made it."""
        self.load_best()
        return self.measure(best.step)

    def _between(self) -> None:
        self.world.beats.beat()
        if self.world.beats.phase == Phase.TRAIN:
            self.stops.check()

    def _evaluate(self, record: Record, step: int) -> Outcome:
        outcome, name = self.measure(step), self.prepared.task.best_metric()
        record.write("evaluate", step, {"split": "dev", **outcome.evaluation.values})
        LOG.info("step %d: dev %s %.4f", step, name, outcome.value)
        return outcome

    def _save_best(self, best: Outcome, weights: Mapping[str, np.ndarray]) -> None:
        config, task = self.config, self.prepared.task
        dev = best.evaluation.to_json()
        save_model_folder(
            self.folder.best,
            weights=weights,
            config=paddlenlp_config(self.model.stack, labels=task.output_names),
            settings=build_model_settings(config, task, decoding=best.decoding, step=best.step, dev=dev),
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
