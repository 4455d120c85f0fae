"""Settings of questions to long documents."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ernie_pp.config.base import Fraction, Positive, Section


class DocqaConfig(Section):
    """Questions to documents: how they are read, learned, answered and measured."""

    contradictions: Literal["answers", "flag", "majority", "error"] = Field(
        default="answers",
        description="flag is_impossible against answers: any answer wins, the flag, what most answers say, or a fault",
    )
    max_answer: Positive | None = Field(
        default=None,
        description="most characters of an answer; none: the length that 99.5 % of the training answers have",
    )
    empty_windows: Annotated[int, Field(ge=0)] | None = Field(
        default=3, description="training: windows without its answer that a question keeps; none: all of them"
    )
    num_best: Annotated[int, Field(ge=1, le=50)] = Field(default=5, description="answers that a prediction lists")
    threshold: Fraction | Literal["tuned"] = Field(
        default="tuned", description="probability from which an answer is given, else there is none; or tuned on dev"
    )
    metric: Literal["cmrc2018", "dureader_robust"] = Field(
        default="cmrc2018", description="whose rules EM and F1 follow; those of cmrc2018 are used for drcd too"
    )
    baseline: bool = Field(
        default=True, description="also answer by the nearest sentence and by neighbourhood, and show their dev figures"
    )
