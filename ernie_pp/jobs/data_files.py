"""The sources of rows that a run names."""

from __future__ import annotations

from ernie_pp.choices import may_be_dataset
from ernie_pp.config import DataConfig
from ernie_pp.data.readers.sources import open_source


def named_sources(data: DataConfig) -> dict[str, tuple[tuple[str, ...], str]]:
    """(sources, split to take where one is a dataset) of train, dev and test, as far as they are named."""
    splits = {"train": data.train_split, "dev": data.dev_split, "test": data.test_split}
    return {name: (data.sources(name), own) for name, own in splits.items() if data.sources(name)}


def check_files(data: DataConfig) -> None:
    """Open every file once; what is wrong inside is told by its reader."""
    for source in (source for sources, _ in named_sources(data).values() for source in sources):
        if may_be_dataset(source, data.format):
            continue
        with open_source(source):
            pass
