"""Layer costs by a run's settings."""

from dataclasses import replace

import pytest

from ernie_pp.config import CpuConfig, ModelConfig, RunConfig, SizesConfig, TrainConfig
from ernie_pp.jobs import plan_costs
from ernie_pp.jobs.device_kinds import CPU, GIB, GPUS
from ernie_pp.jobs.plan_costs import HEAP_FACTOR, Costing, Devices, ModelFacts
from ernie_pp.models.ernie import model_values
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.sizes import num_parameters

SIZES = ModelConfig(sizes=SizesConfig(vocab="unused", num_layers=3, hidden_size=64, num_heads=2))
MODEL = ModelFacts(model_values(SIZES, vocab_size=900, pad_id=0), HeadSpec("classification", 5))
HERE = Devices(CPU, 4, 8 * GIB, is_shared=True, cores=4)


def _config(**train):
    return RunConfig(task="cls", output_dir="unused", model=SIZES, train=TrainConfig(**train))


def _costing(devices=HERE, **train):
    return Costing(_config(**train), MODEL, devices, length=32)


def _time(costs):
    return sum(layer.forward_s + layer.backward_s for layer in costs.layers)


def test_every_parameter_is_counted_once():
    classifier = 64 * 5 + 5
    costs = _costing().of(4, processes=1)
    assert sum(layer.parameter_bytes for layer in costs.layers) == 4 * (num_parameters(MODEL.values) + classifier)


def test_rdrop_computes_every_row_twice():
    assert _costing(rdrop_alpha=1.0).of(4, processes=1) == _costing().of(8, processes=1)


def test_processes_share_cores_and_memory_of_a_cpu_and_not_of_gpus():
    assert _time(_costing().of(4, processes=1)) < _time(_costing().of(4, processes=4))
    assert (HERE.memory_of_one(1), HERE.memory_of_one(4)) == (8 * GIB, 2 * GIB)
    gpus = Devices(GPUS["t4"], 4, 16 * GIB)
    assert _costing(gpus).of(4, processes=1) == _costing(gpus).of(4, processes=4)
    assert gpus.memory_of_one(4) == 16 * GIB


def test_half_precision_is_faster_on_a_gpu():
    gpus = Devices(GPUS["a100"], 1, 40 * GIB)
    assert _time(_costing(gpus, precision="bf16").of(64, processes=1)) < _time(_costing(gpus).of(64, processes=1))


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """A costing whose layers take a second and a row's worth, and the requests it makes."""
    requests = []

    def measure(request, formula, *, cache, may_measure):
        requests.append(request)
        layers = [
            replace(layer, forward_s=1.0 + request.rows, activation_bytes=request.rows) for layer in formula.layers
        ]
        return replace(formula, layers=tuple(layers))

    monkeypatch.setattr(plan_costs, "measured_costs", measure)
    config = _config().model_copy(update={"cpu": CpuConfig(keep_heap=False)})
    return replace(_costing(), config=config, cache=tmp_path / "times.json"), requests


def test_a_kept_heap_holds_more_than_its_tensors_need():
    config = _config().model_copy(update={"cpu": CpuConfig(keep_heap=False)})
    tight, kept = replace(_costing(), config=config).of(4, processes=1), _costing().of(4, processes=1)
    assert kept.layers[1].activation_bytes == round(HEAP_FACTOR * tight.layers[1].activation_bytes)
    assert kept.device.state_factor == HEAP_FACTOR * tight.device.state_factor
    assert kept.layers[1].forward_s == tight.layers[1].forward_s


def test_two_measured_numbers_of_rows_give_all_between(measured):
    costing, requests = measured
    for rows in (1, 2, 5, 8):
        layers = costing.between(rows, processes=2, most_rows=8).layers
        assert [layer.forward_s for layer in layers] == pytest.approx([1.0 + rows] * 5)
        assert {layer.activation_bytes for layer in layers} == {rows}
    assert {request.rows for request in requests} == {1, 8}


def test_layers_are_measured_as_the_run_computes_them(measured):
    costing, requests = measured
    costing.of(6, processes=2)
    (request,) = requests
    assert (request.rows, request.length, request.processes, request.device) == (6, 32, 2, "cpu")
    assert request.cpu.threads == 2, "four cores for two processes"
