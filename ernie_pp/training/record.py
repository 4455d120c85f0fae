"""What a run writes while it trains: log.jsonl, one line a logged step or evaluation, and VisualDL scalars."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ernie_pp.durable import told_as_unwritable, write_text
from ernie_pp.training.home import scratch_home
from ernie_pp.training.waiting_lines import WaitingLines

LOG = logging.getLogger("ernie_pp")


class Record(Protocol):
    """Takes the figures of a run as they come."""

    history: list[dict]

    def __enter__(self) -> Record: ...
    def __exit__(self, *_: object) -> None: ...
    def write(self, kind: str, step: int, values: Mapping[str, object]) -> None:
        """One line of a kind of figures."""
        ...

    def sync(self) -> None:
        """See that the lines so far are on the disk."""
        ...


class NoRecord:
    """Keeps nothing: of many ranks one writes."""

    def __init__(self) -> None:
        self.history: list[dict] = []

    def __enter__(self) -> NoRecord:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, kind: str, step: int, values: Mapping[str, object]) -> None:
        """Nothing is written."""

    def sync(self) -> None:
        """Nothing was written."""


class RunRecord:
    """Open log files of one run; use as a context manager.

    A full disk does not end a training: lines of log.jsonl wait until there is room, VisualDL goes without.
    """

    def __init__(self, log: Path, visualdl: Path, *, history: Sequence[dict] = ()) -> None:
        """`history` are the lines of an earlier process that stay: both logs begin with them."""
        self.history: list[dict] = list(history)
        write_text(log, "".join(map(_as_text, history)))
        with told_as_unwritable(visualdl):
            shutil.rmtree(visualdl, ignore_errors=True)
            self._scalars = _open_scalars(visualdl)
        for line in history:
            self._show(line)
        self._lines = WaitingLines(log)

    def __enter__(self) -> RunRecord:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._close_scalars()

    def write(self, kind: str, step: int, values: Mapping[str, object]) -> None:
        """One line: kind ("train" or "evaluate"), step, time and the values; numbers become VisualDL scalars too.

        A number that is not finite (the loss of a skipped step) becomes null: JSON has no other word for it.
        """
        line = {"kind": kind, "step": step, "time": round(time.time(), 3), **values}
        line = {name: value if _is_writable(value) else None for name, value in line.items()}
        self.history.append(line)
        self._lines.write(_as_text(line))
        self._show(line)

    def sync(self) -> None:
        """See that the lines so far are on the disk."""
        self._lines.sync()

    def _show(self, line: Mapping) -> None:
        try:
            for name, value in line.items():
                is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if self._scalars is not None and is_number and name not in ("step", "time"):
                    self._scalars.add_scalar(tag=f"{line['kind']}/{name}", step=line["step"], value=float(value))
        except OSError as error:
            LOG.warning("VisualDL's log cannot be written: %s; the run goes on without it", error.strerror or error)
            self._close_scalars()

    def _close_scalars(self) -> None:
        with contextlib.suppress(OSError):
            if self._scalars is not None:
                self._scalars.close()
        self._scalars = None


def _as_text(line: Mapping) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"


def _is_writable(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _open_scalars(folder: Path):
    # It makes folders for its web page in the home folder as it is imported.
    with scratch_home():
        from visualdl import LogWriter

    # VisualDL logs through the root logger while it opens its file.
    logging.getLogger("visualdl").setLevel(logging.ERROR)
    return LogWriter(logdir=str(folder))
