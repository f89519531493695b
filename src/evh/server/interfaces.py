"""The rooms of the storage half and what each promises to the others: the web half codes against these alone.

Promise
    `BlobStore` and `Segments` hold bytes, `Catalog` holds what finds them again, `Access` says who may ask. A method
    that a backend cannot answer with an index is not here. Every method of the catalog that reads or changes data of a
    project takes the `Principal` and looks at nothing outside its project: what is not there raises `ServerFault` with
    a 404, whoever else may have it. Methods block: call them in a thread from asynchronous code; all are thread-safe.
Policy
    Instants are microseconds since the epoch. Cursors are opaque text, bound to the filter, order and project that
    made them (`invalid_cursor` otherwise).
When it breaks
    `ServerFault` only: 503 `storage_unavailable` for a disk or database that does not answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Literal, Protocol

from evh.server.filters import And, Compare, Filter, Not, Or, everything
from evh.server.records import (
    CLOSED,
    SCOPES,
    BatchKey,
    BlobInfo,
    EnvironmentRow,
    EpisodeHead,
    EvaluationRow,
    EvaluationStatus,
    LineFormat,
    MetricsRow,
    Page,
    Placement,
    Principal,
    ProjectRow,
    Receipt,
    RunStep,
    RunSummary,
    SampleRow,
    Scope,
    TokenRow,
    TraceAggregate,
    TraceHead,
    TrainingRow,
    TrainingUpload,
    Usage,
)

__all__ = [
    "CLOSED", "SCOPES", "Access", "And", "BatchKey", "BlobInfo", "BlobStore", "Compare",
    "EnvironmentRow", "Environments", "EpisodeHead", "EvaluationRow", "EvaluationStatus", "Evaluations", "Filter",
    "Heads", "LineFormat", "MetricsRow", "Not", "Or", "Order", "Page", "Placement", "Principal", "ProjectRow",
    "Projects", "Receipt", "RunStep", "RunSummary", "Runs", "SampleRow", "Scope", "Segments", "TokenRow",
    "TraceAggregate", "TraceHead", "Training", "TrainingRow", "TrainingUpload", "Usage", "everything",
]  # fmt: skip

Order = Literal["-created_at", "created_at", "-ingested_at", "ingested_at"]
"""Newest or oldest first; ties by order of arrival."""


class BlobStore(Protocol):
    """Immutable named bytes. Keys are `/`-separated words of letters, digits, `.`, `_` and `-`."""

    def put_if_absent(self, key: str, source: bytes | IO[bytes]) -> bool:
        """Store durably; False, and nothing changed, when the key is taken. Whole or not at all."""
        ...

    def open_range(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` to before `stop`, in pieces. 404 `blob_not_found`."""
        ...

    def stat(self, key: str) -> BlobInfo | None: ...

    def list(self, prefix: str = "") -> Iterator[BlobInfo]:
        """By key, those that begin with `prefix`."""
        ...

    def delete(self, key: str) -> bool: ...


class Segments(Protocol):
    """Append-only files of lines; a placement is for ever."""

    def append(self, lines: Sequence[bytes]) -> list[Placement]:
        """Store the lines (without LF) durably, together, and say where each is."""
        ...

    def read(self, placement: Placement) -> bytes: ...

    def open_range(self, placement: Placement, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The line's bytes from `start` to before `stop`, in pieces of bounded size."""
        ...

    def scan(self, segment: str) -> Iterator[tuple[Placement, bytes]]:
        """Every line of a segment, acknowledged or not."""
        ...

    def seal(self) -> None:
        """Close the segment that is being written; the next append begins another."""
        ...

    def names(self) -> list[str]: ...

    def opened_at(self) -> float | None:
        """When the segment that is being written was begun, in epoch seconds; None when there is none."""
        ...

    def close(self) -> None: ...


class Projects(Protocol):
    """Administration: these methods take no principal."""

    def ensure(self, name: str) -> ProjectRow:
        """The project of that name, made when there is none."""
        ...

    def get(self, name: str) -> ProjectRow: ...
    def by_id(self, project: int) -> ProjectRow: ...
    def all(self) -> list[ProjectRow]: ...
    def limit(self, name: str, **limits: int | None) -> ProjectRow:
        """Set `max_bytes`, `max_episodes`, `bytes_per_second` or `episodes_per_second`."""
        ...

    def usage(self, project: int) -> Usage: ...


class Heads(Protocol):
    """Episodes and traces. Listings show the newest version of each and nothing that was deleted."""

    def episodes(
        self, who: Principal, where: Filter, *, order: Order, limit: int, cursor: str | None
    ) -> Page[EpisodeHead]: ...
    def traces(self, who: Principal, where: Filter, *, order: Order, limit: int, cursor: str | None) -> Page[TraceHead]:
        """`cursor` may be unknown or foreign text: 400 `invalid_cursor`."""
        ...

    def episode(self, who: Principal, episode_id: str, run_id: str | None = None) -> EpisodeHead:
        """The newest of that id (of that run). 404 `episode_not_found`."""
        ...

    def episode_versions(self, who: Principal, episode_id: str, run_id: str | None) -> list[EpisodeHead]: ...
    def episode_traces(self, who: Principal, head: EpisodeHead) -> list[TraceHead]:
        """The members that are not deleted, by position."""
        ...

    def trace_aggregate(self, who: Principal, head: EpisodeHead) -> TraceAggregate: ...
    def trace(self, who: Principal, trace_id: str) -> TraceHead: ...
    def delete_trace(self, who: Principal, trace_id: str, *, created_us: int | None = None) -> int:
        """Every stored copy becomes a tombstone; how many. 404 `trace_not_found`, on a repeat too."""
        ...

    def delete_run_traces(self, who: Principal, run_id: str) -> int:
        """All traces of a run; episodes stay. 404 `run_not_found`."""
        ...

    def receipt(self, who: Principal, key: str) -> Receipt | None: ...
    def upload_context(self, who: Principal, upload_id: str) -> dict[str, str] | None: ...


class Runs(Protocol):
    """Runs as their traces show them."""

    def runs(
        self, who: Principal, *, created_after: int | None, created_before: int | None, limit: int, cursor: str | None
    ) -> Page[RunSummary]: ...
    def run(self, who: Principal, run_id: str) -> RunSummary: ...
    def steps(self, who: Principal, run_id: str) -> list[RunStep]: ...


class Environments(Protocol):
    """The hub: a name is taken when it is first asked for. Without an owner it is the project's own."""

    def resolve(self, who: Principal, name: str, owner: str | None = None) -> EnvironmentRow: ...
    def get(self, who: Principal, environment_id: str) -> EnvironmentRow:
        """404 `environment_not_found`."""
        ...


class Evaluations(Protocol):
    """Runs that a producer opened. A second `create` with the same `metadata.evh.run_id` is the first one."""

    def create(self, who: Principal, body: dict[str, Any]) -> tuple[EvaluationRow, bool]:
        """From the body of the wire's create call (already checked). True: made just now."""
        ...

    def get(self, who: Principal, evaluation_id: str) -> EvaluationRow: ...
    def update(self, who: Principal, evaluation_id: str, body: dict[str, Any]) -> EvaluationRow:
        """Set the members that `body` has; `metadata` is replaced. A `status` for one that is closed: 409
        `evaluation_closed`, and nothing of the body is taken."""
        ...

    def finalize(self, who: Principal, evaluation_id: str, metrics: dict[str, Any] | None) -> EvaluationRow:
        """Close it as COMPLETED. 409 `evaluation_closed` when it is closed already."""
        ...

    def list(
        self, who: Principal, *, skip: int, limit: int, environment_name: str | None = None,
        suite_id: str | None = None, team_id: str | None = None, evh_run_id: str | None = None,
    ) -> tuple[list[EvaluationRow], int]:  # fmt: skip
        """Newest first, and how many there are in all."""
        ...

    def add_samples(self, who: Principal, evaluation_id: str, placements: Sequence[Placement]) -> int:
        """Append; the number of samples that there are now. Also to one that is closed: they may come late."""
        ...

    def samples(
        self, who: Principal, evaluation_id: str, *, skip: int, limit: int
    ) -> tuple[Sequence[SampleRow], int]: ...


class Training(Protocol):
    """Training runs, their metrics and their tables of samples."""

    def create(self, who: Principal, body: dict[str, Any]) -> TrainingRow: ...
    def get(self, who: Principal, run_id: str) -> TrainingRow: ...
    def list(self, who: Principal, *, skip: int, limit: int) -> tuple[list[TrainingRow], int]: ...
    def log_metrics(self, who: Principal, run_id: str, metrics: dict[str, Any], step: int | None) -> None:
        """The same metrics of the same step again change nothing: the call may be replayed."""
        ...

    def metrics(self, who: Principal, run_id: str, *, after: int, limit: int) -> Sequence[MetricsRow]:
        """In order of arrival, those whose `seq` is greater than `after`."""
        ...

    def presign(self, who: Principal, run_id: str, step: int) -> tuple[TrainingUpload, str]:
        """A place for one table, and the secret of its address: it opens for an hour."""
        ...

    def uploads(self, who: Principal, run_id: str) -> Sequence[TrainingUpload]: ...
    def redeem(self, key: str, secret: str) -> TrainingUpload:
        """The place that a presigned address opens, also after a table was put there: a put may be repeated. 403
        `forbidden` for another secret or one that has expired."""
        ...

    def stored(self, key: str, size: int, digest: str) -> TrainingUpload:
        """Note what was put there. Again: nothing changes; 409 `upload_stored` for another table."""
        ...

    def confirm(self, who: Principal, run_id: str, step: int, key: str) -> TrainingUpload:
        """Again: nothing changes. 400 `upload_missing` when nothing was stored under the key."""
        ...

    def close_run(self, who: Principal, run_id: str, status: str, error_message: str | None) -> TrainingRow:
        """`completed` or `failed`. 409 `run_closed` when it is closed already."""
        ...


class Access(Protocol):
    """Who may ask."""

    def create(
        self, project: str, *, scopes: Iterable[str], name: str = "", expires_us: int | None = None
    ) -> tuple[str, TokenRow]:
        """A token, shown this once, and what is kept of it."""
        ...

    def authenticate(self, token: str) -> Principal:
        """401 `unauthenticated` for one that is unknown, expired or revoked: they are not told apart."""
        ...

    def local(self, project: str = "default") -> Principal:
        """Whoever asks over loopback where no tokens are asked for: all scopes of one project."""
        ...

    def list(self, project: str | None = None) -> Sequence[TokenRow]: ...
    def revoke(self, prefix: str) -> TokenRow: ...
