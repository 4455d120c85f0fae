"""Progress of what takes longer than two seconds: a bar with an ETA on a terminal, plain log lines elsewhere."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

LOG = logging.getLogger("ernie_pp")
SECONDS_BETWEEN_LINES = 10.0
# What ends sooner than this shows nothing.
QUIET_S = 2.0
# The displays on this process's one terminal, an outer one first.
_open_bars: list[Any] = []


class Tracker(Protocol):
    """What `track` hands to the work: call `advance` as units of it are done."""

    def advance(self, count: int = 1, **shown: object) -> None:
        """Count `count` more units done; `shown` are named values beside the bar, such as the loss."""

    def skip(self, count: int) -> None:
        """Count `count` units as done by others before: the ETA goes by the rest."""


@contextmanager
def track(title: str, total: int, *, unit: str) -> Iterator[Tracker]:
    """Show how far `title` is of `total` units."""
    if sys.stderr is not None and sys.stderr.isatty():
        with _bar(title, total) as tracker:
            yield tracker
    else:
        yield _Lines(title, total, unit)


class _Lines:
    def __init__(self, title: str, total: int, unit: str) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done, self.skipped, self.start = 0, 0, time.monotonic()
        self.last = self.start + QUIET_S - SECONDS_BETWEEN_LINES

    def skip(self, count: int) -> None:
        self.skipped += count
        self.done += count

    def advance(self, count: int = 1, **shown: object) -> None:
        self.done += count
        now = time.monotonic()
        if now - self.last < SECONDS_BETWEEN_LINES:
            return
        self.last = now
        left = (now - self.start) / max(self.done - self.skipped, 1) * max(self.total - self.done, 0)
        share = 100 * self.done / max(self.total, 1)
        values = "".join(f" {name}={value}" for name, value in shown.items())
        done = f"{self.done}/{self.total} {self.unit} {share:.0f} %"
        LOG.info("%s: %s, ETA %s%s", self.title, done, format_seconds(left), values)


@contextmanager
def _bar(title: str, total: int) -> Iterator[Tracker]:
    """A bar of its own, or one more line under the bar that is open: two displays would write over each other."""
    display: Any = nullcontext(_open_bars[-1]) if _open_bars else _new_display()
    with display as progress:
        task = progress.add_task(title, total=total, values="")
        _open_bars.append(progress)
        try:
            yield _BarTracker(progress, task)
        finally:
            _open_bars.pop()
            progress.remove_task(task)


def _new_display() -> Any:
    # Loaded late: a bar needs it, `--help` does not.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    screen: Any = _Screen(sys.stderr)
    names = TextColumn("{task.description}", markup=False)
    values = TextColumn("{task.fields[values]}", markup=False)
    columns = (names, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn())
    return Progress(*columns, values, console=Console(file=screen), transient=True)


class _Screen:
    """A terminal that may be closed at any time: what it takes no more is dropped, and the work goes on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):  # gone, or closed
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


class _BarTracker:
    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    def skip(self, count: int) -> None:
        # Not an advance, which rich would take for work done in no time.
        self._progress.reset(self._task, completed=count, values="")

    def advance(self, count: int = 1, **shown: object) -> None:
        text = " ".join(f"{name}={value}" for name, value in shown.items())
        self._progress.update(self._task, advance=count, values=text)


def format_seconds(seconds: float) -> str:
    """1:02:03 or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
