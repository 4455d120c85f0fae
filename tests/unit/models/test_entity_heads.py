"""Heads over tokens and pairs of tokens: shapes and names, padding, rotary positions, gradients."""

import numpy as np
import paddle
import pytest

from ernie_pp.models.ernie import build_stack, load_encoder
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.tasks.ner.chain import split_emissions

WIDTH, VOCAB_SIZE = 32, 60
SPECS = [HeadSpec("softmax", 5), HeadSpec("crf", 5), HeadSpec("global_pointer", 3, pointer_size=8)]
POINTER = SPECS[-1]


@pytest.fixture
def build(sizes):
    """A stack of two blocks with this head, in evaluation mode."""

    def build_with(spec, *, dropout=0.0):
        config = sizes.model_copy(update={"dropout": dropout})
        stack = build_stack(load_encoder(config, vocab_size=VOCAB_SIZE, pad_id=0, seed=1), spec, seed=1)
        stack.eval()
        return stack

    return build_with


@pytest.fixture
def pointer(build):
    """Scores of `hidden` [rows, length, width] of which the rows have these lengths; weights that tell apart."""
    head = build(POINTER).layers[-1]
    rng = np.random.default_rng(2)
    for parameter in head.parameters():
        parameter.set_value(paddle.to_tensor(rng.normal(size=parameter.shape).astype("float32")))

    def scores(hidden, lengths):
        is_padding = np.arange(hidden.shape[1]) >= np.array(lengths)[:, None]
        mask = paddle.to_tensor((is_padding * -1e4).astype("float32")[:, None, None])
        return head((paddle.to_tensor(hidden), mask)).numpy()

    scores.head = head
    return scores


def _hidden(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=(*shape, WIDTH)).astype("float32")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.kind)
def test_names_and_shapes_are_those_of_the_spec(build, spec):
    head = build(spec).layers[-1]
    names = head.canonical_names()
    assert {names[name]: tuple(one.shape) for name, one in head.named_parameters()} == spec.shapes(WIDTH)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.kind)
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_a_training_step_moves_every_parameter(build, rows, spec, dropout):
    stack = build(spec, dropout=dropout)
    stack.train()
    logits = stack(*rows)
    weights = paddle.to_tensor(np.random.default_rng(3).normal(size=logits.shape).astype("float32"))
    (logits * weights).sum().backward()
    before = {name: one.numpy().copy() for name, one in stack.named_parameters()}
    paddle.optimizer.SGD(learning_rate=0.01, parameters=stack.parameters()).step()
    for name, one in stack.named_parameters():
        assert one.grad is not None and np.isfinite(one.grad.numpy()).all(), name
        # A bias of all keys of a row moves all its scores alike, which the softmax does not see.
        assert name.endswith("k_proj.bias") or not np.array_equal(one.numpy(), before[name]), name


@pytest.mark.parametrize("spec", SPECS[:2], ids=lambda spec: spec.kind)
def test_a_row_of_tokens_has_the_same_emissions_alone_and_in_a_batch(build, rows, spec):
    stack, (ids, types) = build(spec), rows
    whole = stack(ids, types).numpy()[3, :4]
    alone = stack(ids[3:4, :4], types[3:4, :4]).numpy()[0, :4]
    assert np.allclose(whole, alone, atol=1e-6)


def test_a_crf_hands_on_its_chain_below_the_emissions(build, rows):
    stack, plain = build(SPECS[1]), build(SPECS[0])
    head, rng = stack.layers[-1], np.random.default_rng(4)
    for parameter in (head.start, head.transitions, head.end):
        parameter.set_value(paddle.to_tensor(rng.normal(size=parameter.shape).astype("float32")))
    state = stack.state()
    plain.load_state({name: value for name, value in state.items() if not name.startswith("crf.")})
    emissions, chain = split_emissions(stack(*rows).numpy())
    assert np.array_equal(emissions, plain(*rows).numpy())
    assert np.array_equal(chain.start, state["crf.start"]) and np.array_equal(chain.end, state["crf.end"])
    assert np.array_equal(chain.transitions, state["crf.transitions"])


def test_pointer_scores_do_not_change_with_padding_or_the_place_of_a_row(pointer):
    hidden = _hidden(3, 9)
    alone = pointer(hidden[1:2, :5], [5])[0]
    assert np.allclose(pointer(hidden, [9, 5, 7])[1, :, :5, :5], alone, atol=1e-4)
    assert np.allclose(pointer(hidden[::-1].copy()[:, :7], [7, 5, 7])[1, :, :5, :5], alone, atol=1e-4)


def test_spans_turned_round_or_in_padding_are_far_below_0_and_no_others_are(pointer):
    scores = pointer(_hidden(2, 8), [8, 5])
    first, last = np.meshgrid(np.arange(8), np.arange(8), indexing="ij")
    for row, length in enumerate((8, 5)):
        is_span = (first <= last) & (last < length)
        assert (scores[row][:, ~is_span] < -1000).all()
        assert (scores[row][:, is_span] > -1000).all()


def test_pointer_scores_are_those_of_the_formula(pointer):
    hidden, size = _hidden(1, 6), POINTER.pointer_size
    values = {name: one.numpy().astype(np.float64) for name, one in pointer.head.named_parameters()}
    both = hidden[0].astype(np.float64) @ values["dense.weight"] + values["dense.bias"]
    borders = both @ values["borders.weight"] + values["borders.bias"]
    # Query and key as complex numbers, turned by their positions.
    turned = [
        (part[:, : size // 2] + 1j * part[:, size // 2 :])
        * np.exp(1j * np.arange(6)[:, None] * 10_000.0 ** (-np.arange(size // 2) / (size // 2)))
        for part in (both[:, :size], both[:, size:])
    ]
    scores = pointer(hidden, [6])[0]
    for first in range(6):
        for last in range(first, 6):
            spans = float((turned[0][first] * turned[1][last].conj()).real.sum()) / np.sqrt(size)
            for kind in range(3):
                expected = spans + (borders[first, kind] + borders[last, 3 + kind]) / 2
                assert scores[kind, first, last] == pytest.approx(expected, abs=1e-3)


def test_the_part_of_query_and_key_knows_distances_only(pointer):
    for parameter in pointer.head.borders.parameters():
        parameter.set_value(paddle.zeros_like(parameter))
    hidden = _hidden(1, 12)
    shifted = np.concatenate([_hidden(1, 5, seed=9), hidden], axis=1)
    upper = np.triu_indices(12)
    here, there = pointer(hidden, [12])[0, 0], pointer(shifted, [17])[0, 0, 5:, 5:]
    assert np.allclose(here[upper], there[upper], atol=1e-3)
    same = np.repeat(hidden[:, :1], 12, axis=1)
    assert np.ptp(pointer(same, [12])[0, 0, 0]) > 0.1  # equal tokens at other distances score otherwise


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.kind)
def test_an_exported_head_gives_what_the_trained_one_gives(build, spec):
    head, hidden = build(spec).layers[-1], paddle.to_tensor(_hidden(2, 6))
    mask = paddle.to_tensor(np.where(np.arange(6) >= 4, -1e4, 0.0).astype("float32")[None, None, None].repeat(2, 0))
    trained = head((hidden, mask)).numpy()
    exported = head.infer(hidden, hidden[:, 0], mask).numpy()
    assert np.array_equal(exported, trained[:, :6] if spec.kind == "crf" else trained)


@pytest.mark.parametrize("spec", [*SPECS, HeadSpec("classification", 4)], ids=lambda spec: spec.kind)
def test_a_spec_travels_as_plain_values(spec):
    assert HeadSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "other"},
        {"kind": None},
        {"kind": ["crf"]},
        {"num_outputs": 0},
        {"num_outputs": True},
        {"num_outputs": 2.0},
        {"num_outputs": 1_000_001},
        {"pointer_size": 0},
        {"pointer_size": 7},
        {"pointer_size": -2},
        {"pointer_size": "8"},
        {"pointer_size": 8192},
        {"kind": "crf"},
        {"other": 1},
    ],
)
def test_odd_values_of_a_spec_are_refused(changes):
    with pytest.raises(ValueError, match="head"):
        HeadSpec.from_json({**POINTER.to_json(), **changes})


@pytest.mark.parametrize("values", [None, [], "crf", {}, {"kind": "crf", "num_outputs": 3}])
def test_what_is_no_spec_is_refused(values):
    with pytest.raises(ValueError, match="expected kind, num_outputs and pointer_size"):
        HeadSpec.from_json(values)
