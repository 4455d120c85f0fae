"""The bundle folder: program, parameters, tokenizer and a manifest that is enough to use them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.errors import ModelError

FORMAT = 1
MANIFEST = "manifest.json"
PROGRAM, PARAMETERS = "model.json", "model.pdiparams"
MAX_MANIFEST_BYTES = 8 << 20


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
    def program(self) -> Path:
        """The Paddle Inference program (PIR)."""
        return self.folder / PROGRAM

    @property
    def parameters(self) -> Path:
        """The program's parameters."""
        return self.folder / PARAMETERS


def write_manifest(folder: Path, values: Mapping) -> None:
    """Write the manifest, with size and sha256 of every file of the folder, last."""
    files = {path.name: describe_file(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST}
    text = json.dumps({"format": FORMAT, **values, "files": files}, ensure_ascii=False, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def open_bundle(folder: str | Path, *, verify: bool = True) -> Bundle:
    """Read and check a bundle; ModelError names the file that is missing, cut or changed.

    `verify` compares every file's sha256; without it sizes only.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ModelError(str(path), f"is larger than {MAX_MANIFEST_BYTES} bytes")
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(str(folder), f"has no {MANIFEST}", "Give a folder that `ernie-pp export` wrote.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(str(path), f"cannot be read: {error}", "Export the bundle again.") from error
    _check_manifest(path, manifest)
    for name, expected in manifest["files"].items():
        _check_file(folder, name, expected, verify)
    return Bundle(folder, manifest)


def describe_file(path: Path) -> dict:
    """Size and sha256 of one file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def _check_manifest(path: Path, manifest: object) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise ModelError(str(path), f"is of format {found}, this version reads {FORMAT}", "Export the bundle again.")
    missing = [name for name in ("task", "files", "text", "decode", "inputs") if name not in manifest]
    if missing:
        raise ModelError(str(path), f"lacks {', '.join(missing)}", "Export the bundle again.")


def _check_file(folder: Path, name: str, expected: Mapping, verify: bool) -> None:
    path = folder / name
    if Path(name).name != name or path.is_symlink() or not path.is_file():
        raise ModelError(str(path), "is named by the manifest and is not a plain file of this folder", "Copy it whole.")
    if path.stat().st_size != expected["bytes"]:
        what = f"has {path.stat().st_size} bytes, the manifest says {expected['bytes']}"
        raise ModelError(str(path), what, "Copy the bundle again, whole.")
    if verify and describe_file(path)["sha256"] != expected["sha256"]:
        raise ModelError(str(path), "has other content than when it was exported (sha256)", "Copy the bundle again.")
