"""The words of `ernie-pp predict`, and those that would have no effect."""

from __future__ import annotations

from dataclasses import dataclass

from ernie_pp.choices import DATASET_PREFIX, Format, Math, OnError, Quoting, may_be_dataset, may_be_table
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.prediction_writers import OutputFormat


@dataclass(frozen=True)
class PredictOptions:
    """The words of `ernie-pp predict`; None: as in training."""

    bundle: str
    input: str | None
    text: list[str] | None
    document: list[str] | None
    question: list[str] | None
    output: str
    format: Format
    output_format: OutputFormat
    text_column: str | None
    pair_column: str | None
    header: bool | None
    quoting: Quoting | None
    split: str | None
    on_error: OnError
    batch_tokens: int
    threads: int | None
    math: Math


def check_words(options: PredictOptions) -> None:
    """ConfigError for words that would have no effect."""
    if options.question is not None and options.document is None:
        raise ConfigError("--question", "has no effect without --document", "Name the documents to ask.")
    about_files = {
        "--text-column": options.text_column,
        "--pair-column": options.pair_column,
        "--format": options.format != "auto",
        **table_words(options),
        "--split": options.split,
        "--on-error": options.on_error != "stop",
    }
    idle = [word for word, given in about_files.items() if given]
    source = "--text" if options.text is not None else "--document" if options.document is not None else None
    if source is not None and idle:
        what = f"has no effect on {source}: it is about the rows of --input"
        raise ConfigError(idle[0], what, "Leave one of them out.")
    if options.input is not None:
        _check_words_of_formats(options, options.input)


def check_bundle_words(options: PredictOptions, *, takes_pairs: bool, asks_documents: bool) -> None:
    """ConfigError for words that do not fit what the bundle was trained on."""
    if asks_documents:
        _check_asking(options)
    elif options.document is not None:
        what = "has no effect: this bundle does not answer questions to documents"
        raise ConfigError("--document", what, "Train and export a config with task: docqa.")
    elif takes_pairs and options.text is not None:
        what = "gives single texts, and this bundle was trained on pairs of texts"
        raise ConfigError("--text", what, "Give the pairs as rows: --input FILE.")
    if not takes_pairs and options.pair_column is not None:
        raise ConfigError("--pair-column", "has no effect: this bundle was trained on single texts", "Leave it out.")


def table_words(options: PredictOptions) -> dict[str, bool]:
    """The words about TSV and CSV, and whether each is given."""
    header = "--header" if options.header else "--no-header"
    return {header: options.header is not None, "--quoting": options.quoting is not None}


def _check_words_of_formats(options: PredictOptions, source: str) -> None:
    if options.format not in ("auto", "datasets") and may_be_dataset(source, "auto"):
        raise ConfigError("--format", f"is {options.format}, and {source} is read by datasets", "Leave it out.")
    word = next((word for word, given in table_words(options).items() if given), None)
    if word is not None and not may_be_table(source, options.format):
        raise ConfigError(word, f"has no effect on {source}: it is about TSV and CSV", "Leave it out.")
    if options.split is not None and not may_be_dataset(source, options.format):
        what = f"has no effect on {source}: only a {DATASET_PREFIX} source has splits"
        raise ConfigError("--split", what, "Leave it out.")


def _check_asking(options: PredictOptions) -> None:
    if options.text is not None:
        what = "gives texts, and this bundle answers questions to documents"
        raise ConfigError("--text", what, "Ask files, --document FILE --question TEXT, or give rows: --input FILE.")
    columns = {"--text-column": options.text_column, "--pair-column": options.pair_column}
    for word, name in columns.items():
        if name is not None:
            what = "has no effect: question files name their fields themselves (context, question, id)"
            raise ConfigError(word, what, "Leave it out.")
