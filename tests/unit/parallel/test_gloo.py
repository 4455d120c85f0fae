"""gloo is told which network the other ranks see this machine in."""

from ernie_pp.parallel.gloo import find_interface


def test_the_interface_of_an_address_is_found():
    assert find_interface("127.0.0.1") == "lo"
    assert find_interface("localhost") == "lo"


def test_an_address_of_another_machine_or_none_at_all_has_no_interface_here():
    assert find_interface("192.0.2.1") is None
    assert find_interface("no-such-host.invalid") is None
