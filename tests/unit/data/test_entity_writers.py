"""Every format of entities as text: exactly what the tool of that format takes."""

import json

import pytest

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.entities.writers import WRITERS
from ernie_pp.data.entities.writers.brat import brat_files
from ernie_pp.data.rows import Place
from ernie_pp.errors import DataError

# An emoji and a character outside the basic plane: UTF-16 would count each of them twice.
TEXT = "😀张三在𠮷林"
FLAT = (Entity(1, 3, "人"), Entity(4, 6, "地点"))
NESTED = (*FLAT, Entity(5, 6, "地点"))


def _document(entities=NESTED, text=TEXT, **fields):
    return Document(Place("own.jsonl", 7), text, entities, fields)


def _text(kind, *documents):
    return "".join(WRITERS[kind](documents))


def test_our_own_lines_hold_other_fields_and_the_text_of_each_entity():
    assert _text("entities", _document(id=3)) == (
        '{"id": 3, "text": "😀张三在𠮷林", "entities": ['
        '{"start": 1, "end": 3, "label": "人", "text": "张三"}, '
        '{"start": 4, "end": 6, "label": "地点", "text": "𠮷林"}, '
        '{"start": 5, "end": 6, "label": "地点", "text": "林"}]}\n'
    )


def test_our_own_lines_hold_scores_and_sources():
    document = _document((Mention(1, 3, "人", 0.5, "rule:name"),))
    (entity,) = json.loads(_text("entities", document))["entities"]
    assert entity == {"start": 1, "end": 3, "label": "人", "text": "张三", "score": 0.5, "source": "rule:name"}


def test_the_ends_of_cluener_are_inclusive_and_places_of_one_mention_stand_together():
    twice = _document((Entity(0, 2, "人"), Entity(3, 5, "人")), "张三和张三")
    assert _text("cluener", _document(), twice) == (
        '{"text": "😀张三在𠮷林", "label": {"人": {"张三": [[1, 2]]}, "地点": {"𠮷林": [[4, 5]], "林": [[5, 5]]}}}\n'
        '{"text": "张三和张三", "label": {"人": {"张三": [[0, 1], [3, 4]]}}}\n'
    )


def test_cail_has_every_type_of_the_file_in_every_row():
    assert _text("cail", _document(id="x"), _document((), "没有")) == (
        '{"id": "x", "context": "😀张三在𠮷林", "entities": ['
        '{"label": "人", "span": ["1;3"]}, {"label": "地点", "span": ["4;6", "5;6"]}]}\n'
        '{"context": "没有", "entities": [{"label": "人", "span": []}, {"label": "地点", "span": []}]}\n'
    )


def test_doccano_has_the_field_names_that_its_import_takes():
    assert _text("doccano", _document(id=3)) == (
        '{"id": 3, "text": "😀张三在𠮷林", "label": [[1, 3, "人"], [4, 6, "地点"], [5, 6, "地点"]]}\n'
    )


def test_label_studio_gets_a_list_of_tasks_with_annotations():
    assert _text("label_studio", _document(FLAT[:1], id=3), _document((), "没有")) == (
        '[\n{"data": {"id": 3, "text": "😀张三在𠮷林"}, "annotations": [{"result": [{"id": "e0", "from_name": "label", '
        '"to_name": "text", "type": "labels", "value": {"start": 1, "end": 3, "text": "张三", "labels": ["人"]}}]}]},\n'
        '{"data": {"text": "没有"}, "annotations": [{"result": []}]}\n]\n'
    )


def test_label_studio_gets_predictions_with_scores_also_where_nothing_was_found():
    found = _document((Mention(1, 3, "人", 0.5), Mention(4, 6, "地点", 1.0)))
    tasks = json.loads(_text("label_studio", found, _document((), "没有")))
    (prediction,) = tasks[0]["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("ernie_pp", 0.75)
    assert [one["score"] for one in prediction["result"]] == [0.5, 1.0]
    assert tasks[1]["predictions"] == [{"model_version": "ernie_pp", "result": []}]
    assert all("annotations" not in task for task in tasks)


@pytest.mark.parametrize(
    "kind, tags",
    [
        ("bio", ["O", "B-人", "I-人", "O", "B-地点", "I-地点", "I-地点"]),
        ("bioes", ["O", "B-人", "E-人", "O", "B-地点", "I-地点", "E-地点"]),
        ("bmes", ["O", "B-人", "E-人", "O", "B-地点", "M-地点", "E-地点"]),
    ],
)
def test_token_files_have_a_character_and_a_tag_a_line_and_an_empty_line_behind_a_text(kind, tags):
    text = TEXT + "市"
    document = _document((FLAT[0], Entity(4, 7, "地点")), text)
    lines = [f"{one} {tag}\n" for one, tag in zip(text, tags, strict=True)]
    assert _text(kind, document, _document((), "好")) == "".join(lines) + "\n好 O\n\n"


def test_brat_gets_two_files_a_document():
    assert dict(brat_files([_document(id="a/b"), _document((), "没有")])) == {
        "a_b.txt": TEXT,
        "a_b.ann": "T1\t人 1 3\t张三\nT2\t地点 4 6\t𠮷林\nT3\t地点 5 6\t林\n",
        "2.txt": "没有",
        "2.ann": "",
    }


def test_line_breaks_outside_of_entities_stay_in_texts_of_brat():
    files = dict(brat_files([_document((Entity(3, 5, "人"),), "甲\r\n张三\n")]))
    assert files == {"1.txt": "甲\r\n张三\n", "1.ann": "T1\t人 3 5\t张三\n"}


@pytest.mark.parametrize(
    "ids, names",
    [
        (["a-3", "a", "A", "a"], ["a-3", "a", "A-2", "a-4"]),
        (["../up", ".", "-rf", None], ["_up", "2", "rf", "4"]),
        ([None] * 10, [f"{number:02}" for number in range(1, 11)]),
    ],
)
def test_file_names_of_brat_are_safe_unique_and_in_order(ids, names):
    files = [name for name, _ in brat_files(_document(id=one) for one in ids)]
    assert files[::2] == [f"{name}.txt" for name in names]


@pytest.mark.parametrize("kind", ["entities", "cluener", "cail"])
def test_a_text_in_which_nothing_is_marked_gets_no_list(kind):
    assert list(json.loads(_text(kind, _document(None)))) == ["context" if kind == "cail" else "text"]


def test_doccano_gets_an_empty_list_without_which_its_import_refuses_the_file():
    assert _text("doccano", _document(None)) == '{"text": "😀张三在𠮷林", "label": []}\n'


def test_a_text_in_which_nothing_is_marked_is_a_task_to_be_labelled():
    assert json.loads(_text("label_studio", _document(None))) == [{"data": {"text": TEXT}}]


@pytest.mark.parametrize(
    "kind, field", [("entities", "text"), ("cail", "context"), ("doccano", "label"), ("label_studio", "text")]
)
def test_a_field_that_the_format_uses_itself_is_not_lost(kind, field):
    with pytest.raises(DataError, match=f"own.jsonl line 7\n  has a field '{field}' of its own"):
        _text(kind, Document(Place("own.jsonl", 7), TEXT, NESTED, {field: "other"}))


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\r", "\u3000", "\xa0", "\u2028", "\x1c"])
def test_white_space_is_no_token(blank):
    with pytest.raises(DataError, match=rf"line 7\n  holds U\+{ord(blank):04X}.*\n  .*--to entities"):
        _text("bio", _document((), f"张{blank}三"))


@pytest.mark.parametrize(
    "document, match",
    [
        (_document(NESTED), r"overlap, and tags cannot: 地点 '𠮷林' \(4 to 6\) and 地点 '林' \(5 to 6\)"),
        (_document((Entity(1, 3, "人 名"),)), "the type '人 名', and a tag has no blanks"),
        (_document((), ""), "is an empty text"),
        (_document((), "\ufeff张"), r"begins with U\+FEFF"),
    ],
)
@pytest.mark.parametrize("kind", ["bio", "bioes", "bmes"])
def test_what_a_token_file_cannot_say_is_told(kind, document, match):
    with pytest.raises(DataError, match=match):
        _text(kind, document)


@pytest.mark.parametrize(
    "document, match",
    [
        (_document((Entity(1, 3, "人 名"),)), "the type '人 名', and brat's have no blanks"),
        (
            _document((Entity(0, 3, "人"),), "张\n三"),
            r"line break or TAB, which brat .*: 人 '张\\n三'\n  .*--to entities",
        ),
        (_document((), "\ufeff张"), r"begins with U\+FEFF"),
    ],
)
def test_what_brat_cannot_say_is_told(document, match):
    with pytest.raises(DataError, match=match):
        list(brat_files([document]))
