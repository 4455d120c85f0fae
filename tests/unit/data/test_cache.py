import logging
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from ernie_pp.data.cache import cache_key, load_or_build
from ernie_pp.data.token_rows import TokenRows

KEY = cache_key({"file": "a", "max_length": 8})


def rows_of(*ids, targets=None):
    return TokenRows(
        np.array(ids, np.int32),
        np.zeros(len(ids), np.int8),
        np.array([0, 1, len(ids)], np.int64),
        np.array([0, 3], np.int32),
        targets,
    )


def never():
    raise AssertionError("built again")


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


WINDOWS = {"example_index": np.array([0, 0]), "offsets": np.array([[-1, -1], [0, 1], [1, 3]], np.int32)}


@pytest.mark.parametrize("more", [{}, WINDOWS])
def test_rows_are_built_once_and_come_back_the_same(tmp_path, more):
    folder = tmp_path / "run" / "cache"
    built = load_or_build(folder, KEY, lambda: replace(rows_of(5, 6, 7), **more))
    loaded = load_or_build(folder, KEY, never)
    for name in ("ids", "type_ids", "row_starts", "num_cut", "example_index", "offsets"):
        one, other = getattr(built, name), getattr(loaded, name)
        assert np.array_equal(one, other) if one is not None else other is None
        assert one is None or one.dtype == other.dtype


def test_another_key_is_built_anew(tmp_path):
    load_or_build(tmp_path, KEY, lambda: rows_of(5, 6))
    other = cache_key({"file": "a", "max_length": 9})
    assert load_or_build(tmp_path, other, lambda: rows_of(8, 9)).ids.tolist() == [8, 9]


def test_the_key_depends_on_every_part_but_not_on_their_order(tmp_path):
    assert cache_key({"a": 1, "b": "x"}) == cache_key({"b": "x", "a": 1})
    assert len({cache_key({"a": 1}), cache_key({"a": 2}), cache_key({"b": 1}), cache_key({"a": "1"})}) == 4


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-5])


def empty(path):
    path.write_bytes(b"")


def write_something_else(path):
    path.write_bytes(b"\x80\x04cos\nsystem\n")


def write_foreign_tensors(path):
    save_file({"ids": np.arange(3)}, path)


def write_a_type_that_numpy_lacks(path):
    header = b'{"ids":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"abc")


def put_under_a_wrong_key(path):
    load_or_build(path.parent / "other", cache_key({}), lambda: rows_of(1, 2))
    os.replace(only_file(path.parent / "other"), path)


def link_elsewhere(path):
    os.rename(path, path.parent.parent / "outside")
    path.symlink_to(path.parent.parent / "outside")


@pytest.mark.parametrize(
    "damage",
    [
        flip_a_bit,
        cut_off,
        empty,
        write_something_else,
        write_foreign_tensors,
        write_a_type_that_numpy_lacks,
        put_under_a_wrong_key,
        link_elsewhere,
    ],
)
def test_a_damaged_or_foreign_file_is_remade_with_a_warning(tmp_path, caplog, damage):
    folder = tmp_path / "cache"
    load_or_build(folder, KEY, lambda: rows_of(5, 6))
    damage(path := only_file(folder))
    with caplog.at_level(logging.WARNING):
        assert load_or_build(folder, KEY, lambda: rows_of(8, 9)).ids.tolist() == [8, 9]
    assert "tokenized again" in caplog.text and path.name in caplog.text
    assert load_or_build(folder, KEY, never).ids.tolist() == [8, 9]
    assert not path.is_symlink()


def test_a_cache_that_cannot_be_written_costs_a_warning_only(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder")
    with caplog.at_level(logging.WARNING):
        assert load_or_build(tmp_path / "file" / "cache", KEY, lambda: rows_of(5, 6)).ids.tolist() == [5, 6]
    assert "cannot be written" in caplog.text


def test_a_failed_build_or_write_leaves_no_file(tmp_path, monkeypatch):
    with pytest.raises(AssertionError):
        load_or_build(tmp_path, KEY, never)

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    load_or_build(tmp_path, KEY, lambda: rows_of(5, 6))
    assert list(tmp_path.iterdir()) == []


def test_a_key_cannot_lead_out_of_the_folder(tmp_path):
    for key in ("../" * 3 + "x", "a" * 63, KEY.upper(), KEY + "\n"):
        with pytest.raises(ValueError, match="not a cache key"):
            load_or_build(tmp_path, key, lambda: rows_of(5, 6))


def test_writers_at_the_same_time_do_no_harm(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: load_or_build(tmp_path, KEY, lambda: rows_of(5, 6)), range(40)))
    assert all(rows.ids.tolist() == [5, 6] for rows in found)
    assert only_file(tmp_path).suffix == ".safetensors"
