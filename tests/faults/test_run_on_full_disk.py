"""A disk that is full for a while: training goes on, and a run that ends for it goes on where it was."""

import shutil

import long_run
import sample_run
from grid_run import GridRun

WORDS = ("parallel.stages=2", "train.log_every=1", "train.eval_every=100", "train.max_steps=60", "cls.baseline=false",
         "checkpoint.every=5", "export.enabled=false")  # fmt: skip


def _fill(folder):
    """Take all that is free; returns the file to remove."""
    path = folder / "ballast"
    path.write_bytes(b"0" * shutil.disk_usage(folder).free)
    return path


def test_a_run_outlives_a_checkpoint_without_room_and_goes_on_after_the_second(mount_small_disk, tmp_path):
    small_disk = mount_small_disk("8m")
    config = sample_run.write_sample(tmp_path)
    words = (*WORDS, f"output_dir={small_disk / 'run'}", f"data.cache_dir={tmp_path / 'cache'}")
    run = GridRun(config, *words)
    run.wait_until(lambda: (small_disk / "run" / "checkpoints" / "step-00000005").is_dir())
    ballast = _fill(small_disk)
    errors, _ = run.end()
    assert run.process.returncode == 1, errors
    assert errors.count("could not be written, training goes on: ") == 1, "the first is a warning"
    assert "and the one before it neither" in errors and "Traceback" not in errors
    ballast.unlink()
    errors = long_run.finish(GridRun(config, *words))
    assert "steps are done" in errors
    whole = tmp_path / "whole"
    long_run.finish(GridRun(config, *WORDS, f"output_dir={whole}"))
    found = small_disk / "run"
    assert long_run.figures(found) == long_run.figures(whole)
    assert long_run.results(found) == long_run.results(whole)
