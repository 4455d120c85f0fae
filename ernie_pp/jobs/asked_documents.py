"""Documents given as files, and the questions asked of each of them, as rows to predict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ernie_pp.bounded import read_text
from ernie_pp.data.rows import Place, Row
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.text.invisible import is_blank

# Far above any document that people write; a wrong file must not fill the memory.
MAX_BYTES = 256 << 20
ENDINGS = (".txt", ".md", ".markdown")


def rows_of_documents(paths: Sequence[str], questions: Sequence[str]) -> Iterator[Row]:
    """Every question to every document; each character of a file counts as one of its text.

    A document has the name of its file, with its folder where several files have that name.
    """
    known = Counter(Path(path).name for path in dict.fromkeys(paths))
    for path in paths:
        text, name = read_document(Path(path)), Path(path).name
        name = name if known[name] == 1 else path
        for number, question in enumerate(questions, start=1):
            fields = {"id": f"{name}-{number}", "title": name, "context": text, "question": question}
            yield Row(Place(path, 1), fields)


def read_document(path: Path) -> str:
    """The text of a plain text or Markdown file; DataError for other files, and for one without a text."""
    if path.suffix.lower() not in ENDINGS:
        what = f'ends in "{path.suffix}", expected {" or ".join(ENDINGS)}'
        raise DataError(str(path), what, "Save the document as plain text in UTF-8.")
    text = read_text(path, max_bytes=MAX_BYTES, error=DataError, do="Give plain text in UTF-8.")
    if is_blank(text):
        raise DataError(str(path), "holds no text that can be seen", "Leave the file out.")
    return text


def settle_questions(given: Sequence[str] | None, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The questions that were given, or those the bundle was trained to review by; ConfigError where there is none."""
    review = manifest.get("review")
    stored = review.get("questions") if isinstance(review, Mapping) else None
    known = stored if isinstance(stored, list) and all(isinstance(one, str) for one in stored) else []
    questions = tuple(given) if given else tuple(known)
    if not questions:
        advice = "Ask some: --question TEXT ..., or name review.questions in the config of the training."
        raise ConfigError("--question", "is missing, and the bundle holds no questions of its own", advice)
    where = "--question" if given else "review.questions of the bundle"
    for question in questions:
        if is_blank(question):
            raise ConfigError(where, f"is {question!r}, expected a text that can be seen", "Leave it out.")
    return questions
