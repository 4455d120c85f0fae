"""The masks themselves."""

import numpy as np

from ernie_pp.models.dropout import DropoutKey, MaskSource, draw_mask


def test_mask_drops_its_rate_and_keeps_the_mean():
    mask = draw_mask(np.random.SFC64(1), (1000, 501), 0.1)
    assert abs((mask == 0).mean() - 0.1) < 0.002
    assert abs(mask.mean() - 1) < 0.003
    assert len(np.unique(mask)) == 2


def test_rate_one_drops_all_and_masks_have_any_shape():
    assert not draw_mask(np.random.SFC64(1), (3, 5), 1.0).any()
    assert draw_mask(np.random.SFC64(1), (7,), 0.5).shape == (7,)


def test_masks_of_layers_and_of_one_layer_differ():
    key = DropoutKey(seed=1, step=2)
    masks = [draw_mask(MaskSource(key, layer).bits, (64,), 0.5) for layer in (0, 1, 1)]
    assert not np.array_equal(masks[0], masks[1])
    assert np.array_equal(masks[1], masks[2])
    bits = np.random.SFC64(3)
    assert not np.array_equal(draw_mask(bits, (64,), 0.5), draw_mask(bits, (64,), 0.5))
