"""The formula counts every parameter, and its times and bytes move with what they depend on."""

from dataclasses import replace

import pytest

from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.sizes import encoder_shapes, num_parameters, pooler_shapes
from ernie_pp.partition.costs import DeviceCosts, Link
from ernie_pp.partition.formula import Shape, Speed, formula_costs

SHAPE = Shape(
    num_layers=3,
    hidden_size=64,
    num_heads=4,
    intermediate_size=256,
    vocab_size=1000,
    max_positions=128,
    type_vocab=4,
    num_labels=5,
    rows=8,
    length=32,
)
SPEED = Speed(flops_per_s=1e9, memory_bytes_per_s=1e9)
DEVICE = DeviceCosts(base_bytes=0, state_factor=4, update_s_per_byte=0.0, step_s=0.0, reduce_bytes_per_s=1e9)
# Products only: memory is as good as free.
PRODUCTS = Speed(flops_per_s=1e9, memory_bytes_per_s=1e30)


def _layers(shape=SHAPE, *, speed=SPEED, **head):
    return formula_costs(shape, speed=speed, link=Link(1e9), device=DEVICE, **head).layers


@pytest.mark.parametrize("task_vocab", [0, 3])
def test_parameters_are_those_of_the_model(task_vocab):
    values = {
        "num_hidden_layers": 3,
        "hidden_size": 64,
        "intermediate_size": 256,
        "vocab_size": 1000,
        "max_position_embeddings": 128,
        "type_vocab_size": 4,
        "use_task_id": bool(task_vocab),
        "task_type_vocab_size": 3,
    }
    shapes = (
        encoder_shapes(values) | pooler_shapes(values) | HeadSpec("classification", 5).shapes(values["hidden_size"])
    )
    layers = _layers(replace(SHAPE, task_vocab=task_vocab))
    assert sum(layer.parameter_bytes for layer in layers) == 4 * (num_parameters(values) + 64 * 5 + 5)

    def weights_of(prefix):
        sizes = [shape[0] * (shape[1] if len(shape) > 1 else 1) for name, shape in shapes.items() if prefix in name]
        return 4 * sum(sizes)

    assert layers[0].parameter_bytes == weights_of("embeddings")
    assert layers[1].parameter_bytes == weights_of("layers.0.")
    assert layers[-1].parameter_bytes == weights_of("pooler") + weights_of("classifier")


def test_activations_are_numbers_for_the_width_and_for_each_head_and_token():
    assert _layers()[1].activation_bytes == 4 * 8 * 32 * (16.5 * 64 + 2.25 * 4 * 32)


def test_a_block_has_the_operations_of_its_eight_products():
    tokens = 8 * 32
    by_hand = 4 * (2 * tokens * 64 * 64) + 2 * (2 * tokens * 64 * 256) + 2 * (2 * 8 * 32 * 32 * 64)
    block = _layers(speed=PRODUCTS)[1]
    assert block.forward_s == pytest.approx(by_hand / 1e9)
    assert block.backward_s == pytest.approx(2 * by_hand / 1e9)


def test_long_rows_cost_more_than_as_many_tokens_in_short_ones():
    short, long = _layers()[1], _layers(replace(SHAPE, rows=1, length=256))[1]
    assert long.forward_s > short.forward_s
    assert long.activation_bytes > short.activation_bytes
    assert long.output_bytes == short.output_bytes


def test_a_large_vocabulary_costs_in_the_backward_pass_of_the_embeddings():
    few, many = _layers()[0], _layers(replace(SHAPE, vocab_size=100_000))[0]
    assert many.forward_s == few.forward_s
    assert many.backward_s - few.backward_s == pytest.approx(99_000 * 64 * 4 * 4 / 1e9)


def test_a_head_over_the_vocabulary_outweighs_a_block_and_a_classifier_does_not():
    _, block, *_, head = _layers()
    assert head.forward_s < block.forward_s
    vocabulary = _layers(head_outputs_per_token=20_000)[-1]
    assert vocabulary.forward_s > block.forward_s
    assert vocabulary.parameter_bytes == 4 * (64 * 20_000 + 20_000)


def test_half_precision_halves_what_is_kept_and_sent_but_not_the_weights():
    full, half = _layers()[1], _layers(replace(SHAPE, bytes_per_number=2))[1]
    assert half.activation_bytes == full.activation_bytes / 2
    assert half.parameter_bytes == full.parameter_bytes
    assert half.output_bytes == 8 * 32 * (64 * 2 + 4)


def test_only_blocks_are_recomputed():
    assert [layer.can_recompute for layer in _layers()] == [False, True, True, True, False]


def test_a_size_of_none_is_refused():
    with pytest.raises(ValueError, match="rows is 0, at least 1"):
        replace(SHAPE, rows=0)
