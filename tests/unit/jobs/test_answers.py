"""Helper processes belong to the one that started them."""

import os
import subprocess
import sys

from ernie_pp.jobs.answers import helper_command, helper_environment

WAITS = "from ernie_pp.jobs.answers import follow_starter; follow_starter(); print('on', flush=True); input()"


def test_a_helper_ends_with_whatever_ends_its_starter():
    starter = (
        "import subprocess, sys; from ernie_pp.jobs.answers import helper_environment\n"
        f"helper = subprocess.Popen([sys.executable, '-c', {WAITS!r}], env=helper_environment(), stdin=-1)\n"
        "print(helper.pid, flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", starter], text=True, **pipes) as process:
        words = {process.stdout.readline().strip(), process.stdout.readline().strip()}
        (helper,) = words - {"on"}
        process.kill()
        process.wait()
        # The helper held the pipe too: its end is the end of the stream.
        assert process.stdout.read() == ""
    assert not os.path.exists(f"/proc/{helper}/exe")


def test_a_helper_whose_starter_is_gone_does_not_begin():
    environment = {**helper_environment(), "ERNIE_PP_STARTED_BY": "1"}
    done = subprocess.run([sys.executable, "-c", WAITS], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (137, "") and "is gone" in done.stderr


def test_a_helper_is_told_nothing_of_paddles_ranks(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    assert "PADDLE_TRAINERS_NUM" not in helper_environment()
    assert helper_command("ernie_pp.cli", "plan")[-3:] == ["-m", "ernie_pp.cli", "plan"]
