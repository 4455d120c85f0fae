"""The fields of many documents as rows of a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from ernie_pp.review.reviewed import ReviewedDocument

# Spreadsheets read UTF-8 by this mark only.
BYTE_ORDER_MARK = "\ufeff"
# A cell that begins so is taken for a formula; the quote makes it a text, and is not shown in Excel.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Excel takes no more in a cell.
MAX_CELL = 32_000


def sheet_header(names: Sequence[str]) -> str:
    """The first line: a value, a confidence and a status a field."""
    columns = [column for name in names for column in (name, f"{name} 置信度", f"{name} 状态")]
    return BYTE_ORDER_MARK + sheet_line(["id", "需核对", *columns])


def sheet_row(document: ReviewedDocument) -> str:
    """The line of one document; several values of a field are joined by "; "."""
    cells: list[str] = [document.id, str(document.num_to_look_at)]
    for field in document.fields:
        shown = [value.text if field.kind == "text" else value.value for value in field.values]
        confidence = f"{field.values[0].confidence:.4f}" if field.values else ""
        cells += ["; ".join(shown), confidence, field.status]
    return sheet_line(cells)


def sheet_line(cells: Sequence[str]) -> str:
    """One line of any sheet, its cells such that no spreadsheet executes or refuses one."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\r\n").writerow(map(_safe, cells))
    return stream.getvalue()


def _safe(cell: str) -> str:
    """A cell no spreadsheet executes or refuses, with what UTF-8 cannot hold replaced."""
    text = cell.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    text = text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"
    return "'" + text if text.lstrip(" \u3000\xa0").startswith(_FORMULA) else text
