"""The command line: how a command is run, stopped and told of. The commands themselves are in verbs.py."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from ernie_pp import __version__
from ernie_pp.errors import ErniePPError, RanksFailed
from ernie_pp.machine.streams import let_go, set_up_streams
from ernie_pp.parallel.child import follow_launcher, leave, leave_word, traceback_of
from ernie_pp.parallel.place import find_place, is_rank
from ernie_pp.verbs import VERBS, add_train, train


def main(words: Sequence[str] | None = None, *, task: str | None = None) -> int:
    """Run one command and return its exit code. `task` fixes the kind of problem (`python -m ernie_pp.tasks.cls`)."""
    set_up_streams()
    arguments = _parse(_build_parser(task), words)
    _set_up_logging(arguments.quiet)
    _silence_libraries()
    # A signal our caller told us to ignore stays ignored: `nohup` is a promise to the user.
    stopping = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    handlers = {number: signal.signal(number, _stop) for number in stopping}
    try:
        if arguments.run is train and is_rank(os.environ):
            _run_rank(arguments)
        return _run(arguments)
    finally:
        # The work is over: while Python shuts down a signal may end it at once.
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for stream in (sys.stdout, sys.stderr):
            let_go(stream)


def _run(arguments: argparse.Namespace) -> int:
    """The exit code of the work, once what went wrong is told."""
    try:
        return arguments.run(arguments)
    except RanksFailed as error:
        for message in (*error.messages, str(error)):
            _tell(message)
        return error.exit_code
    except (Exception, KeyboardInterrupt) as error:
        explained = _explain(error)
        if explained is None:
            raise
        code, text = explained
        if text:
            _tell(text)
        return code


def _run_rank(arguments: argparse.Namespace) -> NoReturn:
    """The work of one process of many: the one that started it tells what went wrong, the first failure first."""
    try:
        place = find_place(os.environ)
    except ErniePPError as error:
        _tell(f"{type(error).__name__}: {error}")
        leave(error.exit_code)
    follow_launcher(place)
    signal.signal(signal.SIGTERM, _stop_quietly)
    try:
        code = arguments.run(arguments)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException as error:
        code, text = _explain(error) or (1, traceback_of(error))
        leave_word(place, code=code, text=text, error=error)
    leave(code)


def _explain(error: BaseException) -> tuple[int, str] | None:
    """Exit code and message of what a user can understand; None for a fault of our code, which needs its traceback."""
    if isinstance(error, ErniePPError):
        return error.exit_code, f"{type(error).__name__}: {error}"
    if isinstance(error, BrokenPipeError):
        return 128 + signal.SIGPIPE, ""  # the reader of our output has gone; there is nobody to tell
    if isinstance(error, OSError):
        # The system refused something that nobody foresaw: no fault of our code, so no traceback.
        names = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
        return 1, f"{type(error).__name__}: {names + ': ' if names else ''}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return 1, f"MemoryError: there is not enough memory{f': {error}' if str(error) else ''}"
    if isinstance(error, KeyboardInterrupt):
        return 128 + signal.SIGINT, "stopped"
    return None


def _tell(text: str) -> None:
    """A message on standard error; where that is full there is nobody to tell."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _stop(number: int, _frame: object) -> None:
    # Raised where the work stands, so that every `finally` on the way out runs: no half file stays behind.
    # Not by print: the signal may have come in the middle of another one.
    with contextlib.suppress(OSError):
        os.write(2, f"stopped by {signal.Signals(number).name}\n".encode())
    raise SystemExit(128 + number)


def _stop_quietly(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _parse(parser: argparse.ArgumentParser, words: Sequence[str] | None) -> argparse.Namespace:
    """The words, key=value words in any place among the others."""
    arguments, left = parser.parse_known_args(words)
    more = [word for word in left if not word.startswith("-") and "=" in word]
    if left and (len(more) < len(left) or not hasattr(arguments, "overrides")):
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    if more:
        arguments.overrides = [*arguments.overrides, *more]
    return arguments


def _build_parser(task: str | None) -> argparse.ArgumentParser:
    if task is not None:
        parser = argparse.ArgumentParser(f"python -m ernie_pp.tasks.{task}", description="Train, evaluate and export.")
        _add_common(parser)
        add_train(parser, task)
        return parser
    parser = argparse.ArgumentParser("ernie-pp", description="Fine-tune ERNIE for Chinese text, export it, use it.")
    parser.add_argument("--version", action="version", version=f"ernie_pp {__version__}")
    verbs = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (add, summary) in VERBS.items():
        verb = verbs.add_parser(name, help=summary, description=summary)
        _add_common(verb)
        add(verb)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="only warnings and errors on the screen")


def _set_up_logging(quiet: bool) -> None:
    handler = _ScreenHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    handler.setLevel(logging.WARNING if quiet else logging.INFO)
    log = logging.getLogger("ernie_pp")
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False


def _silence_libraries() -> None:
    """Hide notes that libraries print for their own developers; their errors still show."""
    for message in ("No ccache found", "Setuptools is replacing distutils", "No shared comm will be constructed"):
        warnings.filterwarnings("ignore", message=message)
    os.environ.setdefault("GLOG_minloglevel", "2")  # Paddle's C++ side: errors only


class _ScreenHandler(logging.StreamHandler):
    """Writes to whatever sys.stderr is now: a progress bar puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """A screen that takes no more is no reason to end a run; run.log has the line."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


if __name__ == "__main__":
    sys.exit(main())
