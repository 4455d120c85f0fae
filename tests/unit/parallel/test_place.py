"""A process knows its place from the environment alone."""

from pathlib import Path

import pytest

from ernie_pp.errors import ConfigError, RunError
from ernie_pp.parallel.launcher.environment import Wiring, rank_environment
from ernie_pp.parallel.place import Place, check_grid, find_place

ENDPOINTS = {"PADDLE_CURRENT_ENDPOINT": "10.0.0.1:6170", "PADDLE_TRAINER_ENDPOINTS": "10.0.0.1:6170,10.0.0.2:6170"}


def _wiring(num_ranks=3, **changes):
    settings = {"nonce": "abc", "parent": 12, "records": Path("/run/ranks"), "threads": 2, **changes}
    return Wiring(num_ranks=num_ranks, ports=range(20000, 20002 + num_ranks), **settings)


def test_without_variables_a_process_is_alone():
    assert find_place({"PATH": "/bin"}) == Place()
    assert find_place({"PADDLE_TRAINERS_NUM": "1", "PADDLE_TRAINER_ID": "0"}) == Place()


def test_a_rank_finds_what_the_launcher_has_set():
    place = find_place(rank_environment({}, _wiring(), rank=2))
    assert place == Place("ours", 2, 3, "127.0.0.1:20000", "abc", 12, Path("/run/ranks"))
    assert not place.is_writer and find_place(rank_environment({}, _wiring(), rank=0)).is_writer


def test_a_rank_of_paddles_launcher_has_no_address_yet():
    place = find_place({**ENDPOINTS, "PADDLE_TRAINERS_NUM": "4", "PADDLE_TRAINER_ID": "3"})
    assert (place.kind, place.rank, place.num_ranks, place.address) == ("paddle", 3, 4, "")


@pytest.mark.parametrize(
    "environment, said",
    [
        ({"PADDLE_TRAINERS_NUM": "4"}, "is set without PADDLE_TRAINER_ID, PADDLE_CURRENT_ENDPOINT"),
        ({"PADDLE_TRAINERS_NUM": "2", "PADDLE_TRAINER_ID": "0"}, "is set without PADDLE_CURRENT_ENDPOINT"),
        (
            {**ENDPOINTS, "PADDLE_TRAINERS_NUM": "two", "PADDLE_TRAINER_ID": "0"},
            "PADDLE_TRAINERS_NUM=two\n  is no whole number",
        ),
        ({**ENDPOINTS, "PADDLE_TRAINERS_NUM": "2", "PADDLE_TRAINER_ID": "2"}, "PADDLE_TRAINER_ID=2\n  is not below"),
        (rank_environment({}, _wiring(parent="us"), rank=0), "ERNIE_PP_PARENT=us\n  is no whole number"),
        ({"ERNIE_PP_RANK": "0"}, "ERNIE_PP_RANK=0\n  is set without ERNIE_PP_NUM_RANKS"),
    ],
)
def test_variables_without_sense_are_named(environment, said):
    with pytest.raises(RunError) as caught:
        find_place(environment)
    assert said in str(caught.value)


def test_a_grid_that_is_not_that_of_the_processes_names_both():
    place = find_place({**ENDPOINTS, "PADDLE_TRAINERS_NUM": "4", "PADDLE_TRAINER_ID": "0"})
    check_grid(place, stages=2, replicas=2)
    check_grid(Place(), stages=2, replicas=2)
    with pytest.raises(ConfigError, match=r"2 x 1 .*makes 2 processes, and 4 were started \(PADDLE_TRAINERS_NUM\)"):
        check_grid(place, stages=2, replicas=1)


def test_what_other_launchers_left_is_gone_and_the_rest_stays():
    left = {
        "PADDLE_ELASTIC": "1",
        "MASTER_PORT": "1",
        "RANK": "7",
        "WORLD_SIZE": "9",
        "ERNIE_PP_RANK": "5",
        "POD_IP": "x",
    }
    kept = {"PATH": "/bin", "RANKING": "yes", "http_proxy": "p", "ERNIE_PP_PLAIN_PADDLE": "1"}
    environment = rank_environment({**left, **kept}, _wiring(), rank=1)
    assert kept.items() <= environment.items()
    assert environment["ERNIE_PP_RANK"] == environment["PADDLE_TRAINER_ID"] == "1"
    assert not {"PADDLE_ELASTIC", "MASTER_PORT", "RANK", "WORLD_SIZE", "POD_IP"} & environment.keys()


def test_every_rank_has_an_endpoint_of_its_own():
    environments = [rank_environment({}, _wiring(), rank=rank) for rank in range(3)]
    ends = [environment["PADDLE_CURRENT_ENDPOINT"] for environment in environments]
    assert environments[0]["PADDLE_TRAINER_ENDPOINTS"].split(",") == ends and len(set(ends)) == 3
    assert {environment["PADDLE_MASTER"] for environment in environments} == {"127.0.0.1:20001"}
