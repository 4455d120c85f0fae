"""The wrongly answered questions of a report, surest first."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.config.docqa import DocqaConfig
from ernie_pp.data.questions.question import Question
from ernie_pp.report import Mistake
from ernie_pp.tasks.docqa.metric import Outcome, answer_scores
from ernie_pp.tasks.docqa.prediction import Prediction

NOTHING = "(no answer)"


def list_mistakes(
    examples: Sequence[Question],
    predictions: Sequence[Prediction],
    outcomes: Sequence[Outcome],
    settings: DocqaConfig,
    *,
    limit: int,
) -> list[Mistake]:
    """Questions whose answer is no exact match, those the model was surest of first."""
    mistakes = [
        Mistake(
            place=f"{example.place} {example.id}",
            text=example.text,
            true=" | ".join(dict.fromkeys(text or NOTHING for text in example.gold_texts)),
            given=prediction.given or NOTHING,
            probability=prediction.score if prediction.given else 1.0 - prediction.score,
        )
        for example, prediction, outcome in zip(examples, predictions, outcomes, strict=True)
        if not answer_scores(outcome, outcome.given, settings.metric)[0]
    ]
    return sorted(mistakes, key=lambda one: -one.probability)[:limit]
