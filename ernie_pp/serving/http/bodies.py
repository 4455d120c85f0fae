"""Bodies read within bounds, JSON decoded strictly, and what a request must hold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect

from ernie_pp.data.faults import excerpt
from ernie_pp.data.readers.strict_json import JsonSyntaxError, StrictDecoder
from ernie_pp.serving.http.errors import HttpError
from ernie_pp.serving.limits import Limits
from ernie_pp.text.invisible import is_blank

_CLOSE = {"Connection": "close"}


class PredictBody(BaseModel):
    """What `/v1/predict` takes: texts (and pairs), or a document and questions."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    texts: list[str] | None = Field(default=None, description="texts to classify, or to find entities in")
    pairs: list[str] | None = Field(default=None, description="second texts, of a bundle that was trained on pairs")
    document: str | None = Field(default=None, description="what questions are asked about")
    questions: list[str] | None = Field(default=None, description="questions to the document")
    bundle: str | None = Field(default=None, description="name of the bundle; none: the first one")


@dataclass(frozen=True)
class Texts:
    """What a worker is asked: texts, or questions with the document of each."""

    texts: Sequence[str]
    pairs: Sequence[str] | None


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body; HttpError 413 over the limit, as soon as it is, and 408 where the client stops sending."""
    _check_length(request, limits.max_body)
    parts, size = [], 0
    stream = request.stream()
    try:
        while True:
            part = await asyncio.wait_for(anext(stream, None), limits.body_timeout_s)
            if part is None:
                return b"".join(parts)
            size += len(part)
            if size > limits.max_body:
                raise _too_large(limits.max_body)
            parts.append(part)
    except TimeoutError:
        message = f"No part of the body came for {limits.body_timeout_s:g} s. Send it at once."
        raise HttpError(408, "body_timeout", message, headers=_CLOSE) from None
    except ClientDisconnect:
        raise HttpError(400, "disconnected", "The client has gone.", headers=_CLOSE) from None


def decode_json(content: bytes) -> object:
    """The one JSON value of a body; HttpError 400 for what is not UTF-8 or JSON, NaN, a key twice, half a character."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HttpError(400, "not_utf8", f"The body is not UTF-8: byte {error.start}. Send JSON in UTF-8.") from error
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        decoded = StrictDecoder().decode(text, start)
    except JsonSyntaxError as error:
        message = f"The body is not JSON: expected {error.problem.expected}."
        raise HttpError(400, "not_json", message) from error
    if decoded.problem is not None:
        one = decoded.problem
        message = f'{excerpt(one.column)}: found "{excerpt(one.value)}", expected {one.expected}. {one.advice}'.strip()
        raise HttpError(400, "not_json", message)
    if text[decoded.end :].strip(" \t\r\n"):
        raise HttpError(400, "not_json", "The body goes on after its JSON value. Send one object.")
    return decoded.value


def parse_predict(value: object) -> PredictBody:
    """The fields of the body; HttpError 422 that names each that is wrong."""
    if not isinstance(value, dict):
        raise HttpError(422, "wrong_fields", f"The body is a {type(value).__name__}, expected an object.")
    try:
        return PredictBody.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else str(part) for part in first["loc"])
        known = ", ".join(PredictBody.model_fields)
        advice = f" Known: {known}." if first["type"] == "extra_forbidden" else ""
        raise HttpError(422, "wrong_fields", f"{first['msg']}.{advice}", where=excerpt(where)) from error


def settle_texts(body: PredictBody, *, task: str, takes_pairs: bool, limits: Limits) -> Texts:
    """The texts for a worker; HttpError where the body is not what the bundle takes, or too large."""
    asks_documents = task == "docqa"
    needed = {"document", "questions"} if asks_documents else {"texts", "pairs"} if takes_pairs else {"texts"}
    for name in ("texts", "pairs", "document", "questions"):
        is_there = getattr(body, name) is not None
        if is_there != (name in needed):
            what = "is missing" if not is_there else "has no effect"
            message = f"{name} {what}: this bundle ({task}) takes {' and '.join(sorted(needed))}."
            raise HttpError(422, "wrong_fields", message, where=name)
    texts = body.questions if asks_documents else body.texts
    assert texts is not None, "just checked"
    _check_texts(texts, "questions" if asks_documents else "texts", limits)
    if asks_documents:
        assert body.document is not None, "just checked"
        _check_texts([body.document], "document", limits)
        _check_size(len(body.document) + sum(map(len, texts)), limits)
        return Texts(texts, [body.document] * len(texts))
    if body.pairs is not None:
        _check_texts(body.pairs, "pairs", limits)
        if len(body.pairs) != len(texts):
            message = f"{len(body.pairs)} came for {len(texts)} texts. Send one for each."
            raise HttpError(422, "wrong_fields", message, where="pairs")
    _check_size(sum(map(len, texts)) + sum(map(len, body.pairs or ())), limits)
    return Texts(texts, body.pairs)


def _check_texts(texts: Sequence[str], name: str, limits: Limits) -> None:
    if not texts:
        raise HttpError(422, "no_texts", "The list is empty, expected at least one text.", where=name)
    if len(texts) > limits.max_texts:
        message = f"{len(texts)} came, the server takes {limits.max_texts} at once. Send several requests."
        raise HttpError(413, "too_many_texts", message, where=name)
    for index, text in enumerate(texts):
        if is_blank(text):
            where = name if name == "document" else f"{name}[{index}]"
            raise HttpError(422, "empty_text", "It shows nothing, expected a text.", where=where)


def _check_size(num_characters: int, limits: Limits) -> None:
    if num_characters > limits.max_characters:
        message = f"{num_characters} characters came, the server takes {limits.max_characters} at once."
        raise HttpError(413, "too_many_characters", message)


def _check_length(request: Request, max_body: int) -> None:
    given = request.headers.get("content-length")
    if given is not None and given.isdigit() and int(given) > max_body:
        raise _too_large(max_body)


def _too_large(max_body: int) -> HttpError:
    return HttpError(413, "body_too_large", f"The body is over {max_body} bytes. Send less at once.", headers=_CLOSE)
