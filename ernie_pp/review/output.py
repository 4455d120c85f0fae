"""The folder of a review, written one document after the other."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.review.addresses import page_name
from ernie_pp.review.evaluate import ReviewFigures
from ernie_pp.review.index import IndexRow, build_index
from ernie_pp.review.page import build_page
from ernie_pp.review.reviewed import ReviewedDocument
from ernie_pp.review.sheet import sheet_header, sheet_row
from ernie_pp.review.wrong import ReviewError

INDEX, PAGES, JSON, SHEET, FIGURES = "index.html", "documents", "review.json", "review.csv", "figures.json"
# The index is one page: more rows are left to the spreadsheet.
MAX_ROWS = 2_000
MAX_ERRORS = 1_000


class ReviewOutput:
    """Writes into an empty folder; memory does not grow with the documents. A context manager, which closes files."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """`names` are those of the fields."""
        self._folder, self._names = folder, names
        self.num_documents = 0
        self._rows: list[tuple[int, int, IndexRow]] = []
        with told_as_unwritable(folder):
            (folder / PAGES).mkdir()
            self._json = _open(folder / JSON)
            self._sheet = _open(folder / SHEET)
            self._json.write("[")
            self._sheet.write(sheet_header(names))

    def __enter__(self) -> ReviewOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._json.close()
        self._sheet.close()

    def add(self, document: ReviewedDocument) -> None:
        """Write a document's page, its JSON and its line of the sheet."""
        self.num_documents += 1
        name = page_name(self.num_documents, document.id)
        text = json.dumps(document.to_json(), ensure_ascii=False, indent=1)
        page = build_page(document, back=f"../{INDEX}")
        with told_as_unwritable(self._folder):
            (self._folder / PAGES / name).write_text(page, encoding="utf-8")
            self._json.write(("," if self.num_documents > 1 else "") + "\n" + _without_halves(text))
            self._sheet.write(sheet_row(document))
        self._remember(IndexRow.of(self.num_documents, document, address=f"{PAGES}/{name}"))

    def finish(self, figures: ReviewFigures | None = None, errors: Iterable[ReviewError] = ()) -> None:
        """Write what is about all documents: the index and, where there are figures, those."""
        errors = list(errors)
        index = build_index(
            [row for _, _, row in self._rows],
            self._names,
            num_documents=self.num_documents,
            figures=figures,
            errors=errors,
        )
        with told_as_unwritable(self._folder):
            self._json.write("\n]\n")
            (self._folder / INDEX).write_text(index, encoding="utf-8")
            if figures is not None:
                values = figures.to_json() | {"errors": [error.to_json() for error in errors]}
                text = json.dumps(values, ensure_ascii=False, indent=1)
                (self._folder / FIGURES).write_text(_without_halves(text) + "\n", encoding="utf-8")

    def _remember(self, row: IndexRow) -> None:
        # The rows with most to look at stay; of equals the first.
        heapq.heappush(self._rows, (row.num_to_look_at, -row.number, row))
        if len(self._rows) > MAX_ROWS:
            heapq.heappop(self._rows)


def check_output(folder: Path) -> None:
    """RunError where something stands under the output's name that no review has written."""
    if not folder.exists() and not folder.is_symlink():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else None
    written = {INDEX, PAGES, JSON, SHEET}
    # A folder with an index.html alone, or with documents, may be anything.
    if names is None or (names and not written <= names) or names - written - {FIGURES}:
        what = "is there, and is not a review's output" if names is None else "is a folder with other files in it"
        raise RunError(str(folder), what, "Give another --output, or remove it.")


def _open(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="")


def _without_halves(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
