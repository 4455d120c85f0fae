"""What is shown of entities; copies with other entities."""

import time

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.rows import Place
from ernie_pp.tasks.ner.metric import measure
from ernie_pp.tasks.ner.report import list_mistakes, report_sections, type_lines
from ernie_pp.tasks.ner.swapping import with_swapped_copies


def _document(text, *entities, line=1):
    return Document(Place("a.txt", line), text, tuple(Entity(*one) for one in entities))


def test_lines_name_types_lengths_and_kinds_of_mistakes():
    evaluation = measure(
        [[Entity(0, 2, "人")]], [[Entity(0, 2, "人"), Entity(3, 4, "人")]], ["人"], headline="micro_f1"
    )
    lines = type_lines(evaluation)
    assert any(line.startswith("人 ") and "0.5000  1.0000  0.6667       1       2" in line for line in lines)
    assert any(line.startswith("overlaps no true one:") and line.endswith(" 1") for line in lines)
    titles = [table.title for table in report_sections(evaluation).tables]
    assert titles == ["By type (dev)", "By length (dev)", "Mistakes by kind (dev)"]


def test_mistakes_come_surest_first_and_show_the_text_around():
    document = _document("张三和李四在北京", (0, 2, "人"), (3, 5, "人"), (6, 8, "地点"))
    given = [(Mention(0, 2, "人", 0.9), Mention(3, 5, "地点", 0.6), Mention(2, 3, "人", 0.8))]
    found = list_mistakes([document], given, limit=9)
    assert [(one.text, one.true, one.given.split(" (")[0], one.probability) for one in found] == [
        ("张三【和】李四在北京", "(none)", "人", 0.8),
        ("张三和【李四】在北京", "人 李四", "地点", 0.6),
        ("张三和李四在【北京】", "地点", "(none)", 0.0),
    ]
    assert len(list_mistakes([document], given, limit=1)) == 1


def test_a_mistake_names_every_true_entity_it_overlaps_and_what_is_wrong():
    document = _document("在北京大学人民医院看病", (1, 9, "机构"), (1, 3, "地点"), (1, 5, "学校"))
    given = [(Mention(3, 5, "学校", 0.7), Mention(1, 5, "机构", 0.8), Mention(1, 3, "地点", 0.9))]
    found = list_mistakes([document], given, limit=9)
    assert [(one.true, one.given) for one in found] == [
        ("地点 北京, 学校 北京大学, 机构 北京大学人民医院", "机构 (right place, wrong type)"),
        ("学校 北京大学, 机构 北京大学人民医院", "学校 (overlaps a true one of its type)"),
    ]


def test_mistakes_show_no_more_than_some_characters_on_each_side():
    document = _document("甲" * 50 + "张三" + "乙" * 50)
    (found,) = list_mistakes([document], [[Mention(50, 52, "人")]], limit=1)
    assert found.text == "甲" * 20 + "【张三】" + "乙" * 20


def test_mistakes_in_a_long_document_take_seconds():
    places = [(place, place + 4, "人") for place in range(0, 50_000, 10)]
    document = _document("甲" * 50_000, *places)
    given = [Mention(start + 1, end, label) for start, end, label in places[::2]]
    start = time.process_time()
    found = list_mistakes([document], [given], limit=3000)
    assert [one.given for one in found].count("(none)") == 500
    assert time.process_time() - start < 10


def test_copies_hold_other_entities_at_right_places_and_the_same_text_everywhere():
    train = [
        _document("甲公司和乙厂，甲公司。", (0, 3, "公司"), (4, 6, "公司"), (7, 10, "公司"), (0, 1, "字")),
        _document("丙集团有限公司", (0, 7, "公司"), line=2),
    ]
    found = with_swapped_copies(train, 3, seed=5)
    assert [one.place.line for one in found] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert found[0] is train[0] and found == with_swapped_copies(train, 3, seed=5)
    pool = {"甲公司", "乙厂", "丙集团有限公司"}
    for copy in found[1:4]:
        names = [copy.text[e.start : e.end] for e in copy.entities or ()]
        assert len(names) == 3 and names[0] == names[2] and set(names) <= pool
        assert copy.text == f"{names[0]}和{names[1]}，{names[2]}。"
    assert with_swapped_copies(train, 0, seed=5) == train
