"""The program takes any number of rows of any length, and padding changes nothing."""

import numpy as np
import paddle
import pytest

from ernie_pp.errors import RunError
from ernie_pp.export.batches import load_batches, save_batches
from ernie_pp.export.bundle import open_bundle
from ernie_pp.export.check import logits_of_bundle
from ernie_pp.export.runtime_choice import RuntimeOptions
from ernie_pp.export.sessions import open_session
from ernie_pp.models.ernie import load_stack
from ernie_pp.models.head_specs import HeadSpec


@pytest.fixture(scope="module")
def session(small_run):
    return open_session(open_bundle(small_run / "bundle"), RuntimeOptions())


def _rows(num_rows, length, seed=0):
    return np.random.default_rng(seed).integers(5, 60, (num_rows, length)), np.zeros((num_rows, length), np.int64)


@pytest.mark.parametrize("num_rows, length", [(1, 1), (1, 3), (7, 5), (3, 64), (64, 20)])
def test_logits_equal_the_models_for_any_shape(session, small_run, num_rows, length):
    ids, types = _rows(num_rows, length)
    types[:, length // 2 :] = 1
    with paddle.no_grad():
        expected = load_stack(small_run / "best", HeadSpec("classification", 2))(
            paddle.to_tensor(ids), paddle.to_tensor(types)
        ).numpy()
    assert np.abs(session.run(ids, types) - expected).max() < 1e-5


def test_padding_does_not_change_a_row(session):
    ids, types = _rows(4, 20)
    alone = session.run(ids, types)
    padded = session.run(np.pad(ids, ((0, 0), (0, 30))), np.pad(types, ((0, 0), (0, 30))))
    assert np.abs(alone - padded).max() < 1e-5


def test_rows_do_not_change_each_other(session):
    ids, types = _rows(6, 12)
    together = session.run(ids, types)
    alone = np.concatenate([session.run(ids[i : i + 1], types[i : i + 1]) for i in range(6)])
    assert np.abs(together - alone).max() < 1e-5


def test_token_types_and_order_of_tokens_count(session):
    ids, types = _rows(1, 10)
    assert not np.array_equal(session.run(ids, types), session.run(ids, types + 1))
    assert not np.array_equal(session.run(ids, types), session.run(ids[:, ::-1], types))


def test_other_integer_types_and_layouts_are_taken(session):
    ids, types = _rows(3, 8)
    expected = session.run(ids, types)
    assert np.array_equal(session.run(np.asfortranarray(ids.astype(np.int32)), types.astype(np.int8)), expected)


def test_batches_survive_their_file(tmp_path):
    batches = [_rows(2, 5), _rows(1, 9, seed=1)]
    save_batches(tmp_path / "rows.safetensors", batches)
    for batch, again in zip(batches, load_batches(tmp_path / "rows.safetensors"), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(batch, again, strict=True))


def test_a_bundle_that_cannot_be_loaded_says_why(tmp_path):
    with pytest.raises(RunError, match=r"cannot be reloaded(.|\n)*has no manifest\.json"):
        logits_of_bundle(tmp_path, [_rows(1, 3)])
