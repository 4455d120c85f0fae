"""What `doctor` says of the machine."""

import builtins
import io

import pytest

from ernie_pp.machine import count_cores, describe, describe_machine
from ernie_pp.machine.describe import memory_bytes, version_problems


def test_versions_and_sizes_are_named():
    found = describe_machine()
    assert list(found)[:2] == ["python", "system"]
    assert {"paddlenlp", "tokenizers", "numpy", "cores", "memory"} <= set(found)
    assert int(found["cores"]) == count_cores() >= 1
    assert found["memory"].endswith(" GiB")


@pytest.mark.parametrize(
    "installed, problem",
    [
        ({"paddlepaddle": "3.3.1"}, None),
        ({"paddlepaddle-gpu": "3.3.1"}, None),
        ({"paddlepaddle": "3.3.1", "paddlepaddle-gpu": "3.3.1"}, "overwrite each other"),
        ({}, "Paddle is not installed"),
    ],
)
def test_both_wheels_or_none_is_a_problem(monkeypatch, installed, problem):
    monkeypatch.setattr(describe, "_version", installed.get)
    found = version_problems()
    assert found == [] if problem is None else problem in found[0]


@pytest.mark.parametrize("limit, expected", [("max\n", None), (str(64 << 20) + "\n", 64 << 20), (str(2**62), None)])
def test_memory_is_the_containers_where_that_is_smaller(monkeypatch, limit, expected):
    def open_limit(name, *args, **kwargs):
        if name == "/sys/fs/cgroup/memory.max":
            return io.StringIO(limit)
        if str(name).startswith("/sys/fs/cgroup"):
            raise FileNotFoundError(name)
        return original(name, *args, **kwargs)

    original = builtins.open
    monkeypatch.setattr(builtins, "open", open_limit)
    found = memory_bytes()
    assert found == expected if expected is not None else found > 64 << 20
