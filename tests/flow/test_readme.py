"""The READMEs' commands: the same in both languages, and what can run offline runs."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READMES = ("README.md", "README.zh-CN.md")


def _blocks(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def _commands(name):
    """Lines of the unnamed blocks, continued lines joined."""
    text = "\n".join(block for language, block in _blocks(name) if not language)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def _run(command, folder):
    words = shlex.split(command)
    program = {"python": [sys.executable], "ernie-pp": [sys.executable, "-m", "ernie_pp.cli"]}[words[0]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=400, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working directory with the repository's recipes, after the README's main command, which took SECONDS."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("tasks", "configs"):
        (folder / name).symlink_to(ROOT / name)
    start = time.monotonic()
    done = _run("python -m ernie_pp.tasks.cls --config tasks/sentiment/config.yaml", folder)
    (folder / "SECONDS").write_text(str(time.monotonic() - start), encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "dev:       accuracy" in done.stdout
    return folder


def test_both_languages_have_the_same_commands():
    english, chinese = map(_commands, READMES)
    assert english == chinese and len(english) > 5


def test_the_main_command_stands_in_the_readme():
    assert "python -m ernie_pp.tasks.cls --config tasks/sentiment/config.yaml" in _commands("README.md")


def test_the_sample_model_is_right_on_more_than_three_quarters_of_dev(folder):
    dev = json.loads((folder / "runs/sentiment/metrics.json").read_text(encoding="utf-8"))["dev"]
    assert dev["accuracy"] > 0.75  # 90 rows, two equal labels: guessing stays below 0.60


def test_the_main_command_takes_less_than_three_minutes(folder, record_property):
    seconds = float((folder / "SECONDS").read_text(encoding="utf-8"))
    record_property("main_command_s", seconds)
    assert seconds < 180


def test_prediction_commands_answer(folder):
    commands = [line for line in _commands("README.md") if line.startswith("ernie-pp predict")]
    assert len(commands) >= 2
    for command in commands:
        done = _run(command, folder)
        assert done.returncode == 0, done.stderr
        assert '"prediction": "正面"' in done.stdout


def test_the_python_snippet_runs(folder):
    (snippet,) = [block for language, block in _blocks("README.md") if language == "python"]
    done = subprocess.run(
        [sys.executable, "-c", snippet + "\nprint(predictor(['房间很干净'])[0].labels)"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "('正面',)" in done.stdout, done.stderr


def test_the_command_in_stages_leaves_a_measured_step(folder):
    (command,) = [line for line in _commands("README.md") if "parallel.stages=2 profile.timeline=true" in line]
    done = _run(f"{command} train.max_steps=4 export.enabled=false cls.baseline=false", folder)
    assert done.returncode == 0, done.stderr
    assert "2 stages x 1 replica: 2 processes" in done.stderr and "INFO" not in done.stderr
    assert "Measured step" in (folder / "runs/grid/report.html").read_text(encoding="utf-8")
    events = json.loads((folder / "runs/grid/trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert {event["tid"] for event in events if event["ph"] == "X"} == {0, 1}


def test_the_plan_the_readmes_show_is_what_the_command_prints(folder):
    (command,) = [line for line in _commands("README.md") if line.startswith("ernie-pp plan")]
    done = _run(command, folder)
    assert done.returncode == 0, done.stderr
    (settings,) = [line for line in done.stdout.splitlines() if line.startswith("settings:")]
    for name in READMES:
        shown = [block for language, block in _blocks(name) if language == "text"]
        assert any(f"{settings}\n" in block for block in shown), f"{name} lacks: {settings}"


def test_files_and_tools_the_readmes_name_are_there():
    for name in READMES:
        text = (ROOT / name).read_text(encoding="utf-8")
        for path in re.findall(r"`((?:configs|tools|tasks|ernie_pp)/[\w./-]*)`", text):
            assert (ROOT / path).exists(), f"{name} names {path}"
