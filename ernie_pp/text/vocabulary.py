"""A vocabulary file: which token has which id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ernie_pp.bounded import read_text
from ernie_pp.durable import write_text
from ernie_pp.errors import ModelError

SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
# The largest public Chinese vocabularies have 2 MB; a file beyond this is something else (weights, a corpus).
MAX_BYTES = 32 * 2**20


def read_vocab(path: str | Path) -> tuple[str, ...]:
    """The tokens of a vocabulary file in the order of their ids, so that `tokens[id]` is the token.

    Reads both layouts: one token a line (its id is the line's number from 0) and `token TAB id`. A token may stand
    twice (ERNIE 3.0 has "$" at 12084 and 18005): both places stay, so no later id is shifted.
    """
    lines = _read_lines(Path(path))
    has_ids = _is_id(lines[0].rpartition("\t")[2])
    tokens = _tokens_by_id(lines, path=path) if has_ids else tuple(lines)
    _check_tokens(tokens, path=path)
    return tokens


def ids_by_token(tokens: Sequence[str]) -> dict[str, int]:
    """Each token's id; of a token that stands twice the last place counts, as in PaddleNLP."""
    return {token: index for index, token in enumerate(tokens)}


def write_vocab(tokens: Sequence[str], path: str | Path) -> None:
    """Write one token a line, the layout PaddleNLP reads; an old file is replaced at once."""
    write_text(Path(path), "".join(f"{token}\n" for token in tokens))


def _read_lines(path: Path) -> list[str]:
    advice = "Give a vocabulary, a file of tokens in UTF-8; not a model or a corpus."
    text = read_text(path, max_bytes=MAX_BYTES, error=ModelError, do=advice)
    # Split on "\n" only: U+2028 is a token of bert-base-chinese.
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise ModelError(str(path), "the vocabulary file is empty", "Give a file with one token a line.")
    return lines


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _tokens_by_id(lines: list[str], *, path: str | Path) -> tuple[str, ...]:
    """Tokens placed by the id column, which must name every id from 0 once."""
    tokens: list[str | None] = [None] * len(lines)
    for number, line in enumerate(lines, start=1):
        token, _, column = line.rpartition("\t")
        if not _is_id(column):
            raise ModelError(f"{path} line {number}", f"{line[:40]!r} has no id after a TAB, as the first line has")
        index = int(column) if len(column) < 10 else len(lines)
        if index >= len(lines):
            raise ModelError(
                f"{path} line {number}",
                f"id {column[:20]} of token {token[:40]!r} leaves a gap: "
                f"the {len(lines)} lines should have the ids 0 to {len(lines) - 1}",
                "Restore the missing lines; ids must match the model's embedding rows.",
            )
        if tokens[index] is not None:
            raise ModelError(f"{path} line {number}", f"id {index} stands twice: {tokens[index]!r} and {token!r}")
        tokens[index] = token
    return tuple(token for token in tokens if token is not None)


def _check_tokens(tokens: Sequence[str], *, path: str | Path) -> None:
    known = set(tokens)
    missing = [token for token in SPECIAL_TOKENS if token not in known]
    if missing:
        raise ModelError(
            str(path),
            f"no {' '.join(missing)} among its {len(tokens)} tokens; ERNIE needs {' '.join(SPECIAL_TOKENS)}",
            "Give the vocabulary file the model was trained with, or make one with tools/make_vocab.py.",
        )
