"""How fast bundles answer on this machine, beside each other, and with which settings each is fastest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ernie_pp.choices import Math
from ernie_pp.errors import ConfigError
from ernie_pp.export.bundle import Bundle, open_bundle
from ernie_pp.export.runtime_choice import RuntimeOptions, read_choice, write_choice
from ernie_pp.export.sessions import open_session
from ernie_pp.export.stopwatch import Shape, make_batch, time_interleaved
from ernie_pp.machine import count_cores, describe_machine, switch_math
from ernie_pp.progress import track

# Timings vary by so much from run to run: less is no difference.
NOISE = 1.1


@dataclass(frozen=True)
class BenchOptions:
    """The words of `ernie-pp bench`; `write` keeps the fastest settings of each bundle in it."""

    bundles: Sequence[str]
    rows: Sequence[int] = (1, 32)
    lengths: Sequence[int] = (64, 128, 512)
    threads: Sequence[int] | None = None
    rounds: int = 5
    math: Math = "auto"
    write: bool = False


@dataclass(frozen=True)
class _Measured:
    """Seconds a batch by shape, of one bundle with some settings: the least of all rounds."""

    bundle: Bundle
    options: RuntimeOptions
    seconds: tuple[float, ...]


def run_bench(options: BenchOptions) -> str:
    """The table for the screen; with `write` a line more a bundle."""
    switch_math(options.math, off="math: off")
    bundles = [open_bundle(folder) for folder in options.bundles]
    shapes = [Shape(rows, length) for rows in options.rows for length in options.lengths]
    _check_lengths(bundles, shapes)
    threads = list(options.threads or sorted({1, count_cores()}))
    lines = [_say_machine()]
    for count in threads:
        settings = [replace(read_choice(one), threads=count) for one in bundles]
        measured = _measure(list(zip(bundles, settings, strict=True)), shapes, options.rounds)
        lines += ["", f"{count} thread{'' if count == 1 else 's'}", *_table(measured, shapes)]
    if options.write:
        lines += ["", *(_write_best(bundle, shapes, threads, options.rounds) for bundle in bundles)]
    return "\n".join(lines)


def _check_lengths(bundles: Sequence[Bundle], shapes: Sequence[Shape]) -> None:
    longest = max(shape.length for shape in shapes)
    for bundle in bundles:
        limit = bundle.manifest["text"]["max_length"]
        if longest > limit:
            what = f"{longest} tokens, and {bundle.folder} reads {limit} at most"
            raise ConfigError("--lengths", what, f"Give lengths up to {limit}.")


def _measure(jobs: Sequence[tuple[Bundle, RuntimeOptions]], shapes: Sequence[Shape], rounds: int) -> list[_Measured]:
    sessions = [open_session(bundle, options) for bundle, options in jobs]
    seconds: list[list[float]] = [[] for _ in jobs]
    with track("measuring", len(shapes), unit="shapes") as tracker:
        for shape in shapes:
            # Ids that every vocabulary has; which ones they are changes no time.
            batch = make_batch(shape)
            for index, found in enumerate(time_interleaved([one.run for one in sessions], batch, rounds=rounds)):
                seconds[index].append(found)
            tracker.advance(1)
    return [_Measured(*job, tuple(found)) for job, found in zip(jobs, seconds, strict=True)]


def _table(measured: Sequence[_Measured], shapes: Sequence[Shape]) -> Iterator[str]:
    first, width = measured[0], max(len(_name(one.bundle)) for one in measured)
    yield _line("", "size", [f"{shape.rows} x {shape.length}" for shape in shapes], width)
    for one in measured:
        cells = [
            f"{1000 * ours:.1f} ms" if one is first else f"{theirs / ours:.2f} x"
            for ours, theirs in zip(one.seconds, first.seconds, strict=True)
        ]
        yield _line(_name(one.bundle), _size(one.bundle), cells, width)
    yield from (_verdict(one, first) for one in measured[1:])


def _line(name: str, size: str, cells: Sequence[str], width: int) -> str:
    return f"{name:{width}}  {size:>8}" + "".join(f"{cell:>10}" for cell in cells)


def _verdict(one: _Measured, first: _Measured) -> str:
    ratio = _mean_ratio(first.seconds, one.seconds)
    if 1 / NOISE < ratio < NOISE:
        return f"{_name(one.bundle)} is as fast as {_name(first.bundle)} ({ratio:.2f} x: no more than noise)"
    word = "faster" if ratio > 1 else "slower"
    return f"{_name(one.bundle)} is {word} than {_name(first.bundle)}: {ratio:.2f} x"


def _mean_ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    logs = [math.log(one / other) for one, other in zip(theirs, ours, strict=True)]
    return math.exp(sum(logs) / len(logs))


def _write_best(bundle: Bundle, shapes: Sequence[Shape], threads: Sequence[int], rounds: int) -> str:
    is_paddle = bundle.manifest["format"].startswith("inference")
    switches = [True, False] if is_paddle else [True]
    candidates = [
        RuntimeOptions(threads=count, onednn=onednn, memory_optim=memory)
        for count, onednn, memory in itertools.product(threads, switches, [False, True] if is_paddle else [False])
        if onednn or bundle.precision == "fp32"
    ]
    measured = _measure([(bundle, one) for one in candidates], shapes, rounds)
    plain = next(one for one in measured if one.options == RuntimeOptions(threads=max(threads)))
    best = max(measured, key=lambda one: _mean_ratio(plain.seconds, one.seconds))
    ratio = _mean_ratio(plain.seconds, best.seconds)
    chosen = best if ratio > NOISE else plain
    path = write_choice(bundle, chosen.options)
    said = f"{chosen.options.threads} threads, oneDNN {_on(chosen.options.onednn)}"
    return f"{path}: {said}, memory optimisation {_on(chosen.options.memory_optim)} ({ratio:.2f} x the default)"


def _on(is_on: bool) -> str:
    return "on" if is_on else "off"


def _name(bundle: Bundle) -> str:
    return f"{Path(bundle.folder).name} ({bundle.manifest['format']} {bundle.precision})"


def _size(bundle: Bundle) -> str:
    names = bundle.spec.files
    return f"{sum((bundle.folder / name).stat().st_size for name in names) / 1e6:.1f} MB"


def _say_machine() -> str:
    machine = describe_machine()
    return f"machine: {machine['cores']} cores, {machine['memory']}, Paddle {machine.get('paddlepaddle')}"
