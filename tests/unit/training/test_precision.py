"""Number types: what a device lacks is refused, and the loss scale adapts."""

import pytest

from ernie_pp.config.schema import TrainConfig
from ernie_pp.errors import ConfigError
from ernie_pp.training.precision import Precision, check_precision


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_cpu_refuses_reduced_types_before_training(precision):
    with pytest.raises(ConfigError, match=f"train.precision {precision}"):
        check_precision(TrainConfig(precision=precision), device="cpu")


def test_cpu_takes_fp32():
    check_precision(TrainConfig(), device="cpu")


def test_overflow_halves_the_scale_until_it_can_fall_no_more():
    precision = Precision(TrainConfig(precision="fp16"))
    assert precision.scale == 2.0**15
    mends = [precision.record(is_finite=False) for _ in range(16)]
    assert mends == [True] * 15 + [False]
    assert precision.scale == 1.0


def test_scale_doubles_after_many_good_steps_and_survives_a_resume():
    precision, resumed = Precision(TrainConfig(precision="fp16")), Precision(TrainConfig(precision="fp16"))
    for _ in range(1999):
        precision.record(is_finite=True)
    resumed.load_state(precision.state())
    resumed.record(is_finite=True)
    assert (precision.scale, resumed.scale) == (2.0**15, 2.0**16)


def test_bf16_and_fp32_need_no_scale():
    for name in ("fp32", "bf16"):
        precision = Precision(TrainConfig(precision=name))
        assert not precision.record(is_finite=False)
        assert precision.scale == 1.0
