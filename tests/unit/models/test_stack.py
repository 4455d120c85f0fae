"""The flat stack against PaddleNLP's own classifier."""

import numpy as np
import paddle
import pytest

from ernie_pp.errors import ModelError
from ernie_pp.models.dropout import DropoutKey
from ernie_pp.models.light_import import import_ernie
from ernie_pp.models.stack import layer_index_of


def _paddlenlp_classifier(stack):
    """PaddleNLP's own task model with the stack's weights."""
    stack.config.num_labels = stack.head_spec.num_outputs
    model = import_ernie().modeling.ErnieForSequenceClassification(stack.config)
    state = stack.state()
    for name, parameter in model.named_parameters():
        parameter.set_value(paddle.to_tensor(state[name]))
    model.eval()
    return model


@pytest.mark.parametrize("fast", [False, True])
def test_logits_equal_paddlenlp_to_the_bit(build_stack, rows, fast):
    stack = build_stack()
    stack.eval()
    stack.use_fast_ops(fast)
    expected = _paddlenlp_classifier(stack)(rows[0], token_type_ids=rows[1])
    assert np.array_equal(stack(*rows).numpy(), expected.numpy())


def test_padding_does_not_change_logits(build_stack, rows):
    stack = build_stack()
    stack.eval()
    alone = stack(rows[0][3:4, :4], rows[1][3:4, :4]).numpy()
    np.testing.assert_allclose(stack(*rows).numpy()[3:4], alone, rtol=0, atol=1e-6)


def test_canonical_names_are_those_of_paddlenlp(build_stack):
    stack = build_stack()
    own = {name: tuple(value.shape) for name, value in stack.canonical_parameters().items()}
    theirs = {name: tuple(p.shape) for name, p in _paddlenlp_classifier(stack).named_parameters()}
    assert own == theirs
    assert stack.canonical_names()["layers.2.block.self_attn.q_proj.weight"] == (
        "ernie.encoder.layers.1.self_attn.q_proj.weight"
    )


def test_state_moves_to_another_stack(build_stack, rows):
    first, second = build_stack(seed=1), build_stack(seed=2)
    first.eval(), second.eval()
    assert not np.array_equal(first(*rows).numpy(), second(*rows).numpy())
    second.load_state(first.state())
    assert np.array_equal(first(*rows).numpy(), second(*rows).numpy())


def test_same_seed_gives_same_weights_and_another_seed_others(build_stack):
    name = "classifier.weight"
    assert np.array_equal(build_stack(seed=5).state()[name], build_stack(seed=5).state()[name])
    assert not np.array_equal(build_stack(seed=5).state()[name], build_stack(seed=6).state()[name])


def test_load_state_refuses_missing_and_misshapen_tensors(build_stack):
    stack = build_stack()
    state = stack.state()
    with pytest.raises(ModelError, match=r"classifier\.bias"):
        stack.load_state({name: value for name, value in state.items() if name != "classifier.bias"})
    with pytest.raises(ModelError, match=r"shape \[4\], the model's is \[3\]"):
        stack.load_state({**state, "classifier.bias": np.zeros(4, np.float32)})


def test_layers_are_numbered_from_the_embeddings_to_the_head():
    names = ["ernie.embeddings.layer_norm.bias", "ernie.encoder.layers.11.norm1.bias", "ernie.pooler.dense.bias"]
    assert [layer_index_of(name, num_blocks=12) for name in names] == [0, 12, 13]


def _gradients(stack, rows, *, fast):
    stack.train()
    stack.use_fast_ops(fast)
    logits = stack(*rows)
    (logits * paddle.to_tensor(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3))).sum().backward()
    gradients = {name: p.grad.numpy() for name, p in stack.canonical_parameters().items()}
    stack.clear_gradients()
    return logits.numpy(), gradients


def test_fast_layers_have_the_values_and_gradients_of_paddles(build_stack, rows):
    stack = build_stack()
    slow_logits, slow = _gradients(stack, rows, fast=False)
    fast_logits, fast = _gradients(stack, rows, fast=True)
    np.testing.assert_allclose(fast_logits, slow_logits, rtol=0, atol=1e-6)
    for name, expected in slow.items():
        np.testing.assert_allclose(
            fast[name], expected, rtol=0, atol=2e-6 * max(1, np.abs(expected).max()), err_msg=name
        )


def test_padding_row_of_the_embeddings_gets_no_gradient(build_stack, rows):
    for fast in (False, True):
        _, gradients = _gradients(build_stack(), rows, fast=fast)
        table = gradients["ernie.embeddings.word_embeddings.weight"]
        assert not table[0].any()
        assert table[int(rows[0][0, 0])].any()


@pytest.mark.parametrize("fast", [False, True])
def test_dropout_depends_on_the_key_alone(build_stack, rows, fast):
    stack = build_stack(dropout=0.3)
    stack.train()
    stack.use_fast_ops(fast)

    def logits(**key):
        stack.set_dropout_keys((DropoutKey(**key),))
        return stack(*rows).numpy()

    first = logits(seed=7, step=3, micro_batch=1)
    paddle.rand([10])
    others = [logits(seed=8, step=3, micro_batch=1), logits(seed=7, step=4, micro_batch=1)]
    others += [logits(seed=7, step=3, micro_batch=2), logits(seed=7, step=3, micro_batch=1, pass_index=1)]
    assert not any(np.array_equal(first, other) for other in others)
    assert np.array_equal(first, logits(seed=7, step=3, micro_batch=1))


def test_layers_draw_masks_of_their_own_wherever_the_stack_is_cut(build_stack, rows):
    stack = build_stack(dropout=0.3)
    stack.train()
    stack.use_fast_ops(True)
    stack.set_dropout_keys((DropoutKey(seed=1),))
    hidden = stack.layers[0](rows)
    whole = stack.layers[2](stack.layers[1](hidden))[0].numpy()
    middle = stack.layers[1](hidden)
    paddle.seed(99)  # another process would have another generator
    assert np.array_equal(stack.layers[2](middle)[0].numpy(), whole)
