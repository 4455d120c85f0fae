"""A name holds the old content or the new one, whatever happens in between."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import sample_run

from ernie_pp import durable
from ernie_pp.durable import check_writable, replaced_file, replaced_folder, told_as_unwritable, write_json, write_text
from ernie_pp.errors import ModelError, RunError


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def _fill(folder, *, content):
    with replaced_folder(folder) as temporary:
        for name in ("a", "b"):
            (temporary / name).write_text(content, encoding="utf-8")


def test_json_is_written_whole_in_utf8(tmp_path):
    write_json(tmp_path / "a.json", {"标签": ["好评"]})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert "好评" in text and text.endswith("\n") and json.loads(text) == {"标签": ["好评"]}
    assert _names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError])
def test_an_error_in_the_block_leaves_the_old_file(tmp_path, error):
    write_text(tmp_path / "a", "old")
    with pytest.raises(error), replaced_file(tmp_path / "a") as temporary:
        temporary.write_text("ne", encoding="utf-8")
        raise error("no")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old" and _names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError])
def test_an_error_in_the_block_leaves_the_old_folder(tmp_path, error):
    _fill(tmp_path / "best", content="old")
    with pytest.raises(error), replaced_folder(tmp_path / "best") as temporary:
        (temporary / "a").write_text("new", encoding="utf-8")
        raise error("no")
    assert _names(tmp_path) == ["best"] and _names(tmp_path / "best") == ["a", "b"]
    assert (tmp_path / "best" / "a").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failing_rename_leaves_the_old_folder(tmp_path, monkeypatch, failing):
    _fill(tmp_path / "best", content="old")
    rename, calls = os.rename, []

    def fail_once(source, target):
        calls.append(source)
        if len(calls) == failing:
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(durable.os, "rename", fail_once)
    with pytest.raises(RunError, match="Input/output error"):
        _fill(tmp_path / "best", content="new")
    assert _names(tmp_path) == ["best"] and (tmp_path / "best" / "a").read_text(encoding="utf-8") == "old"


def test_a_folder_that_a_dead_process_moved_aside_comes_back(tmp_path):
    _fill(tmp_path / "best", content="old")
    (tmp_path / "best").rename(tmp_path / ".best.old")
    with pytest.raises(ValueError, match="no"), replaced_folder(tmp_path / "best"):
        raise ValueError("no")
    assert _names(tmp_path) == ["best"] and (tmp_path / "best" / "b").read_text(encoding="utf-8") == "old"


def test_a_new_folder_has_nothing_of_the_old_or_of_a_half(tmp_path):
    _fill(tmp_path / "best", content="old")
    (tmp_path / ".best.tmp").mkdir()
    (tmp_path / ".best.tmp" / "half").write_text("x", encoding="utf-8")
    with replaced_folder(tmp_path / "best") as temporary:
        (temporary / "c").write_text("new", encoding="utf-8")
    assert _names(tmp_path) == ["best"] and _names(tmp_path / "best") == ["c"]


def test_links_stay_and_what_they_name_is_replaced(tmp_path):
    write_text(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text(encoding="utf-8") == "new"
    _fill(tmp_path / "disk", content="old")
    (tmp_path / "best").symlink_to("disk")
    _fill(tmp_path / "best", content="new")
    assert (tmp_path / "best").is_symlink() and (tmp_path / "disk" / "a").read_text(encoding="utf-8") == "new"


def test_a_name_that_cannot_be_a_file_is_told_before_the_work(tmp_path):
    for path, match in [
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "a", "there is no folder"),
        (tmp_path.joinpath("/dev/null"), "device"),
    ]:
        with pytest.raises(RunError, match=match):
            check_writable(path)
        with pytest.raises(RunError, match=match), replaced_file(path):
            pytest.fail("the block must not begin")


def test_full_disk_leaves_the_old_file_and_says_so(tmp_path, monkeypatch):
    write_text(tmp_path / "a", "old")

    def no_room(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable.os, "fsync", no_room)
    with pytest.raises(RunError, match="a\n  cannot be written: No space left on device\n  Make room"):
        write_text(tmp_path / "a", "new")
    with pytest.raises(RunError, match="No space left"):
        _fill(tmp_path / "best", content="new")
    assert _names(tmp_path) == ["a"] and (tmp_path / "a").read_text(encoding="utf-8") == "old"


def test_an_error_about_another_file_is_not_blamed_on_the_output(tmp_path):
    for replaced in (replaced_file, replaced_folder):
        with pytest.raises(FileNotFoundError), replaced(tmp_path / "out"):
            (tmp_path / "input").read_text(encoding="utf-8")


def test_no_room_while_the_block_writes_names_the_output(tmp_path):
    with pytest.raises(RunError, match="out\n  cannot be written: No space left"), replaced_file(tmp_path / "out"):
        raise OSError(28, "No space left on device")
    with pytest.raises(RunError, match="out\n  cannot be written"), replaced_folder(tmp_path / "out") as temporary:
        (temporary / "none" / "a").write_text("x", encoding="utf-8")
    assert _names(tmp_path) == []


class _LibraryError(Exception):
    """As safetensors and Paddle raise for a system's error."""


@pytest.mark.parametrize("text", ["I/O error: No space left on device (os error 28)", "File too large (os error 27)"])
def test_no_room_in_a_librarys_words_names_the_output(tmp_path, text):
    for replaced in (replaced_file, replaced_folder, told_as_unwritable):
        with pytest.raises(RunError, match="out\n  cannot be written: "), replaced(tmp_path / "out"):
            raise _LibraryError(text)
        with pytest.raises(_LibraryError), replaced(tmp_path / "out"):
            raise _LibraryError("bad header")
        with pytest.raises(ModelError), replaced(tmp_path / "out"):
            raise ModelError("weights", text)
    assert _names(tmp_path) == []


@pytest.mark.parametrize("name", ["x" * 300, "loop/a", "a\0b", "\ud800"])
def test_a_name_the_system_refuses_is_told_as_such(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RunError, match="cannot be written"):
        write_text(tmp_path / name, "x")
    assert _names(tmp_path) == ["loop"]


def test_the_longest_name_can_be_written(tmp_path):
    write_text(tmp_path / ("好" * 85), "x")
    assert _names(tmp_path) == ["好" * 85]


def test_the_new_name_is_synced_too(tmp_path, monkeypatch):
    opened, real = [], os.open
    monkeypatch.setattr(durable.os, "open", lambda path, flags: opened.append(path) or real(path, flags))
    write_text(tmp_path / "a", "new")
    assert opened[-1] == tmp_path


def test_threads_that_write_one_name_do_no_harm(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_text(tmp_path / "a", f"{number % 10}" * 50_000), range(80)))
    assert _names(tmp_path) == ["a"] and len(set((tmp_path / "a").read_text(encoding="utf-8"))) == 1


KILLED = """
import sys, itertools
from pathlib import Path
from ernie_pp.durable import replaced_folder, write_text
folder = Path(sys.argv[1])
for number in itertools.count():
    text = f"{number:06d}" * 20_000
    write_text(folder / "file", text)
    with replaced_folder(folder / "best") as temporary:
        for name in "ab":
            (temporary / name).write_text(text)
    if number == 0:
        print("begun", flush=True)
"""


def test_kill_at_any_time_leaves_whole_files_and_folders(tmp_path):
    for attempt in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, env=sample_run.environment()
        )
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.003 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len({len(path.read_text()) for path in (tmp_path / "file",)} | {120_000}) == 1
        folder = tmp_path / "best" if (tmp_path / "best").exists() else tmp_path / ".best.old"
        contents = [(folder / name).read_text() for name in "ab"]
        assert contents[0] == contents[1] and len(contents[0]) == 120_000
