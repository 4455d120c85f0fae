"""Shapes that a runtime meets: few, near the rows' own, and every row in one of them."""

import numpy as np
import pytest

from ernie_pp.serving.shapes import pad_to, split_into_shapes, width_of


@pytest.mark.parametrize("limit", [64, 100, 512, 2048])
def test_widths_are_few_near_and_within_what_the_model_reads(limit):
    widths = [width_of(length, limit=limit) for length in range(1, limit + 1)]
    assert all(length <= width <= limit for length, width in enumerate(widths, start=1))
    assert widths == sorted(widths) and len(set(widths)) <= 8 * max(1, limit.bit_length() - 6) + 1
    assert all(width <= 1.13 * length + 1 for length, width in enumerate(widths, start=1) if length >= 128)


def test_every_row_is_in_one_batch_of_a_power_of_two_rows():
    lengths = np.random.default_rng(0).integers(1, 128, 777)
    batches = list(split_into_shapes(lengths, max_tokens=1024))
    assert sorted(np.concatenate(batches).tolist()) == list(range(777))
    assert all(len(batch) & (len(batch) - 1) == 0 for batch in batches)
    assert all(len(batch) * lengths[batch].max() <= 1024 for batch in batches)
    shapes = {(len(batch), width_of(int(lengths[batch].max()), limit=128)) for batch in batches}
    assert len(shapes) < 40


def test_padding_stands_behind_the_rows():
    assert pad_to(np.array([[1, 2], [3, 4]]), 4, 9).tolist() == [[1, 2, 9, 9], [3, 4, 9, 9]]
