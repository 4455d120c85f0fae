"""What the ranks tell each other about a save, as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from safetensors import SafetensorError

from ernie_pp.errors import ErniePPError
from ernie_pp.training.checkpoint.manifest import FileEntry, decode_tensors
from ernie_pp.training.checkpoint.shards import WrittenShard
from ernie_pp.training.checkpoint.soundness import Fault, Findings

_LONGEST_REASON = 2000


@dataclass(frozen=True)
class Report:
    """What a rank has written, or why not all of it."""

    shards: tuple[WrittenShard, ...] = ()
    failure: str | None = None


@dataclass(frozen=True)
class Answer:
    """What rank 0 says to all: the folder to write into, why there is none or no commit, or why the run must end."""

    folder: str = ""
    failure: str | None = None
    fault: Fault | None = None


def reason_of_failure(work: Callable[[], object]) -> str | None:
    """Do the work; in one line why it could not be done, where the disk or the memory is the reason."""
    try:
        work()
    except ErniePPError as error:
        return _shortened(f"{error.where}: {error.what}")
    except (OSError, SafetensorError, MemoryError) as error:
        return _shortened(str(error) or type(error).__name__)
    return None


def encode_findings(findings: Findings) -> bytes:
    """For `decode_findings`."""
    return json.dumps(asdict(findings)).encode()


def decode_findings(content: bytes) -> Findings:
    """What `encode_findings` was given."""
    return Findings(**json.loads(content))


def encode_report(report: Report) -> bytes:
    """For `decode_report`."""
    return json.dumps(asdict(report)).encode()


def decode_report(content: bytes) -> Report:
    """What `encode_report` was given."""
    values = json.loads(content)
    return Report(tuple(map(_decode_shard, values["shards"])), values["failure"])


def encode_answer(answer: Answer) -> bytes:
    """For `decode_answer`."""
    return json.dumps(asdict(answer)).encode()


def decode_answer(content: bytes) -> Answer:
    """What `encode_answer` was given."""
    values = json.loads(content)
    fault = values["fault"]
    return Answer(values["folder"], values["failure"], None if fault is None else Fault(**fault))


def first_failure(reports: Sequence[Report]) -> str | None:
    """Which rank could not write, and why; of several the first."""
    for rank, report in enumerate(reports):
        if report.failure is not None:
            return f"rank {rank}: {report.failure}"
    return None


def _decode_shard(value: dict[str, Any]) -> WrittenShard:
    return WrittenShard(value["name"], value["kind"], FileEntry(**value["file"]), decode_tensors(value["tensors"]))


def _shortened(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_REASON]
