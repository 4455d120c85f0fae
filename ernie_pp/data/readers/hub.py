"""Rows of a Hugging Face dataset: by name on the hub, or from a folder that `save_to_disk` wrote.

Local TSV, CSV and JSON files never come this way: `datasets` turns the texts "NA" and "123" into None and 123.0.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ernie_pp.choices import DATASET_PREFIX
from ernie_pp.data.faults import Faults, nearest_advice
from ernie_pp.data.readers.settings import ReadSettings, missing_columns
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.errors import DataError

_SAVED_MARKS = ("state.json", "dataset_dict.json")
# What `datasets` 3 and 4 say when rows come from code: it must be trusted; it is not supported any more.
_SIGNS_OF_A_PROGRAM = ("trust_remote_code", "scripts are no longer supported")


def is_saved_dataset(path: str | Path) -> bool:
    """Whether the folder was written by `save_to_disk`."""
    return any(os.path.isfile(os.path.join(path, mark)) for mark in _SAVED_MARKS)


def read_dataset(source: str, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """Rows of `datasets:NAME[:SUBSET]` or of a saved folder; class labels come as their names."""
    dataset = load_split(source, split=settings.split)
    name = f"{source} split {settings.split}"
    for missing in missing_columns(dataset.column_names, settings):
        advice = nearest_advice(missing, dataset.column_names)
        shown = ", ".join(dataset.column_names)
        faults.refuse(Fault(Place(name, 1), "columns", shown, f'a column "{missing}"', advice))
    shown_as = {column: _label_names(feature) for column, feature in dataset.features.items()}
    for index, record in enumerate(dataset, start=1):
        fields = {column: shown_as[column](value) for column, value in record.items()}
        yield Row(Place(name, index), fields)


def load_split(source: str, *, split: str) -> Any:
    """The `datasets.Dataset` of one split."""
    # Takes two seconds, and only this source needs it. From its own module: PaddleNLP replaces datasets.load_dataset by
    # a function that runs the code of data sets.
    from datasets import load as loader
    from datasets.exceptions import DatasetsError

    name = source.removeprefix(DATASET_PREFIX)
    try:
        if Path(name).exists():
            return _load_saved(Path(name), split=split, load=loader.load_from_disk)
        name, _, subset = name.partition(":")
        # Left open, `datasets` asks on the terminal whether it may run a program of the data set's author.
        return loader.load_dataset(name, subset or None, split=split, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:
        raise _not_loaded(source, split, error) from error


def _not_loaded(source: str, split: str, error: Exception) -> DataError:
    if any(sign in str(error) for sign in _SIGNS_OF_A_PROGRAM):
        advice = "Load it in a program of your own, write it with save_to_disk, and give that folder instead."
        return DataError(source, "is made by a program of its author, and only data is read here", advice)
    advice = (
        "Check the name and the split. Without a network: load it once where there is one, write it with "
        "save_to_disk, and give that folder instead."
    )
    return DataError(source, f'split "{split}" cannot be loaded: {error}', advice)


def _load_saved(path: Path, *, split: str, load: Callable[[str], Any]) -> Any:
    if not is_saved_dataset(path):
        raise DataError(
            str(path),
            "is not a dataset that save_to_disk wrote (no state.json or dataset_dict.json)",
            "Give a TSV, CSV or JSON file by its own path, without datasets:.",
        )
    loaded = load(str(path))
    if not isinstance(loaded, dict):
        return loaded
    if split not in loaded:
        raise DataError(str(path), f'has no split "{split}"', nearest_advice(split, [str(one) for one in loaded]))
    return loaded[split]


def _label_names(feature: Any) -> Callable[[Any], Any]:
    """How values of a feature are shown: a class label (or a list of them) by name, all else as it is."""
    is_list = isinstance(feature, list) or hasattr(feature, "feature")
    label: Any = feature[0] if isinstance(feature, list) else getattr(feature, "feature", feature)
    if not hasattr(label, "int2str"):
        return lambda value: value

    def named(value: int | None) -> str | None:
        return None if value is None or value < 0 else label.int2str(value)  # -1 stands for "not known"

    return (lambda values: None if values is None else [named(value) for value in values]) if is_list else named
