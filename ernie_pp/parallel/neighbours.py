"""Opens the links of a pipeline: each stage to the next one, and the last to the first where chunks go round."""

from __future__ import annotations

import json
import secrets
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ernie_pp.parallel.control import Control
from ernie_pp.parallel.links import StageLink
from ernie_pp.parallel.peers import Meeting, join_peers, welcome_peers
from ernie_pp.parallel.world import World


@dataclass(frozen=True)
class Neighbours:
    """The stages before and after this one; None at the ends of a pipeline that does not go round."""

    previous: StageLink | None
    following: StageLink | None


def open_neighbours(world: World, *, is_ring: bool) -> Neighbours:
    """Connect the stages of every replica; all ranks call this."""
    grid, stage = world.grid, world.stage
    has_previous, has_following = is_ring or stage > 0, is_ring or stage < grid.stages - 1

    def rank_at(other: int) -> int:
        return grid.rank_of(stage=other % grid.stages, replica=world.replica)

    listener = socket.create_server((world.host, 0))
    port = listener.getsockname()[1]
    addresses, nonce = _exchange(world.control, f"{world.host}:{port}")

    def welcome() -> StageLink:
        link = welcome_peers(Meeting(addresses[world.rank], 2, nonce), listener=listener)[1]
        return StageLink(link.socket, peer=rank_at(stage - 1))

    def join() -> StageLink:
        other = rank_at(stage + 1)
        return StageLink(join_peers(Meeting(addresses[other], 2, nonce), rank=1).socket, peer=other)

    # In a ring everybody waits for somebody: one side of it must not be in the way of the other.
    with listener, ThreadPoolExecutor(1) as pool:
        welcomed = pool.submit(welcome) if has_previous else None
        following = join() if has_following else None
        previous = welcomed.result() if welcomed is not None else None
    world.control.meet()
    return Neighbours(previous, following)


def _exchange(control: Control, address: str) -> tuple[list[str], str]:
    """Every rank's address, and a word that only the ranks of this run know."""
    addresses = control.gather(address.encode())
    said = {"addresses": [one.decode() for one in addresses], "nonce": secrets.token_hex(32)}
    agreed = json.loads(control.broadcast(json.dumps(said).encode()))
    return agreed["addresses"], agreed["nonce"]
