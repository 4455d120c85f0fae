"""A spreadsheet opens the fields of many documents, and runs none of them."""

import csv
import io

import pytest

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.review.fields import fill_fields
from ernie_pp.review.reviewed import ReviewedDocument
from ernie_pp.review.sheet import sheet_header, sheet_row

CONFIGS = (
    FieldConfig(name="甲方", labels=("甲方",)),
    FieldConfig(name="金额", labels=("金额",), kind="amount", many=True),
)


def row_of(text, *mentions, name="一"):
    document = ReviewedDocument(name, text, mentions, fill_fields(text, mentions, CONFIGS))
    return next(csv.reader(io.StringIO(sheet_row(document))))


def test_a_row_has_the_columns_of_the_header():
    header = next(csv.reader(io.StringIO(sheet_header(["甲方", "金额"]).removeprefix("\ufeff"))))
    text = "青禾公司 1万元 2万元"
    row = row_of(text, Mention(0, 4, "甲方", 0.9), Mention(5, 8, "金额", 0.9), Mention(9, 12, "金额", 0.8))
    assert dict(zip(header, row, strict=True)) == {
        "id": "一",
        "需核对": "0",
        "甲方": "青禾公司",
        "甲方 置信度": "0.9000",
        "甲方 状态": "found",
        "金额": "10000.00; 20000.00",
        "金额 置信度": "0.9000",
        "金额 状态": "found",
    }


def test_the_first_bytes_tell_a_spreadsheet_that_it_is_utf_8():
    assert sheet_header([]).encode("utf-8").startswith(b"\xef\xbb\xbfid,")


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "\r=1", "\u3000=1"])
def test_no_cell_is_a_formula(evil):
    assert row_of(evil + "公司", Mention(0, len(evil) + 2, "甲方"), name=evil)[0] == "'" + evil
    assert row_of(evil + "公司", Mention(0, len(evil) + 2, "甲方"))[2] == "'" + evil + "公司"


def test_line_breaks_quotes_and_half_characters_come_back_as_one_cell():
    text = '青禾"公司"\n分部,\ud800'
    assert row_of(text, Mention(0, len(text), "甲方"))[2] == '青禾"公司"\n分部,?'
