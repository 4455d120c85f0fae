"""A value that is no number, set in a real run: the step is skipped everywhere and told, and none is saved."""

from pathlib import Path

import numpy as np
import sample_run
from grid_run import GridRun
from injection import write_injection
from safetensors.numpy import load_file

PARAMETER = "ernie.encoder.layers.0.linear1.bias"
SHORT = ("train.max_steps=6", "train.log_every=1", "train.eval_every=2", "export.enabled=false")
# Steps count from 1. Every rank writes a hash of its weights before and after each update; rank 0 spoils a gradient.
SPOILED = """
STEPS, PARAMETER, FOLDER = {steps}, {parameter!r}, {folder!r}

def digest(parameters):
    import hashlib
    values = [parameters[name].numpy().tobytes() for name in sorted(parameters)]
    return hashlib.sha256(b"".join(values)).hexdigest()

@after_import("ernie_pp.training.optim")
def change(optim):
    square, clear = optim.Optimizer.gradient_square, optim.Optimizer.clear_gradients
    clears, before = [], []
    def spoiled(self):
        before.append(digest(self.parameters))
        if RANK == "0" and len(before) in STEPS:
            self.parameters[PARAMETER].grad[0] = float("nan")
        return square(self)
    def watched(self):
        after = digest(self.parameters)
        with open(f"{{FOLDER}}/hashes-{{RANK}}.jsonl", "a") as file:
            file.write(json.dumps([before[-1] if before else None, after]) + "\\n")
        clear(self)
    optim.Optimizer.gradient_square, optim.Optimizer.clear_gradients = spoiled, watched
"""


def _run(folder: Path, *words: str, steps: tuple[int, ...]) -> tuple[int, str, list[list[tuple[str, str]]]]:
    """Exit code, standard error, and by rank and step the hashes before and after."""
    code = SPOILED.format(steps=steps, parameter=PARAMETER, folder=str(folder))
    run = GridRun(sample_run.write_sample(folder), *SHORT, *words, path=write_injection(folder, code))
    errors, _ = run.end()
    hashes = [
        [(before, after) for before, after in sample_run.read_jsonl(path)]
        for path in sorted(folder.glob("hashes-*.jsonl"))
    ]
    assert len(hashes) == 2, errors
    return run.process.returncode, errors, hashes


def test_one_bad_gradient_of_stage_0_skips_the_step_on_all_ranks_and_is_told(tmp_path):
    code, errors, hashes = _run(tmp_path, "parallel.stages=2", steps=(3,))
    assert code == 0, errors
    for rank in hashes:
        assert [before == after for before, after in rank] == [False, False, True, False, False, False]
    (told,) = [line for line in (tmp_path / "run" / "run.log").read_text("utf-8").splitlines() if "not finite" in line]
    assert "step 3: loss or gradient not finite, update skipped on all ranks (1 skipped so far)" in told
    assert f"{PARAMETER} (stage 0)" in told and "rows of the step" in told
    logged = [line for line in sample_run.read_jsonl(tmp_path / "run" / "log.jsonl") if line["kind"] == "train"]
    assert [line["num_skipped"] for line in logged] == [0, 0, 1, 0, 0, 0]


def test_three_bad_steps_in_a_row_are_code_4_and_nothing_saved_holds_a_bad_value(tmp_path):
    code, errors, hashes = _run(tmp_path, "parallel.stages=2", "checkpoint.every=1", steps=(3, 4, 5))
    assert code == 4
    assert f"{PARAMETER} (stage 0)" in errors and "3 steps in a row" in errors and "Traceback" not in errors
    assert all(before == after for rank in hashes for before, after in rank[2:]) and len(hashes[0]) == 5
    saved = list((tmp_path / "run").rglob("*.safetensors"))
    assert any("best" in path.parts for path in saved) and any("checkpoints" in path.parts for path in saved)
    for path in saved:
        assert all(np.isfinite(value).all() for value in load_file(path).values() if value.dtype.kind == "f"), path


def test_replicas_are_the_same_to_the_bit_after_some_steps(tmp_path):
    code, errors, (first, second) = _run(tmp_path, "parallel.replicas=2", steps=())
    assert code == 0, errors
    assert len(first) == 6 and len({after for _, after in first}) == 6
    assert [after for _, after in first] == [after for _, after in second]


# Replica 1 goes its own way once, in the smallest step that float32 has.
APART = """
@after_import("ernie_pp.training.optim")
def change(optim):
    clear, count = optim.Optimizer.clear_gradients, []
    def drifting(self):
        count.append(1)
        if RANK == "1" and len(count) == 3:
            import numpy
            weight = next(iter(self.parameters.values()))
            weight.set_value(numpy.nextafter(weight.numpy(), numpy.float32(9)))
        clear(self)
    optim.Optimizer.clear_gradients = drifting
"""


def test_replicas_that_have_come_apart_are_code_4_at_the_next_checkpoint(tmp_path):
    words = ("train.max_steps=100", "train.eval_every=50", "checkpoint.every=2", "parallel.replicas=2")
    run = GridRun(sample_run.write_sample(tmp_path), *words, path=write_injection(tmp_path, APART))
    errors, _ = run.end()
    assert run.process.returncode == 4, errors
    assert "replicas have come apart" in errors and "step 4" in errors and "Traceback" not in errors
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-00000002"]
