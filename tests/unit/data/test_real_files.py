"""Public data sets as people download them: the right number of rows, nothing lost on the way."""

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.errors import DataError

SETS = [
    ("chnsenticorp/train.tsv", ("label", "text_a"), 9600),
    ("chnsenticorp/dev.tsv", ("label", "text_a"), 1200),
    ("waimai_10k/waimai_10k.csv", ("label", "review"), 11987),
    ("online_shopping_10_cats/first_6000.csv", ("cat", "label", "review"), 6000),
    ("fewclue_tnews/train_few_all.json", ("sentence", "label"), 1185),
    ("fewclue_tnews/dev_few_all.json", ("sentence", "label"), 1098),
    ("fewclue_iflytek/train_0.json", ("sentence", "label"), 928),
    ("fewclue_iflytek/dev_0.json", ("sentence", "label"), 690),
    ("fewclue_eprstmt/dev_few_all.json", ("sentence", "label"), 160),
    ("inews_sentiment/dev.jsonl", ("title", "content", "label"), 999),
    ("cail2019_elements/labor/data_small_selected.json", ("sentence", "labels"), 5682),
    ("cail2019_elements/divorce/data_small_selected.json", ("sentence", "labels"), 11685),
    ("cail2021_ie/xxcq_small.json", ("context",), 2277),
    ("cluener2020/train.json", ("text", "label"), 10748),
    ("fddc_contracts/dev.jsonl", ("text",), None),
]


def read(path, **settings):
    return list(read_rows(path, settings=ReadSettings(**settings), faults=Faults()))


@pytest.mark.parametrize(("name", "columns", "num_rows"), SETS, ids=[name for name, _, _ in SETS])
def test_public_sets_are_read_whole(shared_data, name, columns, num_rows):
    rows = read(shared_data / name, columns=columns)
    assert len(rows) == num_rows if num_rows else rows


def test_the_longest_news_text_is_whole(shared_data):
    rows = read(shared_data / "inews_sentiment/dev.jsonl")
    assert max(len(row.fields["content"]) for row in rows) > 10_000
    assert all("\n" in row.fields["content"] for row in rows if row.fields["content"])


def test_line_separators_inside_texts_are_kept(shared_data):
    rows = read(shared_data / "dirty/jsonl_with_u2028.json")
    assert [row.fields["sentence"].count("\u2028") > 0 for row in rows] == [True]


def test_an_empty_review_is_a_row_for_the_task_to_judge(shared_data):
    rows = read(shared_data / "dirty/reviews_with_an_empty_row.csv", columns=("label", "review"))
    assert len(rows) == 20
    assert [row.place.line for row in rows if not row.fields["review"]] != []


def test_an_inner_mark_of_order_stays_in_the_text(shared_data):
    rows = read(shared_data / "dirty/reviews_with_inner_bom.csv", columns=("review",))
    assert len(rows) == 15
    assert sum("\ufeff" in row.fields["review"] for row in rows) > 0


def test_separators_inside_fields_stay(shared_data):
    rows = read(shared_data / "dirty/ner_x02_separated.tsv", header=False)
    assert len(rows) == 8 and all("\x02" in row.fields["1"] for row in rows)
    rows = read(shared_data / "dirty/ner_ideographic_space_tokens.tsv")
    assert len(rows) == 7 and any("\u3000" in row.fields["text_a"] for row in rows)


@pytest.mark.parametrize(
    "name",
    [
        "squad_one_based_offsets.json",
        "squad_missing_and_shifted_starts.json",
        "squad_impossible_flag_is_a_string.json",
        "squad_fake_answers.json",
        "cmrc_original_format_number_answers.json",
    ],
)
def test_files_of_another_layout_are_refused_by_their_missing_field(shared_data, name):
    with pytest.raises(DataError, match=r'line 1[\s\S]*a field "text"'):
        read(shared_data / "dirty" / name, columns=("text",))


def test_a_whole_document_on_one_long_line_is_refused(shared_data):
    with pytest.raises(DataError, match=r"line 1[\s\S]*at most 1,048,576 bytes"):
        read(shared_data / "cail2019_mrc/dev_ground_truth.json", columns=("text",))
