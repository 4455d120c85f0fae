"""Signals after Paddle was loaded: its C++ side takes some for itself, behind Python's back."""

from __future__ import annotations

import signal
import threading


def take_back_signals() -> None:
    """Give SIGTERM back to the handler Python knows of; call it when Paddle has been imported.

    Paddle would print a stack of its own and end the process at once, half files left behind.
    """
    handler = signal.getsignal(signal.SIGTERM)
    # Only a program that has a handler of its own wants it back, and only the main thread may set one.
    if callable(handler) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)
