"""The best path and the marginals of a chain, against all paths written out."""

import itertools

import numpy as np
import pytest

from ernie_pp.tasks.ner.chain import Chain, best_tags, split_emissions, tag_probabilities

NUM_TAGS = 3


def _random(seed, *, rows=3, length=4):
    rng = np.random.default_rng(seed)
    chain = Chain(*(rng.normal(size=shape) for shape in ((NUM_TAGS,), (NUM_TAGS, NUM_TAGS), (NUM_TAGS,))))
    return rng.normal(size=(rows, length, NUM_TAGS)), np.array([length, 2, 1])[:rows], chain


def _paths(emissions, chain):
    for path in itertools.product(range(NUM_TAGS), repeat=len(emissions)):
        steps = sum(chain.transitions[a, b] for a, b in itertools.pairwise(path))
        total = chain.start[path[0]] + chain.end[path[-1]] + steps
        yield path, total + sum(e[t] for e, t in zip(emissions, path, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_tags_are_those_of_the_best_path(seed):
    emissions, lengths, chain = _random(seed)
    tags = best_tags(emissions, lengths, chain)
    for row, length in enumerate(lengths):
        best = max(_paths(emissions[row, :length], chain), key=lambda pair: pair[1])[0]
        assert tuple(tags[row, :length]) == best
        assert not tags[row, length:].any()


@pytest.mark.parametrize("seed", range(5))
def test_the_marginals_are_those_of_all_paths(seed):
    emissions, lengths, chain = _random(seed)
    found = tag_probabilities(emissions, lengths, chain)
    for row, length in enumerate(lengths):
        expected = np.zeros((length, NUM_TAGS))
        for path, total in _paths(emissions[row, :length], chain):
            expected[np.arange(length), path] += np.exp(total)
        np.testing.assert_allclose(found[row, :length], expected / expected.sum(axis=1, keepdims=True), atol=1e-9)
        assert not found[row, length:].any()


def test_forbidden_steps_have_no_probability_and_a_long_row_stays_finite():
    emissions = np.random.default_rng(1).normal(size=(1, 5000, NUM_TAGS)) * 30
    forbidden = np.zeros((NUM_TAGS, NUM_TAGS))
    forbidden[0, 1] = -1e6
    chain = Chain(np.zeros(NUM_TAGS), forbidden, np.zeros(NUM_TAGS))
    tags = best_tags(emissions, np.array([5000]), chain)[0]
    assert not ((tags[:-1] == 0) & (tags[1:] == 1)).any()
    np.testing.assert_allclose(tag_probabilities(emissions, np.array([5000]), chain).sum(axis=2), 1.0)


def test_a_heads_output_comes_apart():
    emissions, _, chain = _random(2)
    below = np.concatenate([chain.start[None], chain.end[None], chain.transitions])
    packed = np.concatenate([emissions, np.broadcast_to(below, (3, *below.shape))], axis=1)
    found, again = split_emissions(packed)
    assert np.array_equal(found, emissions)
    assert all(np.array_equal(getattr(again, name), getattr(chain, name)) for name in vars(chain))


@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"start": [0.0], "transitions": [[0.0]], "end": ["x"]},
        {"start": [0], "transitions": [0], "end": [0]},
        {"start": [10**400], "transitions": [[0]], "end": [0]},
        {"start": [0], "transitions": [[1e300]], "end": [0]},
        {"start": [0], "transitions": [[float("nan")]], "end": [0]},
    ],
)
def test_a_chain_that_is_none_is_refused(values):
    with pytest.raises(ValueError, match=r"decode\.chain"):
        Chain.from_json(values, num_tags=1)
