"""A plan told: as a table, as settings that give it, as a picture."""

import shlex

import pytest
import yaml

from ernie_pp.config import ParallelConfig, check_config, load_config
from ernie_pp.jobs.plan_text import (
    plan_drawing,
    plan_fragment,
    plan_picture,
    plan_settings,
    plan_table,
    plan_timeline,
    plan_words,
    show_seconds,
)
from ernie_pp.partition.costs import DeviceCosts, LayerCost, Link, StackCosts
from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.parts import Wanted
from ernie_pp.partition.plan import StepRows, make_plan

MIB = 1 << 20
CONFIG = """
task: cls
output_dir: runs/x
data: {train: train.tsv, dev: dev.tsv}
model: {sizes: {vocab: vocab.txt, num_layers: 6}}
"""


def _costs(num_blocks=6):
    names = ("embeddings", *(f"block {index}" for index in range(num_blocks)), "head")
    layers = [LayerCost(name, 0.01, 0.02, MIB, 8 * MIB, MIB, 1000, name.startswith("block")) for name in names]
    return StackCosts(tuple(layers), Link(1e9, 1e-4), DeviceCosts(10 * MIB, 4.0, 1e-9, 1e-3, 1e9))


def _plan(stages=2, replicas=1, micro_batches=8, *, chunks=1, recompute="none", num_blocks=6):
    wanted = Wanted(Pipeline(stages, micro_batches, virtual_stages=chunks), recompute=recompute)
    return make_plan(_costs(num_blocks), wanted, StepRows(1, 32, replicas))


PLANS = {
    "one": _plan(1),
    "replicas": _plan(1, 4, 2),
    "stages": _plan(2),
    "both": _plan(2, 2, 4, recompute=(0, 3)),
    "chunks": _plan(4, 1, 8, chunks=2),
    "recomputed": _plan(1, recompute="all"),
}


def _grid(plan):
    return ParallelConfig(
        stages=plan.stages,
        replicas=plan.replicas,
        micro_batches=plan.micro_batches,
        virtual_stages=plan.virtual_stages,
        boundaries=plan.boundaries[:-1] if len(plan.boundaries) > 2 else None,
        recompute=plan.recomputed or "none",
    )


@pytest.fixture
def load(tmp_path):
    def load_config_text(text, words=()):
        (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
        config = load_config(tmp_path / "config.yaml", words)
        check_config(config, source="config.yaml")
        return config

    return load_config_text


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_fragment_that_is_extended_gives_the_plan(load, tmp_path, plan):
    (tmp_path / "grid.yaml").write_text(plan_fragment(plan, note="a note"), encoding="utf-8")
    assert load("extends: grid.yaml\n" + CONFIG).parallel == _grid(plan)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_words_for_the_command_line_give_the_plan(load, plan):
    words = shlex.split(plan_words(plan))
    assert load(CONFIG, words).parallel == load(CONFIG + "parallel: auto", words).parallel == _grid(plan)


def test_settings_leave_out_what_is_so_by_default():
    assert plan_settings(PLANS["one"]) == {"stages": 1, "micro_batches": 8}
    assert "schedule" not in yaml.safe_load(plan_fragment(PLANS["chunks"], note="n"))["parallel"]


def test_the_table_has_a_line_for_each_plan_and_what_its_stages_hold():
    lines = plan_table([PLANS["stages"], PLANS["recomputed"], PLANS["chunks"]]).splitlines()
    assert len(lines) == 1 + 2 * 3 + 1
    assert lines[1].split()[:7] == ["1", "2", "x", "1", "8", "x", "1"]
    # Stage 0 holds two micro-batches of four layers, stage 1 one.
    assert lines[2].strip() == "cut 0 4 8; memory 90 MiB, 58 MiB"
    assert "all 6 blocks" in lines[3] and "4 x 1" in lines[5] and "2 chunks" in lines[5]
    assert "1.09 s" in lines[1] and f"{100 * PLANS['stages'].bubble_share:.1f} %" in lines[1]


def test_many_stages_are_named_by_their_ends():
    line = plan_table([_plan(20, num_blocks=30)]).splitlines()[2]
    assert "..." in line and len(line) < 160


def test_the_drawing_has_a_line_for_each_stage_of_at_most_a_hundred_columns():
    lines = plan_drawing(PLANS["chunks"]).splitlines()
    assert [line for line in lines if line.startswith("stage ")] == lines[1:5]
    assert max(map(len, lines)) <= 100


def test_the_picture_is_that_of_the_plan():
    plan = PLANS["both"]
    picture = plan_picture(plan, limit_bytes=MIB)
    assert picture.timeline == plan_timeline(plan)
    assert picture.timeline.bubble_share == pytest.approx(plan.bubble_share)
    assert picture.timeline.step_s < plan.step_s, "the update comes after it"
    assert (picture.stage_bytes, picture.limit_bytes, picture.measured) == (plan.stage_bytes, MIB, None)
    assert dict(picture.facts)["blocks computed again"] == "2 blocks"


@pytest.mark.parametrize(
    "seconds, shown",
    [(0.0123456, "12.3 ms"), (0.99951, "1 s"), (2.345, "2.35 s"), (1234.5, "1234 s"), (0.0, "0 ms")],
)
def test_seconds_are_shown_with_three_digits(seconds, shown):
    assert show_seconds(seconds) == shown
