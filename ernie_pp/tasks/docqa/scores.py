"""How right one answer is: exact match and F1 as the evaluation scripts of CMRC 2018 and DuReader-robust count them.

Both leave out some punctuation, cut the rest into segments, and take F1 over the longest run of segments that both
texts have without a gap. What looks like a slip in the scripts is kept, since figures are compared with published
ones: "……" stands in their lists as two characters, so that no single "…" is left out, and half-width "," "." "?" are
no punctuation to CMRC. Two texts without any segment have an F1 of 0, though they match exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

ScoreRules = Literal["cmrc2018", "dureader_robust"]


def em_score(golds: Sequence[str], given: str, rules: ScoreRules) -> float:
    """1 where the answer reads like one of the true ones, capitals and punctuation left out; else 0."""
    kept = _RULES[rules].kept
    answer = kept(given)
    return float(any(kept(gold) == answer for gold in golds))


def f1_score(golds: Sequence[str], given: str, rules: ScoreRules) -> float:
    """F1 of the segments, by the true answer that fits best; `golds` has one at least."""
    rule = _RULES[rules]
    answer = rule.segments(rule.kept(given))
    return max(_overlap(rule.segments(rule.kept(gold)), answer) for gold in golds)


@dataclass(frozen=True)
class _Rule:
    """What a script makes of a text, and how it cuts that."""

    kept: Callable[[str], str]
    segments: Callable[[str], list[str]]


def _overlap(gold: list[str], given: list[str]) -> float:
    if not gold or not given:
        return 0.0
    length = len(gold) if gold == given else _longest_run(gold, given)
    precision, recall = length / len(given), length / len(gold)
    return 2 * precision * recall / (precision + recall) if length else 0.0


def _longest_run(first: list[str], second: list[str]) -> int:
    """Length of the longest run of segments that is part of both.

    Each segment becomes one character, so that searching a run is a search in a text: fast, also where both are long.
    """
    codes: dict[str, str] = {}
    texts = ("".join(codes.setdefault(one, chr(len(codes))) for one in side) for side in (first, second))
    short, long = sorted(texts, key=len)
    best = 0
    for start in range(len(short)):
        # Only a longer run than the best one is of interest; all beginnings of a common run are common too.
        while start + best < len(short) and short[start : start + best + 1] in long:
            best += 1
    return best


# What CMRC's script leaves out. It is a list of texts there, and "……" is never equal to a character.
_CMRC_LEFT_OUT = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
_CMRC_RUNS = re.compile("[\u4e00-\u9fa5]|[^\u4e00-\u9fa5]+")


def _cmrc_kept(text: str) -> str:
    # Blanks at the ends go before punctuation does: those beside a left out character stay.
    return text.lower().strip().translate(_CMRC_LEFT_OUT)


def _cmrc_segments(text: str) -> list[str]:
    found: list[str] = []
    for run in _CMRC_RUNS.findall(text):
        # Digits alone need no cutting, nor the time to load what cuts.
        is_whole = "\u4e00" <= run <= "\u9fa5" or (run.isascii() and run.isdigit())
        found.extend((run,) if is_whole else _words(run))
    return found


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> tuple[str, ...]:
    """NLTK's word_tokenize, with sentences cut without its trained model of English abbreviations.

    The model is a download of its own. It decides only whether a full stop inside a run of text is a word by itself.
    """
    sentences, words = _tokenizers()
    return tuple(word for sentence in sentences.tokenize(text) for word in words.tokenize(sentence))


@lru_cache(maxsize=1)
def _tokenizers():
    # Importing any part of NLTK imports most of it, a second that texts without Latin words need not wait for.
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer(), NLTKWordTokenizer()


_DUREADER_LEFT_OUT = str.maketrans("", "", ":_`，。：？！()“”；’《》·、,「」（）－～『』|")
_HAN = "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
# "=" stands alone as a Han character does; whatever lies between, blanks too, is one segment.
_DUREADER_RUNS = re.compile(f"[{_HAN}=]|[^{_HAN}=]+")


def _dureader_kept(text: str) -> str:
    return text.lower().translate(_DUREADER_LEFT_OUT)


_RULES: Mapping[str, _Rule] = {
    "cmrc2018": _Rule(_cmrc_kept, _cmrc_segments),
    "dureader_robust": _Rule(_dureader_kept, _DUREADER_RUNS.findall),
}
