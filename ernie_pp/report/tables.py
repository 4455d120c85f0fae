"""Tables and the confusion of labels as HTML; each scrolls inside its own box."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

from ernie_pp.report.content import Confusion, Table
from ernie_pp.report.values import escape_visibly, show_percent, show_value

MOST_MATRIX_LABELS = 15
NUM_LISTED = 50


def draw_table(table: Table) -> str:
    """Title, note and rows; numbers stand right, fractions have a bar behind them."""
    is_number = [_holds_numbers(table.rows, index) for index in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{_class(number)}>{escape_visibly(name)}</th>'
        for name, number in zip(table.columns, is_number, strict=True)
    )
    rows = "".join(f"<tr>{_cells(table, row)}</tr>" for row in table.rows)
    note = f'<p class="note">{escape_visibly(table.note)}</p>' if table.note else ""
    body = f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    title = f"<h3>{escape_visibly(table.title)}</h3>"
    return f'<div class="table">{title}{note}<div class="box" tabindex="0">{body}</div></div>'


def draw_confusion(confusion: Confusion) -> str:
    """A coloured matrix for few labels, the largest confusions as a list for many."""
    if len(confusion.labels) <= MOST_MATRIX_LABELS:
        return _matrix(confusion)
    return _list(confusion)


def _cells(table: Table, row: Sequence[object]) -> str:
    pairs = zip(table.columns, row, strict=True)
    return "".join(_cell(value, percent=name in table.percent) for name, value in pairs)


def _cell(value: object, *, percent: bool) -> str:
    if not _is_number(value):
        return f"<td>{escape_visibly(show_value(value))}</td>"
    number = float(value)  # type: ignore[arg-type]
    bar = ""
    if percent and math.isfinite(number):
        bar = f' style="--share:{100 * min(max(number, 0.0), 1.0):.1f}%"'
    name = "number share" if bar else "number"
    return f'<td class="{name}" data-value="{number!r}"{bar}>{show_value(value, percent=percent)}</td>'


def _matrix(confusion: Confusion) -> str:
    head = "".join(f'<th scope="col"><span>{escape_visibly(label)}</span></th>' for label in confusion.labels)
    rows = []
    for index, (label, counts) in enumerate(zip(confusion.labels, confusion.counts, strict=True)):
        total = sum(counts)
        cells = "".join(_matrix_cell(count, total, is_right=index == given) for given, count in enumerate(counts))
        rows.append(
            f'<tr><th scope="row">{escape_visibly(label)}</th>{cells}<td class="number total">{total:,}</td></tr>'
        )
    upright = " upright" if len(confusion.labels) > 6 else ""
    return (
        '<p class="note">Rows: true label. Columns: label given. Colour: share of the row; hover for percent.</p>'
        f'<div class="box" tabindex="0"><table class="matrix{upright}">'
        f'<thead><tr><th scope="col">true \\ given</th>{head}<th scope="col"><span>rows</span></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _matrix_cell(count: int, total: int, *, is_right: bool) -> str:
    if not count:
        return '<td class="number zero">0</td>'
    share = count / total
    kind = "right" if is_right else "wrong"
    # Rare confusions must differ from none, and the number must be readable on its colour.
    style = f"--depth:{0.1 + 0.6 * share:.2f}"
    return f'<td class="number {kind}" style="{style}" title="{show_percent(share)}">{count:,}</td>'


def _list(confusion: Confusion) -> str:
    labels, counts = confusion.labels, confusion.counts
    found = [
        (count, true, given)
        for true, row in enumerate(counts)
        for given, count in enumerate(row)
        if count and true != given
    ]
    found.sort(key=lambda confused: (-confused[0], confused[1:]))
    rows = [
        (labels[true], labels[given], count, count / sum(counts[true])) for count, true, given in found[:NUM_LISTED]
    ]
    note = f"{len(labels)} labels; of {len(found):,} confused pairs the {len(rows)} largest."
    columns = ("true label", "label given", "rows", "share of the true label")
    return draw_table(Table("Largest confusions", columns, rows, frozenset(columns[-1:]), note))


def _holds_numbers(rows: Sequence[Sequence[object]], index: int) -> bool:
    return any(_is_number(row[index]) for row in rows)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""
