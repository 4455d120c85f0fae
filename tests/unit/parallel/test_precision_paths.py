"""The code path of reduced number types. On a CPU Paddle computes in float32 all the same: only the path is seen."""

import numpy as np
import paddle
import pytest

from ernie_pp.training import build


@pytest.fixture(autouse=True)
def any_device(monkeypatch):
    """The check of the device, which refuses these types on a CPU, is passed over; so are the CPU's own kernels."""
    monkeypatch.setattr(build, "check_precision", lambda *_, **__: None)
    monkeypatch.setattr(build, "use_cpu_kernels", lambda _: None)


@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_reduced_types_train_and_evaluate_near_float32(make_engine, cut, precision, level):
    plain, reduced = make_engine(), make_engine(precision=precision, amp_level=level)
    for step in range(2):
        expected, found = plain.train_step(cut([5, 7]), step=step), reduced.train_step(cut([5, 7]), step=step)
        assert not found.is_skipped
        assert found.loss == pytest.approx(expected.loss, rel=0.02)
    logits = [np.concatenate(list(engine.forward(cut([12])))) for engine in (plain, reduced)]
    assert logits[1].dtype == np.float32
    np.testing.assert_allclose(logits[1], logits[0], atol=0.05)


@pytest.mark.parametrize("level, cast", [("O1", []), ("O2", [("O2", "bfloat16")])])
def test_paddle_is_asked_to_cast_weights_for_o2_only_and_products_for_both(make_engine, cut, monkeypatch, level, cast):
    decorated, products, real = [], [], paddle.amp.auto_cast

    def auto_cast(enable=True, **settings):
        if enable:
            products.append((settings["level"], settings["dtype"]))
        return real(enable, **settings)

    monkeypatch.setattr(paddle.amp, "decorate", lambda models, *, level, dtype: decorated.append((level, dtype)))
    monkeypatch.setattr(paddle.amp, "auto_cast", auto_cast)
    engine = make_engine(precision="bf16", amp_level=level)
    engine.train_step(cut([12]), step=0)
    list(engine.forward(cut([12])))
    assert decorated == cast
    assert products == [(level, "bfloat16")] * 2
