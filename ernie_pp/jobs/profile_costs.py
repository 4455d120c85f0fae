"""Layer costs measured on this device, by as many processes at once as a run would have; kept in a file."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from ernie_pp.bounded import read_json
from ernie_pp.config import CpuConfig, TrainConfig
from ernie_pp.durable import told_as_unwritable, write_json
from ernie_pp.errors import RunError
from ernie_pp.jobs.answers import helper_command, helper_environment
from ernie_pp.machine import describe_machine
from ernie_pp.machine.cpu import read_cpu_info
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.partition.costs import LayerCost, StackCosts

LOG = logging.getLogger("ernie_pp")
_MAX_CACHE_BYTES = 4_000_000
# What of the model's values the time of a layer depends on.
_SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "pad_token_id",
    "hidden_dropout_prob",
)
# What a process takes into use once it computes: code of Paddle and its math library, and their own buffers. Measured
# as resident memory less that of tensors, before and after the first steps.
TOUCHED_BYTES = 45 << 20
_VERSIONS = ("python", "paddlepaddle", "paddlepaddle-gpu", "paddlenlp", "numpy")


@dataclass(frozen=True)
class Request:
    """What is measured: a model's values, micro-batches of `rows` x `length`, on `device`, by `processes` at once."""

    values: Mapping[str, Any]
    head: HeadSpec
    rows: int
    length: int
    train: TrainConfig
    cpu: CpuConfig
    device: str = "cpu"
    processes: int = 1

    def words(self) -> dict[str, Any]:
        """The request as plain values."""
        return {
            "values": {name: self.values[name] for name in _SIZES if name in self.values},
            "head": self.head.to_json(),
            "rows": self.rows,
            "length": self.length,
            "train": {"precision": self.train.precision, "amp_level": self.train.amp_level},
            "cpu": self.cpu.model_dump(mode="json"),
            "device": self.device,
        }


def measured_costs(request: Request, formula: StackCosts, *, cache: Path, may_measure: bool = True) -> StackCosts:
    """`formula` with the times and bytes measured here in its place; a request once measured is read from `cache`.

    RunError where it is not there and `may_measure` is not given: of many ranks one measures, the others read.
    """
    known, key = _read(cache), _key(request)
    if key not in known:
        if not may_measure:
            raise RunError(str(cache), "lacks the layer times of this run", "Let the first process measure them.")
        LOG.info("measuring layers: %d x %d tokens, %d process(es)", request.rows, request.length, request.processes)
        figures = _measure(request)
        # Another run may have added its own meanwhile.
        known = {**_read(cache), key: figures}
        with told_as_unwritable(cache):
            cache.parent.mkdir(parents=True, exist_ok=True)
        write_json(cache, known)
    _check(known[key], cache)
    return _with_times(formula, known[key])


def default_cache() -> Path:
    """Where layer times are kept for all runs of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "ernie_pp" / "layer_times.json"


def _check(figures: object, cache: Path, name: str = "") -> None:
    """RunError for figures that nobody can have measured."""
    if isinstance(figures, Mapping):
        for own, value in figures.items():
            _check(value, cache, str(own))
    elif not isinstance(figures, (int, float)) or not math.isfinite(figures) or figures < 0:
        raise RunError(str(cache), f"has {figures!r} for {name or 'a model'}", "Remove it: it is made again.")


def _with_times(formula: StackCosts, figures: Mapping[str, Any]) -> StackCosts:
    first, *blocks, last = formula.layers
    layers = (
        _layer(first, figures["embeddings"]),
        *(_layer(block, figures["block"]) for block in blocks),
        _layer(last, figures["head"]),
    )
    working = max(figures[name]["working_bytes"] for name in ("embeddings", "block", "head"))
    device = replace(
        formula.device,
        base_bytes=figures["loaded_bytes"] + TOUCHED_BYTES + working,
        update_s_per_byte=figures["update_s_per_byte"],
    )
    return StackCosts(layers, formula.link, device)


def _layer(layer: LayerCost, times: Mapping[str, Any]) -> LayerCost:
    return replace(
        layer,
        forward_s=times["forward_s"],
        backward_s=times["backward_s"],
        activation_bytes=times["kept_bytes"],
        recomputed_bytes=min(times["output_bytes"], times["kept_bytes"]),
        output_bytes=times["output_bytes"],
    )


def _key(request: Request) -> str:
    """All that the times depend on, as text."""
    machine = describe_machine()
    where = read_cpu_info()[1] if request.device == "cpu" else _gpu_name()
    return json.dumps(
        {
            **request.words(),
            "processes": request.processes,
            "where": where,
            "versions": {name: machine[name] for name in _VERSIONS if name in machine},
        },
        sort_keys=True,
    )


def _gpu_name() -> str:
    import paddle

    return paddle.device.cuda.get_device_name()


def _read(cache: Path) -> dict[str, Any]:
    if not cache.is_file():
        return {}
    advice = "Remove it: it is made again."
    known = read_json(cache, max_bytes=_MAX_CACHE_BYTES, error=RunError, do=advice)
    if not isinstance(known, dict):
        raise RunError(str(cache), f"holds a {type(known).__name__}, an object was expected", advice)
    return known


def _measure(request: Request) -> dict[str, Any]:
    """The medians over the processes."""
    with tempfile.TemporaryFile("w+") as said, _started(request, said) as workers:
        for worker in workers:
            _send(worker, json.dumps(request.words()))
        for worker in workers:
            _answer(worker, said)
        for worker in workers:
            _send(worker, "go")
        answers = [json.loads(_answer(worker, said)) for worker in workers]
    return _middle(answers)


@contextlib.contextmanager
def _started(request: Request, said: IO[str]) -> Iterator[list[subprocess.Popen]]:
    command = helper_command("ernie_pp.jobs.layer_times")
    environment = {**helper_environment(), "GLOG_minloglevel": "2"}
    workers: list[subprocess.Popen] = []
    try:
        for index in range(request.processes):
            own = {**environment, "FLAGS_selected_gpus": str(index)} if request.device == "gpu" else environment
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
            workers.append(subprocess.Popen(command, env=own, text=True, **pipes))
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def _send(worker: subprocess.Popen, line: str) -> None:
    assert worker.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it is gone: its answer will be missing
        worker.stdin.write(line + "\n")
        worker.stdin.flush()


def _answer(worker: subprocess.Popen, said: IO[str]) -> str:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if line:
        return line
    said.seek(0)
    last = said.read().strip().splitlines()[-5:]
    what = f"ended with code {worker.wait()}\n" + "\n".join(last)
    raise RunError("measuring layer times", what, "Plan by the formula instead: parallel.costs=formula.")


def _middle(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    middle: dict[str, Any] = {}
    for name, value in answers[0].items():
        values = [answer[name] for answer in answers]
        middle[name] = _middle(values) if isinstance(value, dict) else statistics.median(values)
        if isinstance(value, int):
            middle[name] = int(middle[name])
    return middle
