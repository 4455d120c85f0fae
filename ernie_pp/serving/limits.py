"""What a server takes at most, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of one request (`max_body` bytes, `max_texts`, `max_characters` together) and of all that wait.

    `max_queue` requests of a bundle may wait or be answered at once, with `max_queue_characters` together.
    `timeout_s` counts from when a request is taken to its answer, `body_timeout_s` is what a part of a body may take to
    come, `grace_s` what a stop leaves to requests that were taken.
    """

    max_body: int = 8 << 20
    max_texts: int = 256
    max_characters: int = 1_000_000
    max_queue: int = 256
    max_queue_characters: int = 8_000_000
    timeout_s: float = 60.0
    body_timeout_s: float = 20.0
    grace_s: float = 30.0
