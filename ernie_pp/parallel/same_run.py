"""Whether all ranks that have met belong to one run: they compare what they were told to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ernie_pp.errors import RunError
from ernie_pp.parallel.control import Control

_MOST_SHOWN = 5
_DO = "Give every run a master address (PADDLE_MASTER) of its own, and every rank the same settings."


def check_same_run(control: Control, settings: Mapping[str, str]) -> None:
    """RunError on every rank where the settings of one are not those of rank 0; all ranks call this."""
    gathered = control.gather(json.dumps(dict(settings)).encode())
    told = find_stranger([json.loads(value) for value in gathered]) if gathered else None
    answer = json.loads(control.broadcast(json.dumps(told).encode()))
    if answer is not None:
        where, what = answer
        raise RunError(where, what, _DO)


def find_stranger(settings: Sequence[Mapping[str, str]]) -> tuple[str, str] | None:
    """The first rank whose settings differ from those of rank 0, and what differs; None where all are the same."""
    ours = settings[0]
    for rank, theirs in enumerate(settings):
        differing = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
        if differing:
            shown = [f"{key}: {ours.get(key)} on rank 0, {theirs.get(key)} there" for key in differing[:_MOST_SHOWN]]
            more = [f"and {len(differing) - _MOST_SHOWN} more"] if len(differing) > _MOST_SHOWN else []
            return f"rank {rank}", "\n".join(["joined another run: its settings differ", *shown, *more])
    return None
