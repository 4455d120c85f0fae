"""The command line: the verbs and their words, nothing else. Each verb's work is in `ernie_pp.jobs`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import typing
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn

from ernie_pp import __version__
from ernie_pp.choices import MAX_THREADS, Format, Math, OnError, Quoting
from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import ErniePPError, RanksFailed
from ernie_pp.jobs.device_kinds import KINDS
from ernie_pp.machine.signals import blocked_signals
from ernie_pp.machine.streams import let_go, set_up_streams
from ernie_pp.parallel.child import follow_launcher, leave, leave_word, traceback_of
from ernie_pp.parallel.place import find_place, is_rank


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
        if arguments.run is _train and is_rank(os.environ):
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


def _show(text: str) -> None:
    """A result on standard output; RunError where it cannot be written."""
    with told_as_unwritable("standard output"):
        print(text, flush=True)


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


def _positive(word: str) -> int:
    """A whole number above 0."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"is {word!r}, expected a whole number above 0")
    return int(word)


def _num_threads(word: str) -> int:
    count = _positive(word)
    if count > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"is {word}, expected at most {MAX_THREADS}")
    return count


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
        _add_train(parser, task)
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


def _add_config(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--config", metavar="FILE", required=required, help="YAML settings")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that win over the file's")


def _add_train(parser: argparse.ArgumentParser, task: str | None = None) -> None:
    _add_config(parser, required=False)
    parser.add_argument("--keys", action="store_true", help="list every setting with its default and meaning")
    parser.set_defaults(run=_train, task=task)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", metavar="DIR", required=True, dest="run_dir", help="run folder")
    parser.add_argument("--data", metavar="FILE", required=True, help="labelled rows")
    parser.add_argument("--split", metavar="NAME", help="split of a datasets: source (default: data.test_split)")
    parser.add_argument("--output", metavar="FILE", help="also write the figures as JSON")
    parser.add_argument(
        "--device", default="auto", choices=("auto", "cpu", "gpu"), help="auto: a GPU where there is one"
    )
    parser.set_defaults(run=_evaluate)


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", metavar="DIR", required=True, dest="run_dir", help="run folder")
    parser.add_argument("--output", metavar="DIR", help="bundle folder (default: bundle/ in the run folder)")
    parser.set_defaults(run=_export)


def _add_predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bundle", metavar="DIR", required=True, help="exported bundle")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--input", metavar="FILE", help="rows to predict, answered in chunks of up to 1,024; - reads standard input"
    )
    source.add_argument("--text", metavar="TEXT", nargs="+", help="texts given here")
    parser.add_argument("--output", metavar="FILE", default="-", help="predictions; - (default) writes standard output")
    parser.add_argument("--format", default="auto", choices=typing.get_args(Format))
    parser.add_argument("--output-format", default="auto", choices=("auto", "jsonl", "csv", "tsv"))
    parser.add_argument("--text-column", metavar="NAME", help="column of the text (default: as in training)")
    parser.add_argument("--pair-column", metavar="NAME", help="column of the second text (default: as in training)")
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="TSV and CSV: the first line names the columns, or is a row (default: as in training)",
    )
    parser.add_argument(
        "--quoting",
        choices=typing.get_args(Quoting),
        help='TSV and CSV: whether fields may stand in "..." (default: as in training)',
    )
    parser.add_argument("--split", metavar="NAME", help="split of a datasets: source (default: train)")
    parser.add_argument("--on-error", default="stop", choices=typing.get_args(OnError), help="what a bad row does")
    parser.add_argument(
        "--batch-tokens", type=_positive, default=4096, metavar="N", help="most tokens computed at once"
    )
    parser.add_argument("--threads", type=_num_threads, metavar="N", help="math threads (default: one a core)")
    parser.add_argument(
        "--math",
        default="auto",
        choices=typing.get_args(Math),
        help="auto: choose the math library's fast path on AMD CPUs",
    )
    parser.set_defaults(run=_predict)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    _add_config(parser, required=False)
    parser.set_defaults(run=_doctor)


def _add_plan(parser: argparse.ArgumentParser) -> None:
    _add_config(parser, required=True)
    parser.add_argument("--devices", type=_positive, metavar="N", help="how many there are (default: those of here)")
    parser.add_argument("--memory", metavar="SIZE", help="of one device, such as 16GiB (default: what it has)")
    parser.add_argument("--link", metavar="RATE", help="between two devices, such as 25GB/s (default: the kind's)")
    parser.add_argument("--device-kind", choices=KINDS, help="plan for another device than those of here")
    parser.add_argument(
        "--length", type=_positive, metavar="L", help="tokens of a row (default: text.max_length, the longest)"
    )
    parser.add_argument("--measure", action="store_true", help="time the layers here instead of counting operations")
    parser.add_argument("--top", type=_positive, default=5, metavar="K", help="how many plans to show (default: 5)")
    parser.add_argument("--output", metavar="FILE", help="write the best plan's settings: YAML for `extends`")
    parser.add_argument("--report", metavar="FILE", help="write a page that draws the best plan (HTML)")
    parser.set_defaults(run=_plan)


# Each verb loads its job late: `--help` must answer at once.
def _train(arguments: argparse.Namespace) -> int:
    if arguments.keys:
        return _print_keys()
    if arguments.config is None:
        _tell("--config FILE is missing; --keys lists what it may hold")
        return 2
    with blocked_signals():
        from ernie_pp.jobs.train import run_training

    summary = run_training(arguments.config, arguments.overrides, task=arguments.task, quiet=arguments.quiet)
    if summary:  # of many processes one has it
        _show(summary)
    return 0


def _evaluate(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.evaluate import evaluate_run

    words = {name: getattr(arguments, name) for name in ("data", "split", "output", "device")}
    _show(evaluate_run(arguments.run_dir, **words))
    return 0


def _export(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.export import export_run

    _show(export_run(arguments.run_dir, output=arguments.output))
    return 0


def _predict(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.predict import PredictOptions, predict_file

    names = PredictOptions.__dataclass_fields__
    options = PredictOptions(**{name: value for name, value in vars(arguments).items() if name in names})
    predict_file(options)
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.doctor import diagnose

    findings = diagnose(arguments.config, arguments.overrides)
    _show(findings.text)
    return findings.exit_code


def _plan(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.plan import PlanOptions, run_plan

    names = PlanOptions.__dataclass_fields__
    _show(run_plan(PlanOptions(**{name: value for name, value in vars(arguments).items() if name in names})))
    return 0


def _print_keys() -> int:
    with blocked_signals():
        from ernie_pp.config import describe_keys

    _show("\n".join(f"{name:28} {default:10} {meaning}" for name, default, meaning in describe_keys()))
    return 0


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


VERBS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "train": (_add_train, "train, evaluate, keep the best, export"),
    "evaluate": (_add_evaluate, "measure a run's best model on labelled rows"),
    "predict": (_add_predict, "label the rows of a file with an exported bundle"),
    "export": (_add_export, "make a Paddle Inference bundle of a run's best model"),
    "plan": (_add_plan, "find the fastest grid of processes for a config on given devices"),
    "doctor": (_add_doctor, "check the machine, and a config with its data, before training"),
}

if __name__ == "__main__":
    sys.exit(main())
