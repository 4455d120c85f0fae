"""Rough figures of devices: found by name, and in the right order."""

import pytest

from ernie_pp.jobs.device_kinds import CPU, GPUS, KINDS, gpu_named, kind_named


@pytest.mark.parametrize(
    "words, name",
    [
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA A10", "a10"),
        ("Tesla V100-SXM2-32GB", "v100"),
        ("NVIDIA GeForce RTX 4090", "4090"),
        ("NVIDIA H200", "h200"),
    ],
)
def test_a_gpu_is_known_by_the_name_its_driver_gives(words, name):
    assert gpu_named(words) is GPUS[name]


def test_a_gpu_that_is_not_known_is_none():
    assert gpu_named("Quadro M2000") is None


def test_every_kind_has_figures():
    for kind in map(kind_named, KINDS):
        assert 0 < kind.flops_per_s <= kind.half_flops_per_s and kind.memory_bytes_per_s > 0
        assert kind.link.transfer_s(1 << 20) > 0
        assert (kind.memory_bytes is None) == (kind is CPU)


def test_two_threads_are_a_quarter_faster_than_one_and_many_have_an_end():
    one, two, many = (CPU.with_threads(count).flops_per_s for count in (1, 2, 64))
    assert (one, two) == (CPU.flops_per_s, pytest.approx(1.25 * one))
    assert two < many < 2 * one


def test_half_precision_is_faster_where_the_device_has_it():
    gpu = GPUS["a100"]
    assert gpu.speed("bf16").flops_per_s > 4 * gpu.speed("fp32").flops_per_s
    assert CPU.speed("bf16").flops_per_s == CPU.speed("fp32").flops_per_s
