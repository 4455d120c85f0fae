"""Shows that a run which is killed again and again ends as if nothing had happened.

    python tools/soak.py --kills 100                            two stages, some 15 minutes on two cores
    python tools/soak.py --kills 20 --stages 1 --replicas 2     another grid

Trains a small job once without interruption, then again with a random rank, or the launcher, hit by SIGKILL or SIGTERM
at random moments of starting, training and saving; the same command is given again each time. Prints one line a figure
with its limit; the exit code is 1 when one falls short.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ernie_pp.training.run_folder import RunFolder
from tools.grid_checks.table import num_short
from tools.soak_runs.attempt import Attempt
from tools.soak_runs.findings import Findings, count_bad, is_same, steps_lost
from tools.soak_runs.kills import Kill, draw_kill, expected_codes, strike
from tools.soak_runs.sample import Job, write_job


def main(arguments: list[str] | None = None) -> int:
    """Print the figures and return the exit code."""
    options = _parse(arguments)
    seed = random.randrange(2**31) if options.seed is None else options.seed
    print(f"{options.stages} x {options.replicas}, {options.kills} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        job = write_job(Job(Path(name) / "job", options.stages, options.replicas, options.save_every))
        soak = Soak(job, Path(name), random.Random(seed), options.kills)
        soak.run()
    lines = soak.findings.to_lines(wanted_kills=options.kills, save_every=options.save_every)
    kinds = dict(sorted(soak.findings.kills.items()))
    print("\n".join(["", *(f"{kind}: {count}" for kind, count in kinds.items()), "", *map(str, lines)]))
    if options.output is not None:
        figures = {line.name: line.measured for line in lines}
        values = {"stages": options.stages, "replicas": options.replicas, "seed": seed, "kinds": kinds, **figures}
        options.output.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    return 1 if num_short(lines) else 0


@dataclass
class Soak:
    """One job trained over and over, in folder after folder, until there were kills enough."""

    job: Job
    folder: Path
    draw: random.Random
    wanted_kills: int
    findings: Findings = field(default_factory=Findings)

    def run(self) -> None:
        """The uninterrupted run, then the others."""
        whole = self.folder / "whole"
        start = time.monotonic()
        attempt = Attempt(self.job, whole)
        code, _ = attempt.end()
        if code != 0:
            raise RuntimeError(f"the uninterrupted run ended with code {code}:\n{attempt.said()}")
        print(f"uninterrupted: {time.monotonic() - start:.0f} s", flush=True)
        self.start = time.monotonic()
        number = 0
        while self.findings.kills.total() < self.wanted_kills:
            number += 1
            self._finish_one(self.folder / f"run-{number}", whole)

    def _finish_one(self, output: Path, whole: Path) -> None:
        """Start the same run again and again until it is finished."""
        while not RunFolder(output).is_finished(with_bundle=False):
            attempt, kill = Attempt(self.job, output), self._next_kill()
            is_hit = kill is not None and strike(attempt, kill)
            code, orphans = attempt.end()
            self.findings.orphans += orphans
            self.findings.commits += len(attempt.committed)
            self.findings.bad_checkpoints += count_bad(attempt.checkpoints)
            if kill is not None and is_hit:
                self._count(kill, attempt, code)
            elif code != 0 or not RunFolder(output).is_finished(with_bundle=False):
                raise RuntimeError(f"a run that was not hit ended with code {code}, unfinished:\n{attempt.said()}")
        self.findings.finished += 1
        if not is_same(output, whole):
            self.findings.different_runs += 1
            print(f"DIFFERENT {output.name}", flush=True)

    def _next_kill(self) -> Kill | None:
        """None where there were enough: the run is then left to finish."""
        if self.findings.kills.total() >= self.wanted_kills:
            return None
        return draw_kill(self.draw, num_ranks=self.job.stages * self.job.replicas)

    def _count(self, kill: Kill, attempt: Attempt, code: int) -> None:
        found, lost = self.findings, steps_lost(attempt.output, log_before=attempt.log_before)
        found.kills[str(kill)] += 1
        if code not in expected_codes(kill):
            found.odd_codes += 1
            print(f"ODD code {code} after {kill}:\n{attempt.said()}", flush=True)
        if kill.number.name == "SIGTERM":
            found.lost_by_stop = max(found.lost_by_stop, lost)
        else:
            found.lost_by_kill = max(found.lost_by_kill, lost)
        done = found.kills.total()
        left_s = (time.monotonic() - self.start) / done * (self.wanted_kills - done)
        eta = f"ETA {int(left_s) // 60}:{int(left_s) % 60:02}"
        print(
            f"{done}/{self.wanted_kills} {kill}, {lost} steps lost, {found.finished} runs finished, {eta}", flush=True
        )


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=_count, default=100, metavar="N")
    parser.add_argument("--stages", type=_count, default=2, metavar="N")
    parser.add_argument("--replicas", type=_count, default=1, metavar="N")
    parser.add_argument("--save-every", type=_count, default=5, metavar="N", help="steps between checkpoints")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the kills; their moments still differ from run to run"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the figures as JSON")
    return parser.parse_args(arguments)


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"is {word!r}, expected a whole number above 0")
    return int(word)


if __name__ == "__main__":
    sys.exit(main())
