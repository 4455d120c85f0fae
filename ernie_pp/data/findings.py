"""What was noticed in a file and not held against it: counted by kind, the first ones named."""

from __future__ import annotations

from collections.abc import Mapping

from ernie_pp.data.rows import Place

MOST_NAMED = 3


class Findings:
    """Counts findings by kind and remembers the first few of each; `kinds` says what each kind is."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._counts = dict.fromkeys(kinds, 0)
        self._named: dict[str, list[tuple[Place, str]]] = {kind: [] for kind in kinds}

    def add(self, kind: str, place: Place, shown: str, *, count: int = 1) -> None:
        """Note one finding (or several of one place), `shown` being what a reader would look for."""
        self._counts[kind] += count
        if len(self._named[kind]) < MOST_NAMED:
            self._named[kind].append((place, shown))

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind that was found."""
        return {kind: count for kind, count in self._counts.items() if count}

    def lines(self) -> list[str]:
        """One line a kind: file, number, what it is, and where the first ones stand."""
        return [self._line(kind, count) for kind, count in self.counts.items()]

    def _line(self, kind: str, count: int) -> str:
        named = self._named[kind]
        path = named[0][0].path
        # The files of a folder are read as one.
        places = "; ".join(
            f"{'' if place.path == path else f'{place.path} '}line {place.line} {shown}" for place, shown in named
        )
        more = "; …" if count > len(named) else ""
        return f"{path}: {self._kinds[kind]}: {count} ({places}{more})"
