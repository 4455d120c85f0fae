"""The work of one rank of a job."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import paddle

from ernie_pp.config import RunConfig
from ernie_pp.config.schema import ModelConfig, SizesConfig, TrainConfig
from ernie_pp.data.batches import MicroBatch
from ernie_pp.machine.describe import resident_bytes
from ernie_pp.models.ernie import build_classifier, load_encoder
from ernie_pp.models.losses import ClassificationLoss
from ernie_pp.parallel.join import join_world
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.step import StepEngine
from ernie_pp.parallel.topology import Grid, Layout
from ernie_pp.training.build import build_engine


class Worker:
    """Trains the job's steps and writes what rank 0 is asked for."""

    def __init__(self, job: dict[str, Any], place: Place, folder: Path) -> None:
        self.job, self.folder = job, folder
        paddle.device.set_device("cpu")
        self.world = join_world(Grid(job["stages"], job["replicas"]), place, is_cpu=True)
        self.loaded_bytes = resident_bytes()

    def run(self) -> None:
        """All steps, then the answer."""
        engine = self._engine()
        results, seconds = [], []
        for step in range(self.job["num_steps"]):
            self._disturb(engine, step)
            batches = self._batches(step)
            start = time.perf_counter()
            results.append(engine.train_step(batches, step=step))
            seconds.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        figures = self.world.control.gather(json.dumps([self.loaded_bytes, peak - self.loaded_bytes]).encode())
        logits = list(engine.forward(self._batches(self.job["num_steps"])))
        weights = engine.weights() if self.job["keeps_weights"] else {}
        if self.world.is_writer:
            if self.job["keeps_weights"]:
                named = {f"logits.{index}": value for index, value in enumerate(logits)}
                np.savez(self.folder / "arrays.npz", **weights, **named)
            answer = {
                "losses": [result.loss for result in results],
                "step_s": seconds,
                "loaded_bytes": [json.loads(pair)[0] for pair in figures],
                "growth_bytes": [json.loads(pair)[1] for pair in figures],
            }
            (self.folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
        self.world.control.meet()

    def _engine(self) -> StepEngine:
        job = self.job
        heads = max(1, job["width"] // 64)
        sizes = SizesConfig(
            vocab="none", num_layers=job["num_layers"], hidden_size=job["width"], num_heads=heads, max_positions=2048
        )
        model = ModelConfig(sizes=sizes, dropout=job["dropout"])
        loaded = load_encoder(model, vocab_size=job["vocab_size"], pad_id=0, seed=1)
        stack = build_classifier(loaded, num_labels=job["num_labels"], seed=1)
        train = TrainConfig(learning_rate=1e-4, warmup=0.0, schedule="constant")
        config = RunConfig(task="cls", output_dir="none", seed=3, train=train)
        boundaries = tuple(job["boundaries"]) if job["boundaries"] else None
        layout = Layout(boundaries, frozenset(job["recomputed"]), job["virtual_stages"])
        steps = job["num_steps"]
        return build_engine(
            stack, loss=ClassificationLoss(), config=config, num_steps=steps, world=self.world, layout=layout
        )

    def _batches(self, step: int) -> list[MicroBatch]:
        job, rng = self.job, np.random.default_rng([5, step])
        batches = []
        for index in range(job["micro_batches"]):
            length = int(rng.integers(job["length"] // 2, job["length"] + 1)) if job["uneven"] else job["length"]
            ids = rng.integers(1, job["vocab_size"], (job["rows"], length))
            if job["uneven"]:
                for row in range(1, job["rows"]):
                    ids[row, int(rng.integers(length // 2, length + 1)) :] = 0
            types = (np.arange(length) >= length // 2).astype(np.int64)[None].repeat(job["rows"], 0)
            rows = np.arange(job["rows"]) + index * job["rows"]
            batches.append(MicroBatch(ids, types, rng.integers(0, job["num_labels"], job["rows"]), rows))
        return batches

    def _disturb(self, engine: StepEngine, step: int) -> None:
        """Make stage 0 late in the last step, or fail on the last rank, where the job asks for it."""
        job = self.job
        if job["fails_at"] == step and self.world.rank == self.world.grid.num_ranks - 1:
            raise RuntimeError("made to fail by the check")
        if job["late_s"] and step == job["num_steps"] - 1 and self.world.stage == 0:
            layer = engine.stack.layers[0]

            def be_late(_: object, inputs: Any) -> Any:
                hook.remove()
                time.sleep(job["late_s"])
                return inputs

            hook = layer.register_forward_pre_hook(be_late)
