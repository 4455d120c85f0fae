"""Files that somebody evil might hand over: each function spoils a sound model folder in its own way."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

WEIGHTS, PICKLE, INDEX = "model.safetensors", "model_state.pdparams", "model.safetensors.index.json"
MARKER = "it-ran"
Spoil = Callable[[Path], None]


class Evil:
    """Makes the marker file when it is unpickled by Python itself."""

    def __init__(self, marker: Path) -> None:
        self.command = f"touch {marker}"

    def __reduce__(self) -> tuple:
        return os.system, (self.command,)


def marker_of(folder: Path) -> Path:
    """The file that is there once evil code has run."""
    return folder.parent / f"{folder.name}-{MARKER}"


def as_pickle(content: Callable[[Path, dict], object], *, name: str = PICKLE) -> Spoil:
    """Replace the weights by a pickle of what `content` makes of folder and arrays."""

    def spoil(folder: Path) -> None:
        arrays = load_file(folder / WEIGHTS)
        (folder / WEIGHTS).unlink()
        (folder / name).write_bytes(pickle.dumps(content(folder, arrays), protocol=2))

    return spoil


def as_program(*pieces: bytes) -> Spoil:
    """Replace the weights by a pickle of these instructions."""

    def spoil(folder: Path) -> None:
        (folder / WEIGHTS).unlink()
        (folder / PICKLE).write_bytes(b"\x80\x02" + b"".join(pieces) + b".")

    return spoil


def evil(folder: Path) -> Evil:
    """What runs a command that leaves the marker."""
    return Evil(marker_of(folder))


def with_config(**changes: object) -> Spoil:
    """Other values in config.json."""

    def spoil(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")

    return spoil


def with_file(name: str, content: bytes) -> Spoil:
    """One file of this content."""

    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return spoil


def with_shard(file_name: Callable[[Path], str], *, link: bool = False) -> Spoil:
    """The weights outside the folder, named by an index or by a link in it."""

    def spoil(folder: Path) -> None:
        outside = folder.parent / f"{folder.name}-outside.safetensors"
        arrays = load_file(folder / WEIGHTS)
        save_file(arrays, outside)
        (folder / WEIGHTS).unlink()
        named = file_name(outside)
        if link:
            (folder / named).symlink_to(outside)
        (folder / INDEX).write_text(json.dumps({"weight_map": dict.fromkeys(arrays, named)}), encoding="utf-8")

    return spoil


def with_pipe(folder: Path) -> None:
    """A shard that never ends, and never begins."""
    names = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    os.mkfifo(folder / "a.safetensors")
    (folder / INDEX).write_text(json.dumps({"weight_map": dict.fromkeys(names, "a.safetensors")}), encoding="utf-8")


def header_of(values: dict) -> bytes:
    """A safetensors file of this header and as much data as it names."""
    header = json.dumps(values).encode()
    end = max(tensor["data_offsets"][1] for tensor in values.values())
    return struct.pack("<Q", len(header)) + header + bytes(end)


def _strided() -> bytes:
    # numpy.ndarray((10**6, 10**6), "f4", b"abcd", 0, (0, 0)): a table of 4 TB over four bytes.
    words = ((10**6, 10**6), "f4", b"abcd", 0, (0, 0))
    return b"}X\x01\x00\x00\x00wcnumpy\nndarray\n" + pickle.dumps(words, protocol=3)[2:-1] + b"Rs"


def _huge_shape() -> bytes:
    words = pickle.dumps(((10**6, 10**6), "f4"), protocol=2)[2:-1]
    return b"}X\x01\x00\x00\x00wcnumpy\nndarray\n" + words + b"Rs"


def _through_codecs() -> bytes:
    return b"}X\x01\x00\x00\x00wc_codecs\nencode\n" + pickle.dumps(("os", "rot13"), protocol=2)[2:-1] + b"Rs"


def _object_array(folder: Path, arrays: dict) -> object:
    return {**arrays, "w": np.array([evil(folder)], dtype=object)}


_NAME = "ernie.embeddings.layer_norm.weight"
_EIGHT_BITS = {"dtype": "F8_E4M3", "shape": [32], "data_offsets": [0, 32]}
_TENSOR = {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}
# By name: how the folder is spoilt, and a piece of the message.
PICKLES: dict[str, tuple[Spoil, str]] = {
    "os.system": (as_pickle(lambda folder, _: evil(folder)), "system"),
    "os.system among arrays": (as_pickle(lambda folder, arrays: {**arrays, "w": evil(folder)}), "system"),
    "os.system in an object array": (as_pickle(_object_array), "numbers were expected"),
    "another codec": (as_program(_through_codecs()), "encodes a text"),
    "numpy's own maker of arrays": (as_program(_huge_shape()), "no name"),
    "an array over four bytes": (as_program(_strided()), "no name"),
    "a memory of 2**31 places": (as_program(b"}r\xff\xff\xff\x7f"), "tensors are not there"),
    "600,000 dictionaries": (as_program(b"}" * 600_000), "500,000 instructions"),
    "bytes of 2**60": (as_program(b"}\x8e" + struct.pack("<Q", 2**60)), "cut off"),
    "a tuple of two to the 30th": (
        as_program(b"}cnumpy\ndtype\n)" + b"q\x00h\x00\x86" * 30 + b"\x85R"),
        "an array of a tuple",
    ),
    "a key of nested tuples": (as_program(b"})" + b"\x85" * 400_000 + b"Ns"), "keys are not all names"),
}
FOLDERS: dict[str, tuple[Spoil, str]] = {
    "a pickle named model.safetensors": (as_pickle(lambda folder, _: evil(folder), name=WEIGHTS), "safetensors"),
    "an index that leaves the folder": (with_shard(lambda path: f"../{path.name}"), "a plain file in the same folder"),
    "an index with an absolute path": (with_shard(str), "a plain file in the same folder"),
    "a shard that is a link": (with_shard(lambda _: "a.safetensors", link=True), "a plain file in the same folder"),
    "a shard of a long name": (with_shard(lambda _: "a" * 300), "a plain file in the same folder"),
    "a shard that is a pipe": (with_pipe, "a plain file in the same folder"),
    "a type that numpy lacks": (with_file(WEIGHTS, header_of({_NAME: _EIGHT_BITS})), "F8_E4M3"),
    "a width of 10**6": (with_config(hidden_size=10**6), "hidden_size is 1000000"),
    "10**9 layers": (with_config(num_hidden_layers=10**9), "num_hidden_layers is 1000000000"),
    "a vocabulary below 0": (with_config(vocab_size=-5), "vocab_size is -5"),
    "a width that is no number": (with_config(hidden_size=float("nan")), "hidden_size is nan"),
    "a width in quotes": (with_config(hidden_size="32"), "hidden_size is '32'"),
    "a text of 900,000 characters for a width": (with_config(hidden_size="9" * 900_000), "hidden_size is '999"),
    "a task that has no row": (with_config(use_task_id=True, task_id=99), "task_id is 99"),
    "a config 100,000 deep": (with_file("config.json", b'{"a":' * 100_000), "config.json"),
    "a config of 200 MB": (with_file("config.json", b" " * 200_000_000), "larger than 1000000 bytes"),
    "a header of 2**60 bytes": (with_file(WEIGHTS, struct.pack("<Q", 2**60) + b"{}"), "safetensors"),
    "tensors on the same bytes": (with_file(WEIGHTS, header_of({"a": _TENSOR, "b": _TENSOR})), "safetensors"),
    "a vocabulary of one line of 100 MB": (with_file("vocab.txt", b"a" * 100_000_000), "larger than 33554432 bytes"),
}
# What PaddleNLP would trip over, or switch on, if it were given to it.
KEYS = {"to_dict": 1, "problem_type": "x", "sequence_parallel": True, "quantization_config": {"a": 1}, "id2label": 5}
