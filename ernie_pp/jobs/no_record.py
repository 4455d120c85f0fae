"""The record of a process that writes none: in a run of many, rank 0 does."""

from __future__ import annotations

from collections.abc import Mapping


class NoRecord:
    """Takes what RunRecord takes."""

    def __init__(self) -> None:
        self.history: list[dict] = []

    def __enter__(self) -> NoRecord:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, kind: str, step: int, values: Mapping[str, object]) -> None:
        """Write nothing."""
