"""The scaled loss of fp16. Paddle's CPU casts nothing, so what is left to see here is the scale itself."""

import dataclasses

import numpy as np
import pytest

from ernie_pp.config.schema import TrainConfig
from ernie_pp.training.precision import Precision


def scaled(engine, scale):
    casting = Precision(TrainConfig(precision="fp16"))
    casting.scale = scale
    engine.parts = dataclasses.replace(engine.parts, casting=casting)
    return engine


@pytest.mark.parametrize("settings", [{}, {"fgm_epsilon": 0.5, "clip_norm": 0.1}])
def test_update_does_not_depend_on_the_scale(make_engine, cut, settings):
    plain, other = make_engine(**settings), scaled(make_engine(**settings), 2.0**10)
    expected, found = plain.train_step(cut([5, 7]), step=0), other.train_step(cut([5, 7]), step=0)
    assert found.loss == expected.loss
    assert found.grad_norm == pytest.approx(expected.grad_norm, rel=1e-6)
    for name, value in plain.state().optimizer.items():
        if "k_proj.bias" not in name:  # its true gradient is zero
            np.testing.assert_allclose(other.state().optimizer[name], value, rtol=1e-4, atol=1e-9)


def test_overflow_skips_the_update_and_lowers_the_scale_without_giving_up(make_engine, cut):
    engine = scaled(make_engine(), 2.0**140)  # more than float32 holds
    before = engine.state().weights
    for step in range(5):
        assert engine.train_step(cut([12]), step=step).is_skipped
    assert engine.parts.casting.scale == 2.0**135
    assert all(np.array_equal(before[name], value) for name, value in engine.state().weights.items())


def test_a_resumed_run_goes_on_with_its_scale_and_its_count_of_bad_steps(make_engine, cut):
    engine = scaled(make_engine(), 2.0**20)
    engine.train_step(cut([12]), step=0)
    engine.skipped.count = 3
    resumed = scaled(make_engine(), 2.0**15)
    resumed.load_state(engine.state())
    assert resumed.parts.casting.scale == 2.0**20
    assert (resumed.skipped.count, resumed.skipped.in_a_row) == (3, 0)


@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0**100, float("nan")])
def test_a_scale_that_no_run_has_had_is_refused(scale):
    with pytest.raises(ValueError, match="loss_scale"):
        Precision(TrainConfig(precision="fp16")).load_state({"loss_scale": scale, "good_steps": 0.0})
