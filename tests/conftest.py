"""What all tests share: CPU switches before Paddle is loaded, and where the public data is."""

import signal
from pathlib import Path

import pytest

from ernie_pp.machine import set_up_cpu

set_up_cpu(math="auto", keep_heap=False, threads=1)

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared"


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not (SHARED / "data").is_dir():
        pytest.skip("the public data sets are not beside this checkout (../shared/data)")
    return SHARED / "data"


@pytest.fixture(scope="session")
def tiny_ernie() -> Path:
    folder = SHARED / "models" / "ernie-tiny-zh"
    if not folder.is_dir():
        pytest.skip("the small pretrained ERNIE is not beside this checkout (../shared/models)")
    return folder


@pytest.fixture(autouse=True)
def signals_as_in_a_terminal():
    """A child inherits what its parent ignores, and the tests may themselves run under nohup or in the background."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
