"""Imports go down the design's map only; the tree is read, nothing is run."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "ernie_pp"
# What each part imports of ours, besides itself. An entry nobody needs any more must go.
ALLOWED = {
    "errors": set(),
    "progress": set(),
    "nearest": set(),
    "choices": set(),
    "byte_sizes": set(),
    "argument_types": {"choices"},
    "durable": {"errors"},
    "bounded": {"errors"},
    "machine": {"choices"},
    "config": {"bounded", "byte_sizes", "choices", "errors", "nearest"},
    "text": {"bounded", "choices", "durable", "errors"},
    "data": {"bounded", "choices", "durable", "errors", "nearest", "text"},
    "models": {"bounded", "config", "errors", "nearest"},
    "partition": {"byte_sizes", "errors"},
    "parallel": {"data", "durable", "errors", "machine", "models", "partition"},
    "training": {"bounded", "config", "data", "durable", "errors", "machine", "models", "parallel", "progress"},
    "export": {"bounded", "choices", "durable", "errors", "machine", "models", "text"},
    "report": {"byte_sizes", "durable", "partition"},
    "tasks": {"bounded", "choices", "config", "data", "errors", "models", "nearest", "progress", "report", "text"},
    "review": {"bounded", "choices", "config", "data", "durable", "errors", "report", "tasks", "text"},
    "serving": {"choices", "config", "data", "errors", "export", "machine", "review", "tasks", "text"},
}
# The last three see all of them.
_SEE_ALL = ("jobs", "verbs", "cli")
ALLOWED["jobs"] = set(ALLOWED)
ALLOWED["verbs"] = set(ALLOWED)
ALLOWED["cli"] = set(ALLOWED)
_SHARED_NAMES = ("__init__.py", "conftest.py")
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


def _used(path):
    here = path.relative_to(PACKAGE)
    part = here.parts[0].removesuffix(".py")
    if part == "__init__" or here.name == "__main__.py":
        return None, set()
    known = {name for name in (_part(module) for module in _imports(path)) if name and not name.startswith("__")}
    return part, known - {part}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_the_map(path):
    part, used = _used(path)
    assert part is None or used <= ALLOWED[part]


def test_the_map_allows_no_more_than_is_used():
    used = {part: set() for part in ALLOWED}
    for part, names in map(_used, FILES):
        if part is not None:
            used[part] |= names
    assert {part: names - used[part] for part, names in ALLOWED.items() if part not in _SEE_ALL} == {
        part: set() for part in ALLOWED if part not in _SEE_ALL
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_private_name_of_another_file_is_imported(path):
    """`from ernie_pp.a.b import _name` ties two files together at a place neither of them shows."""
    for module in _imports(path):
        names = module.split(".")
        if names[0] == "ernie_pp":
            assert not [name for name in names if name.startswith("_") and not name.startswith("__")], module


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


def test_test_files_have_names_of_their_own():
    """pytest imports each by its name alone: two of one name cannot be collected together."""
    names = [path.name for path in (PACKAGE.parent / "tests").rglob("*.py") if path.name not in _SHARED_NAMES]
    assert sorted({name for name in names if names.count(name) > 1}) == []
