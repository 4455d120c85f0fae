"""Plain lines where no terminal is; a bar where there is one, with log lines above it."""

import logging
import os
import pty
import subprocess
import sys

import pytest
import sample_run

from ernie_pp import progress
from ernie_pp.progress import format_seconds, track


class Clock:
    """time.monotonic under the test's control."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="ernie_pp")
    return lambda: [record.getMessage() for record in caplog.records]


def test_what_is_quick_says_nothing(clock, lines):
    with track("evaluating", 3, unit="rows") as tracker:
        for _ in range(3):
            clock.now += 0.5
            tracker.advance()
    assert lines() == []


def test_lines_come_every_ten_seconds_with_share_eta_and_values(clock, lines):
    with track("training", 100, unit="steps") as tracker:
        for _ in range(50):
            clock.now += 1.0
            tracker.advance(loss="0.5")
    assert lines()[0] == "training: 2/100 steps 2 %, ETA 1:38 loss=0.5"
    assert lines()[1] == "training: 12/100 steps 12 %, ETA 1:28 loss=0.5"
    assert len(lines()) == 5


def test_counts_beyond_the_total_do_no_harm(clock, lines):
    with track("reading", 0, unit="rows") as tracker:
        clock.now += 5
        tracker.advance(7)
    assert lines() == ["reading: 7/0 rows 700 %, ETA 0:00"]


@pytest.mark.parametrize(
    "seconds, text", [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3600, "1:00:00"), (90_061, "25:01:01")]
)
def test_seconds_read_well(seconds, text):
    assert format_seconds(seconds) == text


BAR = """
import logging, time
from ernie_pp.cli import _set_up_logging
from ernie_pp.progress import track
_set_up_logging(False)
with track("训练", 3, unit="steps") as tracker:
    for step in range(3):
        tracker.advance(loss="0.25")
        with track("评估", 5, unit="rows") as inner:
            inner.advance(5)
            time.sleep(0.12)
        logging.getLogger("ernie_pp").info("step %d done", step)
"""


def _on_a_terminal(code):
    """(exit code, all that a terminal was sent) of Python code."""
    master, slave = pty.openpty()
    environment = sample_run.environment(TERM="xterm", COLUMNS="100")
    process = subprocess.Popen([sys.executable, "-c", code], stderr=slave, stdout=slave, env=environment)
    os.close(slave)
    shown = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(master)
    return process.wait(), shown.decode("utf-8")


def test_a_terminal_gets_bars_and_whole_log_lines():
    code, text = _on_a_terminal(BAR)
    assert code == 0, text
    assert "训练" in text and "loss=0.25" in text and "3/3" in text and "5/5" in text and "ETA" in text
    assert all(f"step {step} done" in text for step in range(3))


def test_the_inner_bar_stands_under_the_outer_one():
    _, text = _on_a_terminal(BAR)
    frames = [frame for frame in text.split("训练")[1:] if "评估" in frame]
    assert frames and all(frame.index("\r\n") < frame.index("评估") for frame in frames)
    assert text.count("\x1b[?25l") == 1, "one display, which hides the cursor once"
