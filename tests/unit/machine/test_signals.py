"""A program's own SIGTERM handler works although Paddle has been loaded, and waits while Paddle computes."""

import os
import signal
import subprocess
import sys
import threading

import paddle
import pytest
import sample_run

from ernie_pp.machine import blocked_signals, held_signals

CODE = """
import os, signal, sys, time
from ernie_pp.machine import take_back_signals
def handler(number, frame):
    sys.exit(43)
signal.signal(signal.SIGTERM, signal.SIG_IGN if "ignored" in sys.argv else handler)
# What `import paddle` does behind Python's back: the system's own handler again.
import ctypes
ctypes.CDLL(None).signal(signal.SIGTERM, ctypes.c_void_p(0))
if "back" in sys.argv:
    take_back_signals()
os.kill(os.getpid(), signal.SIGTERM)
if "ignored" in sys.argv:
    sys.exit(0)
time.sleep(5)
"""


@pytest.mark.parametrize("word, code", [("back", 43), ("not", -15)])
def test_the_handler_python_knows_is_in_force_again(word, code):
    assert subprocess.run([sys.executable, "-c", CODE, word], env=sample_run.environment()).returncode == code


def test_a_signal_that_is_ignored_stays_ignored():
    words = [sys.executable, "-c", CODE, "back", "ignored"]
    assert subprocess.run(words, env=sample_run.environment()).returncode == 0


@pytest.fixture
def handler():
    """Raises SystemExit 143 on SIGTERM, as the command line's does."""

    def stop(number, frame):
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    yield stop
    signal.signal(signal.SIGTERM, before)


def test_a_signal_inside_acts_at_the_end(handler):
    done = []
    with pytest.raises(SystemExit) as caught, held_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("the rest of the block")
    assert caught.value.code == 143 and done == ["the rest of the block"]
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_second_signal_acts_at_once(handler):
    with pytest.raises(SystemExit), held_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("the second one ends the block")
    assert signal.getsignal(signal.SIGTERM) is handler


LOADING = """
import ctypes, os, signal, sys
from ernie_pp.machine import blocked_signals
def handler(number, frame):
    sys.exit(43)
signal.signal(signal.SIGTERM, handler)
with blocked_signals():
    # What Paddle does on the way: the system's own handler again, which would end the process.
    ctypes.CDLL(None).signal(signal.SIGTERM, ctypes.c_void_p(0))
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
    print("the rest of the block", flush=True)
print("not stopped")
"""


def test_a_signal_while_libraries_load_acts_when_they_are_there():
    # In a process of its own: threads of other tests' libraries could be given the signal.
    command = [sys.executable, "-c", LOADING]
    done = subprocess.run(command, capture_output=True, text=True, env=sample_run.environment())
    assert (done.returncode, done.stdout) == (43, "the rest of the block\n"), done.stderr


def test_no_signal_stays_blocked_and_one_given_to_another_thread_waits_too(handler):
    with pytest.raises(SystemExit), blocked_signals():
        signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
        done = True
    assert done and signal.getsignal(signal.SIGTERM) is handler
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_an_error_inside_comes_out_as_it_is(handler):
    with pytest.raises(ValueError, match="no"), held_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError("no")


def test_handlers_of_the_system_stay(handler):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with held_signals():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_may_compute_too(handler):
    found = []

    def compute():
        with held_signals():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    assert found == [handler]


class _Stopped(paddle.autograd.PyLayer):
    """A layer in whose backward pass the process is told to stop."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):  # somewhere here Python looks at its signals
            pass
        return gradient * 2


def test_a_stop_in_a_backward_pass_is_a_stop_and_no_fault(handler):
    x = paddle.ones([2])
    x.stop_gradient = False
    with pytest.raises(SystemExit), held_signals():
        _Stopped.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0], "the pass went to its end"
