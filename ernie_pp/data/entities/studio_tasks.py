"""A task of Label Studio: annotations that people made, predictions that nobody has gone over, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ernie_pp.data.entities.marked import Marked, MarkedText, Unreadable, listed


def read_task(fields: Mapping[str, Any], text: str) -> MarkedText:
    """The first annotation that is not cancelled; where there is none, the first prediction."""
    data = fields.get("data")
    if not isinstance(data, Mapping):
        raise Unreadable("data", data, '{"text": "…"}')
    annotations = _parts(fields, "annotations" if "annotations" in fields else "completions")
    predictions = _parts(fields, "predictions")
    kept = [one for one in annotations if not one.get("was_cancelled")]
    chosen = kept or predictions
    results = listed(chosen[0].get("result"), "result") if chosen else []
    notes = [("cancelled", "annotations")] * (len(annotations) - len(kept))
    notes += [("more_annotations", f"{len(kept)} annotations")] * (len(kept) > 1)
    notes += [("predicted", "predictions")] * (bool(predictions) and not kept)
    notes += [("other_marks", one["type"]) for one in results if _is_other_mark(one)]
    marked = tuple(_results(results)) if chosen else None
    rest = {**{name: value for name, value in data.items() if name != text}, **_id_of(fields)}
    return MarkedText(data.get(text), marked, rest, notes)


def _parts(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Annotations or predictions of a task; none where the field is not there, or null."""
    value = fields.get(name)
    parts = [] if value is None else listed(value, name)
    odd = next((one for one in parts if not isinstance(one, Mapping)), None)
    if odd is not None:
        raise Unreadable(name, odd, '{"result": […]}')
    return parts


def _is_other_mark(result: Any) -> bool:
    """Whether a result names no part of the text: a link or a comment, a part without a label, an answer about all."""
    if not isinstance(result, Mapping) or not isinstance(result.get("type"), str):
        return False
    value = result.get("value")
    if result["type"] == "relation":
        return True
    # hypertextlabels and paragraphlabels name parts too, by places of another kind.
    return isinstance(value, Mapping) and (
        "start" not in value or not any(str(one).endswith("labels") for one in value)
    )


def _results(results: Sequence[Any]) -> Iterator[Marked]:
    for result in results:
        if _is_other_mark(result):
            continue
        value = result.get("value") if isinstance(result, Mapping) else None
        if not isinstance(value, Mapping) or "start" not in value or "labels" not in value:
            raise Unreadable("result", result, '{"value": {"start", "end", "labels"}}')
        for label in listed(value["labels"], "labels"):
            yield Marked(value["start"], value.get("end"), label, value.get("text"))


def _id_of(fields: Mapping[str, Any]) -> dict[str, object]:
    return {"id": fields["id"]} if "id" in fields else {}
