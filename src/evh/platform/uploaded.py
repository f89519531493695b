"""Episodes as they are uploaded: re-keyed to the platform's run, which every member trace names as well.

Promise: an uploaded document is the episode's line with two changes and no other. `run` has the platform's type and id,
and all else that it had; it stands on the envelope and, because services read it there, at the head of every trace. Of
one episode and one run there is one document, byte for byte, whether it is made of the episode or of its row.
Policy: a row is spliced, not parsed: token streams are long, and the uploader must be cheap. Only rows that `encode`
wrote are taken for rows; `for_upload` makes one first.
When it breaks: `DecodeError` for what is no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import astuple

from evh.errors import DecodeError, EvhError
from evh.protocol.codec import encode
from evh.protocol.jsontext import dumps, escape_lines, parse
from evh.protocol.models import Episode, EvalRunInfo, TrainRunInfo

__all__ = ["Rekeyed", "for_upload", "row_for_upload"]

Run = EvalRunInfo | TrainRunInfo


def for_upload(episode: Episode, run: Run, *, mask: Callable[[Episode], Episode] | None = None) -> bytes:
    """The document (one line, without its line end) that is uploaded of an episode.

    `run` is the platform's: its type and id replace those of the episode's own run, whose name and work are kept; what
    the episode's run does not have is taken from `run`. The episode is not changed. `mask` gives the episode without
    its secrets, for one that does not come from a run directory (there they are masked already).
    """
    return row_for_upload(encode(episode if mask is None else mask(episode)), run)


def row_for_upload(row: bytes, run: Run) -> bytes:
    """The same, from the row that `encode` made of the episode: equal to what `for_upload` makes of it."""
    return Rekeyed(run)(row)


Pieces = list[bytes | memoryview]


class Rekeyed:
    """What makes uploaded rows of rows, for many rows of one run: the best `shape` for `cut_batches`."""

    def __init__(self, run: Run) -> None:
        members = _members(encode(run))
        self._keys = {"type": members.pop("type"), "id": members.pop("id")}
        self._rest = members
        self._stamps: dict[bytes, bytes] = {}

    def __call__(self, row: bytes) -> bytes:
        return b"".join(self.pieces(row, 0, len(row)))

    def pieces(self, data: bytes, start: int, end: int) -> Pieces:
        """The uploaded row of the row that stands at `start` to `end` of `data`, in pieces to be joined."""
        try:
            return self._spliced(data, start, end) or [self._put_together(data[start:end])]
        except (*NOT_READ, EvhError) as error:
            raise DecodeError(f"this is no row of an episode: {error}") from error

    def _spliced(self, data: bytes, start: int, end: int) -> Pieces | None:
        """A row that `encode` wrote: the lengths of its members say where they stand. None for a row that is spaced or
        ordered otherwise, holds members that we do not know, half characters, or a trace that names a run."""
        view = memoryview(data)
        try:
            read = _read_row(view[start:end])
        except NOT_READ:
            return None
        run_at, at = 0, start + 1
        for name, spelled, value in zip(_NAMES, _SPELLED, astuple(read), strict=False):
            if name == "run":
                run_at = at
            if value is not UNSET:
                if not data.startswith(spelled, at):
                    return None
                at += len(spelled) + len(value) + 1
        first, traces = at + len(_TRACES), read.traces
        if traces is UNSET or not data.startswith(_TRACES, at) or data.find(_RUN, first, end) >= 0:
            return None
        last = first + sum(map(len, traces)) + max(len(traces) - 1, 0)
        info = b"" if read.info is UNSET else b',"info":' + bytes(read.info)
        if data[last:end] != b"]" + info + b"}":
            return None
        own = b"" if read.run is UNSET else bytes(read.run)
        run_end = run_at + len(_RUN) + len(own) + 1 if own else run_at
        stamp = self._stamp(own)
        pieces: Pieces = [view[start:run_at], _RUN, stamp, b",", view[run_end:first]]
        at = first
        for trace in traces:
            if not data.startswith(b'{"', at):
                return None
            pieces += (b"," if at > first else b"", b"{", _RUN, stamp, b",", view[at + 1 : at + len(trace)])
            at += len(trace) + 1
        pieces.append(view[last:end])
        return pieces

    def _put_together(self, row: bytes) -> bytes:
        """Any other row, member by member; what a trace says about its run is kept, but for type and id."""
        members = _members(row)
        own = members.pop("run", b"")
        stamp = self._stamp(own)
        traces = [self._named(trace, own) for trace in _items(members.get("traces", b"null"))]
        ahead = [(name, members.pop(name)) for name in _NAMES[:_RUN_AT] if name in members]
        between = [(name, value) for name, value in members.items() if name in _NAMES]
        behind = [(name, value) for name, value in members.items() if name not in (*_NAMES, "traces")]
        return _object([*ahead, ("run", stamp), *between, ("traces", b"[" + b",".join(traces) + b"]"), *behind])

    def _named(self, trace: bytes, own: bytes) -> bytes:
        members = _members(trace)
        theirs = members.pop("run", b"null")
        return _object([("run", self._stamp(own if theirs == b"null" else theirs)), *members.items()])

    def _stamp(self, own: bytes) -> bytes:
        """`run` as it is uploaded: type and id of the platform's, the rest of the record's own."""
        stamp = self._stamps.get(own)
        if stamp is None:
            rest = {**self._rest, **({} if own in (b"", b"null") else _members(own))}
            whole = {**self._keys, **{name: value for name, value in rest.items() if name not in self._keys}}
            stamp = _object(whole.items())
            if len(self._stamps) < MOST_STAMPS:
                self._stamps[own] = stamp
        return stamp


class _Row(msgspec.Struct, gc=False):
    """The members of an episode, in the order in which they are written."""

    schema: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    env: Raw | UnsetType = UNSET
    task: Raw | UnsetType = UNSET
    group: Raw | UnsetType = UNSET
    run: Raw | UnsetType = UNSET
    ok: Raw | UnsetType = UNSET
    is_timeout: Raw | UnsetType = UNSET
    errors: Raw | UnsetType = UNSET
    traces: list[Raw] | UnsetType = UNSET
    info: Raw | UnsetType = UNSET


_read_row = msgspec.json.Decoder(_Row).decode
_read_members = msgspec.json.Decoder(dict[str, Raw]).decode
_read_items = msgspec.json.Decoder(list[Raw]).decode
_NAMES = _Row.__struct_fields__[: _Row.__struct_fields__.index("traces")]
_RUN_AT = _NAMES.index("run")
_SPELLED = tuple(f'"{name}":'.encode() for name in _NAMES)
_RUN = b'"run":'
_TRACES = b'"traces":['
MOST_STAMPS = 4096
NOT_READ = (msgspec.MsgspecError, ValueError, RecursionError)


def _members(text: bytes) -> dict[str, bytes]:
    """The members of an object, each as it is written. msgspec reads no lone surrogates: such text is written anew."""
    try:
        return {name: bytes(value) for name, value in _read_members(text).items()}
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return {name: escape_lines(dumps(value)) for name, value in parse(text)[0].items()}


def _items(text: bytes) -> list[bytes]:
    if text == b"null":
        return []
    try:
        return [bytes(value) for value in _read_items(text)]
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return [escape_lines(dumps(value)) for value in parse(text)[0]]


def _object(members: Iterable[tuple[str, bytes]]) -> bytes:
    return b"{" + b",".join([escape_lines(dumps(name)) + b":" + value for name, value in members]) + b"}"
