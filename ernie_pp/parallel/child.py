"""What a rank does first and last: tie its life to the launcher's, and leave word of a failure."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import NoReturn

from ernie_pp.machine.parents import follow_parent
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.rank_record import build_record, write_record
from ernie_pp.parallel.stacks import answer_for_stacks


def follow_launcher(place: Place) -> None:
    """End this process when the launcher ends, in whatever way, at once where it is gone already; answer for stacks."""
    said = "the process that started this rank is gone (ERNIE_PP_PARENT): unset ERNIE_PP_*, or start the run anew"
    follow_parent(place.parent, said=said)
    assert place.records is not None, "our launcher names the folder"
    answer_for_stacks(place.records, place.rank)


def leave_word(place: Place, *, code: int, text: str, error: BaseException | None) -> None:
    """Tell the launcher why this rank fails, and the rank's own log too.

    Rank 0 says nothing on the screen: the launcher shows the first failure of all first.
    """
    assert place.records is not None, "our launcher names the folder"
    record = build_record(place.rank, code=code, text=text, error=error)
    written = False
    with contextlib.suppress(OSError):
        write_record(place.records, record)
        written = True
    if place.rank or not written:
        with contextlib.suppress(OSError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()


def traceback_of(error: BaseException) -> str:
    """A whole traceback as text."""
    return "".join(traceback.format_exception(error)).rstrip()


def leave(code: int) -> NoReturn:
    """End this process now: Paddle's own end may wait for ranks that are gone, or crash when all is done."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
