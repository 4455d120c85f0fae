"""The dictionary of training entities that a model is compared with."""

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.rows import Place
from ernie_pp.tasks.ner.baseline import find_entities, fit_dictionary


def _document(text, *entities):
    return Document(Place("a.txt", 1), text, tuple(Entity(*one) for one in entities))


def test_the_dictionary_finds_the_longest_training_entity_with_its_usual_type():
    train = [
        _document("北京大学在北京", (0, 4, "机构"), (5, 7, "地点")),
        _document("北京北京", (0, 2, "机构"), (2, 4, "机构")),
    ]
    assert find_entities(fit_dictionary(train), ["去北京大学和北京"]) == [[Entity(1, 5, "机构"), Entity(6, 8, "机构")]]


def test_of_equally_frequent_types_the_first_by_name_is_taken_in_any_order_of_documents():
    train = [_document("甲", (0, 1, "B")), _document("甲", (0, 1, "A"))]
    for documents in (train, train[::-1]):
        assert find_entities(fit_dictionary(documents), ["乙甲"]) == [[Entity(1, 2, "A")]]


def test_nested_training_entities_are_all_known_and_found_without_overlaps():
    matcher = fit_dictionary([_document("北京大学", (0, 4, "机构"), (0, 2, "地点"))])
    assert find_entities(matcher, ["北京大学北京", "", "无"]) == [
        [Entity(0, 4, "机构"), Entity(4, 6, "地点")],
        [],
        [],
    ]


def test_documents_without_marks_teach_nothing():
    matcher = fit_dictionary([Document(Place("a.txt", 1), "北京", None)])
    assert find_entities(matcher, ["北京"]) == [[]]
