"""A server as a process, and requests to it by the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import sample_run

JSON = {"Content-Type": "application/json"}


@dataclass
class Server:
    """A running server, and what it has said."""

    process: subprocess.Popen
    port: int
    log: Path

    def send(self, method, path, body=None, headers=None, *, timeout=60):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def predict(self, _headers: Mapping[str, str] | None = None, **fields):
        """(status, body) of a request for predictions."""
        status, _, body = self.send("POST", "/v1/predict", json.dumps(fields), {**JSON, **(_headers or {})})
        return status, json.loads(body)

    def health(self):
        """(status, body) of /healthz."""
        status, _, body = self.send("GET", "/healthz")
        return status, json.loads(body)

    def metric(self, name: str) -> float:
        """The sum of a metric's samples."""
        text = self.send("GET", "/metrics")[2].decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))

    def wait_until_ready(self, seconds: float = 60) -> None:
        """Until every bundle answers."""
        end = time.monotonic() + seconds
        while self.health()[0] != 200:
            assert time.monotonic() < end, self.log.read_text(encoding="utf-8")
            time.sleep(0.1)


@contextlib.contextmanager
def serving(folder: Path, *words: str, **environment: str) -> Iterator[Server]:
    """`ernie-pp serve` with these words on a free port, ready; ended at last."""
    log = folder / "serve.log"
    command = [sys.executable, "-m", "ernie_pp.cli", "serve", *words, "--port", "0", "--threads", "1"]
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stderr=stream, env=sample_run.environment(**environment), cwd=folder)
    try:
        server = Server(process, _port(process, log), log)
        server.wait_until_ready()
        yield server
    finally:
        process.kill()
        process.wait()


def _port(process: subprocess.Popen, log: Path) -> int:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"http://[^:]+:(\d+)/", log.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))
