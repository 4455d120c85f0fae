"""Rows of a question and a window of its document each."""

import numpy as np
import pytest

from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.pair_windows import QuestionWindows, room_for_document, room_for_questions, tokenize_documents
from ernie_pp.text.portable import build_portable
from ernie_pp.text.tokenizer import Tokenizer

DOCUMENT = "甲方应当付款。乙方应当交货。合同金额为三百万元。争议由仲裁解决。" * 3
QUESTION = "合同金额是多少"


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(build_portable(build_vocabulary([DOCUMENT + QUESTION], min_count=1, table="none")))


def _windows(tokenizer, *, size=20, overlap=5, keep=()):
    (question,) = tokenizer.encode([QUESTION], max_length=1 << 20, truncate="error")
    document = tokenize_documents([DOCUMENT], tokenizer)[DOCUMENT]
    return QuestionWindows(question, document, document.windows(size=size, overlap=overlap, keep=keep))


def test_every_row_holds_the_whole_question_and_its_window(tokenizer):
    found = _windows(tokenizer)
    rows = found.rows(7, tokenizer)
    assert len(rows) == len(found.windows) > 3
    assert rows.text_index.tolist() == [7] * len(rows)
    covered = set()
    for row, (first, last) in enumerate(found.windows):
        part = slice(rows.row_starts[row], rows.row_starts[row + 1])
        ids, types, offsets = rows.ids[part], rows.type_ids[part], rows.offsets[part]
        asked = len(QUESTION) + 2
        assert ids[:asked].tolist() == found.question.ids.tolist()
        assert types.tolist() == [0] * asked + [1] * (last - first + 1)
        assert ids[-1] == tokenizer.sep_id
        shown = [DOCUMENT[start:end] for start, end in offsets[asked:-1]]
        assert "".join(shown) == DOCUMENT[offsets[asked, 0] : offsets[-2, 1]]
        covered.update(range(first, last))
    assert covered == set(range(len(found.document.ids)))


def test_parts_hold_the_same_rows_in_their_order(tokenizer):
    found = _windows(tokenizer)
    whole = found.rows(0, tokenizer)
    parts = [part.rows(0, tokenizer) for part in found.parts(2 * found.tokens_per_row)]
    assert max(map(len, parts)) == 2
    np.testing.assert_array_equal(np.concatenate([part.ids for part in parts]), whole.ids)
    np.testing.assert_array_equal(np.concatenate([part.offsets for part in parts]), whole.offsets)


def test_an_answer_that_fits_stands_whole_in_a_window(tokenizer):
    places = range(len(DOCUMENT) - 18)
    for start in places:
        keep = [(start, start + 18)]
        windows = _windows(tokenizer, keep=keep)
        characters = windows.document.characters_of(windows.windows)
        assert any(a <= start and start + 18 <= b for a, b in characters)


def test_a_document_that_comes_several_times_is_tokenized_once(tokenizer):
    found = tokenize_documents([DOCUMENT, "甲方", DOCUMENT], tokenizer)
    assert list(found) == [DOCUMENT, "甲方"]
    first = found[DOCUMENT].windows(size=20, overlap=5)
    assert found[DOCUMENT].windows(size=20, overlap=5) is first


def test_a_document_without_tokens_is_one_empty_window(tokenizer):
    found = tokenize_documents(["\u200b"], tokenizer)["\u200b"]
    windows = found.windows(size=20, overlap=5)
    assert windows.tolist() == [[0, len(found.ids)]]
    assert found.characters_of(windows).shape == (1, 2)


@pytest.mark.parametrize("max_length", [5, 6, 8, 64, 512])
def test_questions_leave_a_quarter_of_a_row_to_the_document(max_length):
    most = room_for_questions(max_length)
    left = max_length - 3 - most
    assert most >= 1 and left >= max(1, (max_length - 3) // 4)


def test_room_for_the_document_is_what_the_question_leaves(tokenizer):
    (question,) = tokenizer.encode([QUESTION], max_length=1 << 20, truncate="error")
    assert room_for_document(question, 64) == 64 - len(QUESTION) - 3
