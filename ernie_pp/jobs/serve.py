"""`ernie-pp serve`: bundles behind an HTTP server, until it is stopped."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from ernie_pp.errors import ConfigError, RunError
from ernie_pp.export.bundle import open_bundle
from ernie_pp.serving.http.app import build_app
from ernie_pp.serving.limits import Limits
from ernie_pp.serving.process import WorkerProcess
from ernie_pp.serving.worker import WorkerSettings

LOG = logging.getLogger("ernie_pp")
TOKEN_VARIABLE = "ERNIE_PP_TOKEN"
_BACKLOG = 512


@dataclass(frozen=True)
class ServeOptions:
    """The words of `ernie-pp serve`; `bundles` are folders, or NAME=FOLDER."""

    bundles: Sequence[str]
    host: str = "127.0.0.1"
    port: int = 8080
    threads: int | None = None
    token_file: str | None = None
    batch_wait_ms: float = 5.0
    max_body: int = Limits.max_body
    max_texts: int = Limits.max_texts
    max_characters: int = Limits.max_characters
    max_queue: int = Limits.max_queue
    timeout_s: float = Limits.timeout_s
    grace_s: float = Limits.grace_s


def serve(options: ServeOptions) -> None:
    """Answer until a signal; everything that can be checked is checked before the port is opened."""
    workers = [WorkerProcess(name, settings) for name, settings in _workers(options)]
    token = _read_token(options)
    is_loopback = _is_loopback(options.host)
    if not is_loopback and token is None:
        LOG.warning("%s is open to the network, and nobody needs a token: anybody there can ask", options.host)
    limits = Limits(
        **{name: getattr(options, name) for name in ("max_body", "max_texts", "max_characters", "max_queue")},
        timeout_s=options.timeout_s,
        grace_s=options.grace_s,
    )
    app = build_app(workers, limits, token=token, is_loopback=is_loopback)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(options.grace_s),
        backlog=_BACKLOG,
        server_header=False,
        h11_max_incomplete_event_size=1 << 16,
    )
    with _open_port(options) as port:
        LOG.info("http://%s:%d/", *port.getsockname()[:2])
        uvicorn.Server(config).run(sockets=[port])


def _workers(options: ServeOptions) -> list[tuple[str, WorkerSettings]]:
    found: dict[str, WorkerSettings] = {}
    for word in options.bundles:
        name, folder = _name_of(word)
        if name in found:
            what = f"names {name!r} twice: {found[name].bundle} and {folder}"
            raise ConfigError("--bundle", what, "Give one another name: NAME=FOLDER.")
        open_bundle(folder)
        found[name] = WorkerSettings(folder, options.threads, options.batch_wait_ms / 1000)
    return list(found.items())


def _name_of(word: str) -> tuple[str, str]:
    """The name before a first =, or else that of the run the bundle stands in, or of its own folder."""
    name, mark, folder = word.partition("=")
    if mark and name and "/" not in name:
        return name, folder
    path = Path(word).resolve()
    return (path.parent.name if path.name == "bundle" else path.name) or "bundle", word


def _read_token(options: ServeOptions) -> str | None:
    given = os.environ.get(TOKEN_VARIABLE)
    if options.token_file is not None:
        try:
            given = Path(options.token_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("--token-file", f"{options.token_file} cannot be read: {error}") from error
    if given == "":
        raise ConfigError("--token-file" if options.token_file else TOKEN_VARIABLE, "is empty", "Write a token there.")
    return given


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _open_port(options: ServeOptions) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        return socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        where = f"{options.host}:{options.port}"
        raise RunError(where, f"cannot be listened on: {error.strerror}", "Give another --host or --port.") from error
