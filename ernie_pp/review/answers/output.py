"""What answers to the questions of many documents are written into."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from ernie_pp.review.answers.answered import AnsweredDocument, Counts
from ernie_pp.review.answers.index import answers_row, build_answers_index
from ernie_pp.review.answers.page import build_answers_page
from ernie_pp.review.answers.plain import document_as_json, sheet_head, sheet_lines
from ernie_pp.review.folder import INDEX, PAGES, PageFolder, RowsToLookAt, check_page_folder

JSON, SHEET = "answers.json", "answers.csv"


class AnswersOutput:
    """Writes into an empty folder; memory does not grow with the documents. A context manager, which closes files."""

    def __init__(self, folder: Path) -> None:
        self._counts = Counts()
        self._rows = RowsToLookAt()
        self._folder = PageFolder(folder, json_name=JSON, sheet_name=SHEET, sheet_header=sheet_head())

    @property
    def counts(self) -> Counts:
        """Of all documents written so far."""
        return self._counts

    @property
    def num_documents(self) -> int:
        """Documents written so far."""
        return self._folder.num_documents

    def __enter__(self) -> AnswersOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.__exit__(kind, error, trace)

    def add(self, document: AnsweredDocument) -> None:
        """Write a document's page, its JSON and a line of the sheet for each of its questions."""
        page = build_answers_page(document, back=f"../{INDEX}")
        values, lines = document_as_json(document), sheet_lines(document)
        address = self._folder.add(document.id, page=page, values=values, sheet_lines=lines)
        self._counts += Counts.of(document)
        self._rows.add(answers_row(self.num_documents, document, address=address))

    def finish(self) -> None:
        """Write the index of all documents."""
        index = build_answers_index(self._rows.rows(), self._counts, num_documents=self.num_documents)
        self._folder.finish(index)


def check_answers_output(folder: Path) -> None:
    """RunError where something stands under the output's name that no review of answers has written."""
    check_page_folder(folder, always={INDEX, PAGES, JSON, SHEET})
