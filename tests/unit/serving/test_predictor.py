"""The Predictor takes what a program has, and says what it cannot take."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sample_run

from ernie_pp.errors import DataError, ModelError
from ernie_pp.export.bundle import MANIFEST, write_manifest
from ernie_pp.machine.cpu import MATH_SWITCH
from ernie_pp.serving import Predictor
from ernie_pp.serving import predictor as predictor_module


@pytest.fixture(scope="module")
def predictor(small_run):
    return Predictor(small_run / "bundle", threads=1)


@pytest.fixture(scope="module")
def texts():
    return [str(row["text"]) for row in sample_run.review_rows()]


def _logits(predictor, texts):
    return np.stack(predictor.answers(predictor.encode(texts)))


def test_answers_are_those_of_the_run(predictor, small_run):
    rows = sample_run.read_jsonl(small_run / "predictions.jsonl")
    answers = predictor([row["text"] for row in rows])
    assert [answer.labels for answer in answers] == [(row["prediction"],) for row in rows]
    for answer, row in zip(answers, rows, strict=True):
        assert answer.probabilities == pytest.approx(row["probabilities"], abs=1e-5)


def test_no_text_gives_no_answer(predictor):
    assert predictor([]) == [] and predictor(()) == []


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_any_sequence_of_strings_is_taken(predictor, texts, kind):
    assert [a.labels for a in predictor(kind(texts[:5]))] == [a.labels for a in predictor(texts[:5])]


def test_the_size_of_batches_does_not_change_answers(small_run, predictor, texts):
    narrow = Predictor(small_run / "bundle", threads=1, batch_tokens=1)
    assert np.abs(_logits(narrow, texts) - _logits(predictor, texts)).max() < 1e-5


def test_answers_come_in_the_order_of_the_texts(predictor, texts):
    backwards = _logits(predictor, texts[::-1])[::-1]
    assert np.abs(backwards - _logits(predictor, texts)).max() < 1e-5


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
        (iter(["好"]), "list_iterator came, expected a list of strings"),
        ({"好"}, "set came, expected a list"),
        ({"好": "坏"}, "dict came, expected a list"),
        (b"abc", "bytes came, expected a list"),
        (None, "NoneType came, expected a list"),
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


@pytest.fixture
def spoil(small_run, tmp_path):
    """A copy of the bundle whose manifest was edited, or a file exchanged, and all hashes made anew."""

    def spoiled(change=lambda manifest: None, **files):
        bundle = shutil.copytree(small_run / "bundle", tmp_path / "bundle")
        for name, content in files.items():
            (bundle / name.replace("_", ".")).write_bytes(content)
        manifest = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
        del manifest["sha256"], manifest["files"]
        change(manifest)
        write_manifest(bundle, manifest)
        return bundle

    return spoiled


@pytest.mark.parametrize(
    "section, values, match",
    [
        (
            "decode",
            {"labels": None},
            r"manifest\.json\n  decode cannot be read: decode\.labels is None, expected a list of texts",
        ),
        ("decode", {"labels": []}, "decode.labels is"),
        ("decode", {"labels": ["0", 1]}, "decode.labels is"),
        ("decode", {"labels": ["0", "0"]}, "one label twice"),
        ("decode", {"labels": ["0"]}, "decode.thresholds is .* expected 1 numbers"),
        ("decode", {"thresholds": ["x", None]}, "decode.thresholds is"),
        ("decode", {"multi_label": 3}, "decode.multi_label is 3"),
        ("columns", {"text": 3}, "columns.text is 3"),
        ("columns", {"quoting": "x"}, "columns.quoting is"),
        ("columns", {"header": None}, "columns.header is None"),
        ("text", {"max_length": "x"}, "text.max_length is"),
        ("text", {"max_length": 0}, "text.max_length is 0"),
        ("text", {"truncate": "x"}, "text.truncate is"),
    ],
)
def test_a_manifest_that_says_what_no_training_said_is_refused(spoil, section, values, match):
    with pytest.raises(ModelError, match=match):
        Predictor(spoil(lambda manifest: manifest[section].update(values)))


@pytest.mark.parametrize("inputs", [[], ["a", "b"], ["input_ids"], [1, 2], [None, {}]])
def test_inputs_that_the_program_does_not_have_are_refused(spoil, inputs):
    with pytest.raises(ModelError, match="names the inputs"):
        Predictor(spoil(lambda manifest: manifest.update(inputs=inputs)))


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"]])
def test_another_number_of_labels_is_refused_when_it_answers(spoil, labels):
    decode = {"labels": labels, "multi_label": False, "thresholds": [0.5] * len(labels)}
    with pytest.raises(ModelError, match=rf"gives \(2,\) numbers a text for {len(labels)} labels"):
        Predictor(spoil(lambda manifest: manifest.update(decode=decode)))(["好"])


@pytest.mark.parametrize(
    "files", [{"model_json": b"{}"}, {"model_json": b"x"}, {"model_json": b""}, {"model_pdiparams": b"x" * 100}]
)
def test_a_program_or_parameters_that_are_none_are_one_message(spoil, files):
    with pytest.raises(ModelError, match="cannot be run by Paddle Inference"):
        Predictor(spoil(**files))(["好"])


def test_a_folder_whose_name_is_not_utf8_is_refused(small_run, tmp_path):
    bundle = shutil.copytree(small_run / "bundle", tmp_path / os.fsdecode("结果".encode("gbk")))
    with pytest.raises(ModelError, match="a name that is not UTF-8"):
        Predictor(bundle)


def test_a_damaged_bundle_is_refused(small_run, tmp_path):
    shutil.copytree(small_run / "bundle", tmp_path / "bundle")
    with open(tmp_path / "bundle" / "vocab.txt", "a", encoding="utf-8") as file:
        file.write("x\n")
    with pytest.raises(ModelError, match=r"vocab\.txt\n"):
        Predictor(tmp_path / "bundle")
    with pytest.raises(ModelError, match=r"has no manifest\.json"):
        Predictor(tmp_path)
