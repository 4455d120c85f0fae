"""Rank 0 believes only the files that it sees."""

import pytest

from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint.finish import check_is_there
from ernie_pp.training.checkpoint.manifest import FileEntry


@pytest.mark.parametrize(("size", "what"), [(None, "rank 0 does not see it"), (3, "rank 0 sees 3 bytes")])
def test_a_file_that_is_not_as_it_was_told_is_named(tmp_path, size, what):
    path = tmp_path / "model-00001.safetensors"
    if size is not None:
        path.write_bytes(bytes(size))
    with pytest.raises(RunError, match=f"model-00001.safetensors\n  a rank has written it with 4 bytes, and {what}"):
        check_is_there(path, FileEntry(4, ""))
