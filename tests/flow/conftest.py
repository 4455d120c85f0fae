"""One run shared by all flow tests: made once, by the command a user types."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest
import question_run
import sample_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompletedProcess]:
    """The run folder of a whole run of the sample, and the process that made it."""
    folder = tmp_path_factory.mktemp("sample")
    done = sample_run.train(sample_run.write_sample(folder), f"data.test={folder / 'train.jsonl'}")
    assert done.returncode == 0, done.stderr
    return folder / "run", done


@pytest.fixture(scope="session")
def run_folder(finished: tuple[Path, CompletedProcess]) -> Path:
    return finished[0]


@pytest.fixture(scope="session")
def run_bundle(run_folder: Path) -> Path:
    return run_folder / "bundle"


@pytest.fixture(scope="session")
def dev_file(run_folder: Path) -> Path:
    return run_folder.parent / "dev.jsonl"


@pytest.fixture(scope="session")
def dev_predictions(run_folder: Path) -> list[dict]:
    return sample_run.read_jsonl(run_folder / "predictions.jsonl")


@pytest.fixture(scope="session")
def learned_questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was trained and measured on the same 32 questions."""
    folder = tmp_path_factory.mktemp("questions")
    documents = question_run.documents(8, seed=1)
    sample_run.train_here(question_run.write_questions(folder, train=documents, dev=documents))
    return folder / "run"
