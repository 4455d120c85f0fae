"""The Predictor takes what a program has, and says what it cannot take."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sample_run

from ernie_pp.errors import DataError, ModelError
from ernie_pp.machine.cpu import MATH_SWITCH
from ernie_pp.serving import Predictor
from ernie_pp.serving import predictor as predictor_module


@pytest.fixture(scope="module")
def predictor(small_run):
    return Predictor(small_run / "bundle", threads=1)


@pytest.fixture(scope="module")
def texts():
    return [str(row["text"]) for row in sample_run.review_rows()]


def test_answers_are_those_of_the_run(predictor, small_run):
    rows = sample_run.read_jsonl(small_run / "predictions.jsonl")
    answers = predictor([row["text"] for row in rows])
    assert [answer.labels for answer in answers] == [(row["prediction"],) for row in rows]
    for answer, row in zip(answers, rows, strict=True):
        assert answer.probabilities == pytest.approx(row["probabilities"], abs=1e-5)


def test_no_text_gives_no_answer(predictor):
    assert predictor([]) == [] and predictor(()) == []
    assert predictor.logits([]).shape == (0, 2)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_any_sequence_of_strings_is_taken(predictor, texts, kind):
    assert [a.labels for a in predictor(kind(texts[:5]))] == [a.labels for a in predictor(texts[:5])]


def test_the_size_of_batches_does_not_change_answers(small_run, predictor, texts):
    narrow = Predictor(small_run / "bundle", threads=1, batch_tokens=1)
    assert np.abs(narrow.logits(texts) - predictor.logits(texts)).max() < 1e-5


def test_answers_come_in_the_order_of_the_texts(predictor, texts):
    backwards = predictor.logits(texts[::-1])[::-1]
    assert np.abs(backwards - predictor.logits(texts)).max() < 1e-5


def test_long_texts_are_cut_and_the_cut_is_counted(predictor):
    assert predictor.encode(["很好" * 500]).num_cut.tolist() == [1000 - 30]
    assert len(predictor(["很好" * 500])) == 1


def test_unknown_and_odd_characters_are_answered(predictor):
    odd = ["\U0002a6a5𠮷", "[PAD][CLS]", "ＡＢＣ①", "\ufeff好", "a\u0301\u2028b", "👨‍👩‍👧"]
    assert len(predictor(odd)) == len(odd)


@pytest.mark.parametrize(
    "given, match",
    [
        ("房间很干净", "one string came"),
        ("", "one string came"),
        (["好", ""], "text number 1\n  is empty"),
        (["好", " \u3000\u200b\n"], "text number 1\n  is empty"),
        (["好", None], "text number 1\n  is NoneType"),
        ([3], "text number 0\n  is int"),
        (["好", "\ud800"], "half of a surrogate"),
    ],
)
def test_what_is_no_text_is_named(predictor, given, match):
    with pytest.raises(DataError, match=match):
        predictor(given)


def test_second_texts_are_refused_by_a_model_of_single_texts(predictor):
    with pytest.raises(DataError, match="trained on single texts"):
        predictor(["好"], ["坏"])


CODE = """
import json, os, sys
before = dict(os.environ)
from ernie_pp.machine.cpu import MATH_SWITCH
from ernie_pp.serving import Predictor
from ernie_pp.serving import predictor as predictor_module
predictor = Predictor(sys.argv[1], threads=2, math=sys.argv[2])
predictor(["房间很干净"])
print(json.dumps(sorted(name for name in os.environ if os.environ[name] != before.get(name))))
"""


@pytest.mark.parametrize("math", ["auto", "off"])
def test_no_variable_of_the_users_process_is_set_but_the_math_switch(small_run, math):
    variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OMP_WAIT_POLICY", MATH_SWITCH)
    environment = {name: value for name, value in sample_run.environment().items() if name not in variables}
    command = [sys.executable, "-c", CODE, str(small_run / "bundle"), math]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) <= ({MATH_SWITCH} if math == "auto" else set())


def test_what_stays_slow_is_said(small_run, monkeypatch, caplog):
    monkeypatch.setattr(predictor_module, "switch_math", lambda math, *, off: f"slow ({math}, {off})")
    Predictor(small_run / "bundle", threads=1, math="off")
    assert "slow (off, math: off)" in caplog.text


def test_a_damaged_bundle_is_refused(small_run, tmp_path):
    shutil.copytree(small_run / "bundle", tmp_path / "bundle")
    with open(tmp_path / "bundle" / "vocab.txt", "a", encoding="utf-8") as file:
        file.write("x\n")
    with pytest.raises(ModelError, match=r"vocab\.txt\n"):
        Predictor(tmp_path / "bundle")
    with pytest.raises(ModelError, match=r"has no manifest\.json"):
        Predictor(tmp_path)
