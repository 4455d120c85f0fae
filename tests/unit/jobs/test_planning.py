"""Grids chosen for a config, and the plan of a grid that is given."""

import pytest
import sample_run

from ernie_pp.config import load_config
from ernie_pp.errors import ConfigError, RunError
from ernie_pp.jobs import planning
from ernie_pp.jobs.auto_grid import resolve_parallel
from ernie_pp.jobs.device_kinds import CPU, GIB, GPUS
from ernie_pp.jobs.plan_costs import Devices
from ernie_pp.jobs.planning import best_plans, costing_of, micro_batches_of, model_facts, plan_of, waiting_note
from ernie_pp.partition.plan_record import Plan

MIB = 1 << 20


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return sample_run.write_sample(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def here(monkeypatch):
    """A machine of four cores and 8 GiB, whatever this one has."""
    monkeypatch.setattr(planning, "count_cores", lambda: 4)
    monkeypatch.setattr(planning, "memory_bytes", lambda: 8 * GIB)


def _load(sample, *words):
    return load_config(sample, words)


def _plan(config, **words):
    return plan_of(config, model_facts(config), **words)


@pytest.mark.parametrize(
    "words, expected",
    [
        ([], (8, 1)),
        (["train.micro_batch_tokens=64"], (2, 4)),
        (["train.micro_batch_tokens=96"], (3, 3)),
        (["parallel.micro_batches=3"], (3, 3)),
        (["parallel.replicas=2"], (4, 1)),
        (["parallel.replicas=2", "train.micro_batch_tokens=64"], (2, 2)),
        (["parallel.replicas=3", "parallel.micro_batches=2"], (2, 2)),
        (["parallel.stages=2"], (1, 8)),  # enough to fill the pipeline
    ],
)
def test_a_step_is_split_as_the_settings_say(sample, words, expected):
    # Eight rows of 32 tokens.
    assert micro_batches_of(_load(sample, *words), length=32) == expected


def test_one_process_has_a_plan_too(sample, here):
    plan = _plan(_load(sample))
    assert (plan.stages, plan.replicas, plan.micro_batches, plan.boundaries) == (1, 1, 1, (0, 4))
    assert plan.step_s > 0 and plan.stage_bytes[0] > 100 * MIB
    assert plan.tokens_per_s == pytest.approx(8 * 32 / plan.step_s)


def test_the_same_settings_give_the_same_plan_and_it_can_be_kept(sample, here):
    config = _load(sample, "parallel.stages=2", "parallel.micro_batches=4")
    plan = _plan(config)
    assert plan == _plan(config) == Plan.from_json(plan.to_json())


@pytest.mark.parametrize("word", ["parallel.boundaries=[0, 1]", "parallel.boundaries=[0, 1, 4]"])
def test_given_boundaries_are_kept_and_others_are_solved(sample, here, word):
    words = ["parallel.stages=2", "parallel.micro_batches=8", "train.batch_size=512"]
    given, solved = _plan(_load(sample, *words, word)), _plan(_load(sample, *words))
    assert given.boundaries == (0, 1, 4) != solved.boundaries
    assert solved.step_s < given.step_s


@pytest.mark.parametrize("count, is_noted", [(1, True), (3, True), (4, False), (8, False)])
def test_too_few_micro_batches_for_a_pipeline_are_noted(sample, here, count, is_noted):
    note = waiting_note(_plan(_load(sample, "parallel.stages=2", f"parallel.micro_batches={count}")))
    assert (note is not None) == is_noted
    assert note is None or ("set parallel.micro_batches" in note and f"{count} micro-batch" in note)


def test_one_stage_waits_for_nobody(sample, here):
    assert waiting_note(_plan(_load(sample, "parallel.replicas=2"))) is None


def test_boundaries_beyond_the_model_are_refused(sample, here):
    with pytest.raises(ConfigError, match=r"parallel\.boundaries"):
        _plan(_load(sample, "parallel.stages=2", "parallel.boundaries=[0, 9]"))


@pytest.mark.parametrize("word, blocks", [("all", (0, 1)), ("none", ()), ("[1]", (1,)), ("auto", ())])
def test_blocks_are_recomputed_as_the_settings_say(sample, here, word, blocks):
    assert _plan(_load(sample, f"parallel.recompute={word}")).recomputed == blocks


def test_recompute_auto_follows_the_memory(sample, here):
    words = ["train.batch_size=4096", "text.max_length=64", "train.micro_batch_tokens=1000000"]
    config = _load(sample, *words)
    whole, least = (_plan(_load(sample, *words, f"parallel.recompute={mode}")) for mode in ("none", "all"))
    limit = (whole.stage_bytes[0] + least.stage_bytes[0]) // 2
    plan = _plan(_load(sample, *words, "parallel.recompute=auto", f"parallel.memory={limit}B"))
    assert len(plan.recomputed) > 0 and plan.stage_bytes[0] <= limit < whole.stage_bytes[0]
    assert _plan(config).recomputed == ()


def test_what_does_not_fit_is_an_error(sample, here):
    with pytest.raises(ConfigError):
        _plan(_load(sample, "parallel.stages=2", "parallel.memory=100MiB"))


def test_longer_rows_and_more_labels_cost_more(sample, here):
    config = _load(sample)
    assert _plan(config, length=64).step_s > _plan(config).step_s
    many = _load(sample, f"labels={[f'a{number}' for number in range(1000)]}")
    assert _plan(many).stage_bytes[0] > _plan(config).stage_bytes[0]


def test_sharing_the_optimizer_saves_memory_and_half_gradients_time(sample, here):
    words = ["parallel.replicas=2"]
    plain = _plan(_load(sample, *words))
    shared = _plan(_load(sample, *words, "parallel.shard_optimizer=true"))
    halved = _plan(_load(sample, *words, "parallel.gradient_type=bf16"))
    assert shared.stage_bytes[0] < plain.stage_bytes[0]
    assert halved.step_s < plain.step_s


def test_a_rank_that_may_not_measure_says_what_is_missing(sample, here, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(RunError, match="lacks the layer times of this run"):
        _plan(_load(sample, "parallel.costs=measured"), may_measure=False)


def _best(sample, devices, *words):
    config = _load(sample, *words)
    return best_plans(costing_of(config, model_facts(config), devices))


def test_plans_are_sorted_and_use_at_most_the_devices_there_are(sample):
    plans = _best(sample, Devices(GPUS["t4"], 4, 16 * GIB))
    assert [plan.step_s for plan in plans] == sorted(plan.step_s for plan in plans)
    assert {plan.num_devices for plan in plans} == {1, 2, 3, 4}
    assert all(max(plan.stage_bytes) <= 16 * GIB for plan in plans)


def test_processes_of_a_cpu_share_its_memory(sample):
    need = _best(sample, Devices(CPU, 1, 8 * GIB, cores=1))[0].stage_bytes[0]
    room = 3 * need
    plans = _best(sample, Devices(CPU, 4, room, is_shared=True, cores=4))
    assert plans and all(plan.num_devices * max(plan.stage_bytes) <= room for plan in plans)
    each = _best(sample, Devices(CPU, 4, room, cores=4))
    assert max(plan.num_devices for plan in each) > max(plan.num_devices for plan in plans)


def test_nothing_that_fits_is_an_error_with_what_is_missing(sample):
    with pytest.raises(ConfigError, match="a stage still needs"):
        _best(sample, Devices(CPU, 2, 100 * MIB, cores=2))


def test_auto_becomes_the_best_grid_and_other_settings_stay(sample):
    config = _load(sample, "parallel=auto", "parallel.memory=4GiB", "device=cpu")
    resolved = resolve_parallel(config)
    assert not resolved.parallel.auto
    assert resolved.model_copy(update={"parallel": config.parallel}) == config
    best = best_plans(costing_of(config, model_facts(config), planning.find_devices(config)))[0]
    assert (resolved.parallel.stages, resolved.parallel.replicas) == (best.stages, best.replicas)
    plan_of(resolved, model_facts(resolved))


def test_auto_uses_just_the_processes_that_are_there(sample):
    grid = resolve_parallel(_load(sample, "parallel=auto", "device=cpu"), num_devices=3).parallel
    assert grid.stages * grid.replicas == 3


def test_auto_is_not_measured_by_each_of_many_processes(sample):
    with pytest.raises(ConfigError, match="Plan beforehand"):
        resolve_parallel(_load(sample, "parallel=auto", "parallel.costs=measured"), num_devices=3)


def test_a_grid_that_is_given_is_left_alone(sample):
    config = _load(sample, "parallel.stages=2")
    assert resolve_parallel(config) is config


def test_auto_without_room_is_the_users_error(sample):
    with pytest.raises(ConfigError, match=r"parallel\.memory\n  is 50 MiB"):
        resolve_parallel(_load(sample, "parallel=auto", "parallel.memory=50MiB", "device=cpu"))
