"""Stopped from outside at any time: right exit code, within seconds, nothing half, nobody left."""

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import sample_run
from safetensors import safe_open

LONG = ("train.epochs=100000", "train.eval_every=3", "train.log_every=1")


def _start(words, module="ernie_pp.tasks.cls"):
    return subprocess.Popen(
        sample_run.command(*words, module=module),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=sample_run.environment(),
        start_new_session=True,
    )


def _assert_nobody_is_left(process):
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def _hidden(folder):
    return [path.name for path in folder.rglob(".*")]


def _assert_whole(best: Path):
    settings = json.loads((best / "ernie_pp.json").read_text(encoding="utf-8"))
    assert settings["step"] >= 1
    with safe_open(best / "model.safetensors", framework="numpy") as weights:
        assert "classifier.weight" in weights.keys()  # noqa: SIM118 (no mapping)
    assert {"config.json", "vocab.txt", "tokenizer.json", "text.json"} <= {path.name for path in best.iterdir()}


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_training_stops_within_seconds_and_best_is_whole(tmp_path, number, code):
    config = sample_run.write_sample(tmp_path)
    process, best = _start(["--config", str(config), *LONG]), tmp_path / "run" / "best"
    seconds = sample_run.stop_when(process, best.is_dir, number)
    assert process.returncode == code
    assert seconds < 5
    _assert_nobody_is_left(process)
    errors = process.stderr.read()
    assert "stopped" in errors and "Traceback" not in errors
    _assert_whole(best)
    assert _hidden(tmp_path / "run") == []
    lines = sample_run.read_jsonl(tmp_path / "run" / "log.jsonl")
    assert lines[-1]["step"] >= 3


def test_a_hangup_that_the_caller_ignores_does_not_stop_a_run(tmp_path):
    config = sample_run.write_sample(tmp_path)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does; a child inherits it
    try:
        process = _start(["--config", str(config), "train.max_steps=30", "train.eval_every=3", "export.enabled=false"])
    finally:
        signal.signal(signal.SIGHUP, before)
    sample_run.stop_when(process, (tmp_path / "run" / "best").is_dir, signal.SIGHUP)
    assert process.returncode == 0, process.stderr.read()
    assert "stopped" not in process.stderr.read() and (tmp_path / "run" / "metrics.json").is_file()


STOPPED_SOON = """
import os, subprocess, sys
from ernie_pp import cli
subprocess.Popen(["sh", "-c", f"sleep {sys.argv[1]}; kill -TERM {os.getpid()}"])
sys.exit(cli.main(sys.argv[2:]))
"""


@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
def test_a_stop_while_libraries_load_is_a_stop(tmp_path, seconds):
    words = ["train", "--config", str(sample_run.write_sample(tmp_path)), "train.epochs=100000"]
    command = [sys.executable, "-c", STOPPED_SOON, str(seconds), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=sample_run.environment(), timeout=60)
    assert done.returncode == 143
    assert done.stderr.endswith("stopped by SIGTERM\n") and "Traceback" not in done.stderr


@pytest.mark.parametrize("redirection", [">/dev/null 2>/dev/full", ">/dev/null 2>&-", ">&- 2>&-"])
def test_a_screen_that_takes_nothing_does_not_end_a_run(tmp_path, redirection):
    config = sample_run.write_sample(tmp_path)
    words = sample_run.command("--config", str(config), "train.max_steps=3", module="ernie_pp.tasks.cls")
    done = subprocess.run(["sh", "-c", f"{shlex.join(words)} {redirection}"], env=sample_run.environment())
    assert done.returncode == 0
    assert (tmp_path / "run" / "bundle" / "manifest.json").is_file()
    assert "bundle checked" in (tmp_path / "run" / "run.log").read_text(encoding="utf-8")


def test_a_full_standard_output_after_training_is_one_message_and_the_run_is_whole(tmp_path):
    config = sample_run.write_sample(tmp_path)
    words = sample_run.command("--config", str(config), "train.max_steps=3", module="ernie_pp.tasks.cls")
    done = subprocess.run(
        ["sh", "-c", f"{shlex.join(words)} >/dev/full"], env=sample_run.environment(), stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 1
    assert "RunError: standard output\n  cannot be written: No space left" in done.stderr
    assert "Traceback" not in done.stderr and (tmp_path / "run" / "bundle" / "manifest.json").is_file()


def test_killed_training_leaves_best_whole_or_absent_and_the_next_run_cleans_up(tmp_path):
    config = sample_run.write_sample(tmp_path)
    process = _start(["--config", str(config), "train.epochs=100000", "train.eval_every=1", "train.log_every=1"])
    best = tmp_path / "run" / "best"
    half = tmp_path / "run" / ".best.tmp"
    sample_run.stop_when(process, half.is_dir, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    if best.exists():
        _assert_whole(best)
    sample_run.train_here(config, "overwrite=true", "train.max_steps=3", "export.enabled=false")
    _assert_whole(best)
    assert _hidden(tmp_path / "run") == []


def test_stop_while_the_bundle_is_checked_ends_the_checking_process_too(tmp_path):
    config = sample_run.write_sample(tmp_path)
    process = _start(["--config", str(config), "train.max_steps=3"])
    unchecked = tmp_path / "run" / ".bundle.tmp" / "manifest.json"
    assert sample_run.stop_when(process, unchecked.is_file, signal.SIGTERM) < 5
    assert process.returncode == 143
    _assert_nobody_is_left(process)
    assert not (tmp_path / "run" / "bundle").exists() and _hidden(tmp_path / "run") == []
    assert (tmp_path / "run" / "metrics.json").is_file(), "what was done before stays"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_stopped_predict_leaves_the_old_output(run_bundle, tmp_path, number):
    source = sample_run.write_jsonl(tmp_path / "in.jsonl", [{"text": "房间很干净，下次还来" * 3}] * 100_000)
    output = tmp_path / "out.jsonl"
    output.write_text("old\n", encoding="utf-8")
    words = ["predict", "--bundle", str(run_bundle), "--input", str(source), "--output", str(output)]
    process = _start(words, module="ernie_pp.cli")

    def is_writing():
        return any(path.stat().st_size > 100_000 for path in tmp_path.glob(".out.jsonl.*.tmp"))

    assert sample_run.stop_when(process, is_writing, number) < 5
    assert process.returncode == (143 if number == signal.SIGTERM else -signal.SIGKILL)
    assert output.read_text(encoding="utf-8") == "old\n"
    assert number == signal.SIGKILL or _hidden(tmp_path) == []


def test_a_terminal_that_is_closed_stops_a_run_that_saves(tmp_path):
    words = sample_run.command("--config", str(sample_run.write_sample(tmp_path)), *LONG, module="ernie_pp.tasks.cls")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(words[0], words, sample_run.environment(TERM="xterm"))
    # The bar fills the terminal: somebody has to read it.
    reader = threading.Thread(target=_read_until_closed, args=(terminal,), daemon=True)
    reader.start()
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "checkpoints" / "step-00000006").is_dir():
        assert time.monotonic() < deadline, "never got there"
        time.sleep(0.01)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    log = (tmp_path / "run" / "run.log").read_text(encoding="utf-8").splitlines()[-1]
    step = int(re.search(r"SIGHUP: stopped after step (\d+); the same command goes on from there", log).group(1))
    assert (tmp_path / "run" / "checkpoints" / f"step-{step:08d}" / "manifest.json").is_file()


def _read_until_closed(terminal):
    with contextlib.suppress(OSError):
        while os.read(terminal, 65536):
            pass
