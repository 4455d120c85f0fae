"""The learning rate by step."""

import itertools

import pytest

from ernie_pp.config.schema import TrainConfig
from ernie_pp.training.schedule import learning_rate_at, num_warmup_steps


def rates(num_steps, **settings):
    config = TrainConfig(learning_rate=1.0, **settings)
    return [learning_rate_at(step, num_steps=num_steps, config=config) for step in range(num_steps)]


def test_linear_rises_from_above_zero_and_falls_to_above_zero():
    assert rates(10, warmup=0.4) == pytest.approx([0.25, 0.5, 0.75, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])


def test_cosine_is_half_in_the_middle_of_its_fall():
    found = rates(9, warmup=0.0, schedule="cosine")
    assert found[0] == 1.0
    assert rates(8, warmup=0.0, schedule="cosine")[4] == pytest.approx(0.5)
    assert all(a > b for a, b in itertools.pairwise(found))


def test_constant_stays_after_the_warmup():
    assert rates(5, warmup=0.4, schedule="constant") == [0.5, 1, 1, 1, 1]


def test_steps_past_the_end_and_a_warmup_of_everything_stay_in_range():
    assert learning_rate_at(20, num_steps=10, config=TrainConfig(learning_rate=1.0)) == 0.0
    assert rates(4, warmup=1.0) == [0.25, 0.5, 0.75, 1.0]
    assert rates(1, warmup=0.1) == [1.0]
    assert num_warmup_steps(10, warmup=0.25) == 2
