"""The lines of log.jsonl that an earlier process of a run has written, as far as they can be believed."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ernie_pp.bounded import read_text
from ernie_pp.errors import RunError

LOG = logging.getLogger("ernie_pp")
# A line a step of some kilobytes, of a hundred thousand steps.
_MAX_LOG_BYTES = 1 << 30
_LARGEST = 1e300


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")

    kind: Literal["train", "evaluate"]
    step: int = Field(ge=1, lt=1 << 53)


class _Rank(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")

    peak_memory_bytes: int = Field(ge=0, lt=1 << 62)


class _TrainLine(_Line):
    epoch: float
    loss: float | None
    learning_rate: float | None
    grad_norm: float | None
    tokens_per_s: float | None
    ranks: list[_Rank]


def read_history(log: Path, *, step: int, is_evaluated: bool) -> list[dict]:
    """The lines up to a step; that of its evaluation only where the evaluation is done.

    What a killed process has written last may be half a line. It is left out, as is what is no line of ours.
    """
    if not log.exists():
        return []
    text = read_text(log, max_bytes=_MAX_LOG_BYTES, error=RunError, do="Move it away, and go on without it.")
    lines = [_parse(line) for line in text.split("\n") if line]
    num_odd = sum(line is None for line in lines)
    if num_odd:
        LOG.warning("%s: %d lines cannot be read and are left out", log, num_odd)
    is_kept = _keeper(step, is_evaluated=is_evaluated)
    return [line for line in lines if line is not None and is_kept(line)]


def _parse(text: str) -> dict | None:
    try:
        line = json.loads(text)
        is_training = isinstance(line, dict) and line.get("kind") == "train"
        (_TrainLine if is_training else _Line).model_validate(line)
        json.dumps(line, ensure_ascii=False).encode("utf-8")
    except (ValueError, ValidationError, RecursionError):
        return None
    return line if all(map(_is_plain, line.values())) else None


def _is_plain(value: object) -> bool:
    return not isinstance(value, (int, float)) or abs(value) < _LARGEST


def _keeper(step: int, *, is_evaluated: bool) -> Callable[[dict], bool]:
    def is_kept(line: dict) -> bool:
        return line["step"] < step or (line["step"] == step and (is_evaluated or line["kind"] == "train"))

    return is_kept
