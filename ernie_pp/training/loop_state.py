"""Where the loop of a run stands after a step: what a checkpoint keeps beside weights and optimizer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Kept(BaseModel):
    """Base of the parts: nothing unknown, no silent conversion, no change."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_inf_nan="constants")


class BestSoFar(Kept):
    """The evaluation that the best model comes from, and how many were not better since."""

    step: int = Field(ge=1)
    value: float = Field(allow_inf_nan=False)


class Unlogged(Kept):
    """The steps since the last log line: the next line is about them too. A number that is not finite is None."""

    losses: list[float | None] = []
    learning_rate: float = 0.0  # of the last of them, as its gradient's norm
    grad_norm: float | None = None
    num_tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)


class LoopState(Kept):
    """Steps that have ended, rows that they took, and what was found on the way.

    `is_evaluated` is False where the evaluation that is due after `step` is still to come.
    """

    step: int = Field(default=0, ge=0)
    consumed_rows: int = Field(default=0, ge=0)
    is_evaluated: bool = True
    best: BestSoFar | None = None
    num_worse: int = Field(default=0, ge=0)
    num_updates: int = Field(default=0, ge=0)
    num_skipped_since: int = Field(default=0, ge=0)
    unlogged: Unlogged = Unlogged()
