"""Rules across keys: what contradicts, and what would have no effect."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from ernie_pp.choices import DATASET_PREFIX, may_be_dataset, may_be_table
from ernie_pp.config.fields import empty_paths, is_set
from ernie_pp.config.grid_rules import grid_rules
from ernie_pp.config.load import report
from ernie_pp.config.ner_rules import ner_rules
from ernie_pp.config.schema import RESUME_WORDS, RunConfig
from ernie_pp.config.task_rules import task_rules

Problem = tuple[str, str]


def check_config(config: RunConfig, *, source: str, needs_data: bool = True) -> None:
    """Raise one ConfigError that lists every contradiction and every key without effect in a training run.

    Where its rows are may be left open by what reads none.
    """
    sources = (_source_rules,) if needs_data else ()
    of_task = {"cls": (_cls_rules,), "ner": (ner_rules,)}.get(config.task, ())
    general = (_place_rules, _path_rules, _resume_rules, _model_rules, _label_rules, _data_rules, _train_rules)
    rules = (*general, *sources, task_rules, *of_task, grid_rules)
    problems = [(source, what) for rule in rules for what in rule(config)]
    if problems:
        raise report(problems)


def _place_rules(config: RunConfig) -> Iterator[str]:
    # Paddle takes no other names, and says so after hours, when the bundle is written.
    for name, value in (("output_dir", config.output_dir), ("data.cache_dir", config.data.cache_dir)):
        try:
            os.path.realpath(value or "").encode("utf-8")
        except UnicodeEncodeError:
            yield f"{name} is {value!r} in {os.getcwd()!r}, a folder whose name is not UTF-8"


def _resume_rules(config: RunConfig) -> Iterator[str]:
    if config.resume == "must" and config.overwrite:
        yield "resume is must and overwrite is true: the run to go on with would be removed; drop one of them"
    if not config.resume:
        yield f"resume is empty, expected {', '.join(RESUME_WORDS)} or the folder of a checkpoint"
    for name in ("every", "keep"):
        if is_set(config.checkpoint, name) and not config.checkpoint.enabled:
            yield f"checkpoint.{name} has no effect: checkpoint.enabled is false"


def _model_rules(config: RunConfig) -> Iterator[str]:
    model = config.model
    given = [name for name in ("name", "path", "sizes") if getattr(model, name) is not None]
    if len(given) != 1:
        yield f"model needs exactly one of name, path and sizes, got {' and '.join(given) or 'none'}"
    if model.allow_pickle and model.name is not None:
        yield "model.allow_pickle has no effect: of model.name the restricted reader is always allowed"
    if model.allow_pickle and model.sizes is not None:
        yield "model.allow_pickle has no effect: model.sizes starts from random weights, no file is read"
    if model.sizes is not None and config.text.max_length > model.sizes.max_positions:
        yield f"text.max_length {config.text.max_length} is over model.sizes.max_positions {model.sizes.max_positions}"


def _source_rules(config: RunConfig) -> Iterator[str]:
    data = config.data
    if data.train is None:
        yield "data.train is missing: a run trains on data.train and chooses its best checkpoint on data.dev"
    if data.dev is None and data.dev_share is None:
        what = "a run chooses its best checkpoint on it"
        yield f"data.dev is missing: {what}; name a file, or hold out data.dev_share of the training rows"
    if data.dev is not None and data.dev_share is not None:
        yield "data.dev_share has no effect: data.dev names the rows"


def _path_rules(config: RunConfig) -> Iterator[str]:
    for name in empty_paths(config.model_dump()):
        yield f"{name} is empty, expected the path of what is read"


def _data_rules(config: RunConfig) -> Iterator[str]:
    data = config.data
    sources = [source for name in ("train", "dev", "test") for source in data.sources(name)]
    if data.format not in ("auto", "datasets") and any(may_be_dataset(source, "auto") for source in sources):
        yield f"data.format is {data.format}, but a {DATASET_PREFIX} source or a folder is named"
    for name in ("header", "quoting"):
        if is_set(data, name) and sources and not any(may_be_table(source, data.format) for source in sources):
            yield f"data.{name} has no effect: it is about TSV and CSV, and no source is one"
    for name in ("train", "dev", "test"):
        named = data.sources(name)
        for source, count in Counter(named).items():
            if count > 1:
                yield f"data.{name} names {source} {count} times"
        if is_set(data, f"{name}_split") and not any(may_be_dataset(source, data.format) for source in named):
            what = f"data.{name} is {', '.join(named)}" if named else f"data.{name} is not given"
            yield f"data.{name}_split has no effect: {what}, and only a {DATASET_PREFIX} source has splits"
    if data.text_pair is not None and data.text_pair == data.text:
        yield f"data.text_pair and data.text name the same column {data.text!r}"
    for name in ("text", "text_pair"):
        if getattr(data, name) == data.label:
            yield f"data.{name} and data.label name the same column {data.label!r}: the model would read the answer"


def _cls_rules(config: RunConfig) -> Iterator[str]:
    cls = config.cls
    if not cls.multi_label and is_set(cls, "threshold"):
        yield "cls.threshold has no effect: one label a text is the most probable; set cls.multi_label: true or drop it"
    if not cls.multi_label and config.data.label_separator is not None:
        yield "data.label_separator has no effect without cls.multi_label: true"
    if cls.loss != "focal" and is_set(cls, "focal_gamma"):
        yield "cls.focal_gamma has no effect: cls.loss is not focal"
    if isinstance(cls.class_weights, tuple):
        if config.labels is not None and len(cls.class_weights) != len(config.labels):
            yield f"cls.class_weights has {len(cls.class_weights)} numbers for {len(config.labels)} labels"
        if any(weight <= 0 for weight in cls.class_weights):
            yield f"cls.class_weights are {list(cls.class_weights)}, expected numbers above 0"
        if config.labels is None:
            yield "cls.class_weights as numbers needs `labels`, so that their order is known"
    if not cls.multi_label and config.labels is not None and len(config.labels) == 1:
        yield "labels has 1 entries; classification needs at least 2"


def _label_rules(config: RunConfig) -> Iterator[str]:
    # Of questions any labels are told elsewhere.
    if config.labels is not None and not config.labels and config.task != "docqa":
        yield f"labels has 0 entries; {'classification' if config.task == 'cls' else config.task} needs at least 1"
    names = list(config.labels.values()) if isinstance(config.labels, dict) else list(config.labels or ())
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"labels names {name!r} twice"
    for name in sorted({*names, *(config.labels or ())}):
        if not name.strip():
            yield f"labels holds {name!r}, expected a name that can be seen"
        elif name != name.strip():
            yield f"labels holds {name!r}: labels are read without the blanks around them, so no row would have it"


def _train_rules(config: RunConfig) -> Iterator[str]:
    train = config.train
    if train.precision == "fp32" and is_set(train, "amp_level"):
        yield "train.amp_level has no effect: train.precision is fp32"
    if train.rdrop_alpha > 0 and config.model.dropout == 0:
        yield "train.rdrop_alpha has no effect: without dropout (model.dropout: 0) both passes are the same"
    if train.schedule == "constant" and train.warmup == 1.0:
        yield "train.warmup 1.0 never reaches the learning rate"
