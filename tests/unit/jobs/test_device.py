"""The device is settled before anything is loaded there, and every process needs its own."""

import paddle
import pytest

from ernie_pp.errors import ConfigError
from ernie_pp.jobs.device import set_device


@pytest.fixture
def two_gpus(monkeypatch):
    """As with the GPU wheel on a machine of two; returns what Paddle was set to."""
    chosen = []
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(paddle.device.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(paddle.device, "set_device", chosen.append)
    return chosen


@pytest.mark.parametrize("wanted, device", [("auto", "gpu"), ("gpu", "gpu"), ("cpu", "cpu")])
def test_a_gpu_is_taken_where_there_is_one_for_each_process(two_gpus, wanted, device):
    assert set_device(wanted, num_processes=2) == device and two_gpus == [device]


@pytest.mark.parametrize("wanted", ["auto", "gpu"])
def test_too_few_gpus_are_told_with_both_numbers(two_gpus, wanted):
    with pytest.raises(ConfigError, match=f"device\n  is {wanted}, and each of 3 processes .*: Paddle sees 2"):
        set_device(wanted, num_processes=3)
    assert two_gpus == []


def test_processes_on_the_cpu_need_no_gpu(two_gpus):
    assert set_device("cpu", num_processes=3) == "cpu"
