import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.errors import ConfigError, DataError
from ernie_pp.text.truncation import kept_lengths


def _texts(tokenizer, encoding, text, pair=""):
    """What is left of the text and of the second text."""
    parts = ["", ""]
    for type_id, (start, end) in zip(encoding.type_ids.tolist(), encoding.offsets.tolist(), strict=True):
        parts[type_id] += (pair if type_id else text)[start:end] if start >= 0 else ""
    return parts


@pytest.mark.parametrize(
    ("truncate", "left"), [("head", "一二三四五"), ("tail", "四五六七八"), ("middle", "一二三七八")]
)
def test_text_keeps_what_the_rule_says(tokenizer, truncate, left):
    encoding = tokenizer.encode(["一二三四五六七八"], max_length=7, truncate=truncate)[0]
    assert _texts(tokenizer, encoding, "一二三四五六七八")[0] == left
    assert encoding.num_cut == 3 and len(encoding.ids) == 7
    assert encoding.ids[[0, -1]].tolist() == [tokenizer.cls_id, tokenizer.sep_id]


@pytest.mark.parametrize("truncate", ["head", "tail", "middle", "error"])
def test_text_of_just_the_limit_is_whole(tokenizer, truncate):
    encoding = tokenizer.encode(["一二三"], max_length=5, truncate=truncate)[0]
    assert encoding.num_cut == 0 and _texts(tokenizer, encoding, "一二三")[0] == "一二三"


@pytest.mark.parametrize(
    ("text", "pair", "left"),
    [
        ("一二三四五六", "甲乙", ["一二三四五", "甲乙"]),
        ("一二", "甲乙丙丁戊己", ["一二", "甲乙丙丁戊"]),
        ("一二三四五六", "甲乙丙丁戊己", ["一二三四", "甲乙丙"]),
    ],
)
def test_longer_text_of_a_pair_is_cut_first(tokenizer, text, pair, left):
    encoding = tokenizer.encode([text], [pair], max_length=10, truncate="head")[0]
    assert _texts(tokenizer, encoding, text, pair) == left
    assert encoding.num_cut == len(text) + len(pair) - 7


def test_tail_and_middle_hold_for_each_text_of_a_pair(tokenizer):
    row = {"texts": ["一二三四五六"], "pairs": ["甲乙丙丁戊己"], "max_length": 9}
    tail = tokenizer.encode(**row, truncate="tail")[0]
    middle = tokenizer.encode(**row, truncate="middle")[0]
    assert _texts(tokenizer, tail, "一二三四五六", "甲乙丙丁戊己") == ["四五六", "丁戊己"]
    assert _texts(tokenizer, middle, "一二三四五六", "甲乙丙丁戊己") == ["一二六", "甲乙己"]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(5, 40))
def test_pair_uses_the_whole_room_and_each_text_is_sure_of_half(first, second, max_length):
    kept, pair_kept = kept_lengths(np.array([first]), np.array([second]), max_length=max_length)
    room = max_length - 3
    assert kept[0] + pair_kept[0] == min(room, first + second)
    assert kept[0] >= min(first, room // 2) and pair_kept[0] >= min(second, room // 2)


def test_error_names_the_row_and_both_lengths(tokenizer, monkeypatch):
    monkeypatch.setattr("ernie_pp.text.tokenizer.BATCH_CHARACTERS", 4)
    with pytest.raises(DataError, match=r"row 3 .*\n.*7 tokens; text.max_length allows 6"):
        tokenizer.encode(["一二", "一二三", "一", "一二三四五"], max_length=6, truncate="error")


def test_limit_without_room_is_a_config_error(tokenizer):
    assert len(tokenizer.encode(["一二"], max_length=3, truncate="head")[0].ids) == 3
    with pytest.raises(ConfigError, match="at least 5"):
        tokenizer.encode(["一二"], ["三"], max_length=4, truncate="head")
    with pytest.raises(ConfigError, match="at least 3"):
        tokenizer.encode(["一二"], max_length=2, truncate="head")


def test_count_tokens_tells_lengths_before_the_cut(tokenizer):
    texts, pairs = ["一二三", ""], ["甲", "乙丙"]
    assert tokenizer.count_tokens(texts).tolist() == [5, 2]
    assert tokenizer.count_tokens(texts, pairs).tolist() == [7, 5]
    encodings = tokenizer.encode(texts, pairs, max_length=5, truncate="head")
    assert [len(one.ids) + one.num_cut for one in encodings] == [7, 5]


def test_rows_without_offsets_have_the_same_ids(tokenizer):
    texts = ["一二三四", "好", ""]
    rows = tokenizer.encode_rows(texts, max_length=5, truncate="tail")
    encodings = tokenizer.encode(texts, max_length=5, truncate="tail")
    assert rows.offsets is None and rows.lengths.tolist() == [len(one.ids) for one in encodings]
    assert rows.ids.tolist() == [index for one in encodings for index in one.ids.tolist()]
