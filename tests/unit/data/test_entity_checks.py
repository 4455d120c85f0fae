"""Entities against their texts: ways of counting, single wrong places, and what is odd about them."""

import json

import pytest

from ernie_pp.choices import OnError
from ernie_pp.data.entities.document import Entity
from ernie_pp.data.entities.findings import entity_findings
from ernie_pp.data.entities.reading import EntityOptions, read_documents
from ernie_pp.data.faults import Faults
from ernie_pp.data.rows import Place, Row
from ernie_pp.errors import DataError

ROWS = [
    ("😀甲方张三在北京签字，乙方李四。", [("张三", "人"), ("北京", "地"), ("李四", "人")]),
    ("付款😀人民币𠮷元整，王小明收", [("人民币", "钱"), ("王小明", "人"), ("元", "单位")]),
    ("无一处", [("无", "否")]),
]


def _utf16(text, place):
    return len(text[:place].encode("utf-16-le")) // 2


def _utf8(text, place):
    return len(text[:place].encode())


def _shift(start, end):
    return lambda text, first, last: (first + start, last + end)


# What a file's numbers are for a right [first, last), and how the fault names it.
WAYS = {
    "ends inclusive": _shift(0, -1),
    "counted from 1, ends inclusive": _shift(1, 0),
    "counted from 1, ends exclusive": _shift(1, 1),
    "UTF-16 units": lambda text, first, last: (_utf16(text, first), _utf16(text, last)),
    "UTF-8 bytes": lambda text, first, last: (_utf8(text, first), _utf8(text, last)),
    "one place too far left": _shift(-1, -1),
    "two places too far right": _shift(2, 2),
    "two places too far left": _shift(-2, -2),
    "ends one place too far right": _shift(0, 1),
}


def _right(text, own):
    return text.index(own), text.index(own) + len(own)


def _rows(way, *, with_text=True, rows=ROWS):
    made = []
    for number, (text, marks) in enumerate(rows, start=1):
        entities = []
        for own, label in marks:
            start, end = way(text, *_right(text, own))
            entities.append({"start": start, "end": end, "label": label} | ({"text": own} if with_text else {}))
        made.append(Row(Place("f.jsonl", number), {"text": text, "entities": entities}))
    return made


def _read(rows, *, repair=False, on_error: OnError = "stop", **options):
    faults, findings = Faults(on_error=on_error), entity_findings()
    settings = EntityOptions(repair_offsets=repair, **options)
    documents = read_documents(rows, options=settings, faults=faults, findings=findings)
    faults.check()
    return documents, findings


def _one(text, *entities, **words):
    return _read([Row(Place("f.jsonl", 7), {"text": text, "entities": list(entities)})], **words)


def _entity(start, end, label="A", **more):
    return {"start": start, "end": end, "label": label, **more}


@pytest.mark.parametrize("name", WAYS)
def test_a_files_way_of_counting_is_told_and_nothing_is_read_by_it(name):
    with pytest.raises(DataError, match=rf"f.jsonl line 1\n[\s\S]*if places are read as: .*{name}") as caught:
        _read(_rows(WAYS[name]))
    assert "ner.repair_offsets: true" in str(caught.value) and "「" in str(caught.value)


@pytest.mark.parametrize("name", WAYS)
def test_a_files_way_of_counting_is_read_where_that_is_allowed(name):
    documents, findings = _read(_rows(WAYS[name]), repair=True)
    expected = [tuple(sorted(Entity(*_right(text, own), label) for own, label in marks)) for text, marks in ROWS]
    assert [one.entities for one in documents] == expected
    moved = [1 for text, marks in ROWS for own, _ in marks if WAYS[name](text, *_right(text, own)) != _right(text, own)]
    assert findings.counts == {"moved": len(moved)}


def test_right_places_are_read_as_they_are_even_where_another_way_fits_too():
    rows = _rows(_shift(0, 0), rows=[("甲甲甲甲", [("甲", "A")])])
    for repair in (False, True):
        documents, findings = _read(rows, repair=repair)
        assert documents[0].entities == (Entity(0, 1, "A"),) and not findings.counts


def test_an_emoji_before_every_entity_is_named_as_the_cause_not_a_count_from_1():
    with pytest.raises(DataError, match="if places are read as: UTF-16 units"):
        _one("😀甲乙", _entity(2, 3, text="甲"))
    (document,), _ = _one("😀甲乙", _entity(2, 3, text="甲"), repair=True)
    assert document.entities == (Entity(1, 2, "A"),)


def test_places_that_are_right_in_the_way_of_the_file_too_are_no_faults():
    rows = [Row(Place("f.jsonl", 1), {"text": "甲乙", "entities": [_entity(0, 1, text="甲")]})]
    rows.append(Row(Place("f.jsonl", 2), {"text": "😀甲乙", "entities": [_entity(2, 3, text="甲")]}))
    documents, _ = _read(rows, on_error="skip")
    assert [document.place.line for document in documents] == [1]


def test_two_ways_that_disagree_repair_nothing():
    # Counted from 1 it is the second 甲, two too far right the first.
    with pytest.raises(DataError, match="line 7") as caught:
        _one("甲甲", _entity(2, 3, text="甲"), repair=True)
    assert "repair_offsets" not in str(caught.value)


def test_entities_without_a_text_are_moved_as_the_others_of_the_file():
    rows = _rows(WAYS["UTF-16 units"])
    text = "😀😀丙丁"
    rows.append(Row(Place("f.jsonl", 9), {"text": text, "entities": [_entity(4, 6)]}))
    assert _read(rows, repair=True)[0][-1].entities == (Entity(2, 4, "A"),)


@pytest.mark.parametrize("way, last", [("UTF-16 units", 4000), ("UTF-8 bytes", 4000), ("UTF-16 units", 1)])
def test_a_place_that_the_way_of_counting_does_not_have_is_told(way, last):
    rows = _rows(WAYS[way])
    # Behind the end of the text, or in the middle of an emoji.
    rows.append(Row(Place("f.jsonl", 9), {"text": "😀丙丁", "entities": [_entity(0, last)]}))
    with pytest.raises(DataError, match="line 9") as caught:
        _read(rows, repair=True)
    assert "set ner.repair_offsets" not in str(caught.value)


def test_half_a_pair_in_a_text_counts_as_one_of_utf_16():
    text = "\ud83d甲😀乙"  # what JSON of a cut emoji becomes
    (document,), _ = _one(text, _entity(4, 5, text="乙"), _entity(1, 2, text="甲"), repair=True)
    assert document.entities == (Entity(1, 2, "A"), Entity(3, 4, "A"))


@pytest.mark.parametrize("by", [-2, -1, 1, 2])
def test_one_shifted_entity_is_told_with_its_place_and_moved_where_allowed(by):
    text = "在很久以前的北京城里有人家"
    right, wrong = _entity(0, 1, text="在"), _entity(6 + by, 8 + by, text="北京")
    with pytest.raises(DataError, match=r"line 7\n.*'北京' there\n *It stands at 6 to 8: correct the place, or set"):
        _one(text, right, wrong)
    (document,), findings = _one(text, right, wrong, repair=True)
    assert document.entities == (Entity(0, 1, "A"), Entity(6, 8, "A"))
    assert findings.lines() == [
        "f.jsonl: entities that stood at a wrong place, moved to where their text is (ner.repair_offsets): "
        "1 (line 7 A 北京)"
    ]


@pytest.mark.parametrize("text, start", [("李四李四李四李四", 3), ("在很久以前的北京", 0)])
def test_an_entity_whose_text_stands_twice_nearby_or_far_away_is_not_moved(text, start):
    own = text[-2:]
    sound = _entity(0, 1, text=text[0])
    with pytest.raises(DataError, match=f"'{own}' there\n *Correct the places"):
        _one(text, sound, _entity(start, start + 2, text=own), repair=True)


@pytest.mark.parametrize("repair", [False, True])
def test_empty_places_without_texts_tell_inclusive_ends_and_are_never_guessed(repair):
    with pytest.raises(DataError, match=r"line 7[\s\S]*its ends are inclusive, it seems"):
        _one("甲乙丙丁", _entity(0, 1), _entity(2, 2), repair=repair)


def test_an_empty_place_is_no_sign_where_another_ends_with_the_text():
    with pytest.raises(DataError, match="expected a place in the text, which has 4 characters") as caught:
        _one("甲乙丙丁", _entity(0, 4), _entity(2, 2))
    assert "inclusive" not in str(caught.value)


@pytest.mark.parametrize("start, end", [(-1, 1), (0, 5), (3, 2), (9, 10), (10**30, 10**30 + 1)])
@pytest.mark.parametrize("repair", [False, True])
def test_places_outside_the_text_are_told(start, end, repair):
    with pytest.raises(DataError, match=r"line 7\n.*which has 4 characters"):
        _one("甲乙丙丁", _entity(0, 1, text="甲"), _entity(start, end), repair=repair)


@pytest.mark.parametrize(
    "entity", [_entity(0.0, 1), _entity(0, 1.5), _entity(True, 2), _entity("0", 1), _entity(0, None)]
)
def test_places_are_whole_numbers(entity):
    with pytest.raises(DataError, match=r"line 7\n.*whole numbers for start and end"):
        _one("甲乙丙丁", entity)


@pytest.mark.parametrize("label", ["", "  ", None, 3])
def test_an_entity_has_the_name_of_a_type(label):
    with pytest.raises(DataError, match=r"line 7\n.*the name of a type"):
        _one("甲乙", _entity(0, 1, label))


@pytest.mark.parametrize("own", ["", 5, ["甲"]])
def test_an_entitys_own_text_is_a_text(own):
    with pytest.raises(DataError, match=r"line 7\n.*the entity's text, or none"):
        _one("甲乙", _entity(0, 1, text=own))


def test_a_row_with_a_fault_is_left_out_whole_and_the_others_stay():
    rows = _rows(_shift(0, 0))
    rows[1].fields["entities"][2]["text"] = "圆"
    documents, _ = _read(rows, on_error="skip")
    assert [one.place.line for one in documents] == [1, 3]


def test_what_is_odd_is_counted_and_named_and_not_held_against_the_text():
    marks = [_entity(0, 2), _entity(0, 2), _entity(0, 2), _entity(1, 3, "B"), _entity(3, 5), _entity(5, 6)]
    (document,), findings = _one("甲乙丙 丁戊", *marks)
    assert document.entities == (Entity(0, 2, "A"), Entity(1, 3, "B"), Entity(3, 5, "A"), Entity(5, 6, "A"))
    assert findings.counts == {"duplicate": 2, "overlap": 1, "blank_edge": 1}
    lines = "\n".join(findings.lines())
    assert "line 7 A 甲乙" in lines and "line 7 B 乙丙 and A 甲乙" in lines and "line 7 A ' 丁'" in lines


def test_an_entity_inside_a_long_one_overlaps_it_whatever_stands_between():
    _, findings = _one("甲乙丙丁戊己", _entity(0, 6), _entity(1, 2), _entity(3, 4), _entity(4, 5))
    assert findings.counts == {"overlap": 3}


def test_many_entities_with_a_duplicate_are_read_at_once():
    marks = [_entity(place, place + 1) for place in range(20_000)]
    (document,), findings = _one("甲" * 20_000, *marks, marks[-1])
    assert len(document.entities or ()) == 20_000 and findings.counts == {"duplicate": 1}


def test_a_text_that_marks_nothing_is_told_from_one_without_entities():
    rows = [Row(Place("f", 1), {"text": "甲"}), Row(Place("f", 2), {"text": "乙", "entities": []})]
    assert [one.entities for one in _read(rows)[0]] == [None, ()]


def test_other_fields_stay_whatever_their_names_are():
    fields = {"text": "甲", "entities": [], "id": 4, "tags": ["a"], "brat": "x"}
    odd = {"text": "甲", "entities": [], "tags": {"illegal": 5, "cut": 1}, "brat": {"others": "many"}}
    documents, findings = _read([Row(Place("f", 1), fields), Row(Place("f", 2), odd)])
    assert documents[0].fields == {"id": 4, "tags": ["a"], "brat": "x"}
    assert documents[1].fields == {name: odd[name] for name in ("tags", "brat")} and not findings.counts


@pytest.mark.parametrize("tags", [{"illegal": [], "cut": [1]}, {"illegal": [[]], "cut": []}, {"cut": []}])
def test_a_users_own_field_of_tags_is_none_of_the_readers(tags):
    (document,), findings = _read([Row(Place("f", 1), {"text": "甲", "entities": [], "tags": tags})])
    assert document.fields == {"tags": tags} and not findings.counts


def test_illegal_and_cut_tags_are_findings_or_faults_as_the_options_say():
    tags = {"illegal": [[8, "I-A", "O"]], "cut": [[7, "I-A"]]}
    row = Row(Place("f", 7), {"text": "甲", "entities": [_entity(0, 1)], "tags": tags})
    (document,), findings = _read([row])
    assert document.fields == {} and findings.counts == {"illegal_tag": 1, "cut_entity": 1}
    with pytest.raises(DataError, match=r'f line 8\n *tag: found "I-A", expected a tag that may follow O'):
        _read([row], illegal_tags="error")


def _counts(documents):
    return len(documents), sum(len(one.entities) for one in documents)


def _lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _numbered(records):
    return [Row(Place("f", number), record) for number, record in enumerate(records, start=1)]


def test_cluener_is_read_whole(shared_data):
    records = _lines(shared_data / "cluener2020/train.json")
    expected = []
    for record in records:
        places = {
            (start, end, label, own)
            for label, found in record["label"].items()
            for own, spans in found.items()
            for start, end in spans
        }
        expected.append({(start, start + len(own), label) for start, _, label, own in places})
    documents, findings = _read(_numbered(records))
    assert [{(e.start, e.end, e.label) for e in one.entities or ()} for one in documents] == expected
    assert _counts(documents) == (10748, sum(map(len, expected))) and "moved" not in findings.counts


def test_cail_is_read_whole(shared_data):
    records = _lines(shared_data / "cail2021_ie/xxcq_small.json")
    expected = [
        {(*map(int, span.split(";")), one["label"]) for one in record["entities"] for span in one["span"]}
        for record in records
    ]
    documents, findings = _read(_numbered(records))
    assert [{(e.start, e.end, e.label) for e in one.entities or ()} for one in documents] == expected
    assert [one.text for one in documents] == [record["context"] for record in records]
    assert len(documents) == 2277 and findings.counts.get("moved") is None


@pytest.mark.parametrize("name, num_rows", [("train.jsonl", 400), ("dev.jsonl", 100)])
def test_fddc_is_read_whole(shared_data, name, num_rows):
    records = _lines(shared_data / "fddc_contracts" / name)
    documents, _ = _read(_numbered(records))
    expected = sum(len({(e["start"], e["end"], e["label"]) for e in record["entities"]}) for record in records)
    assert _counts(documents) == (num_rows, expected)


def test_a_row_of_another_form_is_told_with_what_came_and_the_key_to_set():
    row = Row(Place("f", 3), {"text": "甲", "label": {"A": [[0, 0]]}})
    with pytest.raises(DataError, match=r'f line 3\n *label: found ".*0, 0.*", expected \{mention') as caught:
        _read([row])
    assert "data.dialect" in str(caught.value)
    with pytest.raises(DataError, match=r"f line 3\n *label: found .*, expected a list"):
        _read([row], dialect="doccano")


@pytest.mark.parametrize("text", [None, 5, ["甲"]])
def test_a_row_without_its_text_names_the_key_of_its_field(text):
    rows = [Row(Place("f", 3), {"body": "甲", "text": text, "entities": []})]
    with pytest.raises(DataError, match=r"f line 3\n *text: found .*\n *Name its field: data\.text\."):
        _read(rows)
    assert _read(rows, text="body")[0][0].text == "甲"


def test_the_first_three_findings_of_a_kind_are_named_and_all_are_counted():
    rows = [Row(Place("f", line), {"text": "甲乙", "entities": [_entity(0, 2), _entity(0, 1)]}) for line in range(1, 6)]
    (line,) = _read(rows)[1].lines()
    assert line.endswith(": 5 (line 1 A 甲乙 and A 甲; line 2 A 甲乙 and A 甲; line 3 A 甲乙 and A 甲; …)")


def test_one_file_tells_nothing_of_another():
    # Each file has its own way: of two read one after the other each is repaired by its own.
    for name in ("ends inclusive", "two places too far left"):
        documents, _ = _read(_rows(WAYS[name]), repair=True)
        assert documents[2].entities == (Entity(0, 1, "否"),)


def test_an_entity_that_the_way_of_the_file_does_not_fit_leaves_no_certain_way():
    rows = _rows(WAYS["ends inclusive"])
    rows[0].fields["entities"][0]["start"] -= 1
    with pytest.raises(DataError, match="'张三' there") as caught:
        _read(rows)
    assert "if places are read as" not in str(caught.value)
    documents, findings = _read(rows, repair=True)  # one by one, by their texts
    assert [len(one.entities or ()) for one in documents] == [3, 3, 1] and findings.counts == {"moved": 7}
