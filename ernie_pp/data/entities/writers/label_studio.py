"""Label Studio's JSON: a list of tasks, which its import takes.

Entities are annotations; predicted ones (Mention) are predictions, which Label Studio shows as pre-annotations. The
names `label` and `text` are those of its template for named entities.

Places are code points, not UTF-16 units: its editor turns those of JavaScript into code points before it saves them.
Versions of 2021 counted an emoji twice, which the reader of such a file detects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.entities.writers.fields import as_json, with_own_fields

MODEL_VERSION = "ernie_pp"


def write_label_studio(documents: Iterable[Document]) -> Iterator[str]:
    """One task a document: data with the text and the other fields, then what is marked in it.

    Where anything in the file is predicted, a text without entities has an empty prediction: nobody has looked at it.
    So all documents are held.
    """
    held = list(documents)
    are_predicted = any(isinstance(one, Mention) for document in held for one in document.entities or ())
    yield "["
    for number, document in enumerate(held):
        yield (",\n" if number else "\n") + as_json(_task(document, are_predicted=are_predicted))
    yield "\n]\n"


def _task(document: Document, *, are_predicted: bool) -> dict[str, object]:
    task: dict[str, object] = {"data": with_own_fields(document, {"text": document.text})}
    if document.entities is None:  # a task to be labelled
        return task
    predicted = [one for one in document.entities if isinstance(one, Mention)]
    marked = [one for one in document.entities if not isinstance(one, Mention)]
    if marked or not are_predicted:
        task["annotations"] = [{"result": _results(document, marked)}]
    if predicted or (are_predicted and not marked):
        prediction: dict[str, object] = {"model_version": MODEL_VERSION, "result": _results(document, predicted)}
        if predicted:
            prediction["score"] = round(sum(one.score for one in predicted) / len(predicted), 6)
        task["predictions"] = [prediction]
    return task


def _results(document: Document, entities: Sequence[Entity]) -> list[dict[str, object]]:
    return [_result(document, one, number) for number, one in enumerate(entities)]


def _result(document: Document, one: Entity, number: int) -> dict[str, object]:
    text = document.text[one.start : one.end]
    value = {"start": one.start, "end": one.end, "text": text, "labels": [one.label]}
    result = {"id": f"e{number}", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
    return {**result, "score": one.score} if isinstance(one, Mention) else result
