"""A small tokenizer, and the tools as modules."""

import importlib.util
from pathlib import Path

import pytest

from ernie_pp.text import Tokenizer
from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.vocabulary import write_vocab


@pytest.fixture(scope="session")
def vocab_path(tmp_path_factory) -> Path:
    """GB2312's characters and a few words; much else is unknown to it."""
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    write_vocab(build_vocabulary(["iphone iphone 12000 12000 ##"], min_count=2), path)
    return path


@pytest.fixture(scope="session")
def load_tool(repository: Path):
    """A script of tools/ as a module."""

    def load(name: str):
        path = repository / "tools" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def tokenizer(vocab_path) -> Tokenizer:
    return Tokenizer.from_vocab(vocab_path)
