"""A damaged model folder is told by one ModelError, before Paddle computes with it."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import save_file

from ernie_pp.errors import ModelError
from ernie_pp.jobs.bundling import export_model
from ernie_pp.jobs.trained import CHECK_ROWS, open_trained, read_check_rows


@pytest.fixture
def best(small_run, tmp_path):
    return shutil.copytree(small_run / "best", tmp_path / "best")


def _change(best, changes, name="ernie_pp.json"):
    values = json.loads((best / name).read_text(encoding="utf-8"))
    (best / name).write_text(json.dumps({**values, **changes}), encoding="utf-8")


def _decode(**changes):
    return {"decode": {"labels": ["0", "1"], "multi_label": False, "thresholds": [0.5, 0.5], **changes}}


@pytest.mark.parametrize(
    "changes, match",
    [
        ({"decode": {}}, "decode lacks labels"),
        ({"decode": 5}, "decode lacks labels"),
        (_decode(labels=["0"], thresholds=[0.5]), "names 1 labels and 2 values of labels"),
        (_decode(labels=["0", 1]), "expected a list of texts"),
        (_decode(labels=["0", "0"]), "twice"),
        (_decode(multi_label="no"), "expected true or false"),
        (_decode(thresholds=[0.5]), "expected 2 numbers"),
        (_decode(thresholds=[0.5, None]), "expected numbers"),
        ({"head": {"kind": "classification"}}, "expected kind, num_outputs and pointer_size"),
        ({"head": {"kind": "x", "num_outputs": 2, "pointer_size": 0}}, "head.kind is 'x'"),
        ({"head": {"kind": "classification", "num_outputs": 3, "pointer_size": 0}}, "a head of 3, and the model has 2"),
        ({"label_values": 5}, "label_values is 5"),
        ({"label_values": ["0"]}, "1 values of labels"),
        ({"text": {}}, "expected max_length, truncate and overlap"),
        ({"text": {"max_length": "x", "truncate": "head", "overlap": 0}}, "valid integer"),
        ({"text": {"max_length": 8, "truncate": "none", "overlap": 0}}, "text is"),
        ({"text": {"max_length": 65, "truncate": "head", "overlap": 0}}, "the model has 64 positions"),
        ({"columns": {"text": "text"}}, "expected text, text_pair, header, quoting"),
    ],
)
def test_damaged_settings_are_named_and_make_no_bundle(best, tmp_path, changes, match):
    _change(best, changes)
    with pytest.raises(ModelError, match=match):
        export_model(best, tmp_path / "bundle", tolerance=1e-5)
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize("pad_id", ["x", None, 99999999, -1, True])
def test_a_padding_id_that_is_none_of_the_table_is_named(best, pad_id):
    _change(best, {"pad_token_id": pad_id}, "config.json")
    with pytest.raises(ModelError, match="pad_token_id is"):
        open_trained(best)


def _rows(ids, types=None):
    ids = np.array(ids)
    return {"ids.0": ids, "types.0": np.zeros_like(ids) if types is None else np.array(types)}


@pytest.mark.parametrize(
    "arrays, match",
    [
        ({}, "holds no rows"),
        ({"a": np.zeros(1), "b": np.zeros(1)}, "lacks 'ids.0'"),
        (_rows([[1, 10**6]]), "holds ids"),
        (_rows([[1, -1]]), "holds ids"),
        (_rows([[1.0, 2.0]]), "float64"),
        (_rows([[1, 2]], [[0, 99]]), "holds token types"),
        (_rows([[1, 2]], [[0]]), "of shape"),
        (_rows([1, 2]), "of shape"),
        (_rows([[1] * 65]), "65 tokens, the model has 64 positions"),
    ],
)
def test_check_rows_the_model_cannot_take_are_named(best, arrays, match):
    save_file(arrays, best / CHECK_ROWS)
    with pytest.raises(ModelError, match=match):
        read_check_rows(open_trained(best))


def test_a_sound_folder_opens(best):
    trained = open_trained(best)
    assert trained.decoding.labels == ("0", "1") and len(read_check_rows(trained)) > 0
