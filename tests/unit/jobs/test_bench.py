"""Bundles timed beside each other: what is called faster, and what is kept for the machine."""

import json
import shutil

import pytest

from ernie_pp.errors import ConfigError, ModelError
from ernie_pp.export import runtime_choice
from ernie_pp.export.bundle import open_bundle
from ernie_pp.export.runtime_choice import CHOICE, RuntimeOptions, read_choice, write_choice
from ernie_pp.export.stopwatch import Shape, make_batch, time_interleaved
from ernie_pp.jobs import bench
from ernie_pp.jobs.bench import BenchOptions, run_bench
from ernie_pp.serving import Predictor


@pytest.fixture
def bundles(small_run, tmp_path):
    return [str(shutil.copytree(small_run / "bundle", tmp_path / name)) for name in ("one", "other")]


def _options(bundles, **more):
    return BenchOptions(bundles, **{"rows": (1, 4), "lengths": (16,), "threads": (1,), "rounds": 1, **more})


def test_a_real_table_has_a_row_a_bundle_with_its_size(bundles):
    lines = run_bench(_options(bundles)).splitlines()
    assert lines[0].startswith("machine: ") and "1 thread" in lines
    one, other = (next(line for line in lines if line.startswith(name)) for name in ("one (inf", "other (inf"))
    assert one.count(" ms") == 2 and other.count(" x") == 2 and " MB" in one


@pytest.mark.parametrize(
    "seconds, said",
    [((1.0, 0.95), "is as fast as"), ((1.0, 0.8), "is faster than"), ((1.0, 1.3), "is slower than")],
)
def test_nothing_is_called_faster_within_the_noise(bundles, monkeypatch, seconds, said):
    monkeypatch.setattr(bench, "time_interleaved", lambda runs, batch, rounds: list(seconds))
    assert f"other (inference fp32) {said} one (inference fp32)" in run_bench(_options(bundles))


def test_the_fastest_settings_are_kept_where_they_are_more_than_noise(bundles, monkeypatch):
    times = {(True, False): 1.0, (True, True): 0.98, (False, False): 0.5, (False, True): 2.0}
    monkeypatch.setattr(bench, "open_session", lambda bundle, options: _Fake(options))
    monkeypatch.setattr(
        bench,
        "time_interleaved",
        lambda runs, batch, rounds: [
            times[run.__self__.options.onednn, run.__self__.options.memory_optim] for run in runs
        ],
    )
    told = run_bench(_options(bundles[:1], write=True))
    assert "oneDNN off, memory optimisation off (2.00 x the default)" in told
    assert read_choice(open_bundle(bundles[0])) == RuntimeOptions(1, onednn=False)
    times[False, False] = 0.95
    run_bench(_options(bundles[:1], write=True))
    assert read_choice(open_bundle(bundles[0])) == RuntimeOptions(1)


class _Fake:
    def __init__(self, options):
        self.options = options

    def run(self, ids, types):
        return ids


def test_what_was_kept_is_used_here_and_nowhere_else(bundles, monkeypatch):
    write_choice(open_bundle(bundles[0]), RuntimeOptions(threads=1, onednn=False, memory_optim=True))
    assert Predictor(bundles[0])(["房间很干净"])[0].labels
    assert read_choice(open_bundle(bundles[0]), threads=2) == RuntimeOptions(2, onednn=False, memory_optim=True)
    monkeypatch.setattr(runtime_choice, "read_cpu_info", lambda: ("Intel", "another", set()))
    assert read_choice(open_bundle(bundles[0])).onednn


@pytest.mark.parametrize("change", [{"threads": 0}, {"threads": "2"}, {"onednn": 1}, {"more": 1}])
def test_a_file_that_bench_did_not_write_is_told(bundles, change):
    path = write_choice(open_bundle(bundles[0]), RuntimeOptions())
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(ModelError, match=CHOICE):
        Predictor(bundles[0])


def test_lengths_over_the_bundles_are_refused(bundles):
    with pytest.raises(ConfigError, match=r"64 tokens, and .* reads 32 at most"):
        run_bench(_options(bundles, lengths=(16, 64)))


def test_turns_are_taken_in_the_same_order_and_the_least_counts():
    calls = []

    def runner(name):
        return lambda ids, types: calls.append((name, ids.shape))

    found = time_interleaved([runner("a"), runner("b")], make_batch(Shape(2, 8)), rounds=3)
    assert len(found) == 2 and all(0 < one < 0.05 for one in found)
    turns = [name for index, (name, _) in enumerate(calls) if index == 0 or calls[index - 1][0] != name]
    assert turns[-6:] == ["a", "b"] * 3 and {shape for _, shape in calls} == {(2, 8)}
