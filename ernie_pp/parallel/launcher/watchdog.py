"""A process of its own that outlives a killed launcher just long enough to end what that has started.

Run by path with nothing else loaded. Each line on standard input is the process group of a rank, or the word that all
is over. When the input ends without that word, the launcher is gone: no rank and no child of a rank may stay.
"""

import contextlib
import os
import signal
import sys

OVER = "over"


def main() -> None:
    """Wait for the launcher's end."""
    groups = []
    for line in sys.stdin:
        if line.strip() == OVER:
            return
        groups.append(int(line))
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
