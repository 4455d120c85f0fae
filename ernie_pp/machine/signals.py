"""Signals beside Paddle, whose C++ side takes some for itself and cannot carry a Python exception through."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import NoReturn

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def act_on(number: int, handler: object) -> NoReturn:
    """Do what a stop signal does: call its handler, or leave with its code."""
    if callable(handler):
        handler(number, None)
    raise SystemExit(128 + number)


def take_back_signals() -> None:
    """Give SIGTERM back to the handler Python knows of; call it when Paddle has been imported.

    Paddle would print a stack of its own and end the process at once, half files left behind.
    """
    handler = signal.getsignal(signal.SIGTERM)
    # Only a program that has settled it (by a handler, or by ignoring it) wants it back; only the main thread may.
    if (callable(handler) or handler == signal.SIG_IGN) and _is_main_thread():
        signal.signal(signal.SIGTERM, handler)


@contextlib.contextmanager
def blocked_signals() -> Iterator[None]:
    """A stop signal that comes while libraries are loaded acts when they are there.

    The system keeps it meanwhile: an exception in the middle of a C++ module's start leaves half a module, and Paddle
    takes SIGTERM for itself before it is loaded to the end.
    """
    with held_signals():  # another thread of the process may be given the signal all the same
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            yield
            take_back_signals()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def held_signals() -> Iterator[None]:
    """A stop signal that comes inside the block acts at its end; a second one acts at once.

    For calls into Paddle that call Python again (a layer with its own backward pass): an exception raised there
    comes out as another one, and a stop would look like a fault.
    """
    handlers = {number: handler for number in STOPPING if callable(handler := signal.getsignal(number))}
    if not handlers or not _is_main_thread():
        yield
        return
    arrived: list[int] = []

    def hold(number: int, frame: object) -> None:
        arrived.append(number)
        if len(arrived) > 1:
            handlers[number](number, frame)  # type: ignore[arg-type]

    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if arrived:
        handlers[signal.Signals(arrived[0])](arrived[0], None)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
