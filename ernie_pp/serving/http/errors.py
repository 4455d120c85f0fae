"""What a client is told of a request that is not answered: one shape of body for all of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

LOG = logging.getLogger("ernie_pp")
_CODES = {404: "not_found", 405: "method_not_allowed"}


class HttpError(Exception):
    """A status and what the body says: a word for programs, what came and what to do for people, and where it is."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        where: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.where = status, code, message, where
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The JSON of the answer."""
        return {"error": {"code": self.code, "message": self.message, "where": self.where}}

    def response(self) -> JSONResponse:
        """The answer. The connection ends where the rest of a body is not read."""
        return JSONResponse(self.body(), status_code=self.status, headers=self.headers)


def add_error_bodies(app: FastAPI) -> None:
    """Every error of the app in our shape, with nothing of the code in it."""

    async def ours(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HttpError)
        return error.response()

    async def starlettes(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = _CODES.get(error.status_code, "refused")
        told = HttpError(error.status_code, code, str(error.detail), headers=error.headers)
        return told.response()

    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return HttpError(500, "internal", "The server failed; its log says how.").response()

    app.add_exception_handler(HttpError, ours)
    app.add_exception_handler(HTTPException, starlettes)
    app.add_exception_handler(Exception, unforeseen)
