"""A headless Chromium, driven over its own protocol."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

_NAMES = ("chromium", "chromium-browser", "google-chrome")


class Page:
    """One page of the browser."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self.problems: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """One command; what the page logs as an error meanwhile is kept in `problems`."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            self._note(message)
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]

    def _note(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(message["params"]))
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.problems.append(message["params"]["entry"]["text"])

    def run(self, script: str) -> Any:
        """The value of an expression; of a promise, once it is kept."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def wait(self, script: str, seconds: float = 30) -> None:
        """Until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"{script} stays false: {self.run('document.body.innerText')}"
            time.sleep(0.05)

    def open(self, address: str, *, width: int = 1200, height: int = 900) -> None:
        """Load an address in a window of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def press(self, key: str, *, modifiers: int = 0) -> None:
        """A key down and up; modifiers: 2 is Ctrl."""
        for kind in ("keyDown", "keyUp"):
            code = {"Enter": 13, "Tab": 9}.get(key, 0)
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers
            )

    def picture(self, path: Path) -> None:
        """Save the window as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A browser with a profile in `folder`; skips the test where there is none."""
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"]
    process = subprocess.Popen(
        [path, *words, f"--user-data-dir={folder / 'profile'}", "about:blank"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        port = next(found[1] for line in process.stderr if (found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line)))
        with connect(_page_of(port), max_size=None) as socket:
            yield Page(socket)
    finally:
        process.kill()
        process.wait()


def _page_of(port: str) -> str:
    import urllib.request

    for _ in range(100):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
            pages = [one for one in json.load(answer) if one["type"] == "page"]
        if pages:
            return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.05)
    raise AssertionError("the browser has no page")
