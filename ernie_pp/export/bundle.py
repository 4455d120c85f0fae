"""The bundle folder: program, parameters, tokenizer and a manifest that is enough to use them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.bounded import read_json
from ernie_pp.durable import hash_file
from ernie_pp.errors import ModelError
from ernie_pp.export.formats import FORMATS, FormatSpec, is_known
from ernie_pp.text.tokenizer import PORTABLE_FILE, SETTINGS_FILE, VOCAB_FILE

VERSION = 2
MANIFEST = "manifest.json"
# Without these and the program nothing can be answered; more files may stand beside them.
TOKENIZER_FILES = (VOCAB_FILE, PORTABLE_FILE, SETTINGS_FILE)
MAX_MANIFEST_BYTES = 8 << 20
_FIELDS = {"task": str, "files": dict, "text": dict, "columns": dict, "decode": dict, "inputs": list}
# How rows were read in training: the words of `predict` that are not given are these.
_COLUMNS = {"text", "text_pair", "header", "quoting"}
_AGAIN = "Copy the bundle again, whole, or export it again."


@dataclass(frozen=True)
class Bundle:
    """An opened bundle: its folder and what its manifest says."""

    folder: Path
    manifest: Mapping

    @property
    def task(self) -> str:
        """Kind of problem, e.g. cls."""
        return self.manifest["task"]

    @property
    def spec(self) -> FormatSpec:
        """What its format is made of."""
        return FORMATS[self.manifest["format"]]

    @property
    def precision(self) -> str:
        """How its runtime computes, e.g. fp32."""
        return self.manifest["precision"]

    @property
    def program(self) -> Path:
        """The file its runtime opens."""
        return self.folder / self.spec.program

    @property
    def parameters(self) -> Path:
        """The program's parameters; AssertionError where they stand in the program."""
        assert self.spec.parameters is not None, f"{self.manifest['format']} has none beside the program"
        return self.folder / self.spec.parameters


def write_manifest(folder: Path, values: Mapping) -> None:
    """Write the manifest, with size and sha256 of every file of the folder and of its own values, last."""
    files = {path.name: describe_file(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST}
    manifest = {"version": VERSION, **values, "files": files}
    text = json.dumps({**manifest, "sha256": _digest(manifest)}, ensure_ascii=False, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def open_bundle(folder: str | Path, *, verify: bool = True) -> Bundle:
    """Read and check a bundle; ModelError names the file that is missing, cut or changed.

    `verify` compares every file's sha256; without it sizes only.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    for name, expected in manifest["files"].items():
        _check_file(folder, name, expected, verify)
    return Bundle(folder, manifest)


def describe_file(path: Path) -> dict:
    """Size and sha256 of one file."""
    return {"bytes": path.stat().st_size, "sha256": hash_file(path)}


def _read_manifest(folder: Path) -> dict:
    path = folder / MANIFEST
    try:
        is_link, is_there = path.is_symlink(), path.exists()
    except (OSError, ValueError) as error:  # a folder one may not enter; a name that cannot be one
        why = getattr(error, "strerror", None) or error
        raise ModelError(str(folder), f"cannot be opened: {why}", "Check the path and its rights.") from error
    if is_link:
        raise ModelError(str(path), "is a link, expected a plain file", _AGAIN)
    if not is_there:
        raise ModelError(str(folder), f"has no {MANIFEST}", "Give a folder that `ernie-pp export` wrote.")
    return _checked(path, read_json(path, max_bytes=MAX_MANIFEST_BYTES, error=ModelError, do=_AGAIN))


def _checked(path: Path, manifest: object) -> dict:
    """The manifest, once all it must say is there."""
    if not isinstance(manifest, dict) or manifest.get("version") != VERSION:
        found = manifest.get("version") if isinstance(manifest, dict) else type(manifest).__name__
        what = f"is of version {str(found)[:40]}, expected {VERSION}"
        raise ModelError(str(path), what, "Export the bundle again.")
    if not is_known(manifest.get("format"), manifest.get("precision")):
        what = f"names format {manifest.get('format')!r:.40} and precision {manifest.get('precision')!r:.40}"
        raise ModelError(str(path), f"{what}, expected ones that `ernie-pp export` writes", "Export the bundle again.")
    odd = [name for name, kind in _FIELDS.items() if not isinstance(manifest.get(name), kind)]
    if odd:
        raise ModelError(str(path), f"lacks {', '.join(odd)}, or has it in another form", _AGAIN)
    values = {name: value for name, value in manifest.items() if name != "sha256"}
    if manifest.get("sha256") != _digest(values):
        raise ModelError(str(path), "has other content than when it was exported (sha256)", _AGAIN)
    if set(manifest["columns"]) != _COLUMNS:
        what = f"has columns {', '.join(sorted(manifest['columns']))}, expected {', '.join(sorted(_COLUMNS))}"
        raise ModelError(str(path), what, "Train and export with this version of ernie_pp.")
    needed = (*FORMATS[manifest["format"]].files, *TOKENIZER_FILES)
    missing = [name for name in needed if name not in manifest["files"]]
    if missing:
        raise ModelError(str(path), f"does not name {', '.join(missing)}", _AGAIN)
    return manifest


def _check_file(folder: Path, name: str, expected: object, verify: bool) -> None:
    path = folder / name
    if not isinstance(expected, dict) or set(expected) != {"bytes", "sha256"}:
        raise ModelError(str(folder / MANIFEST), f"does not say size and sha256 of {name}", _AGAIN)
    if Path(name).name != name or path.is_symlink() or not path.is_file():
        raise ModelError(str(path), "is named by the manifest and is not a plain file of this folder", _AGAIN)
    if path.stat().st_size != expected["bytes"]:
        what = f"has {path.stat().st_size} bytes, the manifest says {expected['bytes']}"
        raise ModelError(str(path), what, _AGAIN)
    try:
        differs = verify and describe_file(path)["sha256"] != expected["sha256"]
    except OSError as error:
        raise ModelError(str(path), f"cannot be read: {error.strerror}", "Check its rights.") from error
    if differs:
        raise ModelError(str(path), "has other content than when it was exported (sha256)", _AGAIN)


def _digest(values: Mapping) -> str:
    """sha256 of JSON values, whatever their order and spacing in the file."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()
