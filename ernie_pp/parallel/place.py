"""What the environment says of this process: alone, a rank that our launcher started, or one that Paddle's did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ernie_pp.errors import ConfigError, RunError

# Set by `launch` for each rank.
RANK, NUM_RANKS, CONTROL, NONCE, PARENT, RECORDS = (
    f"ERNIE_PP_{name}" for name in ("RANK", "NUM_RANKS", "CONTROL", "NONCE", "PARENT", "RECORDS")
)
_OURS = (RANK, NUM_RANKS, CONTROL, NONCE, PARENT, RECORDS)
_PADDLE_RANK, _PADDLE_NUM_RANKS = "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM"
_OF_PADDLE = (_PADDLE_RANK, "PADDLE_CURRENT_ENDPOINT", "PADDLE_TRAINER_ENDPOINTS")


@dataclass(frozen=True)
class Place:
    """This process among those of its run.

    kind "ours": a rank that our launcher started; rank 0 listens at `address`, and all know `nonce`.
    kind "paddle": a rank that `paddle.distributed.launch` started; address and nonce are still to be agreed on.
    """

    kind: Literal["alone", "ours", "paddle"] = "alone"
    rank: int = 0
    num_ranks: int = 1
    address: str = ""
    nonce: str = ""
    parent: int = 0  # process id of the launcher
    records: Path | None = None  # where a failed rank leaves word for the launcher

    @property
    def is_writer(self) -> bool:
        """Whether this process writes the run folder."""
        return self.rank == 0


def is_rank(environment: Mapping[str, str]) -> bool:
    """Whether our launcher started this process."""
    return RANK in environment


def find_place(environment: Mapping[str, str]) -> Place:
    """The place that variables of the environment give; RunError where they make no sense."""
    if is_rank(environment):
        missing = [name for name in _OURS if not environment.get(name)]
        if missing:
            raise _wrong(RANK, environment, f"is set without {', '.join(missing)}")
        rank, num_ranks = _ranks(environment, RANK, NUM_RANKS)
        return Place(
            kind="ours",
            rank=rank,
            num_ranks=num_ranks,
            address=environment[CONTROL],
            nonce=environment[NONCE],
            parent=_number(environment, PARENT),
            records=Path(environment[RECORDS]),
        )
    if environment.get(_PADDLE_NUM_RANKS, "1") == "1":
        return Place()
    missing = [name for name in _OF_PADDLE if not environment.get(name)]
    if missing:
        raise _wrong(_PADDLE_NUM_RANKS, environment, f"is set without {', '.join(missing)}")
    return Place("paddle", *_ranks(environment, _PADDLE_RANK, _PADDLE_NUM_RANKS))


def check_grid(place: Place, *, stages: int, replicas: int) -> None:
    """ConfigError where the grid of the settings is not that of the processes there are."""
    if place.kind == "alone" or stages * replicas == place.num_ranks:
        return
    name = _PADDLE_NUM_RANKS if place.kind == "paddle" else NUM_RANKS
    what = (
        f"is {stages} x {replicas} (parallel.stages x parallel.replicas), which makes {stages * replicas} processes, "
        f"and {place.num_ranks} were started ({name})"
    )
    raise ConfigError("parallel", what, "Start as many processes as the grid has, or set the grid for them.")


def _number(environment: Mapping[str, str], name: str) -> int:
    if not environment.get(name, "").isdecimal():
        raise _wrong(name, environment, "is no whole number")
    return int(environment[name])


def _ranks(environment: Mapping[str, str], rank_name: str, count_name: str) -> tuple[int, int]:
    rank, num_ranks = _number(environment, rank_name), _number(environment, count_name)
    if rank >= num_ranks:
        raise _wrong(rank_name, environment, f"is not below {count_name}, {num_ranks}")
    return rank, num_ranks


def _wrong(name: str, environment: Mapping[str, str], what: str) -> RunError:
    said = f"variable {name}={environment.get(name, '')}"
    return RunError(said, what, "Unset it, or start the run with paddle.distributed.launch or by itself.")
