"""A run over two hosts, started by another launcher: one is cut off, both find out, and the next start goes on."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
import sample_run
from hosts import two_hosts

LONG = ("parallel.stages=2", "train.epochs=100000", "train.eval_every=3", "train.log_every=1", "stop.stall_s=4")
# The connections notice in half a minute; a stall of 4 s comes first where ranks watch themselves.
LIMIT_S = 45


@pytest.fixture
def hosts():
    with contextlib.ExitStack() as stack:
        try:
            both = stack.enter_context(two_hosts())
        except (PermissionError, FileNotFoundError) as error:
            pytest.skip(f"no network namespaces here: {error}")
        yield both


class Run:
    """One rank on each host, with the variables that paddle.distributed.launch sets."""

    def __init__(self, stack, hosts, config, *words):
        endpoints = [f"{host.address}:6170" for host in hosts]
        self.config = config
        self.ranks = []
        for rank, host in enumerate(hosts):
            variables = {
                "PADDLE_MASTER": f"{hosts[0].address}:6180",
                "PADDLE_TRAINERS_NUM": "2",
                "PADDLE_TRAINER_ID": str(rank),
                "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
                "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
                "PADDLE_NNODES": "2",
            }
            line = host.command(*sample_run.command("--config", str(config), *words, module="ernie_pp.tasks.cls"))
            environment = sample_run.environment(**variables)
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            process = stack.enter_context(subprocess.Popen(line, env=environment, start_new_session=True, **pipes))
            stack.callback(_kill, process)
            self.ranks.append(process)

    def wait_until(self, ready):
        deadline = time.monotonic() + 90
        while not ready():
            for process in self.ranks:
                assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "never got ready"
            time.sleep(0.02)


def _kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process):
    """Exit code and standard error, once nobody of its group is left."""
    errors = process.communicate(timeout=LIMIT_S)[1]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    return process.returncode, errors


def _log(folder):
    path = folder / "run" / "run.log"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _says(folder, words):
    return words in _log(folder)


def _says_why(errors, *, lost):
    return f"PeerLost: rank {lost}\n  is gone" in errors or f"rank {1 - lost}: no progress for " in errors


def test_a_host_that_is_cut_off_ends_both_ranks_and_the_next_start_goes_on(tmp_path, hosts):
    config = sample_run.write_sample(tmp_path)
    with contextlib.ExitStack() as stack:
        run = Run(stack, hosts, config, *LONG)
        run.wait_until(lambda: _says(tmp_path, "step 6: checkpoint saved"))
        os.killpg(run.ranks[1].pid, signal.SIGSTOP)
        hosts[1].link("down")
        code, errors = _end(run.ranks[0])
        assert code != 0 and _says_why(errors, lost=1), errors
        os.killpg(run.ranks[1].pid, signal.SIGCONT)
        code, errors = _end(run.ranks[1])
        assert code != 0 and _says_why(errors, lost=0), errors
        hosts[1].link("up")
        again = Run(stack, hosts, config, *LONG)
        again.wait_until(lambda: _says(tmp_path, "resumed from"))
        again.wait_until(lambda: "checkpoint saved" in _log(tmp_path).rpartition("resumed from")[2])
        again.ranks[0].terminate()  # the word goes round: both save and leave
        assert [_end(rank)[0] for rank in again.ranks] == [143, 143]


CALLER = """
import sys, time
from ernie_pp.parallel import cut_off
from ernie_pp.parallel.control import open_star
cut_off.LIMIT_S = 3.0
star = open_star(int(sys.argv[1]), 2, address=sys.argv[2], nonce="n", limit_s=20)
star.meet()
print("met", flush=True)
sys.stdin.readline()
star.gather(b"x" * 1000)
star.meet()
"""


def test_a_message_on_its_way_to_a_host_that_is_cut_off_does_not_wait_for_a_quarter_of_an_hour(hosts):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:
        ranks = []
        for rank, host in enumerate(hosts):
            line = host.command(sys.executable, "-c", CALLER, str(rank), f"{hosts[0].address}:6200")
            ranks.append(stack.enter_context(subprocess.Popen(line, env=sample_run.environment(), **pipes)))
            stack.callback(ranks[-1].kill)
        for rank in ranks:
            assert rank.stdout.readline() == "met\n"
        hosts[0].link("down")
        start = time.monotonic()
        errors = ranks[1].communicate("go\n", timeout=30)[1]
        assert "PeerLost: rank 0\n  is gone" in errors and 3 < time.monotonic() - start < 15
