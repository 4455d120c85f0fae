"""Processes of one run share the cores of a machine."""

import pytest

from ernie_pp.machine import cpu, threads_per_process


@pytest.mark.parametrize(
    "cores, num_processes, wanted, variable, threads",
    [
        (16, 4, None, "", 4),
        (16, 5, None, "", 3),
        (2, 4, None, "", 1),
        (16, 4, 7, "2", 7),
        (16, 4, None, "2", 2),
        (16, 4, None, "16", 4),
        (16, 4, None, "many", 4),
    ],
)
def test_each_process_has_its_share(monkeypatch, cores, num_processes, wanted, variable, threads):
    monkeypatch.setattr(cpu, "count_cores", lambda: cores)
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert threads_per_process(num_processes, wanted=wanted) == threads
