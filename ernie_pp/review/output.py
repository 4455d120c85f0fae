"""What a review of fields writes into its folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

from ernie_pp.review.evaluate import ReviewFigures
from ernie_pp.review.folder import INDEX, PAGES, PageFolder, RowsToLookAt, check_page_folder
from ernie_pp.review.index import IndexRow, build_index
from ernie_pp.review.page import build_page
from ernie_pp.review.reviewed import ReviewedDocument
from ernie_pp.review.sheet import sheet_header, sheet_row
from ernie_pp.review.wrong import ReviewError

JSON, SHEET, FIGURES = "review.json", "review.csv", "figures.json"
MAX_ERRORS = 1_000


class ReviewOutput:
    """Writes into an empty folder; memory does not grow with the documents. A context manager, which closes files."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """`names` are those of the fields."""
        self._names = names
        self._rows = RowsToLookAt()
        self._folder = PageFolder(folder, json_name=JSON, sheet_name=SHEET, sheet_header=sheet_header(names))

    @property
    def num_documents(self) -> int:
        """Documents written so far."""
        return self._folder.num_documents

    def __enter__(self) -> ReviewOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.__exit__(kind, error, trace)

    def add(self, document: ReviewedDocument) -> None:
        """Write a document's page, its JSON and its line of the sheet."""
        page = build_page(document, back=f"../{INDEX}")
        values, line = document.to_json(), sheet_row(document)
        address = self._folder.add(document.id, page=page, values=values, sheet_lines=line)
        self._rows.add(IndexRow.of(self.num_documents, document, address=address))

    def finish(self, figures: ReviewFigures | None = None, errors: Iterable[ReviewError] = ()) -> None:
        """Write what is about all documents: the index and, where there are figures, those."""
        errors = list(errors)
        index = build_index(
            self._rows.rows(), self._names, num_documents=self.num_documents, figures=figures, errors=errors
        )
        self._folder.finish(index)
        if figures is not None:
            values = figures.to_json() | {"errors": [error.to_json() for error in errors]}
            self._folder.write_json(FIGURES, values)


def check_output(folder: Path) -> None:
    """RunError where something stands under the output's name that no review has written."""
    check_page_folder(folder, always={INDEX, PAGES, JSON, SHEET}, sometimes={FIGURES})
