"""An upload, from its bytes to its receipt: verified, durable, committed, in this order.

Promise
    The receipt is given only after every line is fsynced in a segment and every row is committed. A crash before that
    leaves no row: the same bytes sent again are then a first time. After it they give the same receipt. A fault leaves
    nothing stored; it says which line, and never what is in it.
Policy
    One pass over the bytes: digest, decode and packing go line by line, so that memory holds the packed upload and its
    longest line. Blank lines are passed over. A key that is known is answered by hashing alone.
When it breaks
    400 with the wire's code for what the producer must mend, 409 for a conflict, 429 for a quota, 503 for a disk or
    database that does not take it now.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from evh.errors import cut
from evh.server._packing import Batch
from evh.server.catalog import Catalog
from evh.server.catalog.uploads import Line
from evh.server.extract import read_line
from evh.server.faults import refused
from evh.server.limits import DEFAULT, Profile
from evh.server.quotas import Gate
from evh.server.records import BatchKey, LineFormat, Principal, Receipt
from evh.server.segments import FolderSegments
from evh.server.text import now_us, to_bytes

__all__ = ["Ingest"]

KEY = re.compile(r"sha256:([0-9a-f]{64})")
BLOCK = 1 << 20


class Ingest:
    """The write side for episodes, traces and samples."""

    def __init__(
        self, catalog: Catalog, segments: FolderSegments, *, profile: Profile = DEFAULT, gate: Gate | None = None
    ) -> None:
        self._catalog = catalog
        self._segments = segments
        self.profile = profile
        self.gate = Gate() if gate is None else gate

    def upload(
        self, who: Principal, body: bytes | IO[bytes], *, key: str | None, line_format: LineFormat,
        context: Mapping[str, str] | None = None,
    ) -> Receipt:  # fmt: skip
        """Store the lines of a body (unpacked; a file is read from where it stands). `key` is the idempotency key."""
        digest = self.key_digest(key)
        labels = self._checked_context(context or {})
        source = io.BytesIO(body) if isinstance(body, bytes) else body
        batch_key = BatchKey(f"sha256:{digest}", digest, line_format)
        known = self._catalog.uploads.begin(who, batch_key)
        if known is not None:
            self._refuse_other_digest(_digest_of(source, self.profile), digest)
            return known
        lines, batch, size, found = self._read(source, line_format)
        self._refuse_other_digest(found, digest)
        self._admit(who, size, len(lines))
        placements = self._segments.commit(batch)
        return self._catalog.uploads.commit(who, batch_key, lines, placements, labels, size)

    def samples(self, who: Principal, evaluation_id: str, rows: Sequence[bytes]) -> int:
        """Append samples (JSON objects, one each, without LF) to an evaluation; how many it has now."""
        self._catalog.evaluations.get(who, evaluation_id)
        size = 0
        for number, row in enumerate(rows, 1):
            size += len(row)
            if len(row) > self.profile.max_line_bytes or size > self.profile.max_upload_bytes:
                raise refused("upload_too_large", f"sample {number} is over the limit of this server")
            if b"\n" in row:
                raise refused("invalid_sample", f"sample {number} holds an LF")
        self._admit(who, size, 0)
        return self._catalog.evaluations.add_samples(who, evaluation_id, self._segments.append(rows))

    @staticmethod
    def key_digest(key: str | None) -> str:
        """The digest in an idempotency key. 400 `invalid_idempotency_key`."""
        parts = KEY.fullmatch(key or "")
        if parts is None:
            raise refused(
                "invalid_idempotency_key",
                f"the key is `sha256:` and the 64 lower-case hexadecimal digits of the bytes, not {cut(key)}",
            )
        return parts[1]

    def _read(self, source: IO[bytes], line_format: LineFormat) -> tuple[list[Line], Batch, int, str]:
        """Every line taken in and packed; how many bytes there were, and their digest."""
        profile, now = self.profile, now_us()
        lines: list[Line] = []
        batch = Batch()
        episode_ids: set[str] = set()
        trace_ids: set[str] = set()
        hashed = hashlib.sha256()
        size = traces = 0
        for number, data in _lines(source, hashed.update, profile):
            size += len(data)
            data = data.removesuffix(b"\n")
            if number > profile.max_lines:  # blank ones too: they cost time and pack to almost nothing
                raise refused("too_many_traces_in_upload", f"over {profile.max_lines} lines: send them in several")
            if not data or data.isspace():
                continue
            line = read_line(data, number, line_format, profile, now)
            traces += len(line.traces)
            if traces > profile.max_traces_in_upload:
                raise refused("too_many_traces_in_upload", f"over {profile.max_traces_in_upload} traces", line=number)
            if line.episode is not None:
                _once(line.episode["episode_id"], episode_ids, "episode", number)
            for trace in line.traces:
                _once(trace["trace_id"], trace_ids, "trace", number)
            lines.append(line)
            batch.add(data)
        return lines, batch, size, hashed.hexdigest()

    @staticmethod
    def _refuse_other_digest(found: str, said: str) -> None:
        if found != said:
            raise refused("digest_mismatch", f"the key says {said}, the bytes that came have {found}: send them again")

    def _admit(self, who: Principal, size: int, episodes: int) -> None:
        project = self._catalog.projects.by_id(who.project)
        self.gate.admit(project, self._catalog.projects.usage(who.project), size=size, episodes=episodes)

    def _checked_context(self, context: Mapping[str, str]) -> dict[str, str]:
        size = 0
        for name, value in context.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise refused("invalid_metadata", "context is a map of text to text")
            size += len(to_bytes(name)) + len(to_bytes(value))
        if size > self.profile.max_context_bytes:
            raise refused("invalid_metadata", f"context is over {self.profile.max_context_bytes} bytes")
        return dict(context)


def _lines(source: IO[bytes], seen: Callable[[bytes], Any], profile: Profile) -> Iterator[tuple[int, bytes]]:
    """The lines with their LFs and numbers, each within the limit, all within theirs."""
    number = size = 0
    while line := source.readline(profile.max_line_bytes + 2):
        number += 1
        size += len(line)
        if size > profile.max_upload_bytes:
            raise refused("upload_too_large", f"over {profile.max_upload_bytes} bytes: send it in several")
        if len(line) - line.endswith(b"\n") > profile.max_line_bytes:
            raise refused("trace_too_large", f"over {profile.max_line_bytes} bytes", line=number)
        seen(line)
        yield number, line


def _digest_of(source: IO[bytes], profile: Profile) -> str:
    hashed = hashlib.sha256()
    size = 0
    while block := source.read(BLOCK):
        size += len(block)
        if size > profile.max_upload_bytes:
            raise refused("upload_too_large", f"over {profile.max_upload_bytes} bytes: send it in several")
        hashed.update(block)
    return hashed.hexdigest()


def _once(name: str, seen: set[str], kind: str, number: int) -> None:
    if name in seen:
        raise refused(f"duplicate_{kind}_id", f"the {kind} id {cut(name)} comes twice in this upload", line=number)
    seen.add(name)
