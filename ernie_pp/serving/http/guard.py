"""Around every request: who may ask, counts, a line in the log, and headers that keep pages to themselves."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request, Response

from ernie_pp.serving.http.errors import HttpError
from ernie_pp.serving.http.metrics import Metrics

LOG = logging.getLogger("ernie_pp")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# What holds nothing of anybody's: the page asks for the token itself.
_OPEN_PATHS = frozenset({"/healthz", "/", "/docs"})
_OPEN_FOLDER = "/page/"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}
Next = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Guard:
    """`token` must come as a bearer token (none: anybody may ask); `is_loopback`: only by a name of this machine."""

    metrics: Metrics
    paths: frozenset[str]
    token: str | None = None
    is_loopback: bool = True

    async def __call__(self, request: Request, go_on: Next) -> Response:
        """The answer, or why there is none."""
        begun = time.perf_counter()
        try:
            self._check(request)
            response = await go_on(request)
        except HttpError as error:
            response = error.response()
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        seconds = time.perf_counter() - begun
        # A path that is none of ours may be anything: it would be a label of its own each time.
        path = request.url.path if request.url.path in self.paths else "other"
        self.metrics.requests.labels(path, response.status_code).inc()
        self.metrics.seconds.labels(path).observe(seconds)
        LOG.info("%s %s %d %.0f ms", request.method, path, response.status_code, 1000 * seconds)
        return response

    def _check(self, request: Request) -> None:
        if self.is_loopback and _host_of(request.headers.get("host", "")) not in _LOOPBACK:
            # A page of another site can make a browser ask here under a name that it has pointed at this machine.
            message = "The server listens on this machine alone: ask it as localhost or 127.0.0.1."
            raise HttpError(421, "wrong_host", message)
        path = request.url.path
        is_open = path in _OPEN_PATHS or path.startswith(_OPEN_FOLDER)
        if self.token is not None and not is_open and not self._is_known(request):
            message = "Send the server's token: Authorization: Bearer TOKEN."
            raise HttpError(401, "no_token", message, headers={"WWW-Authenticate": "Bearer"})

    def _is_known(self, request: Request) -> bool:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        known = (self.token or "").encode()
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode("utf-8", "replace"), known)


def _host_of(header: str) -> str:
    """The name without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header
