"""One process that measures layers while others like it do the same: `python -m ernie_pp.jobs.layer_times`.

stdin: a line of JSON (what to measure), `go`, end    stdout: `ready`, a line of JSON (the figures)
From its figures to the end of its input it goes on computing, so that the others measure with it beside them.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ernie_pp.config import CpuConfig, ModelConfig, SizesConfig, TrainConfig
from ernie_pp.jobs.answers import follow_starter, own_stdout
from ernie_pp.jobs.start import start_paddle
from ernie_pp.machine.describe import resident_bytes

# Blocks are alike: two show what one takes with others before and behind it.
MOST_BLOCKS = 2
_UPDATES = 5


def main() -> None:
    """Answer one request."""
    follow_starter()
    answers = own_stdout()
    request = json.loads(sys.stdin.readline())
    start_paddle(CpuConfig.model_validate(request["cpu"]))
    loaded_bytes = resident_bytes()
    profile, update = _build(request)
    profile.run()
    answers.write("ready\n")
    sys.stdin.readline()
    figures = asdict(profile.measure())
    figures.update(update_s_per_byte=update(), loaded_bytes=loaded_bytes)
    answers.write(json.dumps(figures) + "\n")
    _go_on(profile.run)


def _build(request: Mapping[str, Any]) -> tuple[Any, Callable[[], float]]:
    """The profile of the stack asked for, and what measures its optimizer."""
    # Loads Paddle, so it must come after the start.
    from ernie_pp.jobs.device import set_device
    from ernie_pp.models.ernie import build_stack, load_encoder
    from ernie_pp.models.head_specs import HeadSpec
    from ernie_pp.parallel.profile import LayerProfile
    from ernie_pp.training.build import build_forward
    from ernie_pp.training.optim import Optimizer

    set_device(request["device"])
    model, train = _random_model(request["values"]), TrainConfig.model_validate(request["train"])
    sizes = {"vocab_size": request["values"]["vocab_size"], "pad_id": request["values"].get("pad_token_id", 0)}
    stack = build_stack(load_encoder(model, **sizes, seed=0), HeadSpec.from_json(request["head"]), seed=0)
    casting = build_forward(stack, config=train).part.casting
    parameters = stack.canonical_parameters()
    optimizer = Optimizer(parameters, num_blocks=MOST_BLOCKS, config=train)
    num_bytes = 4 * sum(int(parameter.size) for parameter in parameters.values())
    profile = LayerProfile(stack, casting=casting, rows=request["rows"], length=request["length"])
    return profile, lambda: _update_s(optimizer) / num_bytes


def _random_model(values: Mapping[str, Any]) -> ModelConfig:
    sizes = SizesConfig(
        vocab="none is read",
        num_layers=min(MOST_BLOCKS, values["num_hidden_layers"]),
        hidden_size=values["hidden_size"],
        num_heads=values["num_attention_heads"],
        intermediate_size=values["intermediate_size"],
        max_positions=values["max_position_embeddings"],
    )
    return ModelConfig(sizes=sizes, dropout=values.get("hidden_dropout_prob"))


def _update_s(optimizer: Any) -> float:
    """Seconds from the last gradient to the new weights; the first update makes the optimizer's own state."""
    seconds = []
    for _ in range(1 + _UPDATES):
        start = time.perf_counter()
        optimizer.gradient_square()
        optimizer.scale_gradients(0.9)
        optimizer.step(1e-6)
        optimizer.gradient_square()  # waits for a GPU
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def _go_on(work: Callable[[], object]) -> None:
    is_over = threading.Event()

    def read() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=read, daemon=True).start()
    while not is_over.is_set():
        work()


if __name__ == "__main__":
    main()
