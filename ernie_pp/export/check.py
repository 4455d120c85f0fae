"""The exported bundle answers like the model: its logits, from Paddle Inference in a process of its own.

`python -m ernie_pp.export.check BUNDLE BATCHES LOGITS` is that process: batches and logits are safetensors files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import ErniePPError, RunError
from ernie_pp.export.batches import Batch, load_batches, save_batches
from ernie_pp.export.bundle import open_bundle
from ernie_pp.export.runtime_choice import RuntimeOptions
from ernie_pp.export.sessions import open_session
from ernie_pp.machine import held_signals

TIMEOUT_S = 600


def logits_of_bundle(bundle: Path, batches: Sequence[Batch]) -> list[np.ndarray]:
    """Logits of each batch, computed by a new process that knows the bundle alone."""
    with _temporary_folder() as folder:
        inputs, outputs = folder / "batches.safetensors", folder / "logits.safetensors"
        with told_as_unwritable(inputs):
            save_batches(inputs, batches)
        _run_child([str(bundle), str(inputs), str(outputs)])
        logits = load_file(outputs)
    return [logits[str(index)] for index in range(len(batches))]


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    with told_as_unwritable("the system's folder for temporary files (TMPDIR)"):
        folder = tempfile.mkdtemp()
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_child(words: Sequence[str]) -> None:
    command = [sys.executable, "-m", "ernie_pp.export.check", *words]
    # The package must be found from any working directory, installed or not.
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    code, errors = _run(command, environment)
    if code:
        last = "\n".join(errors.strip().splitlines()[-5:])
        raise RunError(words[0], f"cannot be reloaded (exit code {code}):\n{last}")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and errors of a command that does not outlive us, in whatever way we are stopped."""
    child = None
    try:
        with held_signals():  # a stop between the start of the child and its name would leave it to itself
            child = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
            )
        _, errors = child.communicate(timeout=TIMEOUT_S)
        return child.returncode, errors
    except subprocess.TimeoutExpired as error:
        raise RunError(command[3], f"did not answer within {TIMEOUT_S} s when it was reloaded") from error
    finally:
        if child is not None:
            child.kill()
            child.wait()


def _answer(bundle: str, inputs: str, outputs: str) -> None:
    session = open_session(open_bundle(bundle), RuntimeOptions())
    logits = {str(index): session.run(*batch) for index, batch in enumerate(load_batches(Path(inputs)))}
    with told_as_unwritable(outputs):
        save_file(logits, outputs)


if __name__ == "__main__":
    try:
        _answer(*sys.argv[1:4])
    except ErniePPError as error:
        sys.exit(str(error))
