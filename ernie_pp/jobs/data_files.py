"""The sources of rows that a run names."""

from __future__ import annotations

from ernie_pp.choices import may_be_dataset
from ernie_pp.config import DataConfig
from ernie_pp.data.readers.sources import open_source


def named_sources(data: DataConfig) -> dict[str, tuple[str, str]]:
    """(source, split to take where it is a dataset) of train, dev and test, as far as they are named."""
    sources = {
        "train": (data.train, data.train_split),
        "dev": (data.dev, data.dev_split),
        "test": (data.test, data.test_split),
    }
    return {name: (source, own) for name, (source, own) in sources.items() if source is not None}


def check_files(data: DataConfig) -> None:
    """Open every file once; what is wrong inside is told by its reader."""
    for source, _ in named_sources(data).values():
        if may_be_dataset(source, data.format):
            continue
        with open_source(source):
            pass
