"""Label Studio's JSON: a list of tasks, which its import takes.

Entities are annotations; predicted ones (Mention) are predictions, which Label Studio shows as pre-annotations. The
names `label` and `text` are those of its template for named entities. Places are code points, as its present versions
write them; older ones counted an emoji twice, which the reader of such a file detects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ernie_pp.data.entities.document import Document, Entity, Mention


def write_label_studio(documents: Iterable[Document]) -> Iterator[str]:
    """One task a document: data with the text and the other fields, then what is marked in it."""
    yield "["
    for number, document in enumerate(documents):
        yield (",\n" if number else "\n") + json.dumps(_task(document), ensure_ascii=False, default=str)
    yield "\n]\n"


def _task(document: Document) -> dict[str, object]:
    entities = document.entities or ()
    predicted = [one for one in entities if isinstance(one, Mention)]
    marked = [one for one in entities if not isinstance(one, Mention)]
    task: dict[str, object] = {"data": {**document.fields, "text": document.text}}
    if marked or not predicted:
        task["annotations"] = [{"result": [_result(document, one, number) for number, one in enumerate(marked)]}]
    if predicted:
        results = [_result(document, one, number) for number, one in enumerate(predicted)]
        mean = sum(one.score for one in predicted) / len(predicted)
        task["predictions"] = [{"model_version": "ernie_pp", "score": round(mean, 6), "result": results}]
    return task


def _result(document: Document, one: Entity, number: int) -> dict[str, object]:
    text = document.text[one.start : one.end]
    value = {"start": one.start, "end": one.end, "text": text, "labels": [one.label]}
    result = {"id": f"e{number}", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
    return {**result, "score": one.score} if isinstance(one, Mention) else result
