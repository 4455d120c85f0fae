"""What the standard library writes comes back as it was."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows

# Everything but surrogates and NUL, with what is dangerous drawn often.
CHARACTERS = st.one_of(
    st.sampled_from("好,\"\t\n\r\u2028\u2029\x85\x0b\x0c\x1c\ufeff\u3000\\' "),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
TEXTS = st.text(CHARACTERS, max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), min_size=1, max_size=8)


def read(data, **options):
    rows = read_rows(io.BytesIO(data), settings=ReadSettings(**options), faults=Faults())
    return [dict(row.fields) for row in rows]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=8), st.sampled_from([",", "\t"]))
def test_csv_written_by_python_is_read_back(rows, delimiter):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows([("a", "b", "c"), *rows])
    name = "csv" if delimiter == "," else "tsv"
    back = read(stream.getvalue().encode(), format=name, quoting="double")
    assert [tuple(one.values()) for one in back] == rows


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_tab_separated_text_is_read_back(rows):
    forbidden = str.maketrans("", "", "\t\n\r")
    rows = [(first.translate(forbidden), second.translate(forbidden)) for first, second in rows]
    data = "a\tb\n" + "".join(f"{first}\t{second}\n" for first, second in rows)
    assert [tuple(one.values()) for one in read(data.encode(), format="tsv")] == rows


@pytest.mark.parametrize("ascii_only", [True, False])
@settings(max_examples=200, deadline=None)
@given(records=RECORDS, indent=st.sampled_from([None, 1]))
def test_json_written_by_python_is_read_back(records, indent, ascii_only):
    lines = "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in records)
    assert read(lines.encode(), format="jsonl") == records
    array = json.dumps(records, ensure_ascii=ascii_only, indent=indent)
    assert read(array.encode(), format="json") == records
