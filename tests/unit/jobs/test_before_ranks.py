"""What is told before a grid's processes are started."""

import pytest

from ernie_pp.config import DataConfig, ParallelConfig, RunConfig, TrainConfig
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.jobs import before_ranks
from ernie_pp.jobs.before_ranks import check_before_ranks


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Builds settings with files that are there, for a machine with the CPU wheel."""
    monkeypatch.setattr(before_ranks, "_has_gpu_wheel", lambda: False)
    for name in ("train", "dev"):
        (tmp_path / f"{name}.tsv").write_text("text\tlabel\n好\t1\n", encoding="utf-8")
    data = DataConfig(train=str(tmp_path / "train.tsv"), dev=str(tmp_path / "dev.tsv"))

    def build(**settings):
        return RunConfig(**{"task": "cls", "output_dir": "unused", "data": data, **settings})

    return build


def test_settings_that_a_grid_can_run_pass(config):
    check_before_ranks(config(parallel=ParallelConfig(replicas=2, gradient_type="bf16")))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"device": "gpu"}, "device\n  is gpu, and the installed Paddle is the CPU wheel"),
        ({"train": TrainConfig(precision="bf16")}, "train.precision bf16\n  a CPU trains in fp32"),
        ({"parallel": ParallelConfig(replicas=2, gradient_type="fp16")}, "parallel.gradient_type\n  is fp16"),
    ],
)
def test_what_the_device_cannot_do_is_told(config, settings, told):
    with pytest.raises(ConfigError, match=told):
        check_before_ranks(config(**settings))


def test_half_precision_is_for_the_gpu_to_judge(config, monkeypatch):
    monkeypatch.setattr(before_ranks, "_has_gpu_wheel", lambda: True)
    check_before_ranks(config(train=TrainConfig(precision="bf16")))
    with pytest.raises(ConfigError, match=r"train\.precision"):
        check_before_ranks(config(train=TrainConfig(precision="bf16"), device="cpu"))


def test_a_file_that_is_not_there_is_told(config, tmp_path):
    (tmp_path / "dev.tsv").unlink()
    with pytest.raises((ConfigError, DataError), match=r"dev\.tsv"):
        check_before_ranks(config())
