"""Clients that ask a server at once: errors, waiting times, throughput beside direct calls, and memory over time.

    python tools/bench_serve.py --bundle BUNDLE --texts FILE [--clients 64] [--seconds 120] [--minutes-soak 20]

FILE holds a text a line. A server of its own is started for the bundle. `direct` is the same Predictor called with as
many texts at a time as the clients have under way, in a process alone on the machine, before the server is started; the
clients run beside the server and take a share of the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ernie_pp.machine.describe import describe_machine  # noqa: E402
from ernie_pp.serving import Predictor  # noqa: E402
from ernie_pp.serving.http.metrics import resident_bytes  # noqa: E402

_DIRECT_S = 10.0
_SAMPLE_S = 5.0


def main() -> None:
    """Print what was measured."""
    words = _parse()
    texts = [line.strip() for line in Path(words.texts).read_text(encoding="utf-8").splitlines() if line.strip()]
    if words.direct:
        print(_direct(words, texts))
        return
    machine = describe_machine()
    print(f"machine: {machine['cores']} cores, {machine['memory']}, Paddle {machine.get('paddlepaddle')}")
    alone = [sys.executable, __file__, *sys.argv[1:], "--direct"]
    done = subprocess.run(alone, stdout=subprocess.PIPE, text=True, check=True)
    direct = float(done.stdout.strip().splitlines()[-1])
    print(f"direct: {direct:.0f} texts/s in batches of {words.clients * words.per_request}", flush=True)
    with tempfile.NamedTemporaryFile() as log, subprocess.Popen(_command(words), stderr=log) as process:
        try:
            asyncio.run(_measure(words, texts, _port(Path(log.name), process), process.pid, direct))
        finally:
            process.terminate()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", required=True)
    parser.add_argument("--texts", required=True, help="a text a line, of mixed lengths")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--per-request", type=int, default=1, help="texts of a request")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--minutes-soak", type=float, default=0.0, help="go on so long, and compare memory")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--direct", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _direct(words: argparse.Namespace, texts: list[str]) -> float:
    """Texts a second of the Predictor alone."""
    predictor, chosen = Predictor(words.bundle, threads=words.threads), random.Random(0)
    size = words.clients * words.per_request
    batches = [chosen.choices(texts, k=size) for _ in range(20)]
    predictor(batches[0])
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < _DIRECT_S:
        predictor(batches[count % len(batches)])
        count += 1
    return count * size / (time.perf_counter() - start)


def _command(words: argparse.Namespace) -> list[str]:
    serve = [sys.executable, "-m", "ernie_pp.cli", "serve", "--bundle", words.bundle]
    return [*serve, "--port", "0", "--threads", str(words.threads)]


def _port(log: Path, process: subprocess.Popen) -> int:
    while process.poll() is None:
        found = re.search(r"http://[^:]+:(\d+)/", log.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
        time.sleep(0.1)
    sys.exit(log.read_text(encoding="utf-8"))


async def _measure(words: argparse.Namespace, texts: list[str], port: int, pid: int, direct: float) -> None:
    while (await _get(port, "/healthz"))[0] != 200:
        await asyncio.sleep(0.2)
    total_s = max(words.seconds, 60 * words.minutes_soak)
    seconds: list[float] = []
    errors: list[int] = []
    end = time.monotonic() + total_s
    clients = [_client(port, texts, words.per_request, end, seconds, errors, seed) for seed in range(words.clients)]
    begun = time.monotonic()
    watching = asyncio.create_task(_watch(port, pid, end))
    await asyncio.gather(*clients)
    memory = await watching
    rate = len(seconds) * words.per_request / (time.monotonic() - begun)
    seconds.sort()
    p50, p99 = (1000 * seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.99))
    print(f"served: {len(seconds)} requests of {words.clients} clients in {total_s:.0f} s, {len(errors)} errors")
    print(f"        {rate:.0f} texts/s, {rate / direct:.2f} of direct; p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    early = next((size for at, size in memory if at >= 60), memory[0][1])
    print(f"memory: {early / 2**20:.0f} MiB after a minute, {memory[-1][1] / 2**20:.0f} MiB at the end")


async def _client(port, texts, count, end, seconds, errors, seed) -> None:
    chosen = random.Random(seed)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < end:
        body = json.dumps({"texts": chosen.choices(texts, k=count)}).encode()
        start = time.monotonic()
        status, _ = await _ask(reader, writer, "POST", "/v1/predict", body)
        if status == 200:
            seconds.append(time.monotonic() - start)
        else:
            errors.append(status)
    writer.close()


async def _watch(port: int, pid: int, end: float) -> list[tuple[float, int]]:
    """(seconds from the start, resident bytes of the server and its worker)."""
    begun, found = time.monotonic(), []
    while time.monotonic() < end:
        await asyncio.sleep(min(_SAMPLE_S, max(0.1, end - time.monotonic())))
        _, text = await _get(port, "/metrics")
        worker = float(re.findall(rb"worker_memory_bytes\{.*\} (\S+)", text)[0])
        found.append((time.monotonic() - begun, int(worker) + resident_bytes(pid)))
    return found


async def _get(port: int, path: str) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await _ask(reader, writer, "GET", path, b"")
    finally:
        writer.close()


async def _ask(reader, writer, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    lines = (f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json")
    writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
    status = int((await reader.readline()).split()[1])
    length = 0
    while (line := await reader.readline()) != b"\r\n":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return status, await reader.readexactly(length)


if __name__ == "__main__":
    main()
