"""Calls of the traces API: upload a batch, read what is stored, take it away.

Promise: an upload names its own bytes (the digest of the uncompressed ones), so sending it again is harmless, and its
receipt is checked against that name. Filters that are not given are not sent; a listing keeps its filters from page to
page, as its cursor demands. Taking away is never done twice while nobody knows whether it was done.
When it breaks: `Refused` for bytes that will never be taken, with the service's code; `Retryable` and
`TransportFault` when it is worth coming back; `UsageError` for an id that no address can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar, Unpack

from evh.errors import PlatformError
from evh.platform.batches import Batch
from evh.platform.call import GET_TRIES, SEND_TRIES, Answer, Call, Paged, get, query, reading, segment
from evh.platform.encoding import Encoding, compress
from evh.platform.filters import (
    CallFilters,
    EpisodeFilters,
    MemberFilters,
    NodeFilters,
    RunFilters,
    SearchFilters,
    TraceFilters,
    parameters,
)
from evh.protocol.codec import encode
from evh.protocol.models import (
    CallPage,
    EpisodePage,
    EpisodeSummary,
    IndexedCall,
    IndexedNode,
    NodePage,
    RunPage,
    RunSteps,
    RunSummary,
    SearchMatch,
    SearchPage,
    TracePage,
    TraceSummary,
    UploadMetadata,
    UploadReceipt,
)

__all__ = [
    "calls",
    "delete",
    "delete_run",
    "episode",
    "episode_raw",
    "episode_traces",
    "episodes",
    "listing",
    "nodes",
    "run",
    "run_steps",
    "runs",
    "search",
    "trace",
    "trace_raw",
    "upload",
]

COMMITTED = "committed"
SERVICE = "traces"


class _Page(Protocol):
    items: Any
    next_cursor: str | None


P = TypeVar("P", bound=_Page)


def upload(
    batch: Batch, *, encoding: Encoding = "gzip", context: Mapping[str, str] | None = None, episodes: bool = True
) -> Call[UploadReceipt]:
    """Upload a batch: lines of episodes, or of bare traces."""
    metadata = UploadMetadata(schema_version=1)
    if context:
        metadata["context"] = dict(context)
    content, boundary = _multipart(encode(metadata), compress(batch.body, encoding), encoding, batch.digest)
    headers = [("Content-Type", f"multipart/form-data; boundary={boundary}"), ("Idempotency-Key", batch.key)]
    if episodes:
        headers.append(("X-Prime-Line-Format", "episode"))
    read_receipt = reading(UploadReceipt, "upload a batch")

    def read(answer: Answer) -> UploadReceipt:
        receipt = read_receipt(answer)
        if receipt.get("upload_id") != batch.digest or receipt.get("status") != COMMITTED:
            raise PlatformError(
                "upload a batch: the receipt is not that of the batch: it was not committed", status=answer.status
            )
        return receipt

    return Call(
        "upload a batch",
        "POST",
        "/traces",
        read,
        headers=tuple(headers),
        body=content,
        tries=SEND_TRIES,
        service=SERVICE,
    )


def _multipart(metadata: bytes, lines: bytes, encoding: Encoding, digest: str) -> tuple[bytes, str]:
    """The two parts as one body, and the boundary between them: made of the digest, so that it is always the same."""
    boundary = f"evh-{digest[:40]}"
    while boundary.encode() in lines or boundary.encode() in metadata:
        boundary += "-"
    encoded = b"" if encoding == "identity" else f"Content-Encoding: {encoding}\r\n".encode()
    mark = f"--{boundary}".encode()
    pieces = [mark, b'\r\nContent-Disposition: form-data; name="metadata"\r\n']
    pieces += [b"Content-Type: application/json\r\n\r\n", metadata, b"\r\n"]
    pieces += [mark, b'\r\nContent-Disposition: form-data; name="traces"; filename="traces.jsonl"\r\n']
    pieces += [b"Content-Type: application/x-ndjson\r\n", encoded, b"\r\n", lines, b"\r\n", mark, b"--\r\n"]
    return b"".join(pieces), boundary


def listing(**filters: Unpack[TraceFilters]) -> Paged[TracePage, TraceSummary]:
    """Stored traces, the newest first."""
    return _paged("list the traces", "/traces", TracePage, parameters(filters, TraceFilters))


def trace(trace_id: str) -> Call[TraceSummary]:
    """What is known about a stored trace."""
    return get("read the trace", _trace(trace_id), TraceSummary, service=SERVICE)


def trace_raw(trace_id: str) -> Call[bytes]:
    """The stored document of a trace: for `run`, or for `download`."""
    return _raw("read the trace", _trace(trace_id))


def delete(trace_id: str, *, created_at: str | None = None) -> Call[None]:
    """Take a trace away; `created_at` helps the service to find it. `NotFound` when it is away already."""
    return _delete("delete the trace", _trace(trace_id), query((("created_at", created_at),)))


def delete_run(run_id: str) -> Call[None]:
    """Take all traces of a run away; its episodes stay."""
    return _delete("delete the run's traces", "/traces", query((("run_id", run_id),)))


def nodes(trace_id: str, **filters: Unpack[NodeFilters]) -> Paged[NodePage, IndexedNode]:
    """The message nodes of a stored trace, in order. `Retryable` (`trace_not_indexed`) while it is being indexed."""
    return _paged("read the trace's nodes", f"{_trace(trace_id)}/nodes", NodePage, parameters(filters, NodeFilters))


def calls(trace_id: str, **filters: Unpack[CallFilters]) -> Paged[CallPage, IndexedCall]:
    """The model calls of a stored trace, in order. `Retryable` (`trace_not_indexed`) while it is being indexed."""
    return _paged("read the trace's calls", f"{_trace(trace_id)}/calls", CallPage, parameters(filters, CallFilters))


def episodes(**filters: Unpack[EpisodeFilters]) -> Paged[EpisodePage, EpisodeSummary]:
    """Stored episodes, the newest first."""
    return _paged("list the episodes", "/episodes", EpisodePage, parameters(filters, EpisodeFilters))


def episode(episode_id: str) -> Call[EpisodeSummary]:
    """What is known about a stored episode, with totals over its traces."""
    return get("read the episode", _episode(episode_id), EpisodeSummary, service=SERVICE)


def episode_raw(episode_id: str) -> Call[bytes]:
    """The stored document of an episode; the hosted service has the ids of its traces in their place."""
    return _raw("read the episode", _episode(episode_id))


def episode_traces(episode_id: str, **filters: Unpack[MemberFilters]) -> Paged[TracePage, TraceSummary]:
    """The traces of a stored episode, the newest first."""
    asked = parameters(filters, MemberFilters)
    return _paged("list the episode's traces", f"{_episode(episode_id)}/traces", TracePage, asked)


def runs(**filters: Unpack[RunFilters]) -> Paged[RunPage, RunSummary]:
    """Runs with totals over their traces, the most recently stored first."""
    return _paged("list the runs", "/runs", RunPage, parameters(filters, RunFilters))


def run(run_id: str) -> Call[RunSummary]:
    """Totals over the traces of a run."""
    return get("read the run", _run(run_id), RunSummary, service=SERVICE)


def run_steps(run_id: str) -> Call[RunSteps]:
    """Totals over each training step of a run; none of a run that is not there."""
    return get("read the run's steps", f"{_run(run_id)}/steps", RunSteps, service=SERVICE)


def search(run_id: str, text: str, **filters: Unpack[SearchFilters]) -> Paged[SearchPage, SearchMatch]:
    """Places of a text, as it is spelled and of three characters or more, in the messages of a run."""
    asked = (("query", text), *parameters(filters, SearchFilters))
    return _paged("search the run", f"{_run(run_id)}/search", SearchPage, asked)


def _trace(trace_id: str) -> str:
    return f"/traces/{segment('trace_id', trace_id)}"


def _episode(episode_id: str) -> str:
    return f"/episodes/{segment('episode_id', episode_id)}"


def _run(run_id: str) -> str:
    return f"/runs/{segment('run_id', run_id)}"


def _raw(what: str, path: str) -> Call[bytes]:
    return Call(what, "GET", path, lambda answer: answer.body, (("raw", "true"),), service=SERVICE)


def _delete(what: str, path: str, params: tuple[tuple[str, str], ...]) -> Call[None]:
    return Call(what, "DELETE", path, lambda answer: None, params, again=False, tries=GET_TRIES, service=SERVICE)


def _paged(what: str, path: str, kind: type[P], params: tuple[tuple[str, str], ...]) -> Paged[P, Any]:
    first = get(what, path, kind, params, service=SERVICE)

    def following(page: P) -> Call[P] | None:
        return first.with_params(("cursor", page.next_cursor)) if page.next_cursor else None

    return Paged(first, lambda page: page.items, following)
