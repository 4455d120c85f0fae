"""Pages that list keys and files list all of them."""

import re
from pathlib import Path

from ernie_pp.config.schema import ParallelConfig
from ernie_pp.training.run_folder import RESULTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {path.parent.name for path in (ROOT / "ernie_pp").glob("*/__init__.py")}


def _read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def _first_cells(text):
    """The words in code marks of every table's first column."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, flags=re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def test_the_page_about_grids_explains_every_key():
    assert set(ParallelConfig.model_fields) <= _first_cells(_read("docs/parallel.md"))


def test_both_readmes_explain_every_result_and_place_every_package():
    for name in ("README.md", "README.zh-CN.md"):
        cells = {cell.rstrip("/").removeprefix("ernie_pp/") for cell in _first_cells(_read(name))}
        assert set(RESULTS) <= cells, f"{name}: {set(RESULTS) - cells}"
        assert cells >= PACKAGES, f"{name}: {PACKAGES - cells}"
