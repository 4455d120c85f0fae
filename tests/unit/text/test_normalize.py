import json
import unicodedata
from itertools import product

import opencc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.errors import RunError
from ernie_pp.text import Normalization, normalize, simplified

ODD = "中國體育乾坤一目瞭然ＡＢ１，。￥a1 \t\n\u3000\xa0\u2028\u200b\u200d\u200e\ufeff\u00ad👨👧❤\ufe0f\u0301\x00\x1b한"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=("Cs",))), max_size=30)
ALL = [Normalization(*switches) for switches in product((False, True), repeat=4)]


def _is_invisible(char):
    return unicodedata.category(char)[0] == "C" or char in "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"


def _changed(text, **switches):
    return normalize(text, Normalization(**switches)).text


@pytest.mark.parametrize(
    ("text", "changed"),
    [("ＡＢｃ１２３！？（）～", "ABc123!?()~"), ("￥５００\u3000元", "¥500 元"), ("中。、「」半", "中。、「」半")],
)
def test_width_makes_full_width_forms_half_width(text, changed):
    assert _changed(text, width=True) == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [("這間酒店", "这间酒店"), ("乾坤與乾燥", "乾坤与干燥"), ("一目瞭然", "一目了然"), ("简体不变", "简体不变")],
)
def test_simplified_goes_by_phrases_then_characters(text, changed):
    assert _changed(text, simplified=True) == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [("一  二\r\n\u3000三\u2028四 五", "一 二 三 四 五"), ("\t一\n", " 一 "), ("\xa0", " ")],
)
def test_blanks_become_one_blank(text, changed):
    assert _changed(text, blanks=True) == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("\ufeff一\u200b二\u202e三\u00ad四\x00", "一二三四"),
        ("一\u200d二", "一二"),
        ("👨\u200d👩\u200d👧和❤\ufe0f\u200d🔥", "👨\u200d👩\u200d👧和❤\ufe0f\u200d🔥"),
        ("👨\u200d好", "👨好"),
        ("一\t二\n", "一\t二\n"),
    ],
)
def test_invisible_characters_go_and_emoji_stay_whole(text, changed):
    assert _changed(text, invisible=True) == changed


def test_spans_lead_back_to_the_raw_text():
    text = "\ufeffＡ\u200b \u200e\n國"
    result = normalize(text, Normalization(True, True, True, True))
    assert result.text == "A 国"
    spans = zip(result.starts.tolist(), result.ends.tolist(), strict=True)
    assert [text[start:end] for start, end in spans] == ["Ａ", " \u200e\n", "國"]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(ALL))
def test_spans_ascend_and_leave_out_only_what_was_removed(text, normalization):
    result = normalize(text, normalization)
    place = 0
    assert len(result.text) == len(result.starts) == len(result.ends)
    for char, start, end in zip(result.text, result.starts.tolist(), result.ends.tolist(), strict=True):
        assert place <= start < end
        assert all(map(_is_invisible, text[place:start]))
        assert end == start + 1 or (char == " " and normalization.blanks)
        assert char == text[start] or normalization.width or normalization.simplified or char == " "
        place = end
    assert all(map(_is_invisible, text[place:]))
    if not normalization.is_on:
        assert result.text == text


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(ALL))
def test_second_pass_changes_nothing_but_phrases(text, normalization):
    once = normalize(text, normalization).text
    if not normalization.simplified:
        assert normalize(once, normalization).text == once


def test_simplified_agrees_with_opencc_on_real_texts(shared_data):
    data = json.loads((shared_data / "drcd" / "DRCD_dev.json").read_text(encoding="utf-8"))["data"]
    texts = [paragraph["context"] for article in data for paragraph in article["paragraphs"]][:150]
    converter = opencc.OpenCC("t2s")
    assert [simplified.to_simplified(text) for text in texts] == [converter.convert(text) for text in texts]


def test_missing_tables_say_what_to_install(monkeypatch):
    monkeypatch.setattr(simplified.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RunError, match="pip install opencc-python-reimplemented"):
        simplified._table_folder()


def test_switch_that_is_no_boolean_is_refused():
    with pytest.raises(TypeError, match="width is 'no'"):
        Normalization(width="no")
