import pytest

from ernie_pp.text import Normalization, normalize
from ernie_pp.text.invisible import is_blank


@pytest.mark.parametrize("text", ["", " ", "\u3000\n", "\ufeff", "\u200b\u200e", "\x00", "\u3164", "\u034f\uffa0"])
def test_texts_without_a_visible_character_are_blank(text):
    assert is_blank(text)
    assert not is_blank(text + "。")


@pytest.mark.parametrize("text", ["\u200b", "\u00ad", "\u3164", "\u115f\u17b4"])
def test_what_normalization_removes_as_invisible_is_blank(text):
    assert normalize(text, Normalization(invisible=True)).text == "" and is_blank(text)
