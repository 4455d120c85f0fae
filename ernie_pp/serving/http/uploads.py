"""`/v1/text`: the text of a file that a client sends."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path, PurePosixPath

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from ernie_pp.serving.http.bodies import read_body
from ernie_pp.serving.http.errors import HttpError
from ernie_pp.serving.limits import Limits
from ernie_pp.serving.read_document import MAX_SECONDS, READERS

_ROOT = Path(__file__).resolve().parents[3]
_MAX_NAME = 200


class TextRoute:
    """Reads one file at a time: each is given a process with bounded memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turn = asyncio.Semaphore(1)

    async def __call__(self, request: Request) -> Response:
        """`{"name", "text", "pages"}` of the body, whose kind the ending of `name` tells."""
        name = request.query_params.get("name", "")
        ending = PurePosixPath(name).suffix.lower()
        if ending not in READERS or len(name) > _MAX_NAME:
            known = ", ".join(READERS)
            raise HttpError(
                415, "wrong_type", f"The query's name ends in {ending[:20]!a}, expected {known}.", where="name"
            )
        content = await read_body(request, self._limits)
        if not content:
            raise HttpError(422, "empty_file", "The body is empty, expected a file.")
        async with self._turn:
            answer = await _read(content, ending)
        if "problem" in answer:
            raise HttpError(422, "unreadable_file", f"The file {answer['problem']}")
        return JSONResponse({"name": name, **answer})


async def _read(content: bytes, ending: str) -> dict:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ernie_pp.serving.read_document",
        ending,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        output, _ = await asyncio.wait_for(child.communicate(content), MAX_SECONDS + 10)
        return json.loads(output)
    except (TimeoutError, ValueError):
        # Killed for its time or its memory, or ended without an answer.
        return {"problem": "takes too long, or too much memory, to read. Send it as plain text."}
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
