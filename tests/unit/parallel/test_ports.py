"""Ports for the ranks of a run."""

import socket

import pytest

from ernie_pp.errors import RunError
from ernie_pp.parallel import ports
from ernie_pp.parallel.ports import reserved_ports


def test_two_runs_at_once_get_different_ports():
    with reserved_ports(5) as ours, reserved_ports(5) as others:
        assert len({*ours, *others}) == 10
        assert all(20000 <= port < 32000 for port in ours)


def test_a_port_that_somebody_listens_on_is_not_given(monkeypatch):
    with reserved_ports(2) as both:
        monkeypatch.setattr(ports, "PORTS", range(min(both), min(both) + 1))
    with socket.create_server(("127.0.0.1", min(both))), pytest.raises(RunError, match="there are 0 free ports"):
        reserved_ports(1).__enter__()
    with reserved_ports(1) as (port,):
        assert port == min(both)
