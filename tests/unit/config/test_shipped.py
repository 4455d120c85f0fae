"""Every YAML file that is shipped loads and is consistent; the folders are walked, not listed."""

from pathlib import Path

import pytest

from ernie_pp.config import check_config, load_config

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = sorted([*(ROOT / "configs").rglob("*.yaml"), *(ROOT / "tasks").rglob("*.yaml")])


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_shipped_config_loads_and_has_no_contradiction(path):
    config = load_config(path)
    missing = [f"data.{name}=rows.tsv" for name in ("train", "dev") if getattr(config.data, name) is None]
    check_config(load_config(path, missing), source=str(path))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_a_recipe_names_are_there(path):
    config = load_config(path)
    named = [config.data.train, config.data.dev, config.data.test, config.model.sizes and config.model.sizes.vocab]
    assert [name for name in named if name is not None and not Path(name).is_file()] == []


def test_there_are_configs_to_walk():
    assert len(CONFIGS) > 5
