"""Update rules by name, and AdamW with clipping against numpy."""

import numpy as np
import paddle
import pytest

from ernie_pp.config.schema import TrainConfig
from ernie_pp.errors import ModelError
from ernie_pp.training.optim import Optimizer, is_decayed, parameter_rules, square_sum

NAMES = ["ernie.embeddings.word_embeddings.weight", "ernie.encoder.layers.0.norm1.weight"]
NAMES += ["ernie.encoder.layers.1.linear1.bias", "classifier.weight"]


def test_rate_falls_by_layer_and_the_head_has_its_own():
    config = TrainConfig(learning_rate=1e-4, layer_decay=0.5, head_learning_rate=3e-4)
    rules = parameter_rules([*NAMES, "ernie.pooler.dense.bias"], num_blocks=2, config=config)
    assert [rules[name].rate for name in NAMES] == pytest.approx([0.125, 0.25, 0.5, 3.0])
    assert rules["ernie.pooler.dense.bias"].rate == pytest.approx(3.0)
    without = parameter_rules(NAMES, num_blocks=2, config=TrainConfig(layer_decay=0.5))
    assert without["classifier.weight"].rate == 1.0


def test_biases_and_norms_do_not_decay():
    decayed = [
        "classifier.weight",
        "ernie.encoder.layers.10.self_attn.q_proj.weight",
        NAMES[0],
        "ernie.pooler.dense.weight",
    ]
    kept = ["classifier.bias", "ernie.encoder.layers.10.norm2.weight", "ernie.embeddings.layer_norm.weight"]
    assert all(is_decayed(name) for name in decayed)
    assert not any(is_decayed(name) for name in [*kept, "ernie.embeddings.layer_norm.bias"])


def build(**settings):
    rng = np.random.default_rng(0)
    parameters = {}
    for name in NAMES:
        parameters[name] = paddle.create_parameter([4, 3], "float32")
        parameters[name].set_value(rng.normal(size=(4, 3)).astype("float32"))
    config = TrainConfig(**{"learning_rate": 0.1, "weight_decay": 0.2, "clip_norm": 1.0, **settings})
    return parameters, Optimizer(parameters, num_blocks=2, config=config)


def set_gradients(parameters, seed=1):
    rng = np.random.default_rng(seed)
    gradients = {name: rng.normal(size=(4, 3)).astype("float32") for name in parameters}
    for name, parameter in parameters.items():
        (parameter * paddle.to_tensor(gradients[name])).sum().backward()
    return gradients


def test_updates_equal_numpy():
    config = {"layer_decay": 0.5, "head_learning_rate": 0.2}
    parameters, optimizer = build(**config)
    expected = {name: p.numpy().astype("f8") for name, p in parameters.items()}
    first = {name: np.zeros((4, 3)) for name in NAMES}
    second = {name: np.zeros((4, 3)) for name in NAMES}
    rates = {NAMES[0]: 0.125, NAMES[1]: 0.25, NAMES[2]: 0.5, NAMES[3]: 2.0}
    for count, rate in enumerate([0.1, 0.05, 0.02], 1):
        gradients = set_gradients(parameters, seed=count)
        norm = np.sqrt(sum((g.astype("f8") ** 2).sum() for g in gradients.values()))
        assert optimizer.gradient_square() ** 0.5 == pytest.approx(norm, rel=1e-6)
        optimizer.scale_gradients(optimizer.clip_factor(optimizer.gradient_square() ** 0.5))
        optimizer.step(rate)
        optimizer.clear_gradients()
        for name in NAMES:
            g, own_rate = gradients[name].astype("f8") * min(1, 1 / norm), rate * rates[name]
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.999 * second[name] + 0.001 * g * g
            ratio = (first[name] / (1 - 0.9**count)) / (np.sqrt(second[name] / (1 - 0.999**count)) + 1e-8)
            decay = 0.2 if name in (NAMES[0], NAMES[3]) else 0.0
            expected[name] = expected[name] * (1 - own_rate * decay) - own_rate * ratio
    for name in NAMES:
        np.testing.assert_allclose(parameters[name].numpy(), expected[name], rtol=0, atol=3e-6)


def test_clipping_is_by_the_norm_over_all_tensors_and_only_above_it():
    parameters, optimizer = build(clip_norm=0.5)
    gradients = set_gradients(parameters)
    optimizer.scale_gradients(optimizer.clip_factor(optimizer.gradient_square() ** 0.5))
    assert optimizer.gradient_square() ** 0.5 == pytest.approx(0.5, rel=1e-6)
    norm = np.sqrt(sum((g.astype("f8") ** 2).sum() for g in gradients.values()))
    np.testing.assert_allclose(parameters[NAMES[1]].grad.numpy(), gradients[NAMES[1]] * 0.5 / norm, rtol=1e-5)
    assert optimizer.clip_factor(0.4) == 1.0
    assert build(clip_norm=None)[1].clip_factor(1e9) == 1.0


def test_norm_of_a_large_tensor_is_exact():
    values = paddle.rand([4_000_000])
    assert float(square_sum(values)) == pytest.approx((values.numpy().astype("f8") ** 2).sum(), rel=1e-6)


def test_first_bad_gradient_is_named():
    parameters, optimizer = build()
    set_gradients(parameters)
    assert optimizer.first_bad_gradient() is None
    (parameters[NAMES[2]] * float("inf")).sum().backward()
    assert optimizer.first_bad_gradient() == NAMES[2]
    assert not np.isfinite(optimizer.gradient_square() ** 0.5)


def test_state_has_canonical_names_and_moves_to_another_optimizer():
    parameters, optimizer = build()
    assert optimizer.state() == {}
    set_gradients(parameters)
    optimizer.step(0.1)
    state = optimizer.state()
    assert f"{NAMES[3]}.moment1_0" in state and len(state) == 4 * len(NAMES)
    others, other = build()
    other.load_state(state)
    set_gradients(others)
    other.step(0.1)
    optimizer.clear_gradients()
    set_gradients(parameters)
    optimizer.step(0.1)
    assert all(np.array_equal(value, optimizer.state()[key]) for key, value in other.state().items())


def test_state_of_another_model_is_refused():
    _, optimizer = build()
    with pytest.raises(ModelError, match=r"layers\.9"):
        optimizer.load_state({"ernie.encoder.layers.9.norm1.bias.moment1_0": np.zeros(3, "float32")})


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda state: state.pop("classifier.weight.moment2_0"), "classifier.weight.moment2_0\n  is missing"),
        (lambda state: state.update({"classifier.weight.moment1_0": np.zeros(7, "float32")}), r"shape \[7\]"),
        (lambda state: state.update({"classifier.weight.moment1_0": np.zeros((4, 3))}), "float64"),
    ],
)
def test_state_that_no_optimizer_has_is_refused(change, message):
    parameters, optimizer = build()
    set_gradients(parameters)
    optimizer.step(0.1)
    state = optimizer.state()
    change(state)
    with pytest.raises(ModelError, match=message):
        optimizer.load_state(state)
