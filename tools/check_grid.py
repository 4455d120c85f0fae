"""Shows that a run on any grid of processes is what a run of one process is, and what it costs.

    python tools/check_grid.py                        all sections, about half an hour on two cores
    python tools/check_grid.py --only parity faults   some of them

Prints one line a figure with its limit; the exit code is 1 when one falls short. Sections: parity (losses, weights,
answers), runs (whole runs of the sample recipe), speed (2 stages on 2 cores, the balanced cut), plans (predicted time
and memory), memory (recomputation at 2,048 tokens), faults (a late stage, a rank that dies). Speed and plans want a
machine that does nothing else.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ernie_pp.machine import describe_machine
from tools.grid_checks import faults, memory, parity, plans, runs, speed
from tools.grid_checks.table import num_short

SECTIONS = {module.__name__.rpartition(".")[2]: module for module in (parity, runs, speed, plans, memory, faults)}


def main() -> int:
    """Print the table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    wanted = parser.parse_args().only
    print(f"{platform.machine()}, {', '.join(f'{name} {value}' for name, value in describe_machine().items())}")
    lines = []
    for name in wanted:
        start = time.monotonic()
        print(f"\n{name}", flush=True)
        for line in SECTIONS[name].check():
            print(line, flush=True)
            lines.append(line)
        print(f"({time.monotonic() - start:.0f} s)", flush=True)
    short = num_short(lines)
    print(f"\n{len(lines)} figures, {short} short")
    return 1 if short or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
