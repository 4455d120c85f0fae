"""Training speed of ernie_pp beside PaddleNLP's own Trainer: the same ERNIE, the same rows, real tokens per second.

    python tools/bench_train.py --data train.tsv --vocab vocab.txt --peer peer_trainer.py

The peer is a script that takes --data, --vocab, --rows, --layers, --hidden, --max-length, --batch and --warmup (steps
that are not counted), trains with PaddleNLP's Trainer and prints one JSON line with `real_tokens_per_s`; ours is the
ordinary `python -m ernie_pp.tasks.cls`. Both run in turn, each in processes of its own: as each comes, and with the
math library's fast path and the same number of threads for both. The last line has both ratios; the exit code is 1
when one falls short.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
WARMUP_STEPS = 3


def main() -> int:
    """Run the comparison and return the exit code."""
    arguments = parse_arguments()
    fast = fast_math_environment()
    plain = {name: value for name, value in os.environ.items() if name not in fast}
    rows = []
    for title, environment, minimum in (
        ("as each comes", plain, arguments.minimum_plain),
        ("same math settings", {**plain, **fast}, arguments.minimum_tuned),
    ):
        peer = run_peer(arguments, environment)
        ours = run_ours(arguments, plain)
        rows.append((title, peer, ours, ours / peer, minimum))
        print(f"{title:20} PaddleNLP Trainer {peer:8,.0f}   ernie_pp {ours:8,.0f} real tokens/s   {ours / peer:.2f} x")
    verdicts = [f"{title}: {ratio:.2f} (at least {minimum})" for title, _, _, ratio, minimum in rows]
    print("ratios " + "; ".join(verdicts))
    return 0 if all(ratio >= minimum for _, _, _, ratio, minimum in rows) else 1


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED / "data" / "chnsenticorp" / "train.tsv")
    parser.add_argument("--vocab", type=Path, default=SHARED / "data" / "vocab_ernie_3.0" / "vocab.txt")
    parser.add_argument("--peer", type=Path, default=SHARED / "bench" / "peer_trainer.py")
    for name, value in (("rows", 384), ("layers", 4), ("hidden", 256), ("max-length", 256), ("batch", 16)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--minimum-plain", type=float, default=3.0, metavar="RATIO")
    parser.add_argument("--minimum-tuned", type=float, default=1.3, metavar="RATIO")
    arguments = parser.parse_args()
    for path in (arguments.data, arguments.vocab, arguments.peer):
        if not path.is_file():
            parser.error(f"{path} is not there; name another file")
    return arguments


def fast_math_environment() -> dict[str, str]:
    """What ernie_pp sets for the math library, as variables: its path on this CPU, and its threads."""
    from ernie_pp.machine.cpu import MATH_SWITCH, choose_math_switch, count_cores, read_cpu_info

    maker, _, flags = read_cpu_info()
    switch = choose_math_switch(maker, flags)
    threads = {"OMP_NUM_THREADS": str(count_cores()), "OMP_WAIT_POLICY": "PASSIVE"}
    return threads if switch is None else {MATH_SWITCH: switch, **threads}


def run_peer(arguments: argparse.Namespace, environment: dict[str, str]) -> float:
    """Real tokens/s of PaddleNLP's Trainer."""
    words = [f"--{name}" for name in ("rows", "layers", "hidden", "max-length", "batch")]
    values = [arguments.rows, arguments.layers, arguments.hidden, arguments.max_length, arguments.batch]
    options = [word for pair in zip(words, map(str, values), strict=True) for word in pair]
    data = ["--data", str(arguments.data), "--vocab", str(arguments.vocab), "--warmup", str(WARMUP_STEPS)]
    output = run([str(arguments.peer), *data, *options], environment)
    return json.loads(output.strip().splitlines()[-1])["real_tokens_per_s"]


def run_ours(arguments: argparse.Namespace, environment: dict[str, str]) -> float:
    """Real tokens/s of ernie_pp on the same rows, from the times in its log."""
    with tempfile.TemporaryDirectory() as folder:
        lines = arguments.data.read_text(encoding="utf-8").split("\n")[: arguments.rows + 1]
        (Path(folder) / "train.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (Path(folder) / "dev.tsv").write_text("\n".join(lines[:33]) + "\n", encoding="utf-8")
        config = Path(folder) / "config.yaml"
        config.write_text(json.dumps(our_config(arguments, folder)), encoding="utf-8")
        run(["-m", "ernie_pp.tasks.cls", "--config", str(config)], environment)
        log = (Path(folder) / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [line for line in map(json.loads, log) if line["kind"] == "train"]
    tokens = sum(line["tokens_per_s"] * line["step_time_s"] for line in steps[WARMUP_STEPS:])
    return tokens / (steps[-1]["time"] - steps[WARMUP_STEPS - 1]["time"])


def our_config(arguments: argparse.Namespace, folder: str) -> dict:
    """The peer's settings in our words."""
    sizes = {
        "vocab": str(arguments.vocab),
        "num_layers": arguments.layers,
        "hidden_size": arguments.hidden,
        "num_heads": arguments.hidden // 64,
    }
    return {
        "task": "cls",
        "output_dir": f"{folder}/run",
        "data": {"train": "train.tsv", "dev": "dev.tsv", "text": "text_a"},
        "text": {"max_length": arguments.max_length},
        "model": {"sizes": sizes},
        "train": {"epochs": 1, "batch_size": arguments.batch, "learning_rate": 1e-4, "log_every": 1},
        "export": {"enabled": False},
    }


def run(words: list[str], environment: dict[str, str]) -> str:
    """Standard output of a Python process; its errors on ours when it fails."""
    path = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env={**environment, "PYTHONPATH": path}, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
