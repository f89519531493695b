"""The records that a platform does not take: which ones they are, until it takes them after all.

Promise: a refused record is named once, however often it is met. One that was sent again on demand and taken is none
any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evh.protocol import models

__all__ = ["Refusals"]


class Refusals:
    """The outstanding refusals of a run, by the file and the byte at which the record begins."""

    def __init__(self, refused: Iterable[models.SyncRefusal], receipts: Iterable[models.SyncReceipt] = ()) -> None:
        self._held: dict[tuple[str, int], models.SyncRefusal] = {}
        for each in refused:
            self._held.setdefault((each.segment, each.start), each)
        for receipt in receipts:
            if receipt.retry:
                self._held.pop((receipt.segment, receipt.start), None)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[models.SyncRefusal]:
        return iter(list(self._held.values()))

    def holds(self, segment: str, start: int) -> bool:
        return (segment, start) in self._held

    def add(self, refusal: models.SyncRefusal) -> None:
        self._held.setdefault((refusal.segment, refusal.start), refusal)

    def taken(self, segment: str, start: int) -> None:
        """The record was taken after all."""
        self._held.pop((segment, start), None)
