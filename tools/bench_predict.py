"""Speed and memory of `ernie-pp predict` over a file as large as you like: the given rows again and again.

    python tools/bench_predict.py --bundle BUNDLE --input rows.jsonl --megabytes 100

Prints documents, characters and megabytes a second, and the most memory after each quarter: it must not grow.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Make the file, predict it in a process of its own, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", required=True)
    parser.add_argument("--input", type=Path, required=True, help="JSON lines with a text")
    parser.add_argument("--megabytes", type=float, default=0.0, help="size of the file (default: the rows once)")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "rows.jsonl"
        rows, characters = _write(path, words.input, int(words.megabytes * 1e6))
        size = path.stat().st_size / 1e6
        print(f"{rows} documents, {characters} characters, {size:.1f} MB")
        seconds, peaks = _predict(words.bundle, path, Path(scratch) / "predicted.jsonl")
        entities = _count(Path(scratch) / "predicted.jsonl")
    print(f"{rows / seconds:.1f} documents/s, {characters / seconds:,.0f} characters/s, {entities} entities found")
    print("resident MiB after each quarter: " + ", ".join(f"{peak / 2**20:.0f}" for peak in peaks))


def _write(path: Path, source: Path, num_bytes: int) -> tuple[int, int]:
    texts = [json.loads(line)["text"] for line in source.read_text(encoding="utf-8").split("\n") if line]
    rows = characters = written = 0
    with open(path, "w", encoding="utf-8") as file:
        while rows == 0 or written < num_bytes:
            for text in texts:
                line = json.dumps({"text": text}, ensure_ascii=False) + "\n"
                file.write(line)
                rows, characters, written = rows + 1, characters + len(text), written + len(line.encode())
                if rows >= len(texts) and written >= num_bytes:
                    break
    return rows, characters


def _predict(bundle: str, source: Path, output: Path) -> tuple[float, list[int]]:
    """(seconds of the whole process, resident bytes at the end of each quarter of them)."""
    start, seen = time.monotonic(), []
    command = [sys.executable, "-m", "ernie_pp.cli", "predict", "--bundle", bundle, "--input", str(source)]
    process = subprocess.Popen([*command, "--output", str(output)], cwd=ROOT)
    watcher = threading.Thread(target=_watch, args=(process, seen), daemon=True)
    watcher.start()
    code = process.wait()
    watcher.join()
    if code:
        sys.exit(code)
    quarters = [seen[min(len(seen) * part // 4, len(seen) - 1)] for part in (1, 2, 3, 4)] if seen else []
    return time.monotonic() - start, quarters


def _watch(process: subprocess.Popen, seen: list[int]) -> None:
    while process.poll() is None:
        try:
            pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return
        seen.append(int(pages) * 4096)
        time.sleep(0.2)


def _count(path: Path) -> int:
    with open(path, encoding="utf-8") as file:
        return sum(len(json.loads(line)["entities"]) for line in file)


if __name__ == "__main__":
    main()
