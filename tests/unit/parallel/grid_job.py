"""The training of grid_rank.py: a tiny ERNIE on rows of different lengths."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import paddle

from ernie_pp.config import RunConfig
from ernie_pp.config.schema import ModelConfig, ParallelConfig, SizesConfig, TrainConfig
from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.ernie import build_classifier, load_encoder
from ernie_pp.models.losses import ClassificationLoss
from ernie_pp.parallel import replicas
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.join import join_world
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.step import StepEngine
from ernie_pp.parallel.topology import Grid, Layout
from ernie_pp.parallel.world import World
from ernie_pp.training.build import build_engine
from ernie_pp.training.checkpoint.names import step_name
from ernie_pp.training.checkpoint.save import Checkpoints
from ernie_pp.training.checkpoint.saved import open_checkpoint

VOCAB_SIZE, NUM_LABELS = 60, 3
BUFFER_NUMBERS = replicas.BUFFER_NUMBERS


def join(spec: dict, place: Place) -> World:
    """The world of one rank."""
    paddle.device.set_device("cpu")
    grid = Grid(spec["stages"], spec["replicas"], spec["rank_order"])
    return join_world(grid, place, is_cpu=True)


def run(case: dict, world: World) -> dict[str, np.ndarray]:
    """Losses, gradient norms and logits of a run, and on rank 0 its weights."""
    replicas.BUFFER_NUMBERS = case.get("buffer_numbers", BUFFER_NUMBERS)
    engine, results = _engine(case, world), []
    first = case.get("goes_on_at", 0)
    if first:
        _restore(engine, case, first)
    for step in range(first, case["num_steps"]):
        if step == case.get("resumed_at"):
            state, engine = engine.state(), _engine(case, world)
            engine.load_state(state)
        if step == case.get("saved_at"):
            _save(engine, world, case, step)
        results.append(engine.train_step(step_batches(case, step), step=step))
    unseen = [replace(batch, targets=None) for batch in step_batches(case, 1000) if len(batch.input_ids)]
    logits = list(engine.forward(unseen))
    return {
        "losses": np.array([result.loss for result in results]),
        "norms": np.array([result.grad_norm for result in results]),
        "skipped": np.array([result.is_skipped for result in results]),
        **{f"logits.{index}": value for index, value in enumerate(logits)},
        **{f"weights.{name}": value for name, value in engine.weights().items()},
    }


def _save(engine: StepEngine, world: World, spec: dict, step: int) -> None:
    is_sharded = bool(spec.get("parallel", {}).get("shard_optimizer"))
    saver = Checkpoints(Path(spec["checkpoints"]), world=world, keep=1, identity={}, is_sharded=is_sharded)
    assert saver.save(step, state=engine.state(), trainer={}, best_step=None)


def _restore(engine: StepEngine, spec: dict, step: int) -> None:
    found = open_checkpoint(Path(spec["checkpoints"]) / step_name(step))
    weights, optimizer = found.read_weights(engine.shapes()), found.read_optimizer(engine.owned)
    engine.load_state(EngineState(weights, optimizer, found.scalars()))


def _engine(spec: dict, world: World) -> StepEngine:
    sizes = SizesConfig(vocab="unused", num_layers=spec["num_layers"], hidden_size=32, num_heads=2, max_positions=64)
    model = ModelConfig(sizes=sizes, dropout=spec.get("dropout", 0.0))
    stack = build_classifier(
        load_encoder(model, vocab_size=VOCAB_SIZE, pad_id=0, seed=1), num_labels=NUM_LABELS, seed=1
    )
    train = TrainConfig(**{"learning_rate": 1e-3, "warmup": 0.0, "schedule": "constant", **spec.get("train", {})})
    parallel = ParallelConfig(**spec.get("parallel", {}))
    config = RunConfig(task="cls", output_dir="unused", seed=4, train=train, parallel=parallel)
    layout = Layout(
        tuple(spec["boundaries"]) if spec.get("boundaries") else None,
        frozenset(spec.get("recomputed", [])),
        spec.get("virtual_stages", 1),
        spec.get("schedule", "1f1b"),
    )
    weights = np.array([0.5, 1.0, 2.0]) if spec.get("class_weights") else None
    loss = ClassificationLoss(label_weights=weights)
    return build_engine(stack, loss=loss, config=config, num_steps=10, world=world, layout=layout)


def step_batches(spec: dict, step: int) -> list[MicroBatch]:
    """The micro-batches of a step: their numbers of rows are given, their lengths differ."""
    rng = np.random.default_rng([7, step])
    batches, first = [], 0
    for num_rows in spec["rows"]:
        length = int(rng.integers(4, 12))
        ids = rng.integers(1, VOCAB_SIZE, (num_rows, length))
        for row in range(num_rows):
            ids[row, int(rng.integers(3, length + 1)) :] = 0
        types = (np.arange(length) >= length // 2).astype(np.int64)[None].repeat(num_rows, 0)
        targets = rng.integers(0, NUM_LABELS, num_rows)
        batches.append(MicroBatch(ids, types, targets, np.arange(first, first + num_rows)))
        first += num_rows
    return batches
