"""A rank that watches over itself, where no launcher of ours does."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import threading
import time

from ernie_pp.parallel.beats import Beats
from ernie_pp.parallel.stall import EXIT_CODE, LOOK_EVERY_S, Watch, find_stall


def watch_over(beats: Beats, *, rank: int, stall_s: float | None) -> None:
    """From now on a daemon thread ends this process when its own progress stops for longer than the limit."""
    words = {"rank": rank, "stall_s": stall_s}
    threading.Thread(target=_watch, args=(beats,), kwargs=words, name="own-watch", daemon=True).start()


def _watch(beats: Beats, *, rank: int, stall_s: float | None) -> None:
    watch = Watch(time.monotonic())
    stall = None
    while stall is None:
        time.sleep(LOOK_EVERY_S)
        own = {rank: beats.last}
        watch = watch.look(time.monotonic(), own)
        stall = find_stall(own, watch, wanted_s=stall_s)
    _end(f"rank {rank}: no progress for {stall.seconds:.0f} s after step {beats.step} (stop.stall_s); it ends itself")


def _end(said: str) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        faulthandler.dump_traceback(file=2, all_threads=True)
        os.write(2, f"{said}. The stacks of its threads stand above.\n".encode())
    os._exit(EXIT_CODE)
