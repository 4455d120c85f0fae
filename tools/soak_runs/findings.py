"""What the kills have left behind: counted, and checked against what must hold."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint.choose import choose_newest, list_steps
from ernie_pp.training.checkpoint.saved import open_checkpoint
from tools.grid_checks.table import Line

LogSign = tuple[int, int, int] | None


@dataclass
class Findings:
    """Counts of a whole soak."""

    kills: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    bad_checkpoints: int = 0
    orphans: int = 0
    odd_codes: int = 0
    lost_by_kill: int = 0  # most steps
    lost_by_stop: int = 0
    finished: int = 0
    different_runs: int = 0

    def to_lines(self, *, wanted_kills: int, save_every: int) -> list[Line]:
        """Each figure against its limit."""
        return [
            Line("kills", self.kills.total(), wanted_kills, at_most=False),
            Line("checkpoints committed", self.commits, 1, at_most=False),
            Line("bad checkpoints", self.bad_checkpoints, 0),
            Line("most steps lost by a kill (SIGKILL)", self.lost_by_kill, save_every),
            Line("most steps lost by a stop (SIGTERM)", self.lost_by_stop, 0),
            Line("processes left behind", self.orphans, 0),
            Line("unexpected exit codes", self.odd_codes, 0),
            Line("runs finished", self.finished, 1, at_most=False),
            Line("runs whose weights differ from the uninterrupted run", self.different_runs, 0),
        ]


def count_bad(checkpoints: Path) -> int:
    """How many of the step folders are not whole."""
    num_bad = 0
    for _, folder in list_steps(checkpoints):
        try:
            open_checkpoint(folder)
        except RunError as error:
            print(f"BAD {error}", flush=True)
            num_bad += 1
    return num_bad


def steps_lost(run: Path, *, log_before: LogSign) -> int:
    """Steps that the last attempt has logged and that are in no checkpoint a run would go on from.

    `log_before` is what `sign_of_log` gave before it: an attempt that did not come to training has lost nothing.
    """
    if sign_of_log(run) == log_before:
        return 0
    newest = choose_newest(run / "checkpoints").checkpoint
    return max(0, _last_step(run / "log.jsonl") - (0 if newest is None else newest.manifest.step))


def sign_of_log(run: Path) -> LogSign:
    """What changes as soon as an attempt writes to the log; a run that goes on replaces it at first."""
    log = run / "log.jsonl"
    if not log.is_file():
        return None
    status = log.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_same(run: Path, other: Path) -> bool:
    """Whether two finished runs have the same weights to the bit, the best and the last, and the same optimizer."""
    names = _weight_files(run)
    return names == _weight_files(other) and all(_is_same_file(run / name, other / name) for name in names)


def _weight_files(run: Path) -> list[Path]:
    _, last = list_steps(run / "checkpoints")[0]
    files = [run / "best" / "model.safetensors", *sorted(last.glob("*.safetensors"))]
    return [path.relative_to(run) for path in files]


def _is_same_file(path: Path, other: Path) -> bool:
    ours, theirs = load_file(path), load_file(other)
    return ours.keys() == theirs.keys() and all(np.array_equal(value, theirs[name]) for name, value in ours.items())


def _last_step(log: Path) -> int:
    """Of the last whole line: a kill may cut one."""
    if not log.is_file():
        return 0
    lines = log.read_text(encoding="utf-8").split("\n")[:-1]
    return max((json.loads(line)["step"] for line in lines), default=0)
