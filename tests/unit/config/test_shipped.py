"""Every YAML file that is shipped loads and is consistent; the folders are walked, not listed."""

from pathlib import Path

import pytest

from ernie_pp.config import ParallelConfig, check_config, load_config

ROOT = Path(__file__).resolve().parents[3]
# A grid is a piece of a config: it is extended, or given beside one.
GRIDS = sorted((ROOT / "configs" / "parallel").glob("*.yaml"))
CONFIGS = sorted({*(ROOT / "configs").rglob("*.yaml"), *(ROOT / "tasks").rglob("*.yaml")} - set(GRIDS))
REST = """
task: cls
output_dir: runs/x
data: {train: train.tsv, dev: dev.tsv}
model: {sizes: {vocab: vocab.txt}}
"""


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_shipped_config_loads_and_has_no_contradiction(path):
    config = load_config(path)
    needed = ("train",) if config.data.dev_share is not None else ("train", "dev")
    missing = [f"data.{name}=rows.tsv" for name in needed if getattr(config.data, name) is None]
    check_config(load_config(path, missing), source=str(path))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_a_recipe_names_are_there(path):
    config = load_config(path)
    named = [source for split in ("train", "dev", "test") for source in config.data.sources(split)]
    named += [config.model.sizes.vocab] if config.model.sizes is not None else []
    assert [name for name in named if not Path(name).is_file()] == []


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_a_shipped_grid_can_be_extended_and_has_no_contradiction(path, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(f"extends: {path}\n{REST}", encoding="utf-8")
    loaded = load_config(config)
    check_config(loaded, source=str(config))
    assert loaded.parallel != ParallelConfig() and loaded.task == "cls"


def test_there_are_configs_to_walk():
    assert len(CONFIGS) > 5 and len(GRIDS) > 3
