"""What the server counts, as Prometheus reads it.

Promise: names and meanings; no label holds a name that somebody chose (projects, runs, paths): only codes and statuses
of ours. Counters begin at 0 with the process.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

__all__ = ["Metrics"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper ends of the commit latencies that are told apart, in seconds."""


class Metrics:
    """The counters of one process; safe in threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._refused: Counter[str] = Counter()
        self._answers: Counter[int] = Counter()
        self._latency = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self.uploads = self.accepted = self.replayed = self.duplicates = self.bytes = 0

    def refused(self, code: str) -> None:
        """A request was refused with this code."""
        with self._guard:
            self._refused[code] += 1

    def answered(self, status: int) -> None:
        """A request was answered with this status."""
        with self._guard:
            self._answers[status] += 1

    def committed(self, *, accepted: int, duplicates: int, size: int, replayed: bool, seconds: float) -> None:
        """An upload was committed, or answered from memory when it was a replay."""
        with self._guard:
            if replayed:
                self.replayed += 1
                return
            self.uploads += 1
            self.accepted += accepted
            self.duplicates += duplicates
            self.bytes += size
            self._seconds += seconds
            self._latency[next((i for i, edge in enumerate(BUCKETS) if seconds <= edge), len(BUCKETS))] += 1

    def lines(self, **gauges: float | None) -> Iterator[str]:
        """The text format, one line after the other; `gauges` are what others measured (None: left out)."""
        with self._guard:
            refused, answers = sorted(self._refused.items()), sorted(self._answers.items())
            latency, seconds = list(self._latency), self._seconds
            plain = {
                "uploads_committed": (self.uploads, "Uploads that were committed."),
                "uploads_replayed": (self.replayed, "Uploads that were known already."),
                "lines_accepted": (self.accepted, "Episodes and traces that were stored."),
                "lines_duplicate": (self.duplicates, "Episodes and traces that were stored already."),
                "bytes_accepted": (self.bytes, "Unpacked bytes of the uploads that were committed."),
            }
        for name, (value, about) in plain.items():
            yield from _head(f"evh_{name}_total", "counter", about)
            yield f"evh_{name}_total {value}"
        yield from _head("evh_refused_total", "counter", "Requests that were refused, by code.")
        yield from (f'evh_refused_total{{code="{code}"}} {count}' for code, count in refused)
        yield from _head("evh_answers_total", "counter", "Requests that were answered, by status.")
        yield from (f'evh_answers_total{{status="{status}"}} {count}' for status, count in answers)
        yield from _head("evh_commit_seconds", "histogram", "From a whole request to its receipt.")
        total = 0
        for edge, count in zip((*BUCKETS, "+Inf"), latency, strict=True):
            total += count
            yield f'evh_commit_seconds_bucket{{le="{edge}"}} {total}'
        yield f"evh_commit_seconds_sum {seconds:.6f}"
        yield f"evh_commit_seconds_count {total}"
        for name, gauge in gauges.items():
            if gauge is not None:
                yield f"# TYPE evh_{name} gauge"
                yield f"evh_{name} {gauge:g}"


def _head(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"
