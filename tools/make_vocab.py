"""Make a vocabulary file for an ERNIE that starts from random weights.

python tools/make_vocab.py --text tasks/sentiment/data/train.tsv --output vocab.txt
"""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from ernie_pp.errors import ErniePPError, RunError
from ernie_pp.text.new_vocabulary import build_vocabulary, read_texts
from ernie_pp.text.vocabulary import read_vocab, write_vocab


def main(arguments: list[str] | None = None) -> int:
    """Read the texts, write the vocabulary, say how many tokens it has."""
    options = _parse(arguments)
    try:
        _check_output(options.output)
        texts = chain.from_iterable(map(read_texts, options.text))
        tokens = build_vocabulary(texts, min_count=options.min_count, table=options.tables, max_words=options.max_words)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        write_vocab(tokens, options.output)
    except ErniePPError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{options.output}: {len(tokens)} tokens")
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make a vocabulary file for an ERNIE that starts from random weights.")
    parser.add_argument("--text", nargs="+", default=[], metavar="FILE", help="texts of any layout, UTF-8")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="vocabulary file to write")
    parser.add_argument("--min-count", type=int, default=2, help="times a character or word must occur (default 2)")
    parser.add_argument("--max-words", type=int, default=5_000, help="most words of several letters (default 5000)")
    parser.add_argument(
        "--tables", choices=("gb2312", "gbk", "none"), default="gb2312", help="standard characters (default gb2312)"
    )
    return parser.parse_args(arguments)


def _check_output(path: Path) -> None:
    """Refuse to write over a file that is no vocabulary."""
    if not path.exists():
        return
    try:
        read_vocab(path)
    except ErniePPError as error:
        do = "Give another --output, or remove that file."
        raise RunError(str(path), "is there, and is not a vocabulary this tool could have written", do) from error


if __name__ == "__main__":
    sys.exit(main())
