"""The process that owns a bundle's Predictor and answers what comes over its pipe."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ernie_pp.config.ner import FieldConfig
from ernie_pp.errors import DataError, ErniePPError
from ernie_pp.export.bundle import Bundle
from ernie_pp.review.fields import fill_fields
from ernie_pp.review.reviewed import ReviewedDocument
from ernie_pp.review.settings import check_fields
from ernie_pp.serving.messages import Answered, Ask, Broken, Drop, Progress, Ready, Refused
from ernie_pp.serving.predictor import Predictor
from ernie_pp.serving.rounds import Rounds, Running
from ernie_pp.serving.work import Work

_SECONDS_BETWEEN_PROGRESS = 0.25


@dataclass(frozen=True)
class WorkerSettings:
    """How a worker runs its bundle; `wait_s` is how long a first request waits for others to share its round."""

    bundle: str
    threads: int | None = None
    wait_s: float = 0.005


def run_worker(pipe: Connection, settings: WorkerSettings) -> None:
    """Answer until the pipe is closed. A stop is the front end's to handle: it finishes what it took."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        worker = _Worker(pipe, settings)
        worker.run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except ErniePPError as error:
        pipe.send(Broken(str(error)))


class _Worker:
    def __init__(self, pipe: Connection, settings: WorkerSettings) -> None:
        self._pipe, self._settings = pipe, settings
        self._predictor = Predictor(settings.bundle, threads=settings.threads)
        self._fields = _field_configs(self._predictor.bundle)
        self._rounds = Rounds(self._predictor.answers)
        self._told: dict[int, float] = {}
        _warm_up(self._predictor)
        pipe.send(Ready(_about(self._predictor, self._fields)))

    def run(self) -> None:
        while True:
            self._receive()
            for one in self._rounds.step():
                self._tell(one)

    def _receive(self) -> None:
        """Take what has come; with nothing to do wait for it, and then a little longer for others."""
        is_idle = not len(self._rounds)
        if is_idle:
            self._take(self._pipe.recv())
            end = time.monotonic() + self._settings.wait_s
            while self._pipe.poll(max(0.0, end - time.monotonic())):
                self._take(self._pipe.recv())
        while self._pipe.poll():
            self._take(self._pipe.recv())

    def _take(self, message: Ask | Drop) -> None:
        if isinstance(message, Drop):
            self._rounds.drop(message.number)
            self._told.pop(message.number, None)
            return
        try:
            self._rounds.add(message.number, self._begin(message.texts, message.pairs))
        except DataError as error:
            self._pipe.send(Refused(message.number, error.where, error.what))

    def _begin(self, texts: Sequence[str], pairs: Sequence[str] | None) -> Work:
        if texts:
            found = self._predictor.too_long(texts, pairs)
            if found:
                first = found[0]
                raise DataError(
                    f"text number {first.index}", f"has {first.length} tokens, expected at most {first.limit}"
                )
        return self._predictor.begin(texts, pairs)

    def _tell(self, one: Running) -> None:
        if one.is_done:
            self._told.pop(one.number, None)
            self._pipe.send(self._answered(one))
            return
        now = time.monotonic()
        if now - self._told.setdefault(one.number, now) >= _SECONDS_BETWEEN_PROGRESS:
            self._told[one.number] = now
            self._pipe.send(Progress(one.number, *one.work.progress))

    def _answered(self, one: Running) -> Answered:
        predictions, num_cut = one.work.result()
        fields = [self._fields_of(prediction) for prediction in predictions]
        return Answered(one.number, fields, [int(count) for count in num_cut], one.num_tokens)

    def _fields_of(self, prediction: Any) -> dict[str, object]:
        fields = prediction.to_fields()
        if self._fields:
            filled = fill_fields(prediction.text, prediction.mentions, self._fields)
            document = ReviewedDocument("", prediction.text, prediction.mentions, filled)
            fields["fields"] = document.to_json()["fields"]
        return fields


def _warm_up(predictor: Predictor) -> None:
    """The first call of a shape takes a few times as long: let it not be a client's."""
    length = min(64, predictor.bundle.manifest["text"]["max_length"])
    pairs = (["好"], ["好" * length]) if predictor.takes_pairs else (["好" * length], None)
    rows = predictor.encode(*pairs)
    predictor.answers(rows.select(np.zeros(4, np.int64)))


def _field_configs(bundle: Bundle) -> tuple[FieldConfig, ...]:
    values = (bundle.manifest.get("review") or {}).get("fields")
    return check_fields(values, source=str(bundle.folder)) if values and bundle.task == "ner" else ()


def _about(predictor: Predictor, fields: Sequence[FieldConfig]) -> dict[str, object]:
    manifest = predictor.bundle.manifest
    questions = (manifest.get("review") or {}).get("questions", [])
    return {
        "task": manifest["task"],
        "labels": list(predictor.decoding.labels),
        "fields": [one.name for one in fields],
        "questions": list(questions),
        "takes_pairs": predictor.takes_pairs,
        "max_length": manifest["text"]["max_length"],
        "format": manifest["format"],
        "precision": manifest["precision"],
    }
