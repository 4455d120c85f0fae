"""What a run needs on the disk, told before it starts."""

import shutil
from collections import namedtuple

import pytest

from ernie_pp.config import RunConfig
from ernie_pp.jobs import disk
from ernie_pp.models.sizes import num_parameters

VALUES = {
    "vocab_size": 100,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
    "type_vocab_size": 4,
    "task_type_vocab_size": 3,
}
Usage = namedtuple("Usage", "free")


def _config(folder, **values):
    return RunConfig.model_validate({"task": "cls", "output_dir": str(folder / "not" / "there"), **values})


def test_checkpoints_are_counted_as_they_stand_side_by_side(tmp_path):
    words = {"checkpoint": {"keep": 3}, "export": {"enabled": False}}
    said = disk.describe_disk(VALUES, _config(tmp_path, **words))
    each = 12 * num_parameters(VALUES)
    assert f"(5 checkpoints of {disk.format_bytes(each)} at once)" in said and said.endswith("are free: fits")
    assert said.startswith(disk.format_bytes(5 * each + 8 * num_parameters(VALUES)))


@pytest.mark.parametrize("free, fits", [(10, "does NOT fit"), (10**12, "fits")])
def test_a_disk_that_is_too_small_is_told(tmp_path, monkeypatch, free, fits):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free))
    assert fits in disk.describe_disk(VALUES, _config(tmp_path)).partition("are free: ")[2]


def test_without_checkpoints_there_are_models_only(tmp_path):
    said = disk.describe_disk(VALUES, _config(tmp_path, checkpoint={"enabled": False}))
    assert said.startswith(f"{disk.format_bytes(12 * num_parameters(VALUES))}; ")
