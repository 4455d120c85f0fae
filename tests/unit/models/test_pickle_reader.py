"""A `.pdparams` read without Python's own machine: the same arrays, and an error for whatever else is in it."""

import pickle
import random

import numpy as np
import pytest

from ernie_pp.errors import ModelError
from ernie_pp.models.pickle_reader import read_plain_pickle

ARRAYS = {
    "matrix": np.arange(12, dtype=np.float32).reshape(3, 4),
    "turned": np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3)),
    "half": np.arange(5, dtype=np.float16),
    "scalar": np.full((), 3, np.int64),
    "other byte order": np.arange(3, dtype=">f4"),
}


def read(path, content, *, max_bytes=10**6):
    path.write_bytes(content)
    return read_plain_pickle(path, max_bytes=max_bytes)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_arrays_of_every_protocol_that_paddle_writes_are_read(tmp_path, protocol):
    found = read(tmp_path / "a", pickle.dumps({**ARRAYS, "StructuredToParameterName@@": {"a": "b"}}, protocol=protocol))
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array)


def test_names_beside_arrays_are_left_out(tmp_path):
    assert np.array_equal(
        read(tmp_path / "a", pickle.dumps({"w": ("linear_0.w_0", ARRAYS["matrix"])}))["w"], ARRAYS["matrix"]
    )


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        ([1], "EMPTY_LIST"),
        ({"w": 1.5}, "BINFLOAT"),
        ({"w": "text"}, "entry 'w' is no array"),
        ({1: ARRAYS["matrix"]}, "keys are not all names"),
        ({"w": np.array(["好"])}, "numbers were expected"),
        ({"w": np.zeros(2, [("a", "f4")])}, "numbers were expected"),
        ({"w": complex(1, 2)}, "builtins.complex"),
        (ARRAYS["matrix"], "no dictionary of arrays"),
    ],
)
def test_anything_else_is_refused_by_what_it_is(tmp_path, content, piece):
    with pytest.raises(ModelError, match=piece):
        read(tmp_path / "a", pickle.dumps(content, protocol=4))


def test_arrays_that_share_their_bytes_are_no_larger_than_the_file(tmp_path):
    # Two arrays of 10,000 numbers; the second gets the bytes of the first.
    body = b"}(X\x01\x00\x00\x00a" + _array_of(b"B" + (40_000).to_bytes(4, "little") + bytes(40_000) + b"q\x63")
    body += b"X\x01\x00\x00\x00b" + _array_of(b"h\x63") + b"u."
    with pytest.raises(ModelError, match="its arrays are larger than the file"):
        read(tmp_path / "a", b"\x80\x03" + body)


@pytest.mark.parametrize("tuples", [b"q\x00h\x00\x86" * 30, b"\x85" * 100_000], ids=["two to the 30th", "deep"])
def test_a_kind_of_number_that_no_text_can_hold_is_refused_at_once(tmp_path, tuples):
    with pytest.raises(ModelError, match="it holds an array of a tuple, numbers were expected"):
        read(tmp_path / "a", b"\x80\x02}cnumpy\ndtype\n)" + tuples + b"\x85R.")


def _array_of(content):
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR"
    state = b"(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    kind = b"cnumpy\ndtype\nX\x02\x00\x00\x00f4\x89\x88\x87R" + state
    return made + b"(K\x01M\x10\x27\x85" + kind + b"\x89" + content + b"tb"


def test_a_file_larger_than_the_model_can_be_is_not_read(tmp_path):
    with pytest.raises(ModelError, match="implies 100 at most"):
        read(tmp_path / "a", pickle.dumps(ARRAYS), max_bytes=100)


def test_damaged_files_are_refused_or_read_and_nothing_else_happens(tmp_path):
    draw, sound = random.Random(5), pickle.dumps(ARRAYS, protocol=4)
    num_refused = 0
    for _ in range(1500):
        content = bytearray(sound)
        for _ in range(draw.randrange(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        try:
            read(tmp_path / "a", bytes(content[: draw.choice([len(content), draw.randrange(len(content))])]))
        except ModelError:
            num_refused += 1
    assert num_refused > 500
