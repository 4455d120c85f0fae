"""The folder of a review: a page a document, a list as JSON and a sheet, written one document after the other."""

from __future__ import annotations

import heapq
import json
from collections.abc import Set
from pathlib import Path
from types import TracebackType
from typing import TextIO

from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.review.addresses import page_name
from ernie_pp.review.index import IndexRow

INDEX, PAGES = "index.html", "documents"
# The index is one page: more rows are left to the spreadsheet.
MAX_ROWS = 2_000


class PageFolder:
    """Writes into an empty folder; memory does not grow with the documents. A context manager, which closes files."""

    def __init__(self, folder: Path, *, json_name: str, sheet_name: str, sheet_header: str) -> None:
        self._folder = folder
        self.num_documents = 0
        with told_as_unwritable(folder):
            (folder / PAGES).mkdir()
            self._json = _open(folder / json_name)
            self._sheet = _open(folder / sheet_name)
            self._json.write("[")
            self._sheet.write(sheet_header)

    def __enter__(self) -> PageFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._json.close()
        self._sheet.close()

    def add(self, document_id: str, *, page: str, values: object, sheet_lines: str) -> str:
        """Write a document's page, its JSON and its lines of the sheet; the page's address as seen from the index."""
        self.num_documents += 1
        name = page_name(self.num_documents, document_id)
        with told_as_unwritable(self._folder):
            (self._folder / PAGES / name).write_text(page, encoding="utf-8")
            self._json.write(("," if self.num_documents > 1 else "") + "\n" + _as_json(values))
            self._sheet.write(sheet_lines)
        return f"{PAGES}/{name}"

    def write_json(self, name: str, values: object) -> None:
        """Write a JSON file of its own beside the list."""
        with told_as_unwritable(self._folder):
            (self._folder / name).write_text(_as_json(values) + "\n", encoding="utf-8")

    def finish(self, index: str) -> None:
        """End the list and write the index page."""
        with told_as_unwritable(self._folder):
            self._json.write("\n]\n")
            (self._folder / INDEX).write_text(index, encoding="utf-8")


class RowsToLookAt:
    """The rows of an index that have most to look at, of equal ones the first: no more than one page can hold."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, IndexRow]] = []

    def add(self, row: IndexRow) -> None:
        """Take a row in, and give up the one with least to look at where there are too many."""
        heapq.heappush(self._heap, (row.num_to_look_at, -row.number, row))
        if len(self._heap) > MAX_ROWS:
            heapq.heappop(self._heap)

    def rows(self) -> list[IndexRow]:
        """The rows that are kept, in no order."""
        return [row for _, _, row in self._heap]


def check_page_folder(folder: Path, *, always: Set[str], sometimes: Set[str] = frozenset()) -> None:
    """RunError where something stands under the output's name that no review has written: files of other names."""
    if not folder.exists() and not folder.is_symlink():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else None
    # A folder with an index.html alone, or with documents, may be anything.
    if names is None or (names and not always <= names) or names - always - sometimes:
        what = "is there, and is not a review's output" if names is None else "is a folder with other files in it"
        raise RunError(str(folder), what, "Give another --output, or remove it.")


def _open(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="")


def _as_json(values: object) -> str:
    """JSON that UTF-8 can hold."""
    return json.dumps(values, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode("utf-8")
