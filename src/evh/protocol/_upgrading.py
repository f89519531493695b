"""Rows of any age as episodes, or as whatever is made of them: the loop behind `read_episodes` and `read_summaries`.

Neighbours that a trainer wrote one trace a line come out as one episode; when that fails, each of them by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from evh.errors import DecodeError, EvhError, cut
from evh.protocol import models
from evh.protocol.jsontext import parse
from evh.protocol.sources import Line
from evh.protocol.upgrade.detect import detect
from evh.protocol.upgrade.regroup import episode_of
from evh.protocol.upgraded import upgrade_parsed, upgrade_parsed_rows
from evh.protocol.wire import parse_wire

__all__ = ["Upgrading", "metadata_beside"]

T = TypeVar("T")


class _Held(NamedTuple):
    """A row that waits for its neighbours: where it stood, its bytes, and the episode that it names."""

    line: Line
    data: bytes
    key: str


class Upgrading(Generic[T]):
    """Makes something of every row. `quick` does it natively, or answers None; `finish` makes it of an upgraded
    episode.

    `failed` is told of each row that could not be read. `beside` says that lines name real files, beside which a
    first-generation file's `metadata.json` may stand.
    """

    def __init__(
        self,
        quick: Callable[[Line], T | None],
        finish: Callable[[models.Episode, Line], T],
        failed: Callable[[EvhError, Line], None],
        *,
        beside: bool,
    ) -> None:
        self.quick = quick
        self.finish = finish
        self.failed = failed
        self.beside = beside
        self.group: list[_Held] = []
        self.metadata: dict[Path, dict[str, Any] | None] = {}

    def run(self, documents: Iterator[tuple[Line, bool]]) -> Iterator[T]:
        for line, wire in documents:
            made = None if wire else self.quick(line)
            if made is None:
                yield from self._slowly(line._replace(data=bytes(line.data)), wire)
                continue
            if self.group:
                yield from self._flush()
            yield made
        yield from self._flush()

    def _slowly(self, line: Line, wire: bool) -> Iterator[T]:
        try:
            document = _object(line.data, wire)
        except EvhError as error:
            yield from self._flush()
            self.failed(error, line)
            return
        key = None if wire else episode_of(document)
        if self.group and key != self.group[-1].key:
            yield from self._flush()
        if key is not None:
            self.group.append(_Held(line, line.data, key))
            return
        yield from self._alone(document, line)

    def _alone(self, document: dict[str, Any], line: Line) -> Iterator[T]:
        metadata = self._metadata_beside(line.source) if detect(document) == "v0" else None
        try:
            episode = upgrade_parsed(document, metadata=metadata, position=line.line).record
        except EvhError as error:
            self.failed(error, line)
            return
        yield self.finish(episode, line)

    def _flush(self) -> Iterator[T]:
        group, self.group = self.group, []
        if not group:
            return
        if len(group) > 1:
            try:
                episode = upgrade_parsed_rows([_object(held.data, False) for held in group]).record
            except EvhError:
                pass  # one of them is bad: the others must not go with it
            else:
                yield self.finish(episode, group[0].line)
                return
        for held in group:
            yield from self._alone(_object(held.data, False), held.line)

    def _metadata_beside(self, source: str) -> dict[str, Any] | None:
        if not self.beside:
            return None
        folder = Path(source).parent
        if folder not in self.metadata:
            self.metadata[folder] = metadata_beside(source)
        return self.metadata[folder]


def metadata_beside(source: str) -> dict[str, Any] | None:
    """The `metadata.json` beside a first-generation file of rows, or in its folder, when there is a readable one."""
    if source == "-":
        return None
    path = Path(source)
    path = (path if path.is_dir() else path.parent) / "metadata.json"
    try:
        value = parse(path.read_bytes())[0]
    except (OSError, ValueError, EvhError):
        return None
    return value if isinstance(value, dict) else None


def _object(data: bytes, wire: bool) -> dict[str, Any]:
    document, _ = parse_wire(data) if wire else parse(data)
    if not isinstance(document, dict):
        raise DecodeError(f"expected an object, found {cut(document)}")
    return document
