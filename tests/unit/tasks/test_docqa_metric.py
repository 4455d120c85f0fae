"""Figures of answers by hand, the curve against scikit-learn, and the threshold against trying them all."""

import random
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from ernie_pp.errors import ConfigError
from ernie_pp.tasks.curve import weighted_curve
from ernie_pp.tasks.docqa.metric import (
    Outcome,
    answer_scores,
    best_answer_threshold,
    headline_metric,
    measure,
    metric_names,
)
from ernie_pp.tasks.docqa.report import group_lines, report_sections

GOLDS = {"none": ("",), "yes": ("YES",), "no": ("NO",)}


def outcome(kind, given, *golds, best=None, score=0.5, length=100, windows=1):
    golds = golds or GOLDS[kind]
    return Outcome(kind, golds, given, given if best is None else best, score, length, windows)


def figures(*outcomes, headline="f1"):
    return measure(outcomes, rules="cmrc2018", headline=headline)


MIXED = (
    outcome("span", "三百万元", "三百万元", "三百万"),
    outcome("span", "三百万", "三百万元"),  # F1 6/7
    outcome("span", "", "甲方", best="甲方", score=0.4),
    outcome("none", ""),
    outcome("none", "乙方"),
    outcome("none", ""),
    outcome("yes", "YES"),
    outcome("no", "YES"),
)


def test_means_are_about_the_questions_they_are_named_for():
    values = figures(*MIXED).values
    expected = {
        "em": 4 / 8,
        "f1": (4 + 6 / 7) / 8,
        "has_answer_em": 2 / 5,
        "has_answer_f1": (2 + 6 / 7) / 5,
        "no_answer_em": 2 / 3,
        "span_em": 1 / 3,
        "span_f1": (1 + 6 / 7) / 3,
        "yes_no_accuracy": 1 / 2,
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected)


def test_figures_about_no_question_are_left_out():
    values = figures(outcome("span", "甲", "甲")).values
    assert not {"no_answer_em", "yes_no_accuracy"} & set(values)
    silent = figures(outcome("none", ""), headline="em").values
    assert silent == {"em": 1.0, "f1": 1.0, "no_answer_em": 1.0}


@pytest.mark.parametrize(
    ("headline", "outcomes"),
    [("no_answer_em", [outcome("span", "甲", "甲")]), ("aupr", [outcome("none", "")])],
)
def test_a_headline_about_no_question_is_refused(headline, outcomes):
    with pytest.raises(ConfigError, match=f"train.best_metric(.|\n)*{headline}(.|\n)*there is none(.|\n)*em, f1"):
        figures(*outcomes, headline=headline)


def test_a_recall_that_is_not_reached_yet_is_0_as_headline_and_left_out_else():
    wrong = outcome("span", "乙", "甲")
    assert figures(wrong, headline="precision_at_recall_90").values["precision_at_recall_90"] == 0.0
    assert "precision_at_recall_90" not in figures(wrong).values


def test_names_are_all_there_where_all_questions_are():
    found = figures(*MIXED, outcome("span", "丙", "丙"), headline=headline_metric())
    # Three best candidates of six questions with an answer are wrong: no threshold reaches 80 %.
    assert set(metric_names()) - set(found.values) == {"precision_at_recall_80", "precision_at_recall_90"}


def test_ranked_figures_look_at_the_best_candidate_also_where_it_is_not_given():
    ranked = [
        outcome("span", "甲", "甲", score=0.9),
        outcome("span", "", "乙", best="乙", score=0.3),
        outcome("none", "丁", score=0.6),
        outcome("none", "", best="丁", score=0.2),
    ]
    values = figures(*ranked).values
    assert values["aupr"] == pytest.approx(1 / 2 + 1 / 2 * 2 / 3)
    assert values["precision_at_recall_80"] == pytest.approx(2 / 3)


def test_groups_hold_the_questions_of_their_size():
    found = figures(
        outcome("span", "甲", "甲方", "甲", length=500, windows=1),
        outcome("span", "乙", "甲" * 7, "甲" * 11, length=501, windows=4),
        outcome("none", "", length=20_000, windows=40),
    )
    shown = {name: [(one["name"], one["num"], one["em"]) for one in found.to_json()[name]] for name in GROUPINGS}
    assert shown == {
        "by_kind": [("span", 2, 0.5), ("none", 1, 1.0)],
        "by_answer_length": [("1-3", 1, 1.0), ("7-10", 1, 0.0)],
        "by_document_length": [("to 500", 1, 1.0), ("501-1000", 1, 0.0), ("over 10000", 1, 1.0)],
        "by_num_windows": [("1", 1, 1.0), ("3-4", 1, 0.0), ("over 16", 1, 1.0)],
    }


GROUPINGS = ("by_kind", "by_answer_length", "by_document_length", "by_num_windows")


def test_screen_and_report_show_every_group():
    found = figures(*MIXED)
    text = "\n".join(group_lines(found))
    assert len(report_sections(found).tables) == 4
    for table in report_sections(found).tables:
        for name, em, f1, num in table.rows:
            assert f"{name:26} {em:7.4f} {f1:7.4f} {num:9d}" in text


def test_there_is_no_table_of_lengths_without_spans():
    titles = [table.title for table in report_sections(figures(outcome("none", ""))).tables]
    assert titles == ["By true answer (dev)", "By characters of the document (dev)", "By windows of the document (dev)"]


@pytest.mark.parametrize("headline", metric_names())
def test_the_interval_holds_the_figure_and_is_the_same_again(headline):
    rng = random.Random(3)
    outcomes = [random_outcome(rng) for _ in range(300)]
    found = figures(*outcomes, headline=headline)
    low, high = found.interval
    assert low < found.values[headline] < high
    assert figures(*outcomes, headline=headline).interval == found.interval


def random_outcome(rng, golds=1):
    kind = rng.choice(["span", "span", "span", "none", "yes", "no"])
    true = tuple("".join(rng.choices("甲乙丙丁1，", k=8)) for _ in range(golds)) if kind == "span" else GOLDS[kind]
    is_right = rng.random() < 0.93
    best = true[0] if is_right and kind != "none" else "".join(rng.choices("甲乙丙丁", k=8))
    score = min(1.0, max(0.0, rng.gauss(0.3 if kind == "none" else 0.7, 0.2)))
    return Outcome(kind, true, best if score > 0.5 else "", best, score, rng.randint(10, 20_000), rng.randint(1, 40))


def test_6000_questions_are_measured_in_a_few_seconds():
    rng = random.Random(1)
    outcomes = [random_outcome(rng, golds=3) for _ in range(6000)]
    begin = time.perf_counter()
    figures(*outcomes)
    assert time.perf_counter() - begin < 6


POINTS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30
)


@settings(deadline=None)
@given(POINTS)
def test_the_weighted_curve_is_the_one_of_rows_that_stand_there_so_often(points):
    scores, truth, weights = map(np.array, zip(*points, strict=True))
    assume((weights * truth).any())
    curve = weighted_curve(scores, truth, recalls=(0.8,))(weights.astype(float), float(weights @ truth))
    copies = np.repeat(np.arange(len(points)), weights)
    assert curve.average_precision == pytest.approx(average_precision_score(truth[copies], scores[copies]))


SCORES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.55, 0.8, 1.0])
OUTCOMES = st.lists(
    st.builds(
        lambda kind, best, score: outcome(kind, "", *({"span": ("甲乙",)}.get(kind, ())), best=best, score=score),
        st.sampled_from(["span", "none", "yes"]),
        st.sampled_from(["甲乙", "甲", "丙", "YES", ""]),
        SCORES,
    ),
    min_size=1,
    max_size=12,
)


def mean_at(threshold, outcomes, target):
    pick = ("em", "f1").index(target)
    given = [one.best if one.score >= threshold else "" for one in outcomes]
    return sum(answer_scores(one, text, "cmrc2018")[pick] for one, text in zip(outcomes, given, strict=True))


@settings(deadline=None)
@given(OUTCOMES, st.sampled_from(["em", "f1"]))
def test_no_threshold_is_better_than_the_one_found(outcomes, target):
    found = best_answer_threshold(outcomes, "cmrc2018", target)
    tried = max(mean_at(threshold, outcomes, target) for threshold in np.linspace(0, 1, 401))
    assert 0 <= found <= 1
    assert mean_at(found, outcomes, target) == pytest.approx(tried)


def test_of_equally_good_thresholds_the_nearest_to_a_half_is_taken():
    sure = [outcome("span", "", "甲", best="甲", score=score) for score in (0.9, 0.8)]
    silent = [outcome("none", "", best="乙", score=0.2)]
    assert best_answer_threshold(sure + silent, "cmrc2018", "em") == pytest.approx(0.5)
    # A question whose answer is wrong either way adds a cut, not a better one.
    wrong = [outcome("span", "", "丙", best="乙", score=0.45)]
    assert best_answer_threshold(sure + silent + wrong, "cmrc2018", "em") == pytest.approx((0.8 + 0.45) / 2)


def test_the_threshold_follows_its_target():
    """Giving half an answer helps F1 and not EM."""
    outcomes = [
        outcome("span", "", "甲乙", best="甲", score=0.6),
        outcome("span", "", "甲乙", best="甲", score=0.6),
        outcome("none", "", best="丁", score=0.7),
    ]
    assert best_answer_threshold(outcomes, "cmrc2018", "f1") <= 0.6
    assert best_answer_threshold(outcomes, "cmrc2018", "em") > 0.7


def test_without_questions_the_threshold_is_a_half():
    assert best_answer_threshold([], "cmrc2018", "f1") == 0.5
