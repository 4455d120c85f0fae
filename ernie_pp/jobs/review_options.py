"""The words of `ernie-pp review`."""

from __future__ import annotations

from dataclasses import dataclass

from ernie_pp.choices import Math, OnError
from ernie_pp.serving.predictor import DEFAULT_BATCH_TOKENS


@dataclass(frozen=True)
class ReviewOptions:
    """The words of `ernie-pp review`; `fields` None: those of the bundle; `gold`: the rows' field with true values."""

    bundle: str
    input: str
    output: str
    fields: str | None = None
    gold: str | None = None
    text_column: str | None = None
    id_column: str = "id"
    question: list[str] | None = None
    on_error: OnError = "stop"
    batch_tokens: int = DEFAULT_BATCH_TOKENS
    threads: int | None = None
    math: Math = "auto"
