"""Every head on every public set of entities: dev figures beside the dictionary of the training entities.

    python tools/bench_entities.py --data DATA --model FOLDER --output RUNS [--sets NAME ...] [--heads NAME ...]

DATA holds the sets' folders as tools/entity_sets/sets.py names them. Each run has a folder in RUNS, with its report
and per-type table; a run that is finished there is not made again. The table is printed at the end, and as it grows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.entity_sets.sets import SETS, EntitySet, files_of  # noqa: E402

HEADS = ("softmax", "crf", "global_pointer")
COLUMNS = ("set", "head", "documents", "dev F1", "precision", "recall", "dictionary F1", "bundle rows", "minutes")


def main() -> None:
    """Train what is asked for, and print the table."""
    words = _parse()
    words.output.mkdir(parents=True, exist_ok=True)
    print(" | ".join(COLUMNS), flush=True)
    for one in (one for one in SETS if one.name in words.sets):
        for head in words.heads:
            print(" | ".join(_row(one, head, words)), flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [one.name for one in SETS]
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=names, choices=names)
    parser.add_argument("--heads", nargs="+", default=list(HEADS), choices=HEADS)
    parser.add_argument("--epochs", type=float, help="instead of those of the sets")
    parser.add_argument("--learning-rate", default="1e-3")
    return parser.parse_args()


def _row(one: EntitySet, head: str, words: argparse.Namespace) -> list[str]:
    folder, start = words.output / f"{one.name}-{head}", time.monotonic()
    if not (folder / "metrics.json").is_file():
        _train(one, head, folder, words)
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    manifest = json.loads((folder / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    dev, parity = metrics["dev"], manifest["parity"]
    figures = [dev["micro_f1"], dev["micro_precision"], dev["micro_recall"], metrics["baseline"]["micro_f1"]]
    same = f"{parity['num_rows'] - parity['num_different_decisions']} of {parity['num_rows']} same"
    minutes = f"{(time.monotonic() - start) / 60:.1f}"
    return [one.name, head, str(dev["num_rows"]), *(f"{figure:.4f}" for figure in figures), same, minutes]


def _train(one: EntitySet, head: str, folder: Path, words: argparse.Namespace) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".log"), "w", encoding="utf-8") as log:
        command = [sys.executable, "-m", "ernie_pp.tasks.ner", "--config", str(ROOT / "configs/ner/base.yaml")]
        done = subprocess.run([*command, *_settings(one, head, folder, words)], stdout=log, stderr=log, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{one.name} with {head} ended with {done.returncode}: see {folder.with_suffix('.log')}")


def _settings(one: EntitySet, head: str, folder: Path, words: argparse.Namespace) -> Iterator[str]:
    train, dev = files_of(one, words.data, words.output)
    yield from (f"data.train={train}", f"data.dev={dev}", f"model.path={words.model}", f"output_dir={folder}")
    yield from (f"ner.head={head}", f"text.max_length={one.max_length}", f"train.batch_size={one.batch_size}")
    yield from (f"train.learning_rate={words.learning_rate}", f"train.epochs={words.epochs or one.epochs}")
    yield from ("export.check_rows=500", "checkpoint.enabled=false", "overwrite=true")
    if one.has_nested and head != "global_pointer":
        yield "ner.overlaps=longest"
    yield from (f"{key}={value}" for key, value in one.settings.items())


if __name__ == "__main__":
    main()
