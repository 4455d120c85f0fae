"""From the windows' candidates to one answer a question."""

import json

import numpy as np
import pytest

from ernie_pp.data.batches import MicroBatch, build_micro_batch, rows_of_batch
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.export.parity import MARGIN
from ernie_pp.tasks.docqa.decode import (
    condense,
    decide,
    decode,
    decode_question,
    for_bundle,
    merge_windows,
    probability,
)
from ernie_pp.tasks.docqa.prediction import Prediction
from ernie_pp.tasks.docqa.settings import ALL_KINDS, PLAIN_KINDS, DecodeSettings
from ernie_pp.tasks.docqa.windows import WindowAnswer

TEXT = "甲乙丙丁戊己庚辛壬癸子丑寅卯"


def _settings(labels=PLAIN_KINDS, *, max_answer=30, num_best=5, threshold=0.5):
    return DecodeSettings(labels, max_answer, num_best, threshold)


def _window(*found, yes_no=()):
    """A window with these (start, end, score)."""
    starts, ends, scores = zip(*found, strict=True) if found else ((), (), ())
    return WindowAnswer(np.array(starts, int), np.array(ends, int), np.array(scores, float), yes_no)


def _places(prediction):
    return [(one.start, one.end) for one in prediction.candidates]


def test_the_best_candidate_of_all_windows_is_given_with_its_place_and_text():
    windows = [_window((0, 2, 1.0)), _window((5, 8, 3.0), (6, 7, -1.0)), _window((9, 10, 2.0))]
    found = decode_question(windows, TEXT, _settings())
    assert (found.kind, found.given, found.answer.start, found.answer.end) == ("span", "己庚辛", 5, 8)
    assert _places(found) == [(5, 8), (9, 10), (0, 2), (6, 7)]
    assert all(one.text == TEXT[one.start : one.end] for one in found.candidates)
    assert found.score == pytest.approx(1 / (1 + np.exp(-3.0)), abs=1e-6)


def test_a_span_that_several_windows_see_appears_once_with_its_best_score():
    found = decode_question([_window((5, 8, 1.0)), _window((5, 8, 2.0), (0, 1, 1.5))], TEXT, _settings())
    assert _places(found) == [(5, 8), (0, 1)]
    assert found.score == pytest.approx(probability(2.0), abs=1e-6)


def test_probabilities_and_no_answer_are_one_together():
    windows = [_window((0, 2, 1.0), (1, 2, -4.0), yes_no=(0.5, -2.0)), _window((5, 8, 3.0))]
    found = decode_question(windows, TEXT, _settings(ALL_KINDS))
    weights = np.exp([3.0, 1.0, 0.5, -2.0, -4.0])
    np.testing.assert_allclose(
        [one.probability for one in found.candidates], weights / (weights.sum() + 1.0), atol=1e-6
    )


def test_large_scores_give_finite_probabilities():
    for score in (800.0, -800.0):
        found = decode_question([_window((0, 2, score), (5, 6, score))], TEXT, _settings())
        assert [one.probability for one in found.candidates] == ([0.5, 0.5] if score > 0 else [0.0, 0.0])
        assert found.score == (1.0 if score > 0 else 0.0)


@pytest.mark.parametrize("score, threshold, kind", [(0.2, 0.5, "span"), (-0.2, 0.5, "none"), (-9.0, 0.0, "span")])
def test_below_the_threshold_there_is_no_answer_but_its_candidates_are_told(score, threshold, kind):
    found = decode_question([_window((3, 4, score))], TEXT, _settings(threshold=threshold))
    assert (found.kind, found.best) == (kind, "丁")
    assert found.given == ("丁" if kind == "span" else "")


def test_yes_and_no_stand_beside_spans_by_their_scores():
    chosen = _settings(ALL_KINDS)
    found = decode_question([_window((0, 2, 1.0), yes_no=(2.0, -1.0))], TEXT, chosen)
    assert (found.kind, found.given, found.answer.start) == ("yes", "YES", None)
    assert [one.kind for one in found.candidates] == ["yes", "span", "no"]
    found = decode_question([_window((0, 2, 1.0), yes_no=(-3.0, 1.5)), _window(yes_no=(-2.0, 0.0))], TEXT, chosen)
    assert (found.kind, found.given) == ("no", "NO")
    found = decode_question([_window((0, 2, 1.0), yes_no=(-3.0, 0.5))], TEXT, chosen)
    assert found.given == "甲乙"
    assert {"start", "end"}.isdisjoint(found.to_fields()["candidates"][1])


@pytest.mark.parametrize("windows", [[], [_window()]])
def test_without_a_candidate_there_is_no_answer(windows):
    found = decode_question(windows, "", _settings())
    assert found == Prediction("none", 0.0, (), "")
    assert (found.given, found.best, found.answer) == ("", "", None)
    assert found.to_fields() == {"answer": "", "kind": "none", "score": 0.0, "candidates": []}


def test_no_more_candidates_than_asked_for_are_listed():
    windows = [_window(*((place, place + 1, -float(place)) for place in range(5))) for _ in range(3)]
    assert _places(decode_question(windows, TEXT, _settings(num_best=2))) == [(0, 1), (1, 2)]


def test_equally_good_candidates_stand_in_the_order_of_the_text_whatever_the_order_of_windows():
    windows = [_window((9, 10, 1.0)), _window((4, 6, 1.0), (4, 5, 1.0)), _window((0, 1, 1.0))]
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        found = decode_question([windows[index] for index in order], TEXT, _settings())
        assert _places(found) == [(0, 1), (4, 5), (4, 6), (9, 10)]


def test_candidates_that_are_one_character_to_a_reader_are_one():
    text = "甲👨\u200d👩乙"
    found = decode_question([_window((1, 2, 1.0), (3, 4, 2.0), (1, 4, 0.5), (0, 1, 0.0))], text, _settings())
    assert [(one.start, one.end, one.text) for one in found.candidates] == [(1, 4, "👨\u200d👩"), (0, 1, "甲")]
    assert found.score == pytest.approx(probability(2.0), abs=1e-6)


def test_a_prediction_can_be_written_as_json():
    found = decode_question([_window((5, 8, 3.0), yes_no=(1.0, 0.0))], TEXT, _settings(ALL_KINDS))
    fields = json.loads(json.dumps(found.to_fields()))
    assert (fields["answer"], fields["start"], fields["end"], fields["kind"]) == ("己庚辛", 5, 8, "span")
    assert fields["candidates"][0]["clause"] == TEXT and fields["candidates"][0]["paragraph"] == 1


@pytest.mark.parametrize("num_best", [1, 2, 4])
@pytest.mark.parametrize("labels", [PLAIN_KINDS, ALL_KINDS])
def test_windows_merged_in_parts_decode_as_all_at_once(num_best, labels):
    random, chosen = np.random.default_rng(num_best), _settings(labels, num_best=num_best)
    text = "甲🇨🇳乙👨\u200d👩丙e\u0301丁戊己庚"
    for _ in range(50):
        windows = []
        for start in random.integers(0, len(text) - 2, size=6).tolist():
            # Few different scores, so that many candidates are equally good.
            spans = sorted(
                ((start, start + size, float(random.integers(0, 3))) for size in (1, 2)), key=lambda s: -s[2]
            )
            yes_no = tuple(random.integers(-1, 3, size=2).astype(float).tolist()) if labels == ALL_KINDS else ()
            windows.append(_window(*spans, yes_no=yes_no))
        merged = []
        for start in range(0, 6, 2):
            merged = [merge_windows([*merged, *windows[start : start + 2]], text, chosen)]
        assert decode_question(merged, text, chosen) == decode_question(windows, text, chosen)


def _rows(sizes, *, num_question=3):
    """Rows of windows over one document after the other: (number of tokens, example) each, half of them shared."""
    ids, types, offsets, bounds, examples, place, last = [], [], [], [0], [], 0, None
    for size, example in sizes:
        place = place if example == last else 0
        ids += [1, *range(7, 7 + num_question), 2, *range(30, 30 + size), 2]
        types += [0] * (num_question + 2) + [1] * (size + 1)
        offsets += [(-1, -1)] * (num_question + 2) + [(place + k, place + k + 1) for k in range(size)] + [(-1, -1)]
        bounds.append(len(ids))
        examples.append(example)
        place, last = place + size - size // 2, example
    arrays = (np.array(ids, np.int32), np.array(types), np.array(bounds), np.zeros(len(sizes), np.int32))
    return TokenRows(*arrays, example_index=np.array(examples), offsets=np.array(offsets, np.int32))


def _logits(rows, *, outputs=2, width=None, seed=0):
    width = width or int(rows.lengths.max())
    random = np.random.default_rng(seed)
    return np.stack([random.normal(scale=3.0, size=(width, outputs)) for _ in range(len(rows))]).astype(np.float32)


SIZES = [(6, 0), (6, 0), (2, 0), (5, 2), (5, 2), (1, 3)]


def test_the_windows_of_each_question_are_decoded_with_its_own_document():
    rows, chosen = _rows(SIZES), _settings(threshold=0.0)
    answers = condense(_logits(rows), rows, chosen)
    texts = [TEXT, "no window of this", TEXT[::-1], "甲"]
    found = decode(answers, rows, texts, chosen)
    assert found[0] == decode_question(answers[:3], TEXT, chosen)
    assert found[1] == Prediction("none", 0.0, (), texts[1])
    assert found[2] == decode_question(answers[3:5], TEXT[::-1], chosen)
    assert found[3].given == "甲"


def test_batches_of_rows_and_their_order_change_no_answer():
    rows, chosen = _rows(SIZES), _settings(threshold=0.0)
    logits, whole = _logits(rows), None
    for batches in ([[0, 1, 2, 3, 4, 5]], [[5, 2], [0, 4, 3], [1]], [[1], [0], [3], [2], [5], [4]]):
        answers = [None] * len(rows)
        for batch in batches:
            part = rows.select(np.array(batch))
            width = int(part.lengths.max())
            for row, answer in zip(batch, condense(logits[batch][:, :width], part, chosen), strict=True):
                answers[row] = answer
        found = decode(answers, rows, [TEXT] * 4, chosen)
        whole = whole or found
        assert found == whole


def test_rows_that_come_back_from_a_batch_have_the_same_tokens():
    rows = _rows(SIZES)
    batch: MicroBatch = build_micro_batch(rows, np.arange(len(rows)), pad_id=0)
    back = rows_of_batch(batch.input_ids, batch.token_type_ids, pad_id=0)
    np.testing.assert_array_equal(back.ids, rows.ids)
    np.testing.assert_array_equal(back.type_ids, rows.type_ids)
    np.testing.assert_array_equal(back.row_starts, rows.row_starts)
    assert [tuple(place) for place in back.offsets[:3]] == [(0, 1), (1, 2), (2, 3)]


def test_a_bundle_decodes_by_the_settings_of_the_training():
    chosen = _settings(ALL_KINDS)
    assert for_bundle(chosen, {}) is chosen


def _one_row(starts, ends, *, none=0.0, yes_no=()):
    """(logits, rows) of a window whose document has these border logits."""
    rows = _rows([(len(starts), 0)])
    logits = np.full((1, len(starts) + 6, 2 + len(yes_no)), -30.0)
    logits[0, 5:-1, 0], logits[0, 5:-1, 1] = starts, ends
    logits[0, 0] = [none, none, *yes_no]
    return logits, rows


def _differ(mine, theirs, chosen):
    """Whether the export's check counts the two outputs as different decisions."""
    (logits, rows), (others, _) = mine, theirs
    (sure, near), (sure_too, near_too) = (
        [decide(one, rows, chosen, margin=margin)[0] for margin in (MARGIN, -MARGIN)] for one in (logits, others)
    )
    return not (sure <= near_too and sure_too <= near)


TINY = MARGIN / 100
SAME = {
    "two spans": (([1, 1 + TINY, 0], [2, 2, 0]), ([1 + TINY, 1, 0], [2, 2, 0])),
    "two ends of one start": (([3, 0, 0], [0, 2, 2 + TINY]), ([3, 0, 0], [0, 2 + TINY, 2])),
    "two starts of one end": (([2, 2 + TINY, 0], [0, 0, 3]), ([2 + TINY, 2, 0], [0, 0, 3])),
    "the threshold": (([TINY, -9, -9], [0, -9, -9]), ([-TINY, -9, -9], [0, -9, -9])),
}
OTHER = {
    "another span": (([1, 1.1, 0], [2, 2, 0]), ([1.1, 1, 0], [2, -9, 0])),
    "another end": (([3, 0, 0], [0, 2, 2.1]), ([3, 0, 0], [0, 2.1, 2])),
    "the threshold": (([0.1, -9, -9], [0, -9, -9]), ([-0.1, -9, -9], [0, -9, -9])),
}


@pytest.mark.parametrize("num_best", [1, 5])
@pytest.mark.parametrize("name", SAME)
def test_what_rounding_decides_is_no_other_decision(name, num_best):
    mine, theirs = (_one_row(*one) for one in SAME[name])
    assert not _differ(mine, theirs, _settings(num_best=num_best))


@pytest.mark.parametrize("num_best", [1, 5])
@pytest.mark.parametrize("name", OTHER)
def test_a_real_difference_is_another_decision(name, num_best):
    mine, theirs = (_one_row(*one) for one in OTHER[name])
    assert _differ(mine, theirs, _settings(num_best=num_best))
    assert not _differ(mine, mine, _settings(num_best=num_best))


def test_yes_and_no_are_decided_with_the_spans():
    chosen, plain = _settings(ALL_KINDS), ([0, 0], [0, 0])
    nearly = [_one_row(*plain, yes_no=(1 + sign * TINY, 1 - sign * TINY)) for sign in (1, -1)]
    assert not _differ(*nearly, chosen)
    assert _differ(_one_row(*plain, yes_no=(2, 1)), _one_row(*plain, yes_no=(1, 2)), chosen)
    assert decide(*_one_row(*plain, yes_no=(2, 1)), chosen, margin=MARGIN) == [frozenset({(-1, -1)})]


def test_the_decision_is_the_candidate_that_decoding_gives():
    rows = _rows(SIZES)
    for seed in range(20):
        logits = _logits(rows, seed=seed)
        decided, answers = decide(logits, rows, _settings()), condense(logits, rows, _settings())
        for row, places in enumerate(decided):
            found = decode_question([answers[row]], TEXT, _settings())
            assert places == ({(found.answer.start, found.answer.end)} if found.answer else set())
