"""How entities stand in the fields of a row: each format's own names, read into one form and not checked yet.

entities      {text, entities: [{start, end, label, text}]}, ends exclusive; also start_offset, end_offset, type
cluener       {text, label: {type: {mention: [[start, end]]}}}, ends INCLUSIVE
cail          {context, entities: [{label, span: ["start;end"]}]}, ends exclusive
doccano       {text, label: [[start, end, label]]}, also "labels", and "data" for the text, ends exclusive
label_studio  {data: {text}, annotations: [{result: [{value: {start, end, text, labels}}]}]}, ends exclusive
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ernie_pp.choices import Dialect
from ernie_pp.data.entities.marked import Marked, MarkedText, Unreadable, listed
from ernie_pp.data.entities.studio_tasks import read_task


def read_fields(fields: Mapping[str, Any], dialect: Dialect, *, text: str) -> MarkedText:
    """The text of a row and its entities; `text` is the field of the text. Unreadable where they are another thing."""
    kind = dialect_of(fields, text=text) if dialect == "auto" else dialect
    return _READERS[kind](fields, text)


def dialect_of(fields: Mapping[str, Any], *, text: str) -> str:
    """The dialect that the names of the fields tell; Unreadable where two of them hold entities."""
    if isinstance(fields.get("data"), Mapping) or "annotations" in fields:
        return "label_studio"
    name = "label" if "label" in fields else "labels"
    labels, entries = fields.get(name), fields.get("entities")
    has_entries = isinstance(entries, list) and bool(entries)
    if has_entries and _hold_entities(labels):
        raise Unreadable("entities", entries, f"entities in one field, and {name} holds some too")
    if isinstance(labels, str) and labels.lstrip().startswith(("[", "{")):
        raise Unreadable(name, labels, "entities as JSON, not as text: write JSON lines instead of a table")
    is_marked = _hold_entities(labels) or not isinstance(entries, list)
    if not has_entries and isinstance(labels, (Mapping, list)) and is_marked:
        return "cluener" if name == "label" and isinstance(labels, Mapping) else "doccano"
    if isinstance(entries, list) and any(isinstance(one, Mapping) and "span" in one for one in entries):
        return "cail"
    return "cail" if "context" in fields and text not in fields else "entities"


def _hold_entities(labels: Any) -> bool:
    """Whether labels are those of cluener or doccano: an empty field, or names of what a text is about, are not."""
    return bool(labels) and (
        isinstance(labels, Mapping) or (isinstance(labels, list) and any(isinstance(one, list) for one in labels))
    )


def _entities(fields: Mapping[str, Any], text: str) -> MarkedText:
    entries = fields.get("entities")
    if entries is not None and not isinstance(entries, list):
        raise Unreadable("entities", entries, 'a list of {"start", "end", "label"}')
    marked = None if entries is None else tuple(_entry(one) for one in entries)
    return MarkedText(fields.get(text), marked, _rest(fields, text, "entities"))


def _entry(entry: Any) -> Marked:
    if not isinstance(entry, Mapping):
        raise Unreadable("entities", entry, '{"start", "end", "label"}')
    start, end, label = (_first_of(entry, names) for names in _ENTRY_NAMES)
    return Marked(start, end, label, entry.get("text"))


_ENTRY_NAMES = (("start", "start_offset", "start_idx"), ("end", "end_offset", "end_idx"), ("label", "type", "entity"))


def _first_of(entry: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        if name in entry:
            return entry[name]
    raise Unreadable("entities", ", ".join(map(str, entry)), f"a field {' or '.join(names[:2])}")


def _cluener(fields: Mapping[str, Any], text: str) -> MarkedText:
    labels = fields.get("label")
    if labels is not None and not isinstance(labels, Mapping):
        raise Unreadable("label", labels, "{type: {mention: [[start, end]]}}")
    marked = None if labels is None else tuple(_mentions(labels))
    return MarkedText(fields.get(text), marked, _rest(fields, text, "label"))


def _mentions(labels: Mapping[str, Any]) -> Iterator[Marked]:
    for label, mentions in labels.items():
        if not isinstance(mentions, Mapping):
            raise Unreadable("label", mentions, "{mention: [[start, end]]}")
        for mention, spans in mentions.items():
            for span in listed(spans, "label"):
                start, end = _pair(span, "label")
                yield Marked(start, end + 1 if type(end) is int else end, label, mention)


def _cail(fields: Mapping[str, Any], text: str) -> MarkedText:
    name = text if text in fields else "context"
    entries = fields.get("entities")
    marked = None if entries is None else tuple(_spans(listed(entries, "entities")))
    return MarkedText(fields.get(name), marked, _rest(fields, name, "entities"))


def _spans(entries: Sequence[Any]) -> Iterator[Marked]:
    for entry in entries:
        if not isinstance(entry, Mapping) or "label" not in entry:
            raise Unreadable("entities", entry, '{"label", "span": ["start;end"]}')
        for span in listed(entry.get("span"), "span"):
            parts = span.split(";") if isinstance(span, str) else []
            # Longer ones than these Python does not read, and no text is so long.
            if len(parts) != 2 or not all(part.strip().isdecimal() and len(part) < 20 for part in parts):
                raise Unreadable("span", span, 'a text "start;end"')
            yield Marked(int(parts[0]), int(parts[1]), entry["label"])


def _doccano(fields: Mapping[str, Any], text: str) -> MarkedText:
    name = text if text in fields else "data"
    own = next((key for key in ("label", "labels") if key in fields), None)
    if own is None:
        return _entities(fields, name)
    marked = []
    for entry in listed(fields[own], own):
        if not isinstance(entry, list) or len(entry) != 3:
            raise Unreadable(own, entry, "[start, end, label]")
        marked.append(Marked(*entry))
    return MarkedText(fields.get(name), tuple(marked), _rest(fields, name, own))


def _pair(value: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise Unreadable(name, value, "[start, end]")
    return value[0], value[1]


def _rest(fields: Mapping[str, Any], *names: str) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name not in names}


_READERS: dict[str, Callable[[Mapping[str, Any], str], MarkedText]] = {
    "entities": _entities,
    "cluener": _cluener,
    "cail": _cail,
    "doccano": _doccano,
    "label_studio": read_task,
}
