"""Fields of real announcements: a bundle, regular expressions on cues and the training dictionary, in one table.

    python tools/bench_fields.py ../shared/data/fddc_contracts --bundle runs/fddc/bundle

The folder holds train.jsonl and dev.jsonl, rows with `text` and `fields` (name: value). Each method finds mentions
labelled with a field's name; fields are filled and compared as `ernie-pp review` does it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.data.faults import Faults
from ernie_pp.errors import ErniePPError
from ernie_pp.review.baselines import CUE_FIELDS, CueFinder, DictionaryFinder
from ernie_pp.review.evaluate import FieldOutcome, ReviewFigures, compare_field, measure_fields, read_gold
from ernie_pp.review.fields import fill_fields
from ernie_pp.review.sources import SourceDocument, SourceSettings, read_sources

FindMentions = Callable[[Sequence[str]], Sequence[tuple[Mention, ...]]]
GOLD = "fields"
# The score of expressions on a label and a colon, which alone say the role of what follows.
LABEL_CUE = 0.9
WEIGHT = 0.6


def main() -> int:
    """Print a row a method."""
    options = _parse()
    try:
        train, dev = (_read(options.data / f"{name}.jsonl") for name in ("train", "dev"))
        print(_line("", [*CUE_FIELDS, "micro", "95 %", "macro", "docs/s"]))
        for name, find in _methods(train, options.bundle):
            start = time.perf_counter()
            figures = _measure(dev, find, threshold=options.threshold)
            print(_row(name, figures, len(dev) / (time.perf_counter() - start)))
    except ErniePPError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with train.jsonl and dev.jsonl")
    parser.add_argument("--bundle", help="bundle of task ner, trained on that train.jsonl")
    parser.add_argument("--threshold", type=float, default=0.4, help="confidence a field needs (default 0.4)")
    return parser.parse_args()


def _methods(train: Sequence[SourceDocument], bundle: str | None) -> Iterator[tuple[str, FindMentions]]:
    cues = CueFinder()
    yield "expressions on label cues (甲方：…)", lambda texts: [_above(one, LABEL_CUE) for one in cues(texts)]
    yield "all expressions", cues
    yield "dictionary", DictionaryFinder((one.text, dict(zip(CUE_FIELDS, _golds(one), strict=True))) for one in train)
    if bundle is not None:
        from ernie_pp.serving import Predictor  # loads Paddle, which the others do without

        predictor = Predictor(bundle)
        yield "bundle", lambda texts: [prediction.mentions for prediction in predictor(texts)]
        yield "bundle and all expressions", partial(_both, predictor, cues)


def _above(mentions: Sequence[Mention], least: float) -> tuple[Mention, ...]:
    return tuple(one for one in mentions if one.score >= least)


def _both(predictor: Callable[[Sequence[str]], Sequence[Any]], cues: FindMentions, texts: Sequence[str]) -> list:
    """What either finds; the model's scores are weighted, so that a cue that is there decides."""
    found = zip(predictor(texts), cues(texts), strict=True)
    return [(*(replace(m, score=WEIGHT * m.score) for m in one.mentions), *others) for one, others in found]


def _read(path: Path) -> list[SourceDocument]:
    return list(read_sources(path, SourceSettings(gold=GOLD), Faults()))


def _golds(document: SourceDocument) -> list[tuple[str, ...]]:
    fields = document.fields[GOLD]
    values = fields if isinstance(fields, dict) else {}
    return [read_gold(values.get(name), where=f"{document.place} {name}") for name in CUE_FIELDS]


def _measure(documents: Sequence[SourceDocument], find: FindMentions, *, threshold: float) -> ReviewFigures:
    configs = [FieldConfig(name=name, labels=(name,), threshold=threshold) for name in CUE_FIELDS]
    outcomes: list[list[FieldOutcome]] = []
    for document, mentions in zip(documents, find([one.text for one in documents]), strict=True):
        fields = fill_fields(document.text, mentions, configs)
        golds = _golds(document)
        outcomes.append([compare_field(*one) for one in zip(fields, golds, configs, strict=True)])
    return measure_fields(outcomes)


def _row(name: str, figures: ReviewFigures, speed: float) -> str:
    low, high = figures.interval
    numbers = [f"{figures.fields[field][0].f1:.3f}" for field in CUE_FIELDS]
    numbers += [f"{figures.micro.f1:.3f}", f"{low:.3f} to {high:.3f}", f"{figures.macro_f1:.3f}", f"{speed:.0f}"]
    return _line(name, numbers)


def _line(name: str, cells: Sequence[str]) -> str:
    return "| " + " | ".join([name, *cells]) + " |"


if __name__ == "__main__":
    sys.exit(main())
