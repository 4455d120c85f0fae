"""A program's own SIGTERM handler works although Paddle has been loaded."""

import subprocess
import sys

import pytest
import sample_run

CODE = """
import os, signal, sys, time
from ernie_pp.machine import take_back_signals
def handler(number, frame):
    sys.exit(43)
signal.signal(signal.SIGTERM, handler)
# What `import paddle` does behind Python's back: the system's own handler again.
import ctypes
ctypes.CDLL(None).signal(signal.SIGTERM, ctypes.c_void_p(0))
if "back" in sys.argv:
    take_back_signals()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(5)
"""


@pytest.mark.parametrize("word, code", [("back", 43), ("not", -15)])
def test_the_handler_python_knows_is_in_force_again(word, code):
    assert subprocess.run([sys.executable, "-c", CODE, word], env=sample_run.environment()).returncode == code
