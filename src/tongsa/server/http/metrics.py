"""The metrics that /metrics reports to Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of one service, with its own registry, so that several services can run in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("tongsa_requests", "Requests answered", ["path", "status"], registry=self.registry)
        self.seconds = Histogram(
            "tongsa_request_seconds", "Seconds until the answer", ["path"], buckets=_SECONDS, registry=self.registry
        )
        self._characters = Counter(
            "tongsa_characters", "Characters translated", ["source", "target"], registry=self.registry
        )
        self.reloads = Counter("tongsa_reloads", "Translators reloaded", ["outcome"], registry=self.registry)
        self._batches = Histogram(
            "tongsa_batch_pieces", "Sentences that shared a batch", buckets=_SIZES, registry=self.registry
        )
        self._tokens = Counter("tongsa_tokens", "Source tokens through the engines", registry=self.registry)
        self._engine_seconds = Counter("tongsa_engine_seconds", "Seconds that engines worked", registry=self.registry)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        self.requests.labels(path, status).inc()
        self.seconds.labels(path).observe(seconds)

    def count_characters(self, source: str, target: str, characters: int) -> None:
        self._characters.labels(source, target).inc(characters)

    def count_batch(self, pieces: int, tokens: int, seconds: float) -> None:
        self._batches.observe(pieces)
        self._tokens.inc(tokens)
        self._engine_seconds.inc(seconds)

    def add_gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is read whenever the metrics are requested."""
        Gauge(name, about, registry=self.registry).set_function(value)

    def text(self) -> bytes:
        return generate_latest(self.registry)
