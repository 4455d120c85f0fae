"""What was noticed in a file of entities and not held against it: counted, the first ones named."""

from __future__ import annotations

from ernie_pp.data.rows import Place

MOST_NAMED = 3
# What each kind is, and what was done about it.
KINDS = {
    "illegal_tag": "illegal tags, each read as the beginning, or the end, of an entity",
    "cut_entity": "texts that begin in the middle of an entity, which an empty line cuts in two",
    "duplicate": "entities marked twice, which count once",
    "overlap": "entities that overlap another one of their text",
    "blank_edge": "entities that begin or end with a blank, which no token has and no model finds",
    "moved": "entities that stood at a wrong place, moved to where their text is (ner.repair_offsets)",
    "more_annotations": "texts with several annotations, of which the first is read",
    "cancelled": "annotations that were cancelled, left out",
    "predicted": "texts with predictions that nobody has gone over, which are read as entities",
    "other_marks": "relations, attributes and notes, not read",
}


class Findings:
    """Counts findings by kind; remembers the first few of each."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(KINDS, 0)
        self._named: dict[str, list[tuple[Place, str]]] = {kind: [] for kind in KINDS}

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
        return f"{path}: {KINDS[kind]}: {count} ({places}{more})"
