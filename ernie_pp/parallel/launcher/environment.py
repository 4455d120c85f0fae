"""The environment of each rank that the launcher starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.parallel import place

# What another launcher may have left: it would put our ranks into its run.
_FOREIGN_PREFIXES = ("PADDLE_", "POD_", "FLAGS_selected_", "ERNIE_PP_")
_FOREIGN_NAMES = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TRAINING_ROLE")
# A switch of ours for the user, and no launcher's.
_KEPT = ("ERNIE_PP_PLAIN_PADDLE",)
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Wiring:
    """What the ranks of one run share. Ports: ours, Paddle's store, then one for each rank."""

    num_ranks: int
    ports: Sequence[int]
    nonce: str
    parent: int  # process id
    records: Path
    threads: int


def rank_environment(base: Mapping[str, str], wiring: Wiring, *, rank: int) -> dict[str, str]:
    """`base` without other launchers' variables, with ours and those that Paddle's own start reads."""
    control, store, *own = wiring.ports
    endpoints = [f"{HOST}:{port}" for port in own]
    count, number = str(wiring.num_ranks), str(rank)
    return {
        **{name: value for name, value in base.items() if not _is_foreign(name)},
        place.RANK: number,
        place.NUM_RANKS: count,
        place.CONTROL: f"{HOST}:{control}",
        place.NONCE: wiring.nonce,
        place.PARENT: str(wiring.parent),
        place.RECORDS: str(wiring.records),
        "PADDLE_MASTER": f"{HOST}:{store}",
        "PADDLE_TRAINER_ID": number,
        "PADDLE_TRAINERS_NUM": count,
        "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
        "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        "PADDLE_LOCAL_RANK": number,
        "PADDLE_LOCAL_SIZE": count,
        "PADDLE_GLOBAL_RANK": number,
        "PADDLE_GLOBAL_SIZE": count,
        "PADDLE_NNODES": "1",
        "PADDLE_RANK_IN_NODE": number,
        "FLAGS_selected_gpus": number,
        "OMP_NUM_THREADS": str(wiring.threads),
    }


def _is_foreign(name: str) -> bool:
    return name in _FOREIGN_NAMES or (name.startswith(_FOREIGN_PREFIXES) and name not in _KEPT)
