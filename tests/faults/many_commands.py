"""Many commands in one child process, so that Paddle is loaded once: what each said, and what it took."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import sample_run

# Reads lists of words from standard input, runs each and answers in a line.
_CHILD = """
import contextlib, io, json, resource, sys, traceback
from ernie_pp.cli import main

answers = sys.stdout
for line in sys.stdin:
    errors, shown = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(shown):
        try:
            code = main(json.loads(line))
        except SystemExit as stop:
            code = stop.code
        except BaseException:
            code = -1
            traceback.print_exc()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([code, errors.getvalue(), shown.getvalue(), peak]), file=answers, flush=True)
"""


@dataclass(frozen=True)
class Answer:
    """What a command ended with; `more_bytes` is by how much it raised the most memory the process ever held."""

    code: int
    errors: str
    shown: str
    more_bytes: int


def run_commands(commands: Sequence[Sequence[str]], **extra: str) -> list[Answer]:
    """One answer for each, in the order; the first should be a good one of the same kind, which loads all."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input="".join(json.dumps(list(words)) + "\n" for words in commands),
        capture_output=True,
        text=True,
        env=sample_run.environment(**extra),
        timeout=240,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # A command that ends the whole process leaves the rest without an answer.
    assert len(lines) == len(commands), f"ended with {done.returncode} at {commands[len(lines)]}: {done.stderr}"
    peaks = [lines[0][3], *(line[3] for line in lines)]
    return [
        Answer(code, errors, shown, peak - before)
        for (code, errors, shown, peak), before in zip(lines, peaks, strict=False)
    ]
