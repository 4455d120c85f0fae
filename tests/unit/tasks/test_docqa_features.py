"""Questions through windows, targets and decoding: true answers come back, and windows teach nothing wrong."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.data.questions.question import Answer, Document, Question
from ernie_pp.data.rows import Place
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import DataError
from ernie_pp.tasks.docqa import features
from ernie_pp.tasks.docqa.decode import condense, decode
from ernie_pp.tasks.docqa.settings import ALL_KINDS, DecodeSettings
from ernie_pp.text.encoding import join_rows
from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.normalize import Normalization
from ernie_pp.text.portable import build_portable
from ernie_pp.text.tokenizer import Tokenizer

SETTINGS = DecodeSettings(ALL_KINDS, 60, 5, 0.5)
LONG = "".join(f"第{number}条，双方应当遵守本合同的约定。" for number in range(12))
REST = LONG.replace("双方", "各方")
# (document, what is asked for in it); each stands there once.
DOCUMENTS = [
    (f"{LONG}合同金额为人民币三百万元。{REST}", ["人民币三百万元", "第3条，双方应当", "三百万元。"]),
    (
        "甲方购买iPhone 12 Pro共30台，单价¥8,999.00元/台。型号：A2408-B。",
        ["iPhone 12 Pro", "¥8,999.00元", "A2408-B", "30"],
    ),
    ("好评👨\u200d👩\u200d👧！推荐👍🏽给🇨🇳的朋友☎\ufe0f联系我们", ["👨\u200d👩\u200d👧", "👍🏽", "🇨🇳", "☎\ufe0f"]),
    (
        "ＡＢＣ公司（以下简称“甲方”）电话：１２３４５６７，邮编\u3000１０００８１。",
        ["ＡＢＣ公司", "１２３４５６７", "１０００８１"],
    ),
    ("買賣契約書：買方應於簽約後十日內付款予賣方，違約金為總價之百分之五。", ["簽約後十日內", "百分之五", "買方"]),
    (
        "合\u200b同\u200b编号 HT－2024  签订地点：\n\n北京 市\r\n签订日期 2024 年 5 月",
        ["北京 市", "2024 年 5 月", "HT－2024"],
    ),
    ("Cafe\u0301 à la carte：ÀÉ価格：１，０００円です。한국어", ["Cafe\u0301", "１，０００円", "한국어", "ÀÉ"]),
]
NORMALIZATIONS = [Normalization(*switches) for switches in product([False, True], repeat=4)]


def _tokenizer(texts, normalization=None):
    vocabulary = build_vocabulary([*texts, "问谁买"], min_count=1, table="none")
    return Tokenizer(build_portable(vocabulary), normalization=normalization)


def _question(document, number=1, *, kind="span", answers=(), text="问谁"):
    found = [one if isinstance(one, Answer) else _answer(document.text, one) for one in answers]
    return Question(Place("x.json", number), f"q{number}", text, document, kind, tuple(found))


def _answer(text, part):
    assert text.count(part) == 1
    return Answer(part, text.index(part), text.index(part) + len(part))


def _encode(questions, tokenizer, *, max_length=32, overlap=8, empty_windows=None):
    text = {"max_length": max_length, "overlap": overlap}
    encoded = features.encode_for_training(questions, tokenizer, text, empty_windows=empty_windows)
    assert encoded.lengths.max(initial=0) <= max_length
    return TokenRows.from_encoded(encoded)


def _perfect(targets, lengths):
    """Logits of a head that has learned these targets."""
    logits = np.zeros((len(targets), int(lengths.max(initial=0)), 4), np.float32)
    for row, (first, last) in enumerate(targets.tolist()):
        if first < 0:
            logits[row, 0, 1 - first] = 20.0
        else:
            logits[row, first, 0] = logits[row, last, 1] = 20.0
    return logits


def _come_back(questions, tokenizer, **how):
    rows = _encode(questions, tokenizer, **how)
    logits = _perfect(features.answer_targets(rows, questions), rows.lengths)
    return decode(condense(logits, rows, SETTINGS), rows, [one.document.text for one in questions], SETTINGS)


@pytest.mark.parametrize("normalization", NORMALIZATIONS, ids=str)
def test_answers_in_any_script_come_back_at_their_places(normalization):
    tokenizer = _tokenizer([text for text, _ in DOCUMENTS], normalization)
    for text, parts in DOCUMENTS:
        document = Document("d", text)
        questions = [_question(document, number, answers=[part]) for number, part in enumerate(parts)]
        for empty_windows in (None, 0, 1):
            found = _come_back(questions, tokenizer, empty_windows=empty_windows)
            assert [one.given for one in found] == parts
            assert [(one.answer.start, one.answer.end) for one in found] == [
                (one.answers[0].start, one.answers[0].end) for one in questions
            ]


@settings(max_examples=100, deadline=None)
@given(
    text=st.text("甲乙丙丁，。\n 戊", min_size=1, max_size=90).filter(str.strip),
    places=st.lists(st.tuples(st.integers(0, 89), st.integers(1, 12)), min_size=1, max_size=6),
    overlap=st.integers(0, 8),
)
def test_any_answers_that_fit_come_back_without_the_blanks_at_their_edges(text, places, overlap):
    document, spans = Document("d", text), []
    for start, length in places:
        start, end = min(start, len(text) - 1), min(start + length, len(text))
        if text[start:end].strip():
            spans.append((start, end))
    questions = [
        _question(document, number, answers=[Answer(text[start:end], start, end)])
        for number, (start, end) in enumerate(spans)
    ]
    found = _come_back(questions, Tokenizer(CHARACTERS), max_length=19, overlap=overlap, empty_windows=1)
    assert [one.given for one in found] == [text[start:end].strip() for start, end in spans]
    for one, (start, end) in zip(found, spans, strict=True):
        assert start <= one.answer.start and one.answer.end <= end


CHARACTERS = build_portable(build_vocabulary(["甲乙丙丁戊，。问谁"], min_count=1, table="none"))


def test_questions_of_several_documents_and_of_all_kinds_come_back_together():
    documents = [Document(str(number), text) for number, (text, _) in enumerate(DOCUMENTS)]
    questions = []
    for document, (_, parts) in zip(documents, DOCUMENTS, strict=True):
        questions += [_question(document, answers=parts[:1]), _question(document, kind="none")]
        questions += [_question(document, kind="yes"), _question(document, kind="no", text="买谁")]
        questions += [_question(document, answers=parts[1:2], text="谁")]
    found = _come_back(questions, _tokenizer([text for text, _ in DOCUMENTS]), empty_windows=2)
    assert [one.kind for one in found] == ["span", "none", "yes", "no", "span"] * len(documents)
    assert [one.given for one in found] == [one.gold_texts[0] for one in questions]


@pytest.mark.parametrize(
    "text, part", [(" 甲方 应当付款", " 甲方 "), ("\u200b甲方", "\u200b甲方"), ("付款甲方\n", "甲方\n")]
)
@pytest.mark.parametrize("invisible", [False, True])
def test_an_answer_at_the_edge_of_a_document_may_have_blanks_around_it(text, part, invisible):
    document = Document("d", text)
    questions = [_question(document, answers=[part])]
    tokenizer = _tokenizer([text], Normalization(invisible=invisible))
    (found,) = _come_back(questions, tokenizer)
    assert found.given == "甲方"
    assert features.inexpressible(_encode(questions, tokenizer), questions) == []


def test_an_answer_that_begins_within_a_token_is_learned_as_that_token():
    document = Document("d", "型号A2408B的机器")
    (found,) = _come_back([_question(document, answers=["2408"])], _tokenizer(["A2408B A2408B", document.text]))
    assert found.given == "A2408B"


def test_the_place_that_most_answers_name_is_learned():
    document = Document("d", "甲方乙方丙方")
    answers = ["甲方", "丙方", Answer("丙方 ", 4, 6), Answer("戊方"), "乙方"]
    assert features.true_answer(_question(document, answers=answers)).span == (4, 6)
    assert features.true_answer(_question(document, answers=answers[:2])).span == (0, 2)


def test_answers_without_a_place_teach_nothing():
    found = features.true_answer(_question(Document("d", "甲方"), answers=[Answer("戊方"), "甲方"]))
    assert found.span == (0, 2)
    assert features.true_answer(_question(Document("d", "甲方"), kind="none")) == features.TrueAnswer()


def _long_document():
    document = Document("d", DOCUMENTS[0][0])
    return document, _tokenizer([document.text])


def _counts(questions, tokenizer, empty_windows):
    rows = _encode(questions, tokenizer, empty_windows=empty_windows)
    has_answer = features.answer_targets(rows, questions)[:, 0] != features.NO_SPAN
    return [(int(has_answer[own].sum()), int((~has_answer[own]).sum())) for own in _own_rows(rows, questions)]


def _own_rows(rows, questions):
    return [np.flatnonzero(rows.example_index == index) for index in range(len(questions))]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_question_keeps_so_many_windows_without_its_answer(most):
    document, tokenizer = _long_document()
    questions = [_question(document, answers=DOCUMENTS[0][1][:1]), _question(document, kind="none")]
    (with_answer, without), (none, num_empty) = _counts(questions, tokenizer, most)
    assert with_answer >= 1 and without == most
    # One without an answer would be left without a row otherwise.
    assert (none, num_empty) == (0, most + 1)


def test_all_windows_are_kept_where_no_number_is_said_and_of_yes_and_no_always():
    document, tokenizer = _long_document()
    questions = [_question(document, kind=kind) for kind in ("none", "yes", "no")]
    (_, every), (yes, _), (no, _) = _counts(questions, tokenizer, None)
    assert every > 10 and yes == no == every
    (_, few), (yes, _), (no, _) = _counts(questions, tokenizer, 0)
    assert few == 1 and yes == no == every


def test_windows_without_the_answer_are_the_same_each_time_and_others_for_another_question():
    document, tokenizer = _long_document()

    def picked(text):
        rows = _encode([_question(document, kind="none", text=text)], tokenizer, empty_windows=2)
        return [tuple(features.document_places(rows, row)[1][0, :1]) for row in range(len(rows))]

    assert picked("问谁") == picked("问谁")
    assert len({tuple(picked(text)) for text in ("问谁", "谁问", "买谁", "谁买")}) > 1


@pytest.mark.parametrize("empty_windows", [None, 0, 2])
def test_an_answer_longer_than_any_window_is_not_taught_as_no_answer(empty_windows):
    document, tokenizer = _long_document()
    start, end = 40, 110
    questions = [_question(document, answers=[Answer(document.text[start:end], start, end)])]
    rows = _encode(questions, tokenizer, empty_windows=empty_windows)
    for row in range(len(rows)):
        _, (starts, ends) = features.document_places(rows, row)
        assert ends[-1] <= start or end <= starts[0]
    assert features.inexpressible(rows, questions) == questions
    assert features.inexpressible(_encode(questions, tokenizer, max_length=128), questions) == []


def test_a_document_of_such_an_answer_alone_gives_no_row_and_decodes_to_no_answer():
    document = Document("d", "甲" * 30)
    questions = [_question(document, answers=[Answer(document.text, 0, 30)]), _question(document, kind="none")]
    rows = _encode(questions, Tokenizer(CHARACTERS), max_length=19)
    assert set(rows.example_index.tolist()) == {1}
    assert [one.kind for one in _come_back(questions, Tokenizer(CHARACTERS), max_length=19)] == ["none", "none"]


def _inputs(limit=None):
    texts = [DOCUMENTS[0][0], DOCUMENTS[1][0], DOCUMENTS[0][0], "\u200b"]
    asked = ["合同金额为多少", "iPhone 12 Pro", "谁", "问谁"]
    return asked, texts, _tokenizer(texts), {"max_length": 32, "overlap": 8, "ranked_windows": limit}


@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize("max_tokens", [1, 33, 100, 1000, 1 << 20])
def test_parts_of_any_size_hold_the_same_rows(max_tokens, limit):
    asked, documents, tokenizer, text = _inputs(limit)
    whole = features.encode(asked, documents, tokenizer, text)
    parts = list(features.encode_in_parts(asked, documents, tokenizer, text, max_tokens=max_tokens))
    joined = join_rows(parts)
    for name in ("ids", "type_ids", "offsets", "row_starts", "text_index"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    # A part ends with the row that fills it.
    assert max(len(part.ids) for part in parts) < 2 * max_tokens + 32


def test_no_more_windows_are_read_than_the_ranker_may_pick_and_the_right_one_is_among_them():
    asked, documents, tokenizer, text = _inputs(2)
    rows = TokenRows.from_encoded(features.encode(asked, documents, tokenizer, text))
    assert np.bincount(rows.example_index).tolist()[::2] == [2, 2]
    question = _question(Document("d", documents[0]), answers=["人民币三百万元"], text=asked[0])
    others = [_question(Document("e", one), kind="none") for one in documents[1:]]
    assert features.inexpressible(rows, [question, *others]) == []
    assert features.ranker_recall(rows, [question, *others], limit=2) == (1, 1)


def test_no_questions_are_no_rows():
    assert len(features.encode([], [], Tokenizer(CHARACTERS), {"max_length": 19, "overlap": 4})) == 0
    assert len(_encode([], Tokenizer(CHARACTERS))) == 0


def test_a_question_that_leaves_no_room_is_named_before_and_refused_later():
    tokenizer, text = Tokenizer(CHARACTERS), {"max_length": 19, "overlap": 4}
    asked, documents = ["谁" * 12, "谁" * 13, "谁" * 40], ["甲" * 40] * 3
    assert [(one.index, one.length, one.limit) for one in features.too_long(asked, documents, tokenizer, text)] == [
        (1, 13, 12),
        (2, 40, 12),
    ]
    assert features.encode(asked[:1], documents[:1], tokenizer, text).lengths.max() == 19
    with pytest.raises(DataError, match=r"question number 1\n.*has 13 tokens, expected at most 12"):
        features.encode(asked, documents, tokenizer, text)
