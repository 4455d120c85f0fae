"""Each dialect of JSON rows: told by its fields, read when it is named, and refused where it is another."""

import pytest

from ernie_pp.choices import Dialect
from ernie_pp.data.entities.dialects import dialect_of, read_fields
from ernie_pp.data.entities.marked import Marked, Unreadable

TEXT = "张三在北京"
OURS = {"start": 0, "end": 2, "label": "人"}
RESULT = {"id": "r1", "type": "labels", "value": {"start": 0, "end": 2, "text": "张三", "labels": ["人"]}}
RELATION = {"type": "relation", "from_id": "r1", "to_id": "r2", "direction": "right", "labels": ["位于"]}
CHOICE = {"type": "choices", "value": {"choices": ["好"]}}
# (dialect, a row of it with 张三 marked, whether the row gives the entity's own text)
ROWS = [
    ("entities", {"text": TEXT, "entities": [OURS]}, False),
    ("entities", {"text": TEXT, "entities": [OURS | {"text": "张三"}]}, True),
    ("entities", {"text": TEXT, "entities": [{"start_offset": 0, "end_offset": 2, "type": "人"}]}, False),
    ("entities", {"text": TEXT, "entities": [{"start_idx": 0, "end_idx": 2, "entity": "人"}]}, False),
    ("entities", {"text": TEXT, "entities": [{"id": 3, "label": "人", "start_offset": 0, "end_offset": 2}]}, False),
    ("cluener", {"text": TEXT, "label": {"人": {"张三": [[0, 1]]}}}, True),
    ("cail", {"context": TEXT, "entities": [{"label": "人", "span": ["0;2"]}]}, False),
    ("cail", {"text": TEXT, "entities": [{"label": "人", "span": ["0;2"]}]}, False),
    ("doccano", {"text": TEXT, "label": [[0, 2, "人"]]}, False),
    ("doccano", {"text": TEXT, "labels": [[0, 2, "人"]]}, False),
    ("doccano", {"data": TEXT, "label": [[0, 2, "人"]]}, False),
    ("label_studio", {"data": {"text": TEXT}, "annotations": [{"result": [RESULT]}]}, True),
    ("label_studio", {"data": {"text": TEXT}, "completions": [{"result": [RESULT]}]}, True),
    ("label_studio", {"data": {"text": TEXT}, "annotations": [{"result": [RELATION, RESULT, CHOICE]}]}, True),
    ("label_studio", {"data": {"text": TEXT}, "predictions": [{"result": [RESULT], "score": 0.5}]}, True),
]


def _read(fields, dialect: Dialect = "auto", text="text"):
    return read_fields(fields, dialect, text=text)


@pytest.mark.parametrize("dialect, fields, has_own", ROWS)
def test_a_dialect_is_told_by_its_fields_and_may_be_named(dialect, fields, has_own):
    assert dialect_of(fields, text="text") == dialect
    for named in ("auto", dialect):
        found = _read(fields, named)
        assert found.text == TEXT
        assert found.entities == (Marked(0, 2, "人", "张三" if has_own else None),)
        odd = ["predicted"] if "predictions" in fields else ["other_marks"] * 2 if RELATION in _results(fields) else []
        assert [kind for kind, _ in found.notes] == odd


def _results(fields):
    return [one for part in fields.get("annotations", []) for one in part["result"]]


@pytest.mark.parametrize("dialect, fields, has_own", ROWS)
def test_what_else_a_row_holds_is_handed_on(dialect, fields, has_own):
    if dialect == "label_studio":
        fields = {**fields, "data": {**fields["data"], "nr": 5}, "id": 9}
        assert _read(fields).rest == {"nr": 5, "id": 9}
    else:
        assert _read({**fields, "nr": 5}).rest == {"nr": 5}


@pytest.mark.parametrize("dialect", ["entities", "cluener", "doccano", "label_studio"])
def test_the_text_may_have_another_name(dialect):
    fields = next(one for name, one, _ in ROWS if name == dialect)
    renamed = {"body" if name == "text" else name: value for name, value in fields.items()}
    if dialect == "label_studio":
        renamed["data"] = {"body": TEXT}
    assert _read(renamed, text="body").text == TEXT


@pytest.mark.parametrize(
    "fields",
    [
        {"text": TEXT},
        {"text": TEXT, "entities": None},
        {"text": TEXT, "label": None},
        {"data": {"text": TEXT}},
        {"data": {"text": TEXT}, "annotations": [], "predictions": []},
    ],
)
def test_a_row_that_marks_nothing_is_told_from_one_without_entities(fields):
    assert _read(fields).entities is None


@pytest.mark.parametrize(
    "fields",
    [
        {"text": TEXT, "entities": []},
        {"text": TEXT, "label": []},
        {"text": TEXT, "label": {}},
        {"context": TEXT, "entities": []},
        {"data": {"text": TEXT}, "annotations": [{"result": []}]},
    ],
)
def test_a_row_may_say_that_it_has_no_entities(fields):
    assert _read(fields).entities == ()


@pytest.mark.parametrize(
    "beside", [{"label": []}, {"labels": []}, {"label": {}}, {"labels": ["新闻"]}, {"label": ["新闻", "体育"]}]
)
def test_a_field_that_marks_nothing_hides_no_entities_of_another(beside):
    found = _read({"text": TEXT, "entities": [OURS], **beside})
    assert found.entities == (Marked(0, 2, "人"),) and found.rest == beside


@pytest.mark.parametrize(
    "beside", [{"label": [[3, 5, "地"]]}, {"labels": [[3, 5, "地"]]}, {"label": {"地": {"北京": [[3, 4]]}}}]
)
def test_two_fields_with_entities_are_told_unless_the_dialect_is_named(beside):
    fields = {"text": TEXT, "entities": [OURS], **beside}
    with pytest.raises(Unreadable) as caught:
        _read(fields)
    field, _, expected = caught.value.args
    assert field == "entities" and next(iter(beside)) in expected
    assert _read(fields, "entities").entities == (Marked(0, 2, "人"),)


def test_cancelled_annotations_are_left_out_and_the_first_of_several_is_read():
    other = {"result": [{"value": {"start": 3, "end": 5, "labels": ["地"]}}]}
    cancelled = {"was_cancelled": True, "result": [RESULT]}
    found = _read({"data": {"text": TEXT}, "annotations": [cancelled, other, {"result": [RESULT]}]})
    assert found.entities == (Marked(3, 5, "地"),)
    assert [kind for kind, _ in found.notes] == ["cancelled", "more_annotations"]
    assert "2 annotations" in dict(found.notes)["more_annotations"]


def test_what_marks_no_entity_is_counted_by_its_type():
    found = _read({"data": {"text": TEXT}, "annotations": [{"result": [RELATION, CHOICE, RESULT]}]})
    assert found.notes == [("other_marks", "relation"), ("other_marks", "choices")]


def test_parts_without_a_label_are_counted_and_labels_of_another_kind_of_place_are_told():
    comment = {"type": "textarea", "value": {"start": 0, "end": 2, "text": ["谁"]}}
    found = _read({"data": {"text": TEXT}, "annotations": [{"result": [comment, RESULT]}]})
    assert found.entities is not None and len(found.entities) == 1
    assert found.notes == [("other_marks", "textarea")]
    page = {"type": "hypertextlabels", "value": {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]"}}
    page["value"]["hypertextlabels"] = ["人"]
    with pytest.raises(Unreadable):
        _read({"data": {"text": TEXT}, "annotations": [{"result": [page]}]})


def test_a_span_of_thousands_of_digits_is_told():
    with pytest.raises(Unreadable):
        _read({"context": TEXT, "entities": [{"label": "人", "span": ["0;" + "9" * 5000]}]})


def test_predictions_are_read_where_every_annotation_is_cancelled_and_that_is_noted():
    task = {"data": {"text": TEXT}, "annotations": [{"was_cancelled": True, "result": []}]}
    found = _read(task | {"predictions": [{"result": [RESULT]}]})
    assert len(found.entities or ()) == 1 and [kind for kind, _ in found.notes] == ["cancelled", "predicted"]


def test_where_every_annotation_is_cancelled_nothing_is_marked():
    found = _read({"data": {"text": TEXT}, "annotations": [{"was_cancelled": True, "result": [RESULT]}]})
    assert found.entities is None and [kind for kind, _ in found.notes] == ["cancelled"]


def test_several_labels_of_one_place_are_several_entities():
    value = {"start": 0, "end": 2, "labels": ["人", "名"]}
    found = _read({"data": {"text": TEXT}, "annotations": [{"result": [{"value": value}]}]})
    assert found.entities == (Marked(0, 2, "人"), Marked(0, 2, "名"))


def test_one_type_of_cluener_and_one_entry_of_cail_may_have_several_places():
    cluener = _read({"text": TEXT, "label": {"人": {"张": [[0, 0], [4, 4]], "三": [[1, 1]]}}})
    assert cluener.entities == (Marked(0, 1, "人", "张"), Marked(4, 5, "人", "张"), Marked(1, 2, "人", "三"))
    cail = _read({"context": TEXT, "entities": [{"label": "A", "span": ["0;2", " 3;5"]}]})
    assert cail.entities == (Marked(0, 2, "A"), Marked(3, 5, "A"))


@pytest.mark.parametrize(
    "dialect, fields, field",
    [
        ("entities", {"entities": {}}, "entities"),
        ("entities", {"entities": [[0, 2, "人"]]}, "entities"),
        ("entities", {"entities": [{"start": 0, "label": "人"}]}, "entities"),
        ("entities", {"entities": [{"start": 0, "end": 2}]}, "entities"),
        ("cluener", {"label": [[0, 2, "人"]]}, "label"),
        ("cluener", {"label": {"人": [[0, 1]]}}, "label"),
        ("cluener", {"label": {"人": {"张三": [0, 1]}}}, "label"),
        ("cluener", {"label": {"人": {"张三": [[0]]}}}, "label"),
        ("cail", {"entities": {}}, "entities"),
        ("cail", {"entities": [{"span": ["0;2"]}]}, "entities"),
        ("cail", {"entities": [{"label": "A"}]}, "span"),
        ("cail", {"entities": [{"label": "A", "span": "0;2"}]}, "span"),
        ("cail", {"entities": [{"label": "A", "span": [[0, 2]]}]}, "span"),
        ("cail", {"entities": [{"label": "A", "span": ["-1;2"]}]}, "span"),
        ("cail", {"entities": [{"label": "A", "span": ["0;2;3"]}]}, "span"),
        ("doccano", {"label": {}}, "label"),
        ("doccano", {"labels": [[0, 2]]}, "labels"),
        ("doccano", {"label": [{"start": 0}]}, "label"),
        ("label_studio", {"data": TEXT}, "data"),
        ("label_studio", {"data": {"text": TEXT}, "annotations": {}}, "annotations"),
        ("label_studio", {"data": {"text": TEXT}, "annotations": [7]}, "annotations"),
        ("label_studio", {"data": {"text": TEXT}, "annotations": [{}]}, "result"),
        ("label_studio", {"data": {"text": TEXT}, "annotations": [{"result": [5]}]}, "result"),
        ("label_studio", {"data": {"text": TEXT}, "annotations": [{"result": [{"type": "labels"}]}]}, "result"),
        ("label_studio", {"data": {"text": TEXT}, "predictions": [7]}, "predictions"),
    ],
)
def test_another_form_is_told_by_its_field(dialect, fields, field):
    with pytest.raises(Unreadable) as caught:
        _read({"text": TEXT, **fields}, dialect)
    assert caught.value.args[0] == field


def test_a_place_that_is_no_number_is_left_for_the_check():
    found = _read({"text": TEXT, "label": {"人": {"张三": [[0, "1"]], "京": [[True, True]]}}})
    assert found.entities == (Marked(0, "1", "人", "张三"), Marked(True, True, "人", "京"))


def test_json_in_the_cell_of_a_table_is_told():
    with pytest.raises(Unreadable) as caught:
        _read({"text": "李四来了", "label": '[[0, 2, "人"]]'})
    assert caught.value.args[0] == "label" and "JSON lines" in caught.value.args[2]


@pytest.mark.parametrize("labels", [["好评"], []])
def test_names_of_what_a_text_is_about_stand_beside_an_empty_list_of_entities(labels):
    found = _read({"text": "李四来了", "label": labels, "entities": []})
    assert found.entities == () and found.rest == {"label": labels}
