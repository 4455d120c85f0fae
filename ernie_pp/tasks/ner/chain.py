"""The best tags of a row, and how probable each is, from emissions and the chain of transitions. numpy only.

One method for both token heads: softmax has transitions of 0, and what the tag scheme forbids is forbidden to both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

# Added to what is forbidden: far below any sum of scores, and its exponential is 0.
FORBIDDEN = -1e6
# What a chain that was read may hold: no sum of such scores comes near what is forbidden.
_LARGEST = 1e5


@dataclass(frozen=True)
class Chain:
    """Scores of a row's first tag [tags], of tag to next tag [from, to], and of its last tag [tags], float64."""

    start: np.ndarray
    transitions: np.ndarray
    end: np.ndarray

    @property
    def num_tags(self) -> int:
        """How many tags there are."""
        return len(self.start)

    def plus(self, other: Chain) -> Chain:
        """Both chains' scores added."""
        return Chain(self.start + other.start, self.transitions + other.transitions, self.end + other.end)

    def to_json(self) -> dict[str, list]:
        """Plain values for a manifest."""
        return {"start": self.start.tolist(), "transitions": self.transitions.tolist(), "end": self.end.tolist()}

    @classmethod
    def from_json(cls, values: object, *, num_tags: int) -> Chain:
        """The inverse of `to_json`; ValueError where it is not that of so many tags."""
        shapes = {"start": (num_tags,), "transitions": (num_tags, num_tags), "end": (num_tags,)}
        if not isinstance(values, Mapping) or set(values) != set(shapes):
            raise ValueError("decode.chain is not start, transitions and end")
        return cls(**{name: _read(values[name], name, shape) for name, shape in shapes.items()})


def split_emissions(logits: np.ndarray) -> tuple[np.ndarray, Chain]:
    """Emissions [rows, length, tags] and the chain, of what a CRF head gives while it is trained."""
    num_tags = logits.shape[2]
    length = logits.shape[1] - num_tags - 2
    below = logits[0, length:].astype(np.float64)
    return logits[:, :length], Chain(below[0], below[2:], below[1])


def best_tags(emissions: np.ndarray, lengths: np.ndarray, chain: Chain) -> np.ndarray:
    """int64 [rows, length]: the tags with the highest sum (Viterbi 1967); what stands behind a row's end is 0."""
    num_rows, length, _ = emissions.shape
    score = chain.start + emissions[:, 0].astype(np.float64)  # [rows, tags]
    origins = np.zeros(emissions.shape, dtype=np.int64)
    for place in range(1, length):
        onward = score[:, :, None] + chain.transitions  # [rows, from, to]
        origins[:, place] = onward.argmax(axis=1)
        is_in = (place < lengths)[:, None]
        score = np.where(is_in, onward.max(axis=1) + emissions[:, place], score)
    tags = np.zeros((num_rows, length), dtype=np.int64)
    rows, current = np.arange(num_rows), (score + chain.end).argmax(axis=1)
    for place in range(length - 1, -1, -1):
        is_in = place < lengths
        tags[is_in, place] = current[is_in]
        current = np.where(is_in, origins[rows, place, current], current)
    return tags


def tag_probabilities(emissions: np.ndarray, lengths: np.ndarray, chain: Chain) -> np.ndarray:
    """float64 [rows, length, tags]: the marginal of each tag, by the forward-backward algorithm; 0 behind a row's end.

    Scaled at every token (Rabiner 1989, "A Tutorial on Hidden Markov Models", section V), so that no row is too long.
    """
    num_rows, length, num_tags = emissions.shape
    shifted = emissions.astype(np.float64)
    # Not quite 0: a tag that the scheme forbids may be the only one that the emissions like.
    weights = np.exp(np.maximum(shifted - shifted.max(axis=2, keepdims=True), -300.0))
    largest = max(chain.transitions.max(), 0.0)
    steps = np.exp(chain.transitions - largest)
    forward = np.zeros((num_rows, length, num_tags))
    current = _normal(np.exp(chain.start - chain.start.max()) * weights[:, 0])
    forward[:, 0] = current
    for place in range(1, length):
        is_in = (place < lengths)[:, None]
        current = np.where(is_in, _normal((current @ steps) * weights[:, place]), current)
        forward[:, place] = current
    end = np.broadcast_to(np.exp(chain.end - chain.end.max()), (num_rows, num_tags))
    probabilities, behind = np.zeros_like(forward), end
    for place in range(length - 1, -1, -1):
        is_in = (place < lengths)[:, None]
        probabilities[:, place] = np.where(is_in, _normal(forward[:, place] * behind), 0.0)
        behind = np.where(is_in, _normal((weights[:, place] * behind) @ steps.T), behind)
    return probabilities


def _normal(values: np.ndarray) -> np.ndarray:
    """Rows that sum to 1."""
    return values / np.maximum(values.sum(axis=-1, keepdims=True), 1e-300)


def _read(value: object, name: str, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"decode.chain.{name} is no table of numbers") from error
    if array.shape != shape:
        raise ValueError(f"decode.chain.{name} has shape {array.shape}, expected {shape}")
    if not (np.abs(array) <= _LARGEST).all():  # nor is one that is no number
        raise ValueError(f"decode.chain.{name} has numbers that are not from -{_LARGEST:,.0f} to {_LARGEST:,.0f}")
    return array
