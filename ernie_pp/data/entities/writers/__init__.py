"""Documents as the files of other tools, one file a format; places are code points everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ernie_pp.data.entities.document import Document
from ernie_pp.data.entities.writers.json_lines import write_cail, write_cluener, write_doccano, write_entities
from ernie_pp.data.entities.writers.label_studio import write_label_studio
from ernie_pp.data.entities.writers.token_lines import write_bio, write_bioes, write_bmes

__all__ = ["HOLDS_FIELDS", "HOLDS_SCORES", "HOLDS_SOURCES", "HOLDS_UNMARKED", "WRITERS"]

# Each gives the parts of a file's text in order. brat's two files a document are written by brat.py.
WRITERS: dict[str, Callable[[Iterable[Document]], Iterator[str]]] = {
    "entities": write_entities,
    "cluener": write_cluener,
    "cail": write_cail,
    "doccano": write_doccano,
    "label_studio": write_label_studio,
    "bio": write_bio,
    "bioes": write_bioes,
    "bmes": write_bmes,
}
# What else than texts, places and types a format has room for.
HOLDS_SCORES = frozenset({"entities", "label_studio"})
HOLDS_SOURCES = frozenset({"entities"})
HOLDS_FIELDS = frozenset({"entities", "cluener", "cail", "doccano", "label_studio"})
# That nobody has marked a text, which is not the same as no entities in it.
HOLDS_UNMARKED = frozenset({"entities", "cluener", "cail", "label_studio"})
