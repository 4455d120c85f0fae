"""The links between stages: what was sent arrives as it was, in order, however late it is wanted."""

import json
import socket
import struct

import numpy as np
import pytest

from ernie_pp.errors import PeerLost, RunError
from ernie_pp.parallel.links import Message, StageLink


@pytest.fixture
def ends():
    """Two ends of one connection."""
    both = socket.socketpair()
    yield both
    for end in both:
        end.close()


@pytest.fixture
def links(ends):
    return StageLink(ends[0], peer=0), StageLink(ends[1], peer=1)


def _message(*arrays, has_gradient=True):
    return Message(arrays, (has_gradient,) * len(arrays), is_tuple=len(arrays) > 1)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint16", "int64", "bool"])  # uint16: bfloat16 in numpy
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (), (1,)])
def test_arrays_arrive_with_their_type_and_shape(links, dtype, shape):
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    links[0].send("activations", _message(array))
    (found,) = links[1].receive("activations").arrays
    assert found.dtype == array.dtype and found.shape == shape
    np.testing.assert_array_equal(found, array)


def test_a_tuple_and_what_has_gradients_arrive_as_such(links):
    sent = Message((np.ones(2), np.zeros(3)), (True, False), is_tuple=True)
    links[0].send("activations", sent)
    found = links[1].receive("activations")
    assert found.has_gradient == (True, False) and found.is_tuple and len(found.arrays) == 2


def test_rows_of_a_transposed_array_arrive_in_place(links):
    array = np.arange(6.0).reshape(2, 3).T
    links[0].send("gradients", _message(array))
    np.testing.assert_array_equal(links[1].receive("gradients").arrays[0], array)


def test_kinds_wait_for_each_other_in_no_order_and_messages_of_a_kind_in_theirs(links):
    for number in range(3):
        links[0].send("activations", _message(np.array([number])))
        links[0].send("gradients", _message(np.array([10 + number])))
    found = [int(links[1].receive(kind).arrays[0][0]) for kind in ["gradients"] * 3 + ["activations"] * 3]
    assert found == [10, 11, 12, 0, 1, 2]


def test_both_sides_may_send_more_than_the_connection_holds_before_either_receives(links):
    value = np.random.default_rng(0).random(2_000_000)
    for link in links:
        link.send("activations", _message(value))
    for link in links:
        np.testing.assert_array_equal(link.receive("activations").arrays[0], value)


def test_a_peer_that_is_gone_is_told_after_what_it_had_sent(links, ends):
    links[0].send("activations", _message(np.ones(3)))
    assert links[1].receive("activations").arrays[0].sum() == 3
    ends[0].shutdown(socket.SHUT_RDWR)
    for kind in ("activations", "gradients", "gradients"):
        with pytest.raises(PeerLost, match="rank 1\n"):
            links[1].receive(kind)
    with pytest.raises(PeerLost):
        links[1].send("gradients", _message(np.ones(3)))


@pytest.mark.parametrize(
    "kind, description",
    [
        (0, b"no json"),
        (0, b"{}"),
        (7, b'{"arrays": [], "has_gradient": [], "is_tuple": false}'),
        (0, json.dumps({"arrays": [["float32", [1 << 40]]], "has_gradient": [True], "is_tuple": False}).encode()),
        (0, json.dumps({"arrays": [["no type", [1]]], "has_gradient": [True], "is_tuple": False}).encode()),
        (0, b" " * (1 << 17)),
    ],
)
def test_what_is_no_message_is_told_and_takes_no_memory(ends, kind, description):
    link = StageLink(ends[0], peer=4)
    ends[1].sendall(struct.pack("<II", kind, len(description)) + description)
    with pytest.raises(RunError, match="rank 4\n  sends a message that is none: ") as caught:
        link.receive("activations")
    assert not isinstance(caught.value, PeerLost)
