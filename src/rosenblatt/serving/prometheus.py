"""Metrics for Prometheus: requests as they come, and what each model has learned when it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rosenblatt.serving.writer import Writer

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """The metrics of one service."""

    media = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "rosenblatt_requests", "Requests by route and status.", ("route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "rosenblatt_request_seconds", "Time to answer.", ("route",), registry=self.registry, buckets=SECONDS
        )
        names = {
            "seq": "Sequence number of the last change.",
            "rows": "Rows learned.",
            "error": "Error of the predictions before each row was learned.",
            "windowed_error": "The same over the last rows.",
            "waiting": "Rows that wait for a label.",
            "queued": "Changes that wait.",
            "snapshot_seconds": "When the last snapshot was written, in seconds since 1970.",
        }
        self.gauges = {
            name: Gauge(f"rosenblatt_model_{name}", text, ("model",), registry=self.registry)
            for name, text in names.items()
        }

    def count(self, scope: Mapping[str, Any], status: int, seconds: float) -> None:
        """Count a request, by its route: its path could be anything."""
        route = getattr(scope.get("route"), "path", "other")
        self.requests.labels(route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self, writers: Mapping[str, Writer]) -> bytes:
        """Return all metrics."""
        for gauge in self.gauges.values():
            gauge.clear()
        for name, writer in writers.items():
            state = writer.model.state
            record = state.record
            values = {
                "seq": state.seq,
                "rows": record.rows,
                "error": record.error,
                "windowed_error": record.windowed,
                "waiting": len(state.waiting),
                "queued": writer.queue.qsize(),
                "snapshot_seconds": writer.store.snapshots()[-1].time,
            }
            for key, value in values.items():
                if value is not None:
                    self.gauges[key].labels(name).set(value)
        return generate_latest(self.registry)
