"""`/v1/predict`: from a body to answers, at once or with progress, as JSON or as a table."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from ernie_pp.serving.http.bodies import Texts, decode_json, parse_predict, read_body, settle_texts
from ernie_pp.serving.http.errors import HttpError
from ernie_pp.serving.http.metrics import Metrics
from ernie_pp.serving.limits import Limits
from ernie_pp.serving.messages import Answered, Progress, Refused
from ernie_pp.serving.process import NotReady, WorkerLost, WorkerProcess

_JSON, _LINES, _TABLE = "application/json", "application/x-ndjson", "text/csv"
# A spreadsheet takes what begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class PredictRoute:
    """The workers by name, the first one being the default, and what is taken from a client."""

    workers: Mapping[str, WorkerProcess]
    limits: Limits
    metrics: Metrics

    async def __call__(self, request: Request) -> Response:
        """Answer a request in the form its Accept header asks for."""
        _check_type(request, _JSON)
        body = parse_predict(decode_json(await read_body(request, self.limits)))
        worker = self._worker(body.bundle)
        about = _about(worker)
        asked = settle_texts(body, task=about["task"], takes_pairs=about["takes_pairs"], limits=self.limits)
        self._check_queue(worker)
        answering = _Answering(worker, asked, self.limits.timeout_s, self.metrics)
        form = _form(request)
        if form == _LINES:
            return StreamingResponse(answering.lines(), media_type=_LINES)
        result = await _unless_gone(request, answering.result())
        return JSONResponse(result) if form == _JSON else _table(asked, result)

    def _worker(self, name: str | None) -> WorkerProcess:
        if name is None:
            return next(iter(self.workers.values()))
        if name not in self.workers:
            message = f"No bundle has this name. There are: {', '.join(self.workers)}."
            raise HttpError(404, "no_such_bundle", message, where="bundle")
        return self.workers[name]

    def _check_queue(self, worker: WorkerProcess) -> None:
        limits = self.limits
        if worker.num_requests >= limits.max_queue or worker.num_characters >= limits.max_queue_characters:
            message = f"{worker.num_requests} requests are waiting already. Try again later."
            raise HttpError(429, "queue_full", message, headers={"Retry-After": "1"})


@dataclass(frozen=True)
class _Answering:
    """One request's way through a worker."""

    worker: WorkerProcess
    asked: Texts
    timeout_s: float
    metrics: Metrics

    async def result(self) -> dict[str, Any]:
        """What the body of the answer holds."""
        async for message in self._messages():
            if isinstance(message, Answered):
                return self._result(message)
        raise HttpError(503, "worker_lost", "The worker ended. Try again.", headers={"Retry-After": "1"})

    async def lines(self) -> AsyncIterator[str]:
        """Lines of progress, and one with the result or the error."""
        try:
            async for message in self._messages():
                if isinstance(message, Progress):
                    yield _line({"done": message.done, "of": message.total})
                elif isinstance(message, Answered):
                    yield _line({"result": self._result(message)})
        except HttpError as error:
            yield _line(error.body())

    async def _messages(self) -> AsyncIterator[Progress | Answered]:
        try:
            async with asyncio.timeout(self.timeout_s):
                async for message in self.worker.ask(self.asked.texts, self.asked.pairs):
                    if isinstance(message, Refused):
                        raise HttpError(422, "text_refused", f"{message.what}.", where=message.where)
                    yield message
        except TimeoutError:
            message = f"It took more than {self.timeout_s:g} s. Send less at once."
            raise HttpError(504, "timeout", message) from None
        except (WorkerLost, NotReady):
            message = "The worker ended while it had the request. Send it again."
            raise HttpError(503, "worker_lost", message, headers={"Retry-After": "1"}) from None

    def _result(self, message: Answered) -> dict[str, Any]:
        self.metrics.tokens.labels(self.worker.name).inc(message.num_tokens)
        self.metrics.texts.labels(self.worker.name).inc(len(message.predictions))
        about = self.worker.about or {}
        return {
            "bundle": self.worker.name,
            "task": about.get("task"),
            "predictions": list(message.predictions),
            "cut_tokens": list(message.cut_tokens),
        }


async def _unless_gone(request: Request, answer: Any) -> dict[str, Any]:
    """The answer, which nobody works on any more where its client has gone."""
    work, gone = asyncio.ensure_future(answer), asyncio.ensure_future(_wait_until_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise HttpError(499, "disconnected", "The client has gone.")
    finally:
        for task in (work, gone):
            task.cancel()


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _about(worker: WorkerProcess) -> Mapping[str, Any]:
    if worker.about is None:
        message = f"The bundle {worker.name} {worker.problem}. Try again later."
        raise HttpError(503, "not_ready", message, headers={"Retry-After": "1"})
    return worker.about


def _check_type(request: Request, expected: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != expected:
        raise HttpError(415, "wrong_type", f"Content-Type is {given[:60]!a}, expected {expected}.")


def _form(request: Request) -> str:
    accepted = [one.partition(";")[0].strip().lower() for one in request.headers.get("accept", "*/*").split(",")]
    for one in accepted:
        if one in (_JSON, _LINES, _TABLE):
            return one
        if one in ("*/*", "application/*", ""):
            return _JSON
    raise HttpError(406, "wrong_accept", f"Accept names none of {_JSON}, {_LINES} and {_TABLE}.")


def _table(asked: Texts, result: Mapping[str, Any]) -> Response:
    """A row a text or question, with a mark of UTF-8 for Excel; no cell is a formula."""
    name = "question" if result["task"] == "docqa" else "text"
    rows = [{name: text, **fields} for text, fields in zip(asked.texts, result["predictions"], strict=True)]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([[_cell(row.get(column)) for column in columns] for row in rows])
    headers = {"Content-Disposition": 'attachment; filename="predictions.csv"'}
    return Response("\ufeff" + output.getvalue(), media_type=f"{_TABLE}; charset=utf-8", headers=headers)


def _cell(value: object) -> str:
    if not isinstance(value, str):
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    return f"'{value}" if value.startswith(_FORMULA) else value


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def shown_limits(limits: Limits) -> dict[str, object]:
    """What clients are told of the limits."""
    return {name: getattr(limits, name) for name in ("max_body", "max_texts", "max_characters", "timeout_s")}
