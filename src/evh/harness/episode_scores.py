"""What the episodes of a run were scored, kept on disk between the worker that scored and the one that makes the row.

Promise: a row gets the scores of exactly the episodes that it was made from; of two episodes with one id the first
counts. A row of several rollouts gets means, over those that have the number; a rollout that failed has no score.
Policy: scores lie in the files of their shards, of which a process holds a few; an episode costs sixteen bytes.
When it breaks: `RecordError`, for an episode that could not be scored and for sums beyond a double, names the item.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from evh.errors import RecordError, cut
from evh.harness.shards import lines_of
from evh.store.aggregate import exact_mean

__all__ = ["EpisodeScore", "EpisodeScores", "encode_scores", "means_of_episodes"]

SPAN = 1 << 40
"""A place is the number of a file times this, and a byte of it."""
HELD = 8
"""Files that a process holds: rows mostly follow their episodes."""
BITS = 32
"""A key is a hash of an id, and below it, in so many bits, which episode that is."""


class EpisodeScore(msgspec.Struct, array_like=True):
    """What one episode gave: the scorer's metrics, the episode's own, and the words of its output."""

    id: str
    item_id: str
    own: dict[str, int | float] = {}
    base: dict[str, int | float] = {}
    words: int | float | None = None
    failed: bool = False
    """The episode failed and says no number of its own."""
    fault: str | None = None
    """Why it could not be scored: raised when a row needs it, for an attempt that failed has no row."""


class _Head(msgspec.Struct, array_like=True):
    id: str


_decode = msgspec.json.Decoder(EpisodeScore).decode
_decode_head = msgspec.json.Decoder(_Head).decode


def encode_scores(scores: Iterable[EpisodeScore]) -> bytes:
    """The lines of a shard."""
    return msgspec.json.Encoder().encode_lines(scores)


class EpisodeScores:
    """The scores of a run's episodes, found by the ids of episodes or items: `add` all shards, then `settle`."""

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._places = array("Q")
        self._keys = array("Q")
        self._unique = False
        """No two ids have one hash, so none stands there twice."""
        self._next = 0
        self._of_item: dict[str, list[int]] | None = None
        self._held: dict[int, bytes] = {}

    def add(self, path: Path) -> None:
        """Take in a shard; they come in the order of their episodes."""
        at = len(self._files) * SPAN
        self._files.append(path)
        for offset, line in lines_of(path, 0, path.stat().st_size):
            self._keys.append(_key(_decode_head(line).id) | len(self._places))
            self._places.append(at + offset)

    def settle(self) -> None:
        """All shards are in: put the keys in order."""
        ordered = sorted(self._keys)
        self._keys = array("Q", ordered)
        self._unique = all(one >> BITS != other >> BITS for one, other in pairwise(ordered))

    def of_row(self, row: Mapping[str, Any]) -> list[EpisodeScore]:
        """The scores of the episodes that a row was made from; none when it was made from a text."""
        meta = row.get("_meta") or {}
        named = meta.get("episode_ids") or [meta.get("episode_id")]
        found = [score for each in named if isinstance(each, str) and (score := self._find(each)) is not None]
        if len(found) < len(named):
            return [self._read(place) for place in self._places_of_item().get(row["item_id"], ())]
        return found

    def _find(self, episode_id: str) -> EpisodeScore | None:
        """The first episode of that id: keys are in the order of places where they are of one hash."""
        if self._unique and self._next < len(self._places):  # mostly the one behind the last
            score = self._read(self._places[self._next])
            if score.id == episode_id:
                self._next += 1
                return score
        key = _key(episode_id)
        for at in range(bisect_left(self._keys, key), len(self._keys)):
            if self._keys[at] >> BITS != key >> BITS:
                break
            number = self._keys[at] & (1 << BITS) - 1
            score = self._read(self._places[number])
            if score.id == episode_id:
                self._next = number + 1
                return score
        return None

    def _read(self, place: int) -> EpisodeScore:
        number, offset = divmod(place, SPAN)
        data = self._held.get(number)
        if data is None:
            if len(self._held) == HELD:
                del self._held[next(iter(self._held))]
            data = self._held[number] = self._files[number].read_bytes()
        return _decode(data[offset : data.index(b"\n", offset)])

    def _places_of_item(self) -> dict[str, list[int]]:
        """The episodes of each item; read when the first row asks for them, and of two with one id the first."""
        if self._of_item is None:
            self._of_item = {}
            seen: set[str] = set()
            for place in self._places:
                score = self._read(place)
                if score.id not in seen:
                    seen.add(score.id)
                    self._of_item.setdefault(score.item_id, []).append(place)
        return self._of_item


def _key(episode_id: str) -> int:
    return crc32(episode_id.encode("utf-8", "surrogatepass")) << BITS


def means_of_episodes(
    item_id: str, row: Mapping[str, Any], found: list[EpisodeScore]
) -> tuple[dict[str, int | float], int | float | None]:
    """The metrics of a row from those of its episodes, as means, and the words of their outputs. Of what the episodes
    say themselves only what the row had before counts: an import with a scorer left it out. Of several rollouts those
    that failed have no score."""
    scored = [each for each in found if not each.failed or len(found) == 1]
    for each in scored:
        if each.fault is not None:
            raise RecordError(f"item {cut(item_id)}: {each.fault}")
    if len(found) == 1:
        own, base, words = found[0].own, found[0].base, found[0].words
    else:
        own = dict(_means(item_id, [each.own for each in scored]))
        base = dict(_means(item_id, [each.base for each in found]))
        counts = [each.words for each in found if each.words is not None]
        words = _mean(item_id, "output_words", counts) if counts else None
    return {name: value for name, value in base.items() if row.get(name) is not None} | own, words


def _means(item_id: str, maps: list[dict[str, int | float]]) -> Iterator[tuple[str, int | float]]:
    for name in dict.fromkeys(name for each in maps for name in each):  # in the order of the rows measured
        yield name, _mean(item_id, name, [each[name] for each in maps if name in each])


def _mean(item_id: str, name: str, values: list[int | float]) -> int | float:
    if len(values) == 1:
        return values[0]
    try:
        return exact_mean(values)
    except OverflowError:
        raise RecordError(f"item {cut(item_id)}: the sum of {cut(name)} is beyond what a double can hold") from None
