"""Which windows of a long document are read for a question."""

import numpy as np

from ernie_pp.text.ranking import clause_index, pick_windows

CLAUSES = [f"第{number}条，双方应当遵守本合同的其他约定。" for number in range(40)]
CLAUSES[27] = "违约责任：逾期付款的一方按日支付违约金。"
TEXT = "".join(CLAUSES)


def _windows(size, step):
    starts = np.arange(0, len(TEXT) - size + step, step)
    return np.column_stack([starts, np.minimum(starts + size, len(TEXT))])


def test_the_window_with_the_clause_that_is_asked_for_is_picked():
    windows, place = _windows(60, 40), TEXT.index("违约责任")
    picked = pick_windows("违约责任由谁承担？", TEXT, windows, limit=2)
    assert any(windows[one, 0] <= place < windows[one, 1] for one in picked)


def test_windows_keep_their_order_and_there_are_no_more_than_asked_for():
    windows = _windows(60, 40)
    picked = pick_windows("逾期付款的违约金是多少？", TEXT, windows, limit=5)
    assert len(picked) == 5 and picked.tolist() == sorted(set(picked.tolist()))


def test_a_document_with_no_more_windows_is_read_whole():
    windows = _windows(300, 300)
    assert pick_windows("违约", TEXT, windows, limit=len(windows)).tolist() == list(range(len(windows)))


def test_a_question_without_a_word_in_common_takes_the_first_windows():
    assert pick_windows("？？", TEXT, _windows(60, 40), limit=3).tolist() == [0, 1, 2]
    assert pick_windows("zzz", TEXT, _windows(60, 40), limit=3).tolist() == [0, 1, 2]


def test_a_text_without_words_has_no_clause_that_is_like_anything():
    windows = np.array([[0, 2], [2, 4], [4, 6]])
    assert pick_windows("违约", "\n\n\n\n\n\n", windows, limit=1).tolist() == [0]


def test_every_character_stands_in_at_most_one_clause():
    index = clause_index("甲方。\n乙方！丙方")
    assert index.centers.tolist() == sorted(index.centers.tolist()) and len(index.centers) == 3
