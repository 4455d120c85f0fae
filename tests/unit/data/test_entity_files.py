"""Token files: what is read from public sets and from small files of every layout, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.errors import DataError

# (file, rows, whether a digit stands behind every token)
TOKEN_FILES = [
    ("msra_ner/train_8000.txt", 8000, False),
    ("msra_ner/dev_1500.txt", 1500, False),
    ("resume_ner/train.char.bmes", 3821, False),
    ("resume_ner/dev.char.bmes", 463, False),
    ("weibo_ner/weiboNER_2nd_conll.train", 1350, True),
    ("weibo_ner/weiboNER_2nd_conll.dev", 270, True),
    ("dirty/ner_illegal_bio.conll", 8, True),
]
# (file, rows, separator of tokens, lines before the first text)
TEXT_FILES = [
    ("dirty/ner_ideographic_space_tokens.tsv", 7, " ", 1),
    ("dirty/ner_x02_separated.tsv", 8, "\x02", 0),
]


def read_entities(path, faults=None, **settings) -> list[Any]:
    return list(read_rows(path, settings=ReadSettings(kind="entities", **settings), faults=faults or Faults()))


@pytest.fixture
def tokens_of(read):
    """Rows of a token file with this content."""

    def read_tokens(content, name="a.txt", faults=None):
        return read(name, content, faults=faults, kind="entities")

    return read_tokens


def marked(row):
    text = row.fields["text"]
    return [(text[one["start"] : one["end"]], one["label"]) for one in row.fields["entities"]]


def pairs_by_text(path, *, has_digits):
    """[[(token, tag), ...], ...] counted without the package: texts between empty lines."""
    texts = [[]]
    for line in path.read_bytes().decode("utf-8").replace("\r\n", "\n").split("\n"):
        if not line:
            texts.append([])
            continue
        token, tag = line.rstrip(" ").replace("\t", " ").rsplit(" ", 1)
        texts[-1].append((re.sub(r"(?<=.)\d+$", "", token) if has_digits else token, tag))
    return [text for text in texts if text]


def entities_of(pairs):
    """{(text, label)} in order, by conlleval's rule of where a chunk begins."""
    found, before = [], "O"
    for token, tag in pairs:
        begins = tag[0] in "BS" or before == "O" or before[2:] != tag[2:] or before[0] in "ES"
        if tag != "O" and begins:
            found.append([token, tag[2:]])
        elif tag != "O":
            found[-1][0] += token
        before = tag
    return [tuple(one) for one in found]


@pytest.mark.parametrize(("name", "num_rows", "has_digits"), TOKEN_FILES, ids=[one[0] for one in TOKEN_FILES])
def test_public_token_files_give_every_text_and_entity(shared_data, name, num_rows, has_digits):
    expected = pairs_by_text(shared_data / name, has_digits=has_digits)
    rows = read_entities(shared_data / name)
    assert len(rows) == len(expected) == num_rows
    assert [row.fields["text"] for row in rows] == ["".join(token for token, _ in one) for one in expected]
    assert [marked(row) for row in rows] == [entities_of(one) for one in expected]


@pytest.mark.parametrize(("name", "num_rows", "separator", "skip"), TEXT_FILES, ids=[one[0] for one in TEXT_FILES])
def test_public_files_of_a_text_a_line_give_every_text_and_entity(shared_data, name, num_rows, separator, skip):
    lines = (shared_data / name).read_bytes().decode("utf-8").replace("\r\n", "\n").rstrip("\n").split("\n")[skip:]
    columns = [[part.split(separator) for part in line.split("\t")[-2:]] for line in lines]
    rows = read_entities(shared_data / name)
    assert len(rows) == len(lines) == num_rows
    assert [row.fields["text"] for row in rows] == ["".join(tokens) for tokens, _ in columns]
    assert [marked(row) for row in rows] == [entities_of(zip(*one, strict=True)) for one in columns]
    assert [row.place.line for row in rows] == list(range(skip + 1, skip + 1 + num_rows))


def test_ideographic_spaces_of_a_public_file_stay_in_its_texts(shared_data):
    rows = read_entities(shared_data / "dirty/ner_ideographic_space_tokens.tsv")
    assert any("\u3000" in row.fields["text"] for row in rows)


def test_entities_that_an_empty_line_cuts_are_named(shared_data):
    rows = read_entities(shared_data / "resume_ner/train.char.bmes")
    cut = {index: row.fields["tags"]["cut"] for index, row in enumerate(rows) if row.fields["tags"]["cut"]}
    assert cut == {index: [[rows[index].place.line, "M-ORG"]] for index in (1836, 1893)}
    assert [row.fields["tags"]["cut"] for row in read_entities(shared_data / "resume_ner/dev.char.bmes")] == [[]] * 463


@pytest.mark.parametrize("name", ["dirty/ner_illegal_bio.conll", "weibo_ner/weiboNER_2nd_conll.train"])
def test_illegal_steps_of_public_files_are_named_by_line(shared_data, name):
    expected, before = [], "O"
    for number, line in enumerate((shared_data / name).read_text("utf-8").split("\n"), start=1):
        tag = line.split("\t")[1] if line else "O"
        if tag[0] == "I" and before[2:] != tag[2:]:
            expected.append([number, tag, before])
        before = tag
    found = [one for row in read_entities(shared_data / name) for one in row.fields["tags"]["illegal"]]
    assert found == expected and len(found) == 10


@pytest.mark.parametrize(
    "tags",
    [
        ("B-PER", "I-PER", "O", "B-LOC"),
        ("B-PER", "E-PER", "O", "S-LOC"),
        ("B-PER", "M-PER", "O", "S-LOC"),
    ],
)
@pytest.mark.parametrize("separator", [" ", "\t", "  ", "\tn\t"])
def test_every_scheme_and_separator_is_read(tokens_of, tags, separator):
    rows = tokens_of("".join(f"{one}{separator}{tag}\n" for one, tag in zip("张三在京", tags, strict=True)))
    assert [row.fields["text"] for row in rows] == ["张三在京"]
    assert marked(rows[0]) == [("张三", "PER"), ("京", "LOC")]


def test_a_text_ends_at_an_empty_line_and_its_place_is_its_first_token(tokens_of):
    rows = tokens_of("\n张 B-PER\n三 I-PER\n\n \t\n\n京 B-LOC\r\n")
    assert [(row.place.line, row.fields["text"]) for row in rows] == [(2, "张三"), (7, "京")]


def test_a_file_without_an_empty_line_is_one_text(tokens_of):
    (row,) = tokens_of("字 O\n" * 12_000)
    assert len(row.fields["text"]) == 12_000


def test_document_starts_are_no_tokens(tokens_of):
    rows = tokens_of("-DOCSTART- -X- O O\n\n张 B-PER\n-DOCSTART-\tO\n三 B-PER\n")
    assert [row.fields["text"] for row in rows] == ["张", "三"]


@pytest.mark.parametrize("space", ["\u3000", "\u00a0", "\u2028", "\ufeff", " "])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_a_blank_may_be_a_token_of_an_entity(tokens_of, space, separator):
    (row,) = tokens_of(f"张{separator}B-PER\n{space}{separator}I-PER\n三{separator}I-PER\n")
    assert marked(row) == [(f"张{space}三", "PER")]


def test_words_of_latin_letters_have_a_blank_between_them_and_nothing_else_has(tokens_of):
    tokens = ["New", "York", "市", "A", "B", "12", "34", ",", "Ltd"]
    (row,) = tokens_of("".join(f"{one} {'B' if one == 'New' else 'I'}-ORG\n" for one in tokens))
    assert marked(row) == [("New York市AB12 34,Ltd", "ORG")]


def test_segment_digits_are_cut_off_where_every_token_has_one(tokens_of):
    (row,) = tokens_of("".join(f"{one}{index} B-X\n" for index, one in enumerate("甲乙丙丁甲乙丙丁甲乙")) * 2)
    assert row.fields["text"] == "甲乙丙丁甲乙丙丁甲乙" * 2


def test_a_segment_number_of_two_digits_is_cut_off_whole(tokens_of):
    word = "".join(f"{one}{index} O\n" for index, one in enumerate("t.cn/x011a1b"))
    (row,) = tokens_of(f"科0 O\n{word}" * 3)
    assert row.fields["text"] == "科t.cn/x011a1b" * 3


def test_numbers_are_no_marked_tokens(tokens_of):
    (row,) = tokens_of("12 O\n25 O\n" * 100)
    assert row.fields["text"].split(" ") == ["12", "25"] * 100


def test_digits_stay_where_one_token_has_none(tokens_of):
    (row,) = tokens_of("科0 O\n" * 150 + "技 O\n" + "科0 O\n" * 49)
    assert row.fields["text"] == "科0" * 150 + "技" + "科0" * 49


@pytest.mark.parametrize("token", ["AB", "1", "技"])
def test_a_later_token_without_the_segment_digit_is_told_not_cut(tokens_of, token):
    with pytest.raises(DataError, match=rf'line 302\n.*found "{token} O", expected a token and its tag'):
        tokens_of("科0 O\n" * 300 + f"\n{token} O\n")


@pytest.mark.parametrize("header", ["", "text_a\tlabel\n"])
def test_a_text_a_line_is_read_with_and_without_a_header(tokens_of, header):
    rows = tokens_of(header + "张 三 在\tB-PER I-PER O\n京\tB-LOC\n")
    assert [marked(row) for row in rows] == [[("张三", "PER")], [("京", "LOC")]]
    assert [row.place.line for row in rows] == [1 + bool(header), 2 + bool(header)]


def test_a_first_text_of_one_token_is_no_header(tokens_of):
    rows = tokens_of("京\tO\n张 三\tB-PER I-PER\n")
    assert [row.fields["text"] for row in rows] == ["京", "张三"]


def test_a_first_text_with_a_wrong_tag_is_no_header(tokens_of):
    with pytest.raises(DataError, match=r'line 1\n.*found "X-PER"'):
        tokens_of("张 三\tB-PER X-PER\n李 四\tB-PER I-PER\n")


def test_one_odd_line_does_not_make_tokens_texts(tokens_of):
    with pytest.raises(DataError, match="line 2\n"):
        tokens_of("张\tB-PER\n三 在\tI-PER O\n京\tB-LOC\n市\tI-LOC\n")


def test_empty_tokens_keep_the_tags_behind_them_in_place(tokens_of):
    (row,) = tokens_of("张 三  京\tB-PER I-PER O B-LOC\n")
    assert row.fields["text"] == "张三京" and marked(row) == [("张三", "PER"), ("京", "LOC")]


def test_an_entity_without_a_character_is_told(tokens_of):
    with pytest.raises(DataError, match=r'line 1\n.*found "PER".*not empty'):
        tokens_of("张  三\tO B-PER O\n")


def test_tokens_between_unit_separators_are_read_with_their_blanks(tokens_of):
    (row,) = tokens_of("7\t张\x02 \x02\u3000\x02三\tB-PER\x02I-PER\x02I-PER\x02I-PER\n")
    assert marked(row) == [("张 \u3000三", "PER")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("张 三\tB-PER I-PER\n李 四 在\tB-PER I-PER\n", 'line 2\n.*found "3 tokens and 2 tags", expected as many'),
        ("张 B-PER\n三\n", 'line 2\n.*found "三", expected a token and its tag'),
        ("张 B-PER\n三\t\n", "line 2\n.*expected a token and its tag"),
        ("张 B-PER\n三 X-PER\n", 'line 2\n.*found "X-PER", expected O, or a prefix'),
        ("张 B-PER\n三 I-\n", 'line 2\n.*found "I-"'),
        ("张 PER\n", 'line 1\n.*found "PER"'),
        ("张 B_PER\n", 'line 1\n.*found "B_PER"'),
        ("张 0\n", 'line 1\n.*found "0"'),
    ],
)
def test_a_line_that_is_not_tokens_and_tags_is_told(tokens_of, content, message):
    with pytest.raises(DataError, match=message):
        tokens_of(content)


def test_bytes_that_are_not_utf_8_are_told_by_their_line(tokens_of):
    with pytest.raises(DataError, match=r"line 2\n.*expected UTF-8"):
        tokens_of("张 O\n".encode() + "三 O\n".encode("gb18030"))


def test_only_the_text_of_a_fault_is_left_out(tokens_of):
    faults = Faults(on_error="skip")
    rows = tokens_of("张 B-PER\n\n三 X\n四 O\n\n京 B-LOC\n", faults=faults)
    assert [row.fields["text"] for row in rows] == ["张", "京"]
    assert [fault.place.line for fault in faults.listed] == [3]


@pytest.mark.parametrize(
    ("tags", "illegal"),
    [
        (["O", "I-PER", "O"], [[2, "I-PER", "O"]]),
        (["B-PER", "I-LOC", "I-LOC"], [[2, "I-LOC", "B-PER"]]),
        (["I-PER", "I-PER", "O"], [[1, "I-PER", "O"]]),
        (["B-PER", "B-PER", "I-PER"], []),
        (["B-PER", "O", "S-PER"], [[2, "O", "B-PER"]]),
        (["S-PER", "B-PER", "M-PER"], [[3, "O", "M-PER"]]),
        (["B-PER", "E-PER", "E-PER"], [[3, "E-PER", "E-PER"]]),
        (["B-PER", "M-PER", "E-PER"], []),
    ],
)
def test_illegal_steps_are_named_with_line_and_the_tag_before(tokens_of, tags, illegal):
    (row,) = tokens_of("".join(f"字 {tag}\n" for tag in tags))
    assert row.fields["tags"] == {"illegal": illegal, "cut": []}


def test_ends_that_a_file_uses_late_are_expected_from_there_on(tokens_of):
    rows = tokens_of("字 O\n" * 500 + "\n字 S-PER\n\n字 B-PER\n字 O\n")
    assert rows[-1].fields["tags"]["illegal"] == [[505, "O", "B-PER"]]


@pytest.mark.parametrize(
    ("before", "after", "is_cut"),
    [
        ("B-ORG", "I-ORG", True),
        ("I-ORG", "I-ORG", True),
        ("M-ORG", "M-ORG", True),
        ("M-ORG", "E-ORG", True),
        ("I-ORG", "I-PER", False),
        ("E-ORG", "M-ORG", False),
        ("S-ORG", "M-ORG", False),
        ("I-ORG", "B-ORG", False),
        ("O", "I-ORG", False),
    ],
)
def test_a_text_that_goes_on_with_the_entity_before_is_cut(tokens_of, before, after, is_cut):
    rows = tokens_of(f"甲 B-ORG\n乙 {before}\n\n丙 {after}\n")
    assert rows[0].fields["tags"]["cut"] == []
    assert rows[1].fields["tags"]["cut"] == ([[4, after]] if is_cut else [])
    assert [4, after, "O"] not in rows[1].fields["tags"]["illegal"] or not is_cut


def test_no_text_is_cut_behind_one_that_was_not_read(tokens_of):
    rows = tokens_of("甲 B-ORG\n\n乙 X\n\n丙 I-ORG\n", faults=Faults(on_error="skip"))
    assert rows[1].fields["tags"] == {"illegal": [[5, "I-ORG", "O"]], "cut": []}
