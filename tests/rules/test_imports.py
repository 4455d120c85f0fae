"""Imports go down the design's map only; the tree is read, nothing is run."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "ernie_pp"
# What each part may import of ours, besides itself.
BASE = {"errors", "progress", "durable", "bounded", "nearest", "choices"}
ALLOWED = {
    "errors": set(),
    "progress": set(),
    "durable": {"errors"},
    "bounded": {"errors"},
    "nearest": set(),
    "choices": set(),
    "machine": {"errors", "choices"},
    "config": {"errors", "bounded", "nearest", "choices"},
    "text": BASE | {"config"},
    "data": BASE | {"config", "text"},
    "models": BASE | {"config"},
    "partition": BASE,
    "parallel": BASE | {"config", "data", "models", "partition"},
    "training": BASE | {"config", "data", "machine", "models", "parallel"},
    "export": BASE | {"config", "models", "text", "machine"},
    "serving": BASE | {"config", "text", "data", "export", "tasks", "machine"},
    "tasks": BASE | {"config", "text", "data", "models", "report"},
    "report": BASE,
}
ALLOWED["jobs"] = set(ALLOWED)
ALLOWED["cli"] = {*ALLOWED}
FILES = sorted(path for path in PACKAGE.rglob("*.py"))


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _part(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "ernie_pp" else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_the_map(path):
    here = path.relative_to(PACKAGE)
    part = here.parts[0].removesuffix(".py")
    if part in ("__init__", "__main__") or here.name == "__main__.py":
        return
    known = {name for name in (_part(module) for module in _imports(path)) if name and not name.startswith("__")}
    assert known - {part} <= ALLOWED[part]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_tasks_do_not_import_each_other(path):
    here = path.relative_to(PACKAGE)
    if here.parts[0] != "tasks" or len(here.parts) < 3:
        return
    kinds = {folder.name for folder in (PACKAGE / "tasks").iterdir() if folder.is_dir()}
    for module in _imports(path):
        parts = module.split(".")
        assert parts[:2] != ["ernie_pp", "tasks"] or len(parts) < 3 or parts[2] not in kinds - {here.parts[1]}


def _importers(name):
    found = set()
    for path in FILES:
        if any(module == name or module.startswith(name + ".") for module in _imports(path)):
            found.add(str(path.relative_to(PACKAGE)))
    return found


def test_paddlenlp_is_imported_by_the_models_only():
    assert {name.split("/")[0] for name in _importers("paddlenlp")} <= {"models"}


def test_paddle_distributed_is_imported_by_parallel_only():
    assert {name.split("/")[0] for name in _importers("paddle.distributed")} <= {"parallel"}


def test_deciding_code_does_not_import_paddle():
    plain = {"config", "text", "partition", "data", "report", "errors.py", "progress.py", "machine"}
    assert {name for name in _importers("paddle") if name.split("/")[0] in plain} == set()


def test_no_file_is_longer_than_400_lines():
    assert [path.name for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []


def test_no_function_is_longer_than_60_lines():
    long = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 60:
                long.append(f"{path.name}:{node.name}")
    assert long == []
