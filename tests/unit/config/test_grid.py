"""The settings of a grid: the word auto, what goes over it, and what contradicts."""

import pytest

from ernie_pp.config import ParallelConfig, check_config, describe_keys, dump_config, load_config
from ernie_pp.errors import ConfigError

BASE = """
task: cls
output_dir: runs/x
data: {train: train.tsv, dev: dev.tsv}
model: {sizes: {vocab: vocab.txt, num_layers: 6}}
"""
CHUNKS = ["parallel.stages=4", "parallel.virtual_stages=2"]


@pytest.fixture
def load(tmp_path):
    def load_text(text, *overrides, extends=None):
        path = tmp_path / "config.yaml"
        if extends is not None:
            (tmp_path / "base.yaml").write_text(extends, encoding="utf-8")
            text = f"extends: base.yaml\n{text}"
        path.write_text(text, encoding="utf-8")
        return load_config(path, overrides)

    return load_text


@pytest.mark.parametrize(
    "section, words",
    [
        ("parallel: auto", []),
        ("parallel: {auto: true}", []),
        ("", ["parallel=auto"]),
        ("", ["parallel.auto=true"]),
        ("parallel: {stages: 2, replicas: 3}", ["parallel=auto"]),
        ("parallel: {boundaries: [0, 3], stages: 2, memory: 1GiB}", ["parallel=auto"]),
    ],
)
def test_the_word_auto_is_the_whole_section(load, section, words):
    assert load(BASE + section, *words).parallel == ParallelConfig(auto=True)


@pytest.mark.parametrize(
    "words", [["parallel=auto", "parallel.memory=2GiB"], ["parallel.memory=2GiB", "parallel=auto"]]
)
def test_a_limit_may_stand_beside_the_word_in_any_order(load, words):
    expected = ParallelConfig(auto=True, memory="2GiB")
    assert load(BASE, *words).parallel == expected
    assert load(BASE + "parallel: auto", "parallel.memory=2GiB").parallel == expected
    check_config(load(BASE, *words), source="config.yaml")


def test_a_grid_given_later_replaces_the_word(load):
    assert load(BASE + "parallel: auto", "parallel.stages=2").parallel == ParallelConfig(stages=2)
    later = load(BASE + "parallel: {replicas: 2}", extends="parallel: {auto: true, memory: 2GiB}").parallel
    assert later == ParallelConfig(replicas=2, memory="2GiB")


def test_a_word_given_later_replaces_a_grid_of_what_is_extended(load):
    assert load(BASE + "parallel: auto", extends="parallel: {stages: 4}").parallel == ParallelConfig(auto=True)


def test_grids_of_several_sources_are_merged_key_by_key(load):
    config = load(BASE + "parallel: {replicas: 2}", "parallel.recompute=[0, 2]", extends="parallel: {stages: 2}")
    assert config.parallel == ParallelConfig(stages=2, replicas=2, recompute=(0, 2))


@pytest.mark.parametrize("section", ["parallel: {auto: true, costs: measured}", "parallel: {stages: 2, replicas: 2}"])
def test_a_resolved_grid_loads_to_the_same_settings_and_can_be_replaced(load, section):
    config = load(BASE + section)
    assert load(dump_config(config)) == config
    assert load(dump_config(config), "parallel=auto").parallel == ParallelConfig(auto=True)
    assert load(dump_config(config), "parallel.stages=3").parallel.auto is False


@pytest.mark.parametrize(
    "section, message",
    [
        ("parallel: fast", "config.yaml:6:1\n  parallel is 'fast', expected keys and values below it or the word auto"),
        ("parallel: true", "parallel is True, expected keys"),
        ("train: auto", "train is 'auto', expected keys and values below it"),
        ("parallel: {stage: 2}", "did you mean parallel.stages?"),
        ("parallel: {memory: 16}", "parallel.memory is 16"),
        ("parallel: {memory: 16 gigs}", "expected a number with a unit, such as 16GiB"),
        ("parallel: {stages: 0}", "parallel.stages is 0"),
    ],
)
def test_a_section_that_is_none_is_named(load, section, message):
    with pytest.raises(ConfigError) as caught:
        load(BASE + section)
    assert message in str(caught.value)


def test_words_that_ask_for_a_plan_and_give_one_are_refused(load):
    with pytest.raises(ConfigError, match=r"parallel.stages=2\n  contradicts parallel=auto"):
        load(BASE, "parallel.stages=2", "parallel=auto")


@pytest.mark.parametrize(
    "overrides, message",
    [
        (
            ["parallel={auto: true, stages: 2, recompute: all}"],
            "parallel.stages, parallel.recompute cannot stand beside",
        ),
        (["parallel.replicas=64"], "parallel.replicas is 64, over train.batch_size 32: a replica would have no row"),
        (["parallel.replicas=4", "parallel.micro_batches=9"], "set parallel.micro_batches to 8 or less"),
        (["parallel.schedule=f_then_b"], "f_then_b needs parallel.virtual_stages above 1"),
        (["parallel.stages=2", "parallel.virtual_stages=2"], "needs 3 stages or more, and parallel.stages is 2"),
        (CHUNKS, "parallel.micro_batches is None, and chunks"),
        ([*CHUNKS, "parallel.micro_batches=10"], "need a multiple of the 4 stages, 8 or more, such as 12"),
        ([*CHUNKS, "parallel.micro_batches=4"], "8 or more, such as 8"),
        ([*CHUNKS, "parallel.micro_batches=6", "parallel.schedule=f_then_b"], "a multiple of the 4 stages such as 8"),
        (
            ["parallel.stages=9"],
            "is 9, and the model has 8 layers (embeddings, 6 blocks, head); ask for 8 parts or fewer",
        ),
        (["parallel.boundaries=[0]"], "parallel.boundaries has no effect: one stage holds all layers"),
        (["parallel.stages=2", "parallel.boundaries=[1, 4]"], "are [1, 4], expected numbers that begin with 0"),
        (["parallel.stages=2", "parallel.boundaries=[0, 0]"], "are [0, 0], expected numbers that begin with 0"),
        (["parallel.stages=2", "parallel.boundaries=[0]"], "has 1 numbers, expected the first layer of each of the 2"),
        (["parallel.stages=2", "parallel.boundaries=[0, 1, 2, 8]"], "parallel.boundaries has 4 numbers"),
        (["parallel.stages=2", "parallel.boundaries=[0, 4, 7]"], "end with 7, and the model has 8 layers"),
        (["parallel.stages=2", "parallel.boundaries=[0, 8]"], "names layer 8, and the last layer, the head, is 7"),
        (["parallel.recompute=[]"], "parallel.recompute is [], expected block numbers from 0"),
        (["parallel.recompute=[1, 1]"], "each once"),
        (["parallel.recompute=[-1]"], "expected block numbers from 0"),
        (["parallel.recompute=[6]"], "names block 6, and the last block is 5"),
        (["parallel.rank_order=stages", "parallel.stages=2"], "parallel.rank_order has no effect"),
        (["parallel.shard_optimizer=true"], "parallel.shard_optimizer has no effect: it is about parallel.replicas"),
        (["parallel.gradient_type=bf16", "parallel.stages=2"], "parallel.gradient_type has no effect"),
        (["parallel.memory=2GiB"], "parallel.memory has no effect"),
        (["parallel.stages=2", "parallel.boundaries=[0, 4]", "parallel.memory=2GiB"], "parallel.memory has no effect"),
    ],
)
def test_contradictions_and_keys_without_effect_are_refused(load, overrides, message):
    with pytest.raises(ConfigError) as caught:
        check_config(load(BASE, *overrides), source="config.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "overrides",
    [
        ["parallel=auto", "parallel.costs=measured", "profile.timeline=true"],
        ["parallel.replicas=32", "parallel.shard_optimizer=true", "parallel.gradient_type=fp16"],
        ["parallel.replicas=4", "parallel.micro_batches=8"],
        ["parallel.micro_batches=4", "parallel.recompute=all"],
        ["parallel.recompute=auto", "parallel.memory=2GiB"],
        ["parallel.stages=2", "parallel.memory=2GiB", "profile.timeline=true"],
        ["parallel.stages=2", "parallel.boundaries=[0, 7]"],
        ["parallel.stages=2", "parallel.boundaries=[0, 1, 8]", "parallel.costs=measured"],
        ["parallel.stages=8"],
        ["parallel.stages=2", "parallel.replicas=2", "parallel.rank_order=stages"],
        [*CHUNKS, "parallel.micro_batches=8"],
        [*CHUNKS, "parallel.micro_batches=4", "parallel.schedule=f_then_b"],
        [*CHUNKS, "parallel.micro_batches=8", "parallel.boundaries=[0, 1, 2, 3, 4, 5, 6, 7]"],
        ["parallel.stages=2", "parallel.boundaries=[0, 99]", "model.name=ernie-3.0-nano-zh"],  # sizes not known yet
    ],
)
def test_keys_with_an_effect_are_allowed(load, overrides):
    check_config(load(BASE, *overrides), source="config.yaml")


def test_rows_may_be_left_open_where_none_are_read(load):
    config = load(BASE, "data.train=null")
    check_config(config, source="config.yaml", needs_data=False)
    with pytest.raises(ConfigError, match=r"data\.train is missing"):
        check_config(config, source="config.yaml")
    with pytest.raises(ConfigError, match=r"parallel\.recompute names block 6"):
        check_config(load(BASE, "parallel.recompute=[6]"), source="config.yaml", needs_data=False)


def test_every_key_of_a_grid_is_listed_with_its_meaning():
    listed = {name: meaning for name, _, meaning in describe_keys()}
    for name in ParallelConfig.model_fields:
        assert len(listed[f"parallel.{name}"]) > 10
    assert "the word auto" in listed["parallel"]
