"""run.log: kept until a new run begins, and never what ends one."""

import errno
import logging

import pytest

from ernie_pp.errors import RunError
from ernie_pp.jobs.run_log import open_run_log

LOG = logging.getLogger("ernie_pp")


@pytest.fixture(autouse=True)
def told():
    before = LOG.level
    LOG.setLevel(logging.INFO)
    yield
    LOG.setLevel(before)


def test_an_earlier_log_stands_until_the_new_run_begins(tmp_path):
    path = tmp_path / "run.log"
    path.write_text("the earlier run\n", encoding="utf-8")
    with open_run_log(path, hold=True):
        LOG.info("a wrong file")
    assert path.read_text(encoding="utf-8") == "the earlier run\n"
    with open_run_log(path, hold=True) as log:
        LOG.info("rows read")
        log.begin()
        LOG.info("step 1 \ud800")
    first, second = path.read_text(encoding="utf-8").splitlines()
    assert first.endswith("INFO rows read") and second.endswith(r"INFO step 1 \ud800")


def test_without_an_earlier_run_every_line_is_there_at_once(tmp_path):
    with open_run_log(tmp_path / "run.log", hold=False) as log:
        LOG.info("rows read")
        log.begin()
        assert "rows read" in (tmp_path / "run.log").read_text(encoding="utf-8")


def test_a_log_that_cannot_be_opened_or_is_in_use_is_told(tmp_path):
    (tmp_path / "run.log").mkdir()
    with pytest.raises(RunError, match="cannot be written"), open_run_log(tmp_path / "run.log", hold=False):
        pass
    with open_run_log(tmp_path / "a.log", hold=False), pytest.raises(RunError, match="another run is training"):
        open_run_log(tmp_path / "a.log", hold=False).__enter__()


def test_a_full_disk_ends_the_log_and_not_the_run(tmp_path, monkeypatch):
    class Full:
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    with open_run_log(tmp_path / "run.log", hold=False) as log:
        log._file, file = Full(), log._file
        warnings = []
        monkeypatch.setattr(LOG, "warning", lambda text, *values: warnings.append(text % values))
        LOG.info("one")
        LOG.info("two")
        log._file = file
    assert len(warnings) == 1 and "No space left" in warnings[0]
