"""Rows per second of our tokenizer and of PaddleNLP's ErnieTokenizer, both with offsets, on one core.

python tools/bench_tokenizer.py --text train.tsv --vocab vocab.txt
Ends with an error where the ids differ or ours is less than 8 times as fast.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ernie_pp.text import Tokenizer, read_vocab
from ernie_pp.text.vocabulary import write_vocab

LEAST_RATIO = 8.0
NUM_RUNS = 3


def main(arguments: list[str] | None = None) -> int:
    """Time both, compare the ids of every row, print one table and the ratio."""
    os.environ["TOKENIZERS_PARALLELISM"], os.environ["RAYON_NUM_THREADS"] = "false", "1"
    options = _parse(arguments)
    lines = Path(options.text).read_text(encoding="utf-8").split("\n")
    texts = [line.rstrip("\r") for line in lines if line.strip()][: options.rows]
    theirs, their_ids = _time_paddlenlp(texts, options)
    ours, our_ids, ours_warm = _time_ours(texts, options)
    different = [index for index, (one, other) in enumerate(zip(our_ids, their_ids, strict=True)) if one != other]
    print(f"{len(texts)} rows, {sum(map(len, our_ids))} tokens, ids and offsets, best of {NUM_RUNS} runs")
    for name, seconds in (("PaddleNLP", theirs), ("ernie_pp, fresh", ours), ("ernie_pp, warm", ours_warm)):
        print(f"{name:<16} {seconds:8.3f} s {len(texts) / seconds:10.0f} rows/s")
    print(f"rows with different ids: {len(different)}" + (f", first: {texts[different[0]]!r}" if different else ""))
    print(f"ratio {theirs / ours:.1f}")
    return 0 if theirs / ours >= LEAST_RATIO and not different else 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare our tokenizer with PaddleNLP's ErnieTokenizer.")
    parser.add_argument("--text", required=True, metavar="FILE", help="UTF-8 file; each line is one row")
    parser.add_argument("--vocab", required=True, metavar="FILE", help="vocabulary file")
    parser.add_argument("--rows", type=int, default=2000, help="rows taken (default 2000)")
    parser.add_argument("--max-length", type=int, default=512, help="most tokens of a row (default 512)")
    return parser.parse_args(arguments)


def _time_ours(texts: list[str], options: argparse.Namespace) -> tuple[float, list[list[int]], float]:
    """With fresh tokenizers, that have met no character and no word before; and with one that has met all."""
    tokenizers = [Tokenizer.from_vocab(options.vocab) for _ in range(NUM_RUNS)]
    fresh = iter(tokenizers)
    seconds, ids = _time(lambda: _encode(next(fresh), texts, options))
    warm_seconds, _ = _time(lambda: _encode(tokenizers[0], texts, options))
    return seconds, ids, warm_seconds


def _encode(tokenizer: Tokenizer, texts: list[str], options: argparse.Namespace) -> list[list[int]]:
    return [one.ids.tolist() for one in tokenizer.encode(texts, max_length=options.max_length, truncate="head")]


def _time_paddlenlp(texts: list[str], options: argparse.Namespace) -> tuple[float, list[list[int]]]:
    from paddlenlp.transformers import ErnieTokenizer

    with tempfile.TemporaryDirectory() as folder:
        vocab = Path(folder) / "vocab.txt"
        write_vocab(read_vocab(options.vocab), vocab)  # PaddleNLP reads one token a line only
        tokenizer = ErnieTokenizer(str(vocab))

    def encode(text: str) -> list[int]:
        return tokenizer(text, return_offsets_mapping=True, max_length=options.max_length, truncation=True)["input_ids"]  # pyright: ignore

    return _time(lambda: [encode(text) for text in texts])


def _time(job: Callable[[], list[list[int]]]) -> tuple[float, list[list[int]]]:
    best, result = float("inf"), []
    for _ in range(NUM_RUNS):
        begin = time.perf_counter()
        result = job()
        best = min(best, time.perf_counter() - begin)
    return best, result


if __name__ == "__main__":
    sys.exit(main())
