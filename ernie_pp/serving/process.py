"""A worker process as the front end sees it: asked for answers, watched, and started again when it is lost."""

from __future__ import annotations

import asyncio
import itertools
import logging
import multiprocessing
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ernie_pp.serving.messages import Answered, Ask, Broken, Drop, Progress, Ready, Refused
from ernie_pp.serving.worker import WorkerSettings, run_worker

LOG = logging.getLogger("ernie_pp")
Message = Progress | Answered | Refused
# Waits between two starts of a worker that is lost again and again; the last one is repeated.
_WAITS_S = (0.0, 1.0, 5.0, 30.0)
_STEADY_S = 60.0  # one that has answered for so long is not lost again and again


class WorkerLost(Exception):
    """The process ended while it held the request."""


class NotReady(Exception):
    """The bundle is still being loaded, or cannot be: the text says which."""


@dataclass
class _Pending:
    """A request the worker has; what it says of it comes through `messages`."""

    num_characters: int
    messages: asyncio.Queue = field(default_factory=asyncio.Queue)


class WorkerProcess:
    """One bundle's worker. All methods are for the event loop's thread."""

    def __init__(self, name: str, settings: WorkerSettings) -> None:
        self.name, self.settings = name, settings
        self.about: Mapping[str, object] | None = None
        self.num_restarts = 0
        self._problem = "is being loaded"
        self._numbers = itertools.count()
        self._pending: dict[int, _Pending] = {}
        self._process: Any = None
        self._pipe: Any = None
        self._watch: asyncio.Task | None = None
        # Of one thread: a pipe takes one message at a time, and a long document fills it.
        self._sender = ThreadPoolExecutor(1, thread_name_prefix=f"to-{name}")

    @property
    def num_requests(self) -> int:
        """Requests that are waiting or being answered."""
        return len(self._pending)

    @property
    def num_characters(self) -> int:
        """Characters of these."""
        return sum(one.num_characters for one in self._pending.values())

    @property
    def pid(self) -> int | None:
        """The process's number; None while there is none."""
        return None if self._process is None else self._process.pid

    @property
    def problem(self) -> str | None:
        """Why it cannot be asked now; None where it can."""
        return None if self.about is not None else self._problem

    def start(self) -> None:
        """Start the process and keep it alive until `stop`."""
        self._watch = asyncio.get_running_loop().create_task(self._keep_alive())

    async def stop(self) -> None:
        """End it; what it holds is lost, so wait for that first."""
        if self._watch is not None:
            self._watch.cancel()
        self._close()
        self._sender.shutdown(wait=False, cancel_futures=True)

    async def ask(
        self, texts: Sequence[str], pairs: Sequence[str] | None
    ) -> AsyncIterator[Progress | Answered | Refused]:
        """What the worker says of a request, its answer last; WorkerLost, or NotReady before anything was sent.

        A caller that stops listening (cancelled, or gone) has the request dropped.
        """
        if self.about is None:
            raise NotReady(self._problem)
        number = next(self._numbers)
        # A document that is asked many questions is one text, as it is in the message.
        size = sum(map(len, texts)) + sum(map(len, {id(one): one for one in pairs or ()}.values()))
        pending = self._pending[number] = _Pending(size)
        try:
            await self._send(Ask(number, texts, pairs))
            while True:
                message = await pending.messages.get()
                if isinstance(message, WorkerLost):
                    raise message
                yield message
                if not isinstance(message, Progress):
                    return
        finally:
            if self._pending.pop(number, None) is not None and self._process is not None:
                self._drop(number)

    def _drop(self, number: int) -> None:
        # Harmless where the answer has come already: the worker knows no such number any more.
        self._sender.submit(_send_quietly, self._pipe, Drop(number))

    async def _send(self, message: object) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._sender, self._pipe.send, message)
        except (OSError, ValueError) as error:
            raise WorkerLost from error

    async def _keep_alive(self) -> None:
        num_short_lives = 0
        while True:
            begun = time.monotonic()
            await self._run()
            num_short_lives = 0 if time.monotonic() - begun > _STEADY_S else num_short_lives + 1
            self.num_restarts += 1
            await asyncio.sleep(_WAITS_S[min(num_short_lives, len(_WAITS_S)) - 1])

    async def _run(self) -> None:
        """One life of the process, from its start to its end."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=run_worker, args=(theirs, self.settings), daemon=True)
        await asyncio.get_running_loop().run_in_executor(None, self._process.start)
        theirs.close()  # so that the end of the process is the end of the pipe
        LOG.info("%s: loading %s in process %d", self.name, self.settings.bundle, self._process.pid)
        try:
            await self._listen()
        finally:
            self.about = None
            self._lose_all()
            self._close()

    async def _listen(self) -> None:
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._pipe.fileno(), arrived.set)
        try:
            while True:
                await arrived.wait()
                arrived.clear()
                while self._pipe.poll():
                    self._hear(self._pipe.recv())
        except (EOFError, OSError):
            code = await loop.run_in_executor(None, _end_of, self._process)
            if self.about is not None:
                self._problem = "is being loaded again: its process was lost"
            LOG.warning("%s: its process ended (exit code %s)", self.name, code)
        finally:
            loop.remove_reader(self._pipe.fileno())

    def _hear(self, message: Any) -> None:
        if isinstance(message, Ready):
            self.about = message.about
            LOG.info("%s: ready", self.name)
        elif isinstance(message, Broken):
            self._problem = "cannot be loaded; the log of the server says why"
            LOG.error("%s: %s", self.name, message.what)
        elif (pending := self._pending.get(message.number)) is not None:
            if not isinstance(message, Progress):
                del self._pending[message.number]
            pending.messages.put_nowait(message)

    def _lose_all(self) -> None:
        for pending in self._pending.values():
            pending.messages.put_nowait(WorkerLost())
        self._pending.clear()

    def _close(self) -> None:
        process, pipe = self._process, self._pipe
        self._process = None
        if pipe is not None:
            pipe.close()
        if process is not None and process.is_alive():
            process.kill()


def _end_of(process: Any) -> int | None:
    process.join(10)
    return process.exitcode


def _send_quietly(pipe: Any, message: object) -> None:
    try:
        pipe.send(message)
    except (OSError, ValueError):
        return
