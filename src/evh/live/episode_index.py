"""Where the episodes of a live run stand, by the item they are rollouts of: for rows that are made without holding the
episodes.

Promise: one pass over the segments, of which an episode costs some forty bytes and its item its id. Of an episode that
was logged twice (by its id) the last one counts. A torn last line is passed over; any other line that is no episode is
counted and named.
Policy: an item is what `item_id_of` says. An episode whose task has no key, hash or idx belongs to its task's content,
and when that is empty, to itself.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from evh.errors import EvhError, RecordError, SourceError
from evh.protocol import models
from evh.protocol._views import iter_views
from evh.protocol.codec import decode, encode
from evh.protocol.sources import Line
from evh.store.atomic import why
from evh.store.projection import item_id_of

__all__ = ["EpisodeIndex"]

NOTHING = -1
MOST_OPEN = 64


class _Task(msgspec.Struct):
    key: str | None = None
    hash: str | None = None


class _Head(msgspec.Struct):
    id: str
    task: _Task


class EpisodeIndex:
    """The episodes of some segments. `faults` names lines that are no episodes; `rows` counts lines by segment."""

    def __init__(self, segments: list[Path]) -> None:
        self.segments = segments
        self.rows: list[int] = []
        self.faults: list[str] = []
        self._first: dict[str, int] = {}  # the first entry of each item
        self._entry_of: dict[bytes, int] = {}  # by the digest of an episode's id
        self._file, self._offset, self._length = array("I"), array("Q"), array("Q")
        self._next, self._last = array("q"), array("q")  # of an item's entries: which follows, and of the first, which
        self._read_head = msgspec.json.Decoder(_Head).decode
        self._open: dict[int, IO[bytes]] = {}
        for number, path in enumerate(segments):
            self.rows.append(self._take(number, path))

    def __len__(self) -> int:
        """How many items there are."""
        return len(self._first)

    def items(self) -> Iterator[tuple[str, list[models.Episode]]]:
        """Each item with its episodes, in the order in which they were first logged. Raises `SourceError` or what
        decoding raises, for a file that was changed meanwhile."""
        try:
            for item_id, first in self._first.items():
                entries, at = [], first
                while at != NOTHING:
                    if self._length[at]:
                        entries.append(at)
                    at = self._next[at]
                if entries:
                    yield item_id, [self._episode(entry) for entry in entries]
        finally:
            self._close()

    def _take(self, number: int, path: Path) -> int:
        rows = 0
        for line in iter_views(path):
            if line.torn:
                continue
            rows += 1
            try:
                episode_id, item_id = self._head(line)
            except EvhError as error:
                self.faults.append(str(error.at(line.source, line.line)))
                continue
            self._put(episode_id, item_id, number, line)
        return rows

    def _head(self, line: Line) -> tuple[str, str]:
        try:
            head = self._read_head(line.data)
            item_id = head.task.key or head.task.hash
        except (msgspec.MsgspecError, ValueError, RecursionError):
            head, item_id = None, None
        if head is not None and item_id:
            return head.id, item_id
        episode = decode(bytes(line.data))
        try:
            return episode.id, item_id_of(episode)
        except RecordError:
            return episode.id, _item_by_content(episode)

    def _put(self, episode_id: str, item_id: str, number: int, line: Line) -> None:
        digest = hashlib.blake2b(episode_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._entry_of.get(digest)
        if known is not None:
            self._length[known] = 0  # the later one counts, and may be of another item
        entry = self._entry_of[digest] = len(self._offset)
        self._file.append(number)
        self._offset.append(line.offset)
        self._length.append(len(line.data))
        self._next.append(NOTHING)
        first = self._first.setdefault(item_id, entry)
        self._last.append(entry)
        if first != entry:
            self._next[self._last[first]] = entry
            self._last[first] = entry

    def _episode(self, entry: int) -> models.Episode:
        number = self._file[entry]
        path = self.segments[number]
        try:
            file = self._open.get(number)
            if file is None:
                if len(self._open) >= MOST_OPEN:
                    self._close()
                file = self._open[number] = path.open("rb")
            file.seek(self._offset[entry])
            data = file.read(self._length[entry])
        except OSError as error:
            raise SourceError(f"cannot be read: {why(error)}", source=str(path)) from None
        try:
            return decode(data)
        except EvhError as error:
            raise error.at(str(path), None) from None

    def _close(self) -> None:
        files, self._open = list(self._open.values()), {}
        for file in files:
            file.close()


def _item_by_content(episode: models.Episode) -> str:
    task = episode.task
    if not task.data and not task.type:
        return episode.id
    return f"task~{hashlib.sha256(encode(task)).hexdigest()[:32]}"
