"""Ports that somebody else takes before a run can: it starts once more on others, and ends when that does not help."""

from pathlib import Path

import pytest
import sample_run
from grid_run import GridRun
from injection import write_injection
from stand_in_ranks import run

pytestmark = pytest.mark.usefixtures("our_path")
# Somebody else is quicker: on the first so many starts rank 0 finds its port taken.
TAKE = """
tries = Path(place.records.parent, "tries")
if place.rank == 0:
    tries.write_text((tries.read_text() if tries.exists() else "") + place.address + "\\n")
    if len(tries.read_text().splitlines()) <= TIMES:
        host, _, port = place.address.rpartition(":")
        thief = socket.create_server((host, int(port)))
"""


def _tries(tmp_path: Path) -> list[str]:
    return (tmp_path / "tries").read_text().splitlines()


@pytest.mark.parametrize("times", [1, 2])
def test_a_port_that_is_taken_meanwhile_starts_the_ranks_once_more_on_others(tmp_path, caplog, times):
    run(tmp_path / "ranks", {"first": TAKE.replace("TIMES", str(times)), 0: "train(2)", 1: "train(2)"})
    assert len(set(_tries(tmp_path))) == times + 1
    warnings = [record.getMessage() for record in caplog.records if "starting once more on other ports" in record.msg]
    assert len(warnings) == times and "\n" not in warnings[0]
    assert f"{_tries(tmp_path)[0]} cannot be listened on: Address already in use" in warnings[0]


def test_ports_that_are_taken_every_time_end_the_run_with_a_clear_line(tmp_path):
    with pytest.raises(Exception, match="3 times") as caught:
        run(tmp_path / "ranks", {"first": TAKE.replace("TIMES", "9")})
    assert caught.value.exit_code == 1 and len(set(_tries(tmp_path))) == 3
    assert "cannot be listened on: Address already in use" in caught.value.messages[0]


def test_an_abort_before_the_ranks_have_met_is_taken_for_a_taken_port(tmp_path):
    run(tmp_path / "ranks", {"first": TAKE.replace("thief =", "os.abort() #").replace("TIMES", "1")})
    assert len(_tries(tmp_path)) == 2


# The first time rank 0 starts, somebody else listens where Paddle's store was to.
THIEF = """
import pathlib, socket
marker = pathlib.Path(__file__).with_name("taken")
if RANK == "0" and not marker.exists():
    marker.touch()
    host, _, port = os.environ["PADDLE_MASTER"].rpartition(":")
    thief = socket.create_server((host, int(port)))
"""


def test_a_real_run_whose_port_is_taken_starts_once_more_and_ends_well(tmp_path):
    words = ("parallel.stages=2", "train.max_steps=2", "export.enabled=false")
    hit = GridRun(sample_run.write_sample(tmp_path), *words, path=write_injection(tmp_path, THIEF))
    errors, _ = hit.end()
    assert hit.process.returncode == 0, errors
    assert errors.count("starting once more on other ports") == 1
    assert (tmp_path / "run" / "metrics.json").is_file()
