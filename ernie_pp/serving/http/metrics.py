"""Counts and times for Prometheus, in a registry of the server's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ernie_pp.serving.process import WorkerProcess

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_PAGE_BYTES = 4096


class Metrics:
    """What `/metrics` shows."""

    def __init__(self, workers: Iterable[WorkerProcess]) -> None:
        """Queues and memory are looked up in `workers` when they are asked for."""
        self._registry = CollectorRegistry()
        requests = ("ernie_pp_requests", "Requests by path and status")
        self.requests = Counter(*requests, ["path", "status"], registry=self._registry)
        latency = ("ernie_pp_request_seconds", "Seconds from a request's first byte to its answer")
        self.seconds = Histogram(*latency, ["path"], buckets=_SECONDS, registry=self._registry)
        tokens = ("ernie_pp_tokens", "Tokens computed, padding not counted")
        self.tokens = Counter(*tokens, ["bundle"], registry=self._registry)
        texts = ("ernie_pp_texts", "Texts and questions answered")
        self.texts = Counter(*texts, ["bundle"], registry=self._registry)
        self._registry.register(_Workers(list(workers)))

    def render(self) -> bytes:
        """Prometheus's text format."""
        return generate_latest(self._registry)


class _Workers(Collector):
    def __init__(self, workers: list[WorkerProcess]) -> None:
        self._workers = workers

    def collect(self) -> Iterator[Metric]:
        figures = {
            "ernie_pp_queue_requests": ("Requests that wait or are being answered", lambda one: one.num_requests),
            "ernie_pp_queue_characters": ("Characters of these", lambda one: one.num_characters),
            "ernie_pp_ready": ("1 where the bundle can be asked", lambda one: int(one.problem is None)),
            "ernie_pp_worker_restarts": ("Times the process was started again", lambda one: one.num_restarts),
            "ernie_pp_worker_memory_bytes": ("Resident memory of the process", lambda one: resident_bytes(one.pid)),
        }
        for name, (meaning, of) in figures.items():
            family = GaugeMetricFamily(name, meaning, labels=["bundle"])
            for worker in self._workers:
                family.add_metric([worker.name], of(worker))
            yield family
        yield GaugeMetricFamily(
            "ernie_pp_server_memory_bytes", "Resident memory of the front end", resident_bytes("self")
        )


def resident_bytes(pid: int | str | None) -> int:
    """Resident memory of a process of this machine; 0 where there is none, or the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0
