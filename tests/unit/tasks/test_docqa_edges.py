"""An answer begins and ends where a character that a reader sees does."""

import pytest

from ernie_pp.tasks.docqa.edges import whole_characters

FAMILY, ASTRONAUT = "👨\u200d👩\u200d👧", "👩🏽\u200d🚀"
EYE, ENGLAND = "👁\ufe0f\u200d🗨\ufe0f", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
FLAGS = "🇨🇳🇯🇵"
ONE_CHARACTER = [
    "e\u0301",
    "o\u0323\u0302",
    "☎\ufe0f",
    "1\ufe0f\u20e3",
    "葛\U000e0100",
    FAMILY,
    ASTRONAUT,
    EYE,
    ENGLAND,
    "🇨🇳",
    "\u1112\u1161\u11ab",
    "कि",
]


@pytest.mark.parametrize("character", ONE_CHARACTER, ids=ascii)
def test_no_answer_cuts_what_a_reader_sees_as_one_character(character):
    text = f"甲{character}乙"
    whole = (1, 1 + len(character))
    for place in range(whole[0], whole[1]):
        assert whole_characters(text, place, place + 1) == whole
    assert whole_characters(text, 0, 1) == (0, 1)
    assert whole_characters(text, whole[1], len(text)) == (whole[1], len(text))
    assert whole_characters(character, 0, 1) == (0, len(character))
    assert whole_characters(character, len(character) - 1, len(character)) == (0, len(character))


@pytest.mark.parametrize("span", [(0, 2), (2, 4), (0, 4)])
def test_of_flags_in_a_row_each_is_whole(span):
    assert whole_characters(FLAGS, *span) == span
    assert whole_characters(FLAGS, 1, 2) == (0, 2) and whole_characters(FLAGS, 2, 3) == (2, 4)
    assert whole_characters(FLAGS, 1, 3) == (0, 4)


@pytest.mark.parametrize(
    "text, place",
    [
        ("甲\r\n乙", 1),
        ("甲\r\n乙", 3),
        ("甲\u200d乙", 1),
        ("甲\u200d乙", 2),
        ("甲 \u0301乙", 1),
        ("한국", 1),
        ("😀😀", 1),
        ("👨\u200d乙", 1),
        ("ab", 1),
        ("甲\u200b乙", 1),
    ],
    ids=ascii,
)
def test_nothing_else_joins_its_neighbour(text, place):
    assert whole_characters(text, 0, place) == (0, place)
    assert whole_characters(text, place, len(text)) == (place, len(text))


@pytest.mark.parametrize("text", ["\u0301", "\u200d", "\u200d👩", "👨\u200d", "🇨", "\ufe0f\ufe0f", ""])
def test_places_stay_within_the_text(text):
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            first, last = whole_characters(text, start, end)
            assert 0 <= first <= start and end <= last <= len(text)
            assert start < end or (first, last) == (start, end)
