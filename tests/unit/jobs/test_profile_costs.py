"""Layer costs measured in real processes, and the file that keeps them."""

import json
from dataclasses import replace

import pytest

from ernie_pp.config import CpuConfig, TrainConfig
from ernie_pp.errors import RunError
from ernie_pp.jobs import profile_costs
from ernie_pp.jobs.profile_costs import Request, measured_costs
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.partition.costs import DeviceCosts, LayerCost, Link, StackCosts

VALUES = {
    "vocab_size": 500,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "max_position_embeddings": 64,
    "hidden_dropout_prob": 0.1,
}
REQUEST = Request(
    VALUES, HeadSpec("classification", 3), rows=4, length=32, train=TrainConfig(), cpu=CpuConfig(threads=1)
)
HIDDEN_BYTES = 4 * 4 * 32 * 64


def _formula():
    names = ("embeddings", "block 0", "block 1", "block 2", "head")
    layers = [LayerCost(name, 7.0, 7.0, 1000, 7, 7, 7, can_recompute=name.startswith("block")) for name in names]
    return StackCosts(tuple(layers), Link(1e9), DeviceCosts(1, 4.0, 7.0, 0.25, 1e9))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    cache = tmp_path_factory.mktemp("costs") / "own" / "layer_times.json"
    return cache, measured_costs(replace(REQUEST, processes=2), _formula(), cache=cache)


def test_times_and_bytes_are_those_of_the_real_layers(measured):
    embeddings, *blocks, head = measured[1].layers
    assert len(blocks) == 3 and len({replace(block, name="") for block in blocks}) == 1
    for layer in (embeddings, *blocks, head):
        assert 0 < layer.forward_s < 1 and 0 < layer.backward_s < 1
    block = blocks[0]
    # The mask, four bytes a token, goes along.
    assert block.output_bytes == embeddings.output_bytes == block.recomputed_bytes == HIDDEN_BYTES + 4 * 4 * 32
    assert 10 * HIDDEN_BYTES < block.activation_bytes < 40 * HIDDEN_BYTES
    assert head.activation_bytes < HIDDEN_BYTES
    assert block.forward_s + block.backward_s > head.forward_s + head.backward_s


def test_what_is_not_measured_stays_the_formulas(measured):
    costs = measured[1]
    assert [layer.parameter_bytes for layer in costs.layers] == [1000] * 5
    assert [layer.can_recompute for layer in costs.layers] == [False, True, True, True, False]
    assert (costs.link, costs.device.step_s, costs.device.state_factor) == (Link(1e9), 0.25, 4.0)
    assert 50 << 20 < costs.device.base_bytes < 2 << 30
    assert 0 < costs.device.update_s_per_byte < 1e-6


def test_a_request_once_measured_is_read(measured, monkeypatch):
    cache, costs = measured
    monkeypatch.setattr(profile_costs, "_measure", lambda _: pytest.fail("measured again"))
    assert measured_costs(replace(REQUEST, processes=2), _formula(), cache=cache, may_measure=False) == costs


@pytest.mark.parametrize(
    "other",
    [
        {"rows": 5, "processes": 2},
        {"processes": 1},
        {"values": {**VALUES, "hidden_size": 32}, "processes": 2},
        {"cpu": CpuConfig(threads=2), "processes": 2},
        {"train": TrainConfig(precision="bf16"), "processes": 2},
    ],
)
def test_another_request_is_not_taken_for_it(measured, other):
    with pytest.raises(RunError, match="lacks the layer times of this run"):
        measured_costs(replace(REQUEST, **other), _formula(), cache=measured[0], may_measure=False)


def test_settings_without_an_effect_on_a_layer_share_its_times(measured):
    same = replace(REQUEST, processes=2, train=TrainConfig(learning_rate=1e-3, epochs=9.0))
    assert measured_costs(same, _formula(), cache=measured[0], may_measure=False) == measured[1]


def test_a_process_that_fails_is_told_with_its_last_words(tmp_path):
    bad = replace(REQUEST, values={**VALUES, "max_position_embeddings": 8})
    with pytest.raises(RunError) as caught:
        measured_costs(bad, _formula(), cache=tmp_path / "times.json")
    assert "ended with code 1" in str(caught.value) and "parallel.costs=formula" in str(caught.value)
    assert not (tmp_path / "times.json").exists()


@pytest.mark.parametrize("content", ["[]", "{", "\x00"])
def test_a_broken_cache_is_named(tmp_path, content):
    (tmp_path / "times.json").write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=r"times\.json"):
        measured_costs(REQUEST, _formula(), cache=tmp_path / "times.json")


def test_the_cache_is_plain_json(measured):
    (figures,) = json.loads(measured[0].read_text(encoding="utf-8")).values()
    assert set(figures) == {"embeddings", "block", "head", "update_s_per_byte", "loaded_bytes"}


@pytest.mark.parametrize("value", [-1.0, "fast", None, float("nan")])
def test_figures_that_nobody_measured_are_refused(measured, tmp_path, value):
    (key,) = json.loads(measured[0].read_text(encoding="utf-8"))
    figures = json.loads(measured[0].read_text(encoding="utf-8"))
    figures[key]["block"]["forward_s"] = value
    cache = tmp_path / "times.json"
    cache.write_text(json.dumps(figures), encoding="utf-8")
    with pytest.raises(RunError, match=r"times\.json\n  (has .* for forward_s|is not|holds)"):
        measured_costs(replace(REQUEST, processes=2), _formula(), cache=cache)
