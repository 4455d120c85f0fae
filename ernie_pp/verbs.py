"""The words that each command takes, and the job it starts."""

from __future__ import annotations

import argparse
import typing
from collections.abc import Callable
from typing import Any

from ernie_pp.argument_types import amount, num_threads, port, positive
from ernie_pp.choices import BundleFormat, Format, Math, OnError, Precision, Quoting
from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.device_kinds import KINDS
from ernie_pp.machine.signals import blocked_signals

# The formats of entities that `convert` reads, beside finding out, and writes.
TARGETS = ("entities", "cluener", "cail", "doccano", "label_studio", "bio", "bioes", "bmes", "brat")
SOURCES = ("auto", *TARGETS)


def add_config(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """The settings a command may be given."""
    parser.add_argument("--config", metavar="FILE", required=required, help="YAML settings")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings that win over the file's")


def add_train(parser: argparse.ArgumentParser, task: str | None = None) -> None:
    """The words of a training run."""
    add_config(parser, required=False)
    parser.add_argument("--keys", action="store_true", help="list every setting with its default and meaning")
    parser.set_defaults(run=train, task=task)


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
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", metavar="DIR", dest="run_dir", help="run folder: its best model")
    source.add_argument("--model", metavar="DIR", help="folder of a task model that PaddleNLP wrote")
    parser.add_argument("--step", type=positive, metavar="N", help="of a run: the checkpoint of this step instead")
    parser.add_argument("--max-length", type=positive, metavar="N", help="of --model: most tokens of a row")
    parser.add_argument(
        "--allow-pickle", action="store_true", help="of --model: read .pdparams, with a reader that runs nothing in it"
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="bundle folder (default: bundle/ in the run folder, or bundles/FORMAT-PRECISION)",
    )
    parser.add_argument(
        "--format",
        default="inference",
        choices=typing.get_args(BundleFormat),
        help="inference (the default), inference-legacy for older servers, onnx, or lite for phones",
    )
    parser.add_argument(
        "--precision",
        default="fp32",
        choices=typing.get_args(Precision),
        help="how numbers are computed (default: fp32)",
    )
    parser.set_defaults(run=_export)


def _add_predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bundle", metavar="DIR", required=True, help="exported bundle")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--input", metavar="FILE", help="rows to predict, answered in chunks of up to 1,024; - reads standard input"
    )
    source.add_argument("--text", metavar="TEXT", nargs="+", help="texts given here")
    source.add_argument("--document", metavar="FILE", nargs="+", help="docqa: text or Markdown files to ask")
    parser.add_argument(
        "--question", metavar="TEXT", nargs="+", help="what each --document is asked (default: those of training)"
    )
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
    _add_speed(parser)
    parser.set_defaults(run=_predict)


def _add_speed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--on-error", default="stop", choices=typing.get_args(OnError), help="what a bad row does")
    parser.add_argument("--batch-tokens", type=positive, default=4096, metavar="N", help="most tokens computed at once")
    parser.add_argument("--threads", type=num_threads, metavar="N", help="math threads (default: one a core)")
    parser.add_argument(
        "--math",
        default="auto",
        choices=typing.get_args(Math),
        help="auto: choose the math library's fast path on AMD CPUs",
    )


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bundle", metavar="DIR", nargs="+", required=True, dest="bundles", help="bundles to compare")
    parser.add_argument("--rows", metavar="N", nargs="+", type=positive, default=[1, 32], help="rows at once (1 32)")
    parser.add_argument(
        "--lengths", metavar="N", nargs="+", type=positive, default=[64, 128, 512], help="tokens a row (64 128 512)"
    )
    parser.add_argument(
        "--threads", metavar="N", nargs="+", type=num_threads, help="math threads (default: 1, and one a core)"
    )
    parser.add_argument("--rounds", metavar="N", type=positive, default=5, help="turns of each, the least counts (5)")
    parser.add_argument("--math", default="auto", choices=typing.get_args(Math), help="as for predict")
    parser.add_argument(
        "--write", action="store_true", help="keep the fastest settings of each bundle in it, for this machine"
    )
    parser.set_defaults(run=_bench)


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bundle", metavar="DIR", nargs="+", required=True, dest="bundles", help="exported bundles, or NAME=DIR"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument(
        "--port", type=port, default=8080, help="port to listen on (default: 8080; 0: any that is free)"
    )
    parser.add_argument(
        "--threads", type=num_threads, metavar="N", help="math threads of a bundle (default: one a core)"
    )
    parser.add_argument("--token-file", metavar="FILE", help="what clients must send as a bearer token")
    parser.add_argument(
        "--batch-wait-ms", type=amount, default=5.0, metavar="MS", help="wait for others to share a batch"
    )
    parser.add_argument("--max-body", type=positive, default=8 << 20, metavar="N", help="bytes of a request")
    parser.add_argument("--max-texts", type=positive, default=256, metavar="N", help="texts of a request")
    parser.add_argument(
        "--max-characters", type=positive, default=1_000_000, metavar="N", help="characters of a request"
    )
    parser.add_argument(
        "--max-queue", type=positive, default=256, metavar="N", help="requests of a bundle that may wait"
    )
    parser.add_argument("--timeout-s", type=amount, default=60.0, metavar="S", help="a request's time, then 504")
    parser.add_argument("--grace-s", type=amount, default=30.0, metavar="S", help="what a stop leaves to requests")
    parser.set_defaults(run=_serve)


def _add_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bundle", metavar="DIR", required=True, help="exported bundle of named entities or of docqa")
    parser.add_argument(
        "--input", metavar="PATH", required=True, help="JSON lines, questions, a text file, or a folder of those"
    )
    parser.add_argument("--output", metavar="DIR", required=True, help="folder of pages, JSON and a spreadsheet")
    parser.add_argument(
        "--question", metavar="TEXT", nargs="+", help="docqa: what each text file is asked (default: those of training)"
    )
    parser.add_argument("--fields", metavar="FILE", help="YAML with `fields:` (default: those of training)")
    parser.add_argument(
        "--gold", metavar="NAME", help="field of the rows with the true values: figures are written too"
    )
    parser.add_argument("--text-column", metavar="NAME", help="field of the text (default: as in training)")
    parser.add_argument("--id-column", metavar="NAME", default="id", help="field of a document's name (default: id)")
    _add_speed(parser)
    parser.set_defaults(run=_review)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="PATH", required=True, help="file of entities, or a brat folder")
    parser.add_argument("--output", metavar="PATH", required=True, help="what is written, whole or not at all")
    parser.add_argument("--from", dest="source_format", metavar="FORMAT", default="auto", choices=SOURCES)
    parser.add_argument("--to", dest="target_format", metavar="FORMAT", required=True, choices=TARGETS)
    parser.add_argument("--text", metavar="NAME", default="text", help="field of the text in JSON (default: text)")
    parser.add_argument(
        "--repair-offsets", action="store_true", help="move entities that stand wrong, where the right place is certain"
    )
    parser.add_argument("--on-error", default="stop", choices=typing.get_args(OnError), help="what a bad row does")
    parser.set_defaults(run=_convert)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=False)
    parser.set_defaults(run=_doctor)


def _add_plan(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=True)
    parser.add_argument("--devices", type=positive, metavar="N", help="how many there are (default: those of here)")
    parser.add_argument("--memory", metavar="SIZE", help="of one device, such as 16GiB (default: what it has)")
    parser.add_argument("--link", metavar="RATE", help="between two devices, such as 25GB/s (default: the kind's)")
    parser.add_argument("--device-kind", choices=KINDS, help="plan for another device than those of here")
    parser.add_argument(
        "--length", type=positive, metavar="L", help="tokens of a row (default: text.max_length, the longest)"
    )
    parser.add_argument("--measure", action="store_true", help="time the layers here instead of counting operations")
    parser.add_argument("--top", type=positive, default=5, metavar="K", help="how many plans to show (default: 5)")
    parser.add_argument("--output", metavar="FILE", help="write the best plan's settings: YAML for `extends`")
    parser.add_argument("--report", metavar="FILE", help="write a page that draws the best plan (HTML)")
    parser.set_defaults(run=_plan)


# Each verb loads its job late: `--help` must answer at once.
def train(arguments: argparse.Namespace) -> int:
    """Run a training."""
    if arguments.keys:
        return _print_keys()
    if arguments.config is None:
        raise ConfigError("--config", "is missing", "Name the file of settings; --keys lists what it may hold.")
    with blocked_signals():
        from ernie_pp.jobs.train import run_training

    summary = run_training(arguments.config, arguments.overrides, task=arguments.task, quiet=arguments.quiet)
    if summary:  # of many processes one has it
        show(summary)
    return 0


def _evaluate(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.evaluate import evaluate_run

    words = {name: getattr(arguments, name) for name in ("data", "split", "output", "device")}
    show(evaluate_run(arguments.run_dir, **words))
    return 0


def _export(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.export import ExportOptions, export

    show(export(ExportOptions(**_words_of(arguments, ExportOptions))))
    return 0


def _predict(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.predict import predict_file
        from ernie_pp.jobs.predict_words import PredictOptions

    predict_file(PredictOptions(**_words_of(arguments, PredictOptions)))
    return 0


def _bench(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.bench import BenchOptions, run_bench

    show(run_bench(BenchOptions(**_words_of(arguments, BenchOptions))))
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.serve import ServeOptions, serve

    serve(ServeOptions(**_words_of(arguments, ServeOptions)))
    return 0


def _review(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.review import review_documents
        from ernie_pp.jobs.review_options import ReviewOptions

    show(review_documents(ReviewOptions(**_words_of(arguments, ReviewOptions))))
    return 0


def _convert(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.convert import ConvertOptions, convert_file

    show(convert_file(ConvertOptions(**_words_of(arguments, ConvertOptions))))
    return 0


def _words_of(arguments: argparse.Namespace, options: Any) -> dict[str, Any]:
    """The words that a job's options name."""
    names = options.__dataclass_fields__
    return {name: value for name, value in vars(arguments).items() if name in names}


def _doctor(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.doctor import diagnose

    findings = diagnose(arguments.config, arguments.overrides)
    show(findings.text)
    return findings.exit_code


def _plan(arguments: argparse.Namespace) -> int:
    with blocked_signals():
        from ernie_pp.jobs.plan import PlanOptions, run_plan

    show(run_plan(PlanOptions(**_words_of(arguments, PlanOptions))))
    return 0


def _print_keys() -> int:
    with blocked_signals():
        from ernie_pp.config import describe_keys

    show("\n".join(f"{name:28} {default:10} {meaning}" for name, default, meaning in describe_keys()))
    return 0


def show(text: str) -> None:
    """A result on standard output; RunError where it cannot be written."""
    with told_as_unwritable("standard output"):
        print(text, flush=True)


VERBS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "train": (add_train, "train, evaluate, keep the best, export"),
    "evaluate": (_add_evaluate, "measure a run's best model on labelled rows"),
    "predict": (_add_predict, "label the rows of a file with an exported bundle"),
    "export": (_add_export, "make a checked bundle of a run's best model, a checkpoint or a PaddleNLP model"),
    "bench": (_add_bench, "measure how fast bundles answer on this machine, beside each other"),
    "serve": (_add_serve, "answer over HTTP with exported bundles"),
    "review": (_add_review, "fill the fields of contracts or other documents, and write pages to read them by"),
    "convert": (_add_convert, "turn a file of entities into another format, predictions too"),
    "plan": (_add_plan, "find the fastest grid of processes for a config on given devices"),
    "doctor": (_add_doctor, "check the machine, and a config with its data, before training"),
}
