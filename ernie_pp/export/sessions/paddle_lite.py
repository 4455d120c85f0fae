"""Paddle Lite on a bundle's .nb, to check it: in a child, since it has its own Python and a bad operator ends it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ernie_pp.errors import ModelError
from ernie_pp.export.bundle import Bundle
from ernie_pp.export.lite_environment import find_lite
from ernie_pp.export.runtime_choice import RuntimeOptions
from ernie_pp.machine import held_signals

_CHILD = Path(__file__).with_name("lite_child.py")
_ADVICE = "Export the bundle again; if it stays so, take another --format."


class LiteSession:
    """One Paddle Lite predictor on x86, asked over pipes."""

    def __init__(self, bundle: Bundle, options: RuntimeOptions) -> None:
        """Starts the child; what it prints is kept for a message."""
        self._bundle = bundle
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the child)
        command = [str(find_lite().python), str(_CHILD), str(bundle.program), *bundle.manifest["inputs"]]
        # Its Python interface has no call for the number of threads.
        environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
        with held_signals():  # a stop between the start of the child and its name would leave it to itself
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=environment
            )

    def run(self, input_ids: np.ndarray, token_type_ids: np.ndarray) -> np.ndarray:
        """Logits, float32, of int64 [rows, length] ids and token types."""
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin is not None and stdout is not None, "opened as pipes"
        try:
            stdin.write(json.dumps(input_ids.shape).encode() + b"\n")
            for array in (input_ids, token_type_ids):
                stdin.write(np.ascontiguousarray(array, dtype=np.int64).tobytes())
            stdin.flush()
            shape = json.loads(stdout.readline())
            content = stdout.read(4 * int(np.prod(shape)))
            return np.frombuffer(content, np.float32).reshape(shape).copy()
        except (OSError, ValueError) as error:
            raise ModelError(str(self._bundle.program), self._what_ended_it(), _ADVICE) from error

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout, self._said):
            if stream is not None and not stream.closed:
                stream.close()

    def __del__(self) -> None:
        if hasattr(self, "_child"):
            self.close()

    def _what_ended_it(self) -> str:
        code = self._child.wait(timeout=60)
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return f"cannot be run by Paddle Lite (exit code {code}):\n" + "\n".join(lines[-5:])


def open_session(bundle: Bundle, options: RuntimeOptions) -> LiteSession:
    """Load a bundle of format lite; RunError where there is no Paddle Lite."""
    return LiteSession(bundle, options)
