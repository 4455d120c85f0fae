"""The masks themselves."""

import numpy as np
import paddle

from ernie_pp.models.dropout import DropoutKey, MaskSource, draw_kept


def test_mask_drops_its_rate_and_keeps_the_mean():
    kept, scale = draw_kept(np.random.SFC64(1), (1000, 501), 0.1)
    assert abs(kept.mean() - 0.9) < 0.002
    assert abs(kept.mean() * scale - 1) < 0.003


def test_rate_one_drops_all_and_masks_have_any_shape():
    kept, scale = draw_kept(np.random.SFC64(1), (3, 5), 1.0)
    assert not kept.any() and scale == 0.0
    assert draw_kept(np.random.SFC64(1), (7,), 0.5)[0].shape == (7,)


def test_masks_of_layers_and_of_one_layer_differ():
    key = DropoutKey(seed=1, step=2)
    masks = [draw_kept(MaskSource([key], layer).bits[0], (64,), 0.5)[0] for layer in (0, 1, 1)]
    assert not np.array_equal(masks[0], masks[1])
    assert np.array_equal(masks[1], masks[2])
    bits = np.random.SFC64(3)
    assert not np.array_equal(draw_kept(bits, (64,), 0.5)[0], draw_kept(bits, (64,), 0.5)[0])


def test_value_and_gradient_are_dropped_alike():
    values = paddle.ones([50, 8])
    values.stop_gradient = False
    dropped = MaskSource([DropoutKey(seed=1)], 0).drop(values, 0.25)
    (dropped * 3.0).sum().backward()
    assert set(np.unique(dropped.numpy())) == {np.float32(0), np.float32(4 / 3)}
    np.testing.assert_allclose(values.grad.numpy(), 3 * dropped.numpy(), rtol=1e-6)


def test_rate_zero_is_the_tensor_itself():
    values = paddle.ones([3])
    assert MaskSource([DropoutKey()], 0).drop(values, 0.0) is values
