"""Seconds a question, and memory, of a bundle that answers questions to documents of growing length.

    python tools/bench_questions.py --bundle BUNDLE [--characters N ...] [--questions N] [--threads N] [--ranked N]

Each length is measured in a process of its own: a document of so many characters, made of clauses that say something
else each time, is asked so many questions one after the other. `peak MiB` is the largest resident memory of the whole
process, the model and Python included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ernie_pp.machine.describe import describe_machine  # noqa: E402
from ernie_pp.serving import Predictor  # noqa: E402

COLUMNS = ("characters", "questions", "windows a question", "seconds a question", "peak MiB")
_CLAUSES = (
    "第{0}条 第{0}批货物由甲方于{1}年{2}月{3}日前送至{4}号仓库，",
    "乙方在收到货物后{3}日内支付货款人民币{5}元，",
    "逾期一日按未付金额的千分之{2}支付违约金。",
    "双方联系人为第{0}项目组，通知以书面方式送达。\n",
)
_QUESTIONS = (
    "第{0}批货物由谁送达？",
    "第{0}批货物的货款是多少？",
    "逾期付款如何承担违约责任？",
    "第{0}批货物何时送达？",
)


def main() -> None:
    """Print a row a length."""
    words = _parse()
    if words.child is not None:
        print(json.dumps(_measure(words, words.child)))
        return
    machine = describe_machine()
    print(f"machine: {machine['cores']} cores, {machine['memory']}, Paddle {machine.get('paddlepaddle')}")
    print(" | ".join(COLUMNS), flush=True)
    for length in words.characters:
        print(" | ".join(_row(length)), flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", required=True)
    parser.add_argument("--characters", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ranked", type=int, help="read only the so many windows most like a question")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _row(length: int) -> list[str]:
    command = [sys.executable, __file__, *sys.argv[1:], "--child", str(length)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    shown = f"{found['windows']:.1f}", f"{found['seconds']:.3f}", f"{found['peak_mib']:.0f}"
    return [f"{length:,}", str(found["questions"]), *shown]


def _measure(words: argparse.Namespace, length: int) -> dict[str, float]:
    predictor = Predictor(words.bundle, threads=words.threads)
    if words.ranked is not None:
        predictor.bundle.manifest["text"]["ranked_windows"] = words.ranked
    document = build_document(length)
    questions = [_QUESTIONS[index % len(_QUESTIONS)].format(7 * index + 1) for index in range(words.questions)]
    windows = len(predictor.encode(questions[:1], [document]))
    start = time.perf_counter()
    predictor(questions, [document] * len(questions))
    seconds = (time.perf_counter() - start) / len(questions)
    return {"questions": len(questions), "windows": windows, "seconds": seconds, "peak_mib": _peak_mib()}


def build_document(length: int) -> str:
    """A contract of exactly `length` characters whose clauses are all different."""
    parts, size, number = [], 0, 0
    while size < length:
        number += 1
        values = (number, 2000 + number % 30, 1 + number % 12, 1 + number % 28, number % 900, 1000 + 37 * number)
        parts.append("".join(clause.format(*values) for clause in _CLAUSES))
        size += len(parts[-1])
    return "".join(parts)[:length]


def _peak_mib() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


if __name__ == "__main__":
    main()
