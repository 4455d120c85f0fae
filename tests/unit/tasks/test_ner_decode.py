"""From a head's output to entities in the text: spans, thresholds, windows, rules."""

import numpy as np
import pytest

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.rows import Place
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.ner import features
from ernie_pp.tasks.ner.chain import Chain
from ernie_pp.tasks.ner.decode import decide, decode, find_spans, for_bundle, model_mentions
from ernie_pp.tasks.ner.rules import Rule
from ernie_pp.tasks.ner.settings import DecodeSettings
from ernie_pp.tasks.ner.spans import LEAST_PROBABILITY, LEAST_THRESHOLD, MOST_SPANS, pointer_spans, row_spans
from ernie_pp.tasks.ner.thresholds import tune_thresholds
from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.portable import build_portable
from ernie_pp.text.tokenizer import Tokenizer

LABELS = ("A", "B")
TAGS = DecodeSettings(LABELS, "softmax", "bio")
POINTER = DecodeSettings(LABELS, "global_pointer", "bio", thresholds=(0.5, 0.8), is_nested=True)
NAMES = TAGS.tags.names


@pytest.fixture(scope="module")
def rows_of():
    tokenizer = Tokenizer(build_portable(build_vocabulary(["甲乙丙丁戊己庚辛壬癸"], min_count=1, table="none")))

    def encode(*texts, max_length=64, overlap=0):
        limits = {"max_length": max_length, "overlap": overlap}
        return TokenRows.from_encoded(features.encode(list(texts), None, tokenizer, limits))

    return encode


def _rows(lengths):
    """Rows of so many tokens, whatever they are."""
    nothing, starts = np.zeros(int(lengths.sum()), np.int32), np.concatenate([[0], np.cumsum(lengths)])
    return TokenRows(nothing, nothing, starts, np.zeros(len(lengths), np.int32))


def _emissions(*tags, length=None, sure=9.0):
    """Of one row: [CLS], these tags, [SEP] and padding."""
    table = np.zeros((1, (length or len(tags)) + 2, len(NAMES)), np.float32)
    for place, tag in enumerate(tags, start=1):
        table[0, place, NAMES.index(tag)] = sure
    return table, np.array([len(tags) + 2])


def _pointer(length, *found, types=2):
    """Scores of one row of `length` tokens with these (kind, first, last, logit)."""
    scores = np.full((1, types, length, length), -20.0, np.float32)
    for kind, first, last, logit in found:
        scores[0, kind, first, last] = logit
    return scores, np.array([length])


def _mentions(answers, rows, texts, settings):
    return [[(m.start, m.end, m.label) for m in one] for one in model_mentions(answers, rows, texts, settings)]


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_tags_become_spans_counted_with_the_first_special_token(head):
    settings = DecodeSettings(LABELS, head, "bio", chain=TAGS.tags.rules if head == "crf" else None)
    emissions, lengths = _emissions("O", "B-A", "I-A", "B-A", "O", length=9)
    assert find_spans(emissions, lengths, settings)[0].places() == [(2, 3, 0), (4, 4, 0)]


def test_no_illegal_tag_is_ever_chosen():
    emissions, lengths = _emissions("I-A", "I-A", "O", "B-B", "I-A")
    (spans,) = find_spans(emissions, lengths, TAGS)
    # The one I-A behind O and the one behind B-B are not legal; what is nearest to them is.
    assert spans.places() in ([(1, 2, 0), (4, 4, 1)], [(1, 2, 0), (4, 4, 1), (5, 5, 0)], [(1, 2, 0), (4, 5, 0)])
    rng = np.random.default_rng(1)
    for settings in (TAGS, DecodeSettings(LABELS, "softmax", "bioes")):
        noise = rng.normal(size=(40, 12, len(settings.tags.names))).astype(np.float32) * 4
        for found in find_spans(noise, np.full(40, 12), settings):
            spans = [(first - 1, last, LABELS[kind]) for first, last, kind in found.places()]
            settings.tags.encode(spans, 10)  # raises where two overlap, or one leaves the row


def test_a_span_is_as_sure_as_its_weakest_token():
    emissions, lengths = _emissions("B-A", "I-A", "O")
    emissions[0, 2] *= 0.1
    (spans,) = find_spans(emissions, lengths, TAGS)
    (alone,) = find_spans(*_emissions("B-A", "I-A", "O"), TAGS)
    assert spans.places() == alone.places() == [(1, 2, 0)]
    assert 0 < spans.score[0] < 0.9 < alone.score[0] <= 1


def test_rows_of_special_tokens_and_padding_only_hold_nothing():
    emissions = np.full((2, 5, len(NAMES)), 3.0, np.float32)
    emissions[:, :, 1] = 9.0
    found = find_spans(emissions, np.array([2, 3]), TAGS)
    assert [one.places() for one in found] == [[], [(1, 1, 0)]]


def test_a_crf_has_the_same_spans_in_training_and_in_a_bundle():
    rng, count = np.random.default_rng(2), len(NAMES)
    chain = Chain(rng.normal(size=count), rng.normal(size=(count, count)), rng.normal(size=count))
    emissions = rng.normal(size=(8, 10, count)).astype(np.float32)
    below = np.concatenate([chain.start[None], chain.end[None], chain.transitions]).astype(np.float32)
    trained = np.concatenate([emissions, np.broadcast_to(below, (8, *below.shape))], axis=1)
    settings = DecodeSettings(LABELS, "crf", "bio")
    weights = {"crf.start": below[0], "crf.end": below[1], "crf.transitions": below[2:]}
    lengths = np.array([10, 9, 8, 7, 6, 5, 4, 3])
    bundled = for_bundle(settings, weights)
    assert for_bundle(TAGS, {}) is TAGS
    for one, other in zip(find_spans(trained, lengths, settings), find_spans(emissions, lengths, bundled), strict=True):
        assert one.places() == other.places() and np.array_equal(one.score, other.score)


def test_pointer_spans_leave_out_special_tokens_padding_and_what_is_turned_round():
    scores, lengths = _pointer(7, (0, 1, 2, 3.0), (1, 1, 2, 3.0), (0, 0, 1, 9.0), (0, 2, 4, 9.0), (1, 3, 2, 9.0))
    scores[0, 0, 5, 6] = 9.0
    (spans,) = pointer_spans(scores, lengths - 2)  # [CLS], three tokens, [SEP], padding
    assert spans.places() == [(1, 2, 0), (1, 2, 1)]
    assert spans.score == pytest.approx([1 / (1 + np.exp(-3.0))] * 2)


def test_what_no_threshold_takes_and_all_but_the_surest_are_let_go():
    edge = np.log(LEAST_PROBABILITY / (1 - LEAST_PROBABILITY))
    (spans,) = pointer_spans(*_pointer(5, (0, 1, 1, edge - 0.01), (0, 2, 2, edge + 0.01)))
    assert spans.places() == [(2, 2, 0)]
    scores = np.random.default_rng(3).uniform(1, 5, (1, 2, 40, 40)).astype(np.float32)
    (spans,) = pointer_spans(scores, np.array([40]))
    assert np.bincount(spans.kind).tolist() == [MOST_SPANS] * 2
    inner = scores[0, 0, 1:39, 1:39][np.triu_indices(38)]
    logits = np.log(spans.score / (1 - spans.score))[spans.kind == 0]
    assert logits.min() == pytest.approx(np.sort(inner)[-MOST_SPANS], abs=1e-3)


def test_scores_of_any_size_are_probabilities():
    (spans,) = pointer_spans(*_pointer(4, (0, 1, 1, 1e30), (1, 2, 2, 400.0)))
    assert spans.score.tolist() == [1.0, 1.0]


def test_a_type_has_its_own_threshold_and_reaching_it_is_enough():
    half = 0.0
    scores, lengths = _pointer(6, (0, 1, 1, half), (0, 2, 2, half - 0.01), (1, 3, 3, 1.3), (1, 4, 4, 1.5))
    assert decide(scores, _rows(lengths), POINTER) == [{(1, 1, 0), (4, 4, 1)}]


def test_nested_mentions_stay_in_a_nested_scheme_and_the_surest_in_a_flat_one(rows_of):
    rows, texts = rows_of("甲乙丙"), ["甲乙丙"]
    answers = [row_spans([(1, 3, 0, 0.9), (1, 1, 0, 0.95), (2, 3, 1, 0.85)])]
    assert _mentions(answers, rows, texts, POINTER) == [[(0, 1, "A"), (0, 3, "A"), (1, 3, "B")]]
    flat = DecodeSettings(LABELS, "global_pointer", "bio", thresholds=(0.5, 0.8))
    assert _mentions(answers, rows, texts, flat) == [[(0, 1, "A"), (1, 3, "B")]]


def test_places_are_those_of_the_users_own_text(rows_of):
    text = "甲\n 乙😀\u3000丙"
    rows = rows_of(text)
    (prediction,) = decode([row_spans([(2, 3, 1, 0.9)])], rows, [text], POINTER)
    assert [text[m.start : m.end] for m in prediction.mentions] == ["乙😀"]
    expected = {"start": 3, "end": 5, "label": "B", "text": "乙😀", "score": 0.9, "source": "model"}
    assert prediction.to_fields() == {"entities": [expected]}


def test_windows_of_a_text_are_merged_and_other_texts_kept_apart(rows_of):
    texts = ["甲乙丙丁戊己庚辛", "", "癸"]
    rows = rows_of(*texts, max_length=7, overlap=2)  # windows of five tokens
    assert np.asarray(rows.example_index).tolist() == [0, 0, 1, 2]
    first = rows.offsets[int(rows.row_starts[1]) + 1, 0]
    assert first == 3
    # 丁 to 戊 is found by both windows, and once only 己 by the second; 甲 by the first.
    answers = [
        row_spans([(1, 1, 0, 0.9), (4, 5, 1, 0.9)]),
        row_spans([(1, 2, 1, 0.95), (3, 3, 0, 0.9)]),
        row_spans([]),
        row_spans([(1, 1, 0, 0.9)]),
    ]
    found = _mentions(answers, rows, texts, POINTER)
    assert found == [[(0, 1, "A"), (3, 5, "B"), (5, 6, "A")], [], [(0, 1, "A")]]


def test_rules_add_to_what_the_model_finds_and_veto_it(rows_of):
    rules = (
        Rule("数", "A", "add", pattern="丙丁"),
        Rule("不", "B", "veto", terms=("甲",)),
    )
    settings = DecodeSettings(LABELS, "global_pointer", "bio", (0.5, 0.8), is_nested=True, rules=rules)
    answers = [row_spans([(1, 1, 1, 0.9), (2, 2, 1, 0.9)])]
    (prediction,) = decode(answers, rows_of("甲乙丙丁"), ["甲乙丙丁"], settings)
    assert prediction.mentions == (Mention(1, 2, "B", 0.9), Mention(2, 4, "A", 1.0, "rule:数"))


@pytest.mark.parametrize("settings", [TAGS, POINTER, DecodeSettings(LABELS, "crf", "bioes")])
def test_settings_travel_as_plain_values(settings):
    assert DecodeSettings.from_json(settings.to_json()) == settings


def test_settings_travel_with_their_chain_and_rules():
    count = len(NAMES)
    chain = Chain(np.arange(count) / 3, np.eye(count), np.ones(count))
    settings = DecodeSettings(LABELS, "crf", "bio", rules=(Rule("r", "A", "add", terms=("甲",)),), chain=chain)
    again = DecodeSettings.from_json(settings.to_json())
    assert again.rules == settings.rules and again.chain is not None
    assert np.array_equal(again.chain.start, chain.start) and np.array_equal(again.chain.transitions, chain.transitions)


@pytest.mark.parametrize(
    "changes, match",
    [
        ({"labels": []}, "labels"),
        ({"labels": ["A", "A"]}, "twice"),
        ({"labels": ["A", 3]}, "labels"),
        ({"head": "span"}, "head"),
        ({"scheme": "bmes"}, "scheme"),
        ({"tags": ["O"]}, "tags"),
        ({"thresholds": [0.5]}, "thresholds"),
        ({"thresholds": [0.5, float("nan")]}, "thresholds"),
        ({"thresholds": [0.5, True]}, "thresholds"),
        ({"nested": 1}, "nested"),
        ({"rules": {}}, "rules"),
        ({"rules": [{}]}, "rule"),
        ({"chain": {"start": [0.0]}}, "chain"),
    ],
)
def test_odd_settings_are_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        DecodeSettings.from_json({**POINTER.to_json(), **changes})


def test_a_bundles_output_has_the_shape_of_its_head():
    TAGS.check_output((3, 7, 5), 7)
    POINTER.check_output((3, 2, 7, 7), 7)
    for settings, shape in ((TAGS, (3, 7, 4)), (TAGS, (3, 8, 5)), (POINTER, (3, 2, 7, 8)), (POINTER, (3, 7))):
        with pytest.raises(ValueError, match="numbers a row"):
            settings.check_output(shape, 7)


def test_a_margin_moves_the_thresholds_that_decide():
    scores = np.full((1, 2, 4, 4), -20.0, np.float32)
    scores[0, 0, 1, 1] = 1e-5  # a probability of 0.5 and a little
    lengths = np.array([4])
    assert (
        decide(scores, _rows(lengths), POINTER)
        == decide(scores, _rows(lengths), POINTER, margin=-1e-4)
        == [{(1, 1, 0)}]
    )
    assert decide(scores, _rows(lengths), POINTER, margin=1e-4) == [frozenset()]


def test_a_rule_about_no_label_of_the_model_is_refused():
    settings = DecodeSettings(LABELS, "softmax", "bio", rules=(Rule("r", "Z", "add", terms=("甲",)),))
    with pytest.raises(ValueError, match="'Z', which is no label"):
        DecodeSettings.from_json(settings.to_json())


@pytest.mark.parametrize("threshold", [10**400, 1.5, -0.1, float("nan")])
def test_thresholds_that_are_no_probability_are_refused(threshold):
    with pytest.raises(ValueError, match="thresholds"):
        DecodeSettings.from_json(POINTER.to_json() | {"thresholds": [0.5, threshold]})


def test_no_tuned_threshold_is_below_what_is_kept(rows_of):
    document = Document(Place("f", 1), "甲乙", (Entity(0, 1, "A"),))
    plain = DecodeSettings(LABELS, "global_pointer", "bio", (0.0, 0.0))
    split = Split("dev", "f", [document], rows_of("甲乙"))
    assert tune_thresholds([row_spans([(1, 1, 0, 0.01)])], split, plain) == (LEAST_THRESHOLD, 0.5)
