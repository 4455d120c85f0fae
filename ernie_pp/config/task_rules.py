"""Keys that some tasks do not read: set for one of those, they would have no effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ernie_pp.config.docqa import DocqaConfig
from ernie_pp.config.fields import is_set
from ernie_pp.config.ner import NerConfig, ReviewConfig
from ernie_pp.config.schema import ClsConfig, RunConfig

# One token of a question and one of its document, with the special tokens of a pair.
LEAST_LENGTH = 5
# (section, its keys, the tasks that read them)
_READ_BY = (
    ("data", ("text_pair", "label", "label_separator"), ("cls",)),
    ("data", ("text",), ("cls", "ner")),
    ("data", ("dialect",), ("ner",)),
    ("text", ("truncate",), ("cls",)),
    ("text", ("overlap",), ("ner", "docqa")),
    ("text", ("ranked_windows",), ("docqa",)),
    ("train", ("rdrop_alpha",), ("cls",)),
    ("cls", tuple(ClsConfig.model_fields), ("cls",)),
    ("ner", tuple(NerConfig.model_fields), ("ner",)),
    ("docqa", tuple(DocqaConfig.model_fields), ("docqa",)),
    ("review", ("fields",), ("ner",)),
    ("review", ("questions",), ("docqa",)),
)
_REVIEWS = {"fields": "a field is filled from entities", "questions": "questions are asked by docqa"}
_FORMATS = {"conll": ("ner", "entities"), "brat": ("ner", "entities"), "squad": ("docqa", "questions")}


def task_rules(config: RunConfig) -> Iterator[str]:
    """What has no effect, or cannot be, in a config of this task."""
    task, form = config.task, config.data.format
    if form in _FORMATS and task != _FORMATS[form][0]:
        yield f"data.format is {form}, which holds {_FORMATS[form][1]}, and task is {task}"
    for section, names, tasks in _READ_BY:
        if task not in tasks:
            values = getattr(config, section)
            for name in (name for name in names if is_set(values, name)):
                why = f", and {_REVIEWS[name]}" if isinstance(values, ReviewConfig) else ""
                yield f"{section}.{name} has no effect: task is {task}{why}"
    if task == "docqa" and config.labels is not None:
        yield "labels has no effect: task is docqa, whose answers are spans, yes or no, or none"
    if task == "docqa":
        yield from _question_rules(config)
    if task != "cls":
        yield from _window_rules(config)


def _question_rules(config: RunConfig) -> Iterator[str]:
    if config.text.max_length < LEAST_LENGTH:
        what = "[CLS] question [SEP] document [SEP]"
        yield f"text.max_length is {config.text.max_length}, expected {LEAST_LENGTH} or more: {what}"
    for question, count in Counter(config.review.questions).items():
        if not question.strip():
            yield f"review.questions holds {question!r}, expected a text that can be seen"
        elif count > 1:
            yield f"review.questions holds {question!r} {count} times"


def _window_rules(config: RunConfig) -> Iterator[str]:
    text = config.text
    if text.overlap is not None and text.overlap > (text.max_length - 2) // 2:
        yield f"text.overlap is {text.overlap}, expected at most half of the {text.max_length - 2} tokens of a window"
