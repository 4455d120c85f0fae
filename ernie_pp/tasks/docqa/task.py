"""Questions to documents as the jobs see them: everything that is not the same for every kind of problem."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ernie_pp.choices import RowKind
from ernie_pp.config import RunConfig
from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.question import Question
from ernie_pp.data.questions.reading import question_findings, read_questions
from ernie_pp.data.rows import Row
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import ConfigError
from ernie_pp.models.answer_losses import AnswerLoss
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.losses import Loss
from ernie_pp.report import Mistake
from ernie_pp.tasks.docqa import features
from ernie_pp.tasks.docqa.baseline import nearest_sentence, neighbourhood
from ernie_pp.tasks.docqa.decode import DecodeSettings, Prediction, condense, decode
from ernie_pp.tasks.docqa.example import keep_known_kinds
from ernie_pp.tasks.docqa.metric import (
    Evaluation,
    Outcome,
    best_answer_threshold,
    headline_metric,
    measure,
    metric_names,
)
from ernie_pp.tasks.docqa.mistakes import list_mistakes
from ernie_pp.tasks.docqa.report import group_lines, report_sections
from ernie_pp.tasks.docqa.settings import ALL_KINDS, PLAIN_KINDS, count_outputs, output_names
from ernie_pp.tasks.docqa.windows import WindowAnswer
from ernie_pp.tasks.interface import ReportSections
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import TooLong

LOG = logging.getLogger("ernie_pp")
# Answers are searched up to the length that so many of the training answers do not exceed.
LENGTH_PERCENTILE = 99.5
MOST_NAMED = 5
# Decoding in training lists as many candidates as any setting may ask for the best of.
_LONGEST = 1 << 20
# The plain methods beside the model, by their names in metrics.json: a question and its document give a place.
BASELINES: Mapping[str, Callable[[str, str], tuple[int, int]]] = {
    "nearest_sentence": nearest_sentence,
    "neighbourhood": neighbourhood,
}


class Task:
    """One run's questions: its settings and, once the training questions were read, what kinds of answers there are."""

    row_kind: RowKind = "questions"

    def __init__(self, config: RunConfig, decoding: DecodeSettings | None = None) -> None:
        self.config, self._plain, self._has_unanswerable = config, decoding, True

    @classmethod
    def restore(cls, config: RunConfig, settings: Mapping[str, Any]) -> Task:
        """The task of a model folder: answers are of the kinds, and of the length, the model was trained on."""
        return cls(config, DecodeSettings.from_json(settings["decode"]))

    def stored_settings(self) -> dict[str, object]:
        """What `restore` and a review need, beside the decision rule."""
        return {"label_values": list(self.label_names), "review": self.config.review.model_dump(mode="json")}

    @property
    def label_names(self) -> tuple[str, ...]:
        """The kinds of answers."""
        return self._settled.labels

    @property
    def output_names(self) -> tuple[str, ...]:
        """What each number the head gives for a token says."""
        return output_names(self._settled.labels)

    @staticmethod
    def head_for(config: RunConfig, *, num_labels: int) -> HeadSpec:
        """The head for the plain kinds of answers, or for yes and no too."""
        return HeadSpec("answer_span", count_outputs(ALL_KINDS if num_labels > len(PLAIN_KINDS) else PLAIN_KINDS))

    @property
    def head_spec(self) -> HeadSpec:
        """First and last token, and yes and no where they are answers."""
        return self.head_for(self.config, num_labels=len(self.label_names))

    @property
    def column_names(self) -> tuple[str, ...]:
        """None must be there: every layout has its own."""
        return ()

    @property
    def text_columns(self) -> tuple[str, ...]:
        """What may not be cut."""
        return ("question",)

    def best_metric(self) -> str:
        """The name of the dev figure the best checkpoint is chosen by; ConfigError where there is no such figure."""
        name = self.config.train.best_metric
        if name == "auto":
            return headline_metric()
        if name not in metric_names():
            raise ConfigError("train.best_metric", f"is {name!r}, expected auto or one of {', '.join(metric_names())}")
        return name

    def read(self, rows: Iterable[Row], faults: Faults) -> list[Question]:
        """The sound questions of a split, in order."""
        findings = question_findings()
        contradictions = self.config.docqa.contradictions
        questions = read_questions(rows, contradictions=contradictions, faults=faults, findings=findings)
        for line in findings.lines():
            LOG.warning("%s", line)
        return questions

    def settle_labels(self, train: Sequence[Question]) -> None:
        """Take from the training questions what answers there are, and how long they may be."""
        kinds = Counter(one.kind for one in train)
        labels = ALL_KINDS if kinds["yes"] or kinds["no"] else PLAIN_KINDS
        self._has_unanswerable = bool(kinds["none"])
        docqa = self.config.docqa
        longest = docqa.max_answer or _usual_length(train)
        self._plain = DecodeSettings(labels, longest, docqa.num_best, 0.0)
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        LOG.info("answers: %s; at most %d characters are looked for", told, longest)

    def group_of(self, example: Question) -> str:
        """The document it is about."""
        return example.document.text

    def keep_known(self, examples: Sequence[Question], faults: Faults) -> list[Question]:
        """The questions with answers of the kinds the run has; each other one becomes a fault."""
        return list(keep_known_kinds(examples, self.label_names, faults))

    def augment(self, examples: Sequence[Question]) -> Sequence[Question]:
        """The questions as they are."""
        return examples

    def texts(self, examples: Sequence[Question]) -> tuple[list[str], list[str]]:
        """(questions, documents)."""
        return [example.text for example in examples], [example.document.text for example in examples]

    def labels_of(self, example: Question) -> Sequence[str]:
        """The kind of its answer."""
        return () if example.kind is None else (example.kind,)

    def encode(self, examples: Sequence[Question], tokenizer: Tokenizer, *, is_training: bool) -> EncodedRows:
        """Windows of the documents, each beside a whole question; in training those that are learned from."""
        text = self.config.text.settled()
        if is_training:
            most = self.config.docqa.empty_windows
            return features.encode_for_training(examples, tokenizer, text, empty_windows=most)
        return features.encode(*self.texts(examples), tokenizer, text)

    def kept_whole(self, examples: Sequence[Question]) -> object:
        """The answers learned from, and how many windows without one are."""
        true = [features.true_answer(one) for one in examples]
        return [self.config.docqa.empty_windows, [[one.span, one.is_yes_or_no] for one in true]]

    def too_long(self, examples: Sequence[Question], tokenizer: Tokenizer) -> list[TooLong]:
        """The questions that would leave too little room to their documents."""
        return features.too_long(*self.texts(examples), tokenizer, self.config.text.settled())

    def inexpressible(self, examples: Sequence[Question], rows: TokenRows) -> list[str]:
        """How many answers stand whole in no window, and which they are."""
        lost = features.inexpressible(rows, examples)
        if not lost:
            return []
        total = sum(example.kind == "span" for example in examples)
        named = ", ".join(f"{example.place} {example.id}" for example in lost[:MOST_NAMED])
        more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
        why = "no window that is read holds them whole"
        return [
            f"{len(lost)} of {total} answers ({100 * len(lost) / total:.1f} %) cannot be found, {why}: {named}{more}"
        ]

    def targets(self, examples: Sequence[Question], rows: TokenRows) -> np.ndarray:
        """First and last token of each window's answer."""
        return features.answer_targets(rows, examples)

    def build_loss(self, targets: Any) -> Loss:
        """The head's own."""
        return AnswerLoss()

    def condense(self, logits: np.ndarray, rows: TokenRows) -> list[WindowAnswer]:
        """The best candidates of each window."""
        return condense(logits, rows, self._settled)

    def settle_decoding(self, answers: Sequence[WindowAnswer], split: Split) -> DecodeSettings:
        """The decision rule; the threshold is tuned on these (dev) questions where the config says so.

        Where neither they nor the training questions lack an answer, one is always given.
        """
        docqa, plain = self.config.docqa, self._settled
        if docqa.threshold != "tuned":
            return self._with_threshold(docqa.threshold)
        if not self._has_unanswerable and all(one.kind != "none" for one in split.examples):
            return plain
        outcomes = self._outcomes(self.decode(answers, split, plain), split)
        target = "em" if self.best_metric().endswith("em") else "f1"
        return self._with_threshold(best_answer_threshold(outcomes, docqa.metric, target))

    def measure(self, answers: Sequence[WindowAnswer], split: Split, decoding: DecodeSettings) -> Evaluation:
        """All figures of the answers against the true ones."""
        outcomes = self._outcomes(self.decode(answers, split, decoding), split)
        return self._measure(outcomes, self._ranker_figures(split))

    def measure_baselines(
        self, train: Sequence[Question], dev: Split, decoding: DecodeSettings
    ) -> dict[str, Evaluation]:
        """Dev figures of the plain methods; nothing where the config leaves them out."""
        if not self.config.docqa.baseline:
            return {}
        return {name: self._measure_baseline(find, dev) for name, find in BASELINES.items()}

    def decode(self, answers: Sequence[WindowAnswer], split: Split, decoding: DecodeSettings) -> list[Prediction]:
        """One prediction a question."""
        return decode(answers, split.rows, self.texts(split.examples)[1], decoding)

    def describe(self, example: Question, prediction: Prediction) -> dict[str, object]:
        """One line of predictions.jsonl: the question, its document's name, its true answers, what was found."""
        place = {"file": example.place.path, "line": example.place.line, "id": example.id}
        true = {"document": example.document.id, "true_kind": example.kind, "true_answers": list(example.gold_texts)}
        return {**place, "question": example.text, **true, **prediction.to_fields()}

    def summarize(self, evaluation: Evaluation) -> list[str]:
        """Figures by kind of answer, and by lengths, as lines of text."""
        return group_lines(evaluation)

    def report_sections(self, evaluation: Evaluation, decoding: DecodeSettings) -> ReportSections:
        """The same as tables."""
        return report_sections(evaluation)

    def mistakes(
        self, answers: Sequence[WindowAnswer], split: Split, decoding: DecodeSettings, *, limit: int
    ) -> list[Mistake]:
        """Questions whose answer is no exact match, surest first."""
        predictions = self.decode(answers, split, decoding)
        return list_mistakes(
            split.examples, predictions, self._outcomes(predictions, split), self.config.docqa, limit=limit
        )

    def notes(self, *, num_train_rows: int) -> list[str]:
        """What a reader of the report should know about how the figures came about."""
        docqa, notes = self.config.docqa, [f"EM and F1 by the rules of {self.config.docqa.metric}"]
        if docqa.baseline:
            notes.append("baselines, measured on dev: the sentence most like the question; the text beside its words")
        if docqa.threshold == "tuned":
            notes.append("docqa.threshold: tuned on these dev questions, so dev figures flatter the model a little")
        return notes

    @property
    def _settled(self) -> DecodeSettings:
        assert self._plain is not None, "settle_labels comes first"
        return self._plain

    def _with_threshold(self, threshold: float) -> DecodeSettings:
        plain = self._settled
        return DecodeSettings(plain.labels, plain.max_answer, plain.num_best, threshold)

    def _measure_baseline(self, find: Callable[[str, str], tuple[int, int]], dev: Split) -> Evaluation:
        places = [find(example.text, example.document.text) for example in dev.examples]
        given = [one.document.text[start:end] for one, (start, end) in zip(dev.examples, places, strict=True)]
        counts = _count_windows(dev)
        return self._measure(
            [
                Outcome(one.kind or "none", one.gold_texts, text, text, 0.5, len(one.document.text), count)
                for one, text, count in zip(dev.examples, given, counts, strict=True)
            ]
        )

    def _outcomes(self, predictions: Sequence[Prediction], split: Split) -> list[Outcome]:
        return [
            Outcome(
                one.kind or "none",
                one.gold_texts,
                prediction.given,
                prediction.best,
                prediction.score,
                len(one.document.text),
                count,
            )
            for one, prediction, count in zip(split.examples, predictions, _count_windows(split), strict=True)
        ]

    def _measure(self, outcomes: Sequence[Outcome], others: Mapping[str, float] | None = None) -> Evaluation:
        rules, seed = self.config.docqa.metric, self.config.seed
        return measure(outcomes, rules=rules, headline=self.best_metric(), seed=seed, others=others)

    def _ranker_figures(self, split: Split) -> dict[str, float]:
        """Which share of the answers the windows hold that the ranker has picked, where it had to pick."""
        limit = self.config.text.ranked_windows
        found, asked = (0, 0) if limit is None else features.ranker_recall(split.rows, split.examples, limit=limit)
        return {"ranker_recall": found / asked} if asked else {}


def _count_windows(split: Split) -> list[int]:
    assert split.rows.example_index is not None, "documents are read in windows"
    return np.bincount(split.rows.example_index, minlength=len(split.examples)).tolist()


def _usual_length(train: Sequence[Question]) -> int:
    """Characters that LENGTH_PERCENTILE of 100 answers do not exceed."""
    lengths = [one.end - one.start for example in train for one in example.answers if one.start is not None and one.end]
    if not lengths:
        return _LONGEST
    return int(np.percentile(lengths, LENGTH_PERCENTILE, method="inverted_cdf"))
