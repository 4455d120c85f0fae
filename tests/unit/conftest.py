"""One small run made inside this process, for tests of what comes after training."""

from pathlib import Path

import pytest
import sample_run


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of the sample: best/, bundle/ and all. Not to be changed: copy it."""
    folder = tmp_path_factory.mktemp("small")
    sample_run.train_here(sample_run.write_sample(folder))
    return folder / "run"
