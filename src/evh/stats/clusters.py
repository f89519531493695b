"""Clusters of items: items that share a document, a prompt or a topic are not independent observations.

Promise: an item belongs to one cluster; an item that nobody put into one is a cluster of its own, which is what
independence means. A cluster that has the name of such an item is not mixed up with it.
Policy: in a dataset, the tag `cluster:<name>` names the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evh.errors import RecordError, UsageError, cut
from evh.protocol import models

__all__ = ["TAG", "Grouping", "clusters_of", "grouping"]

TAG = "cluster:"


def clusters_of(dataset: models.Dataset) -> dict[str, str]:
    """Item to cluster, from the tags of a dataset; empty when none has such a tag.

    Raises `RecordError` for an item with two clusters, or with an empty name.
    """
    found: dict[str, str] = {}
    for at, item in enumerate(dataset.items):
        names = {tag.removeprefix(TAG) for tag in item.tags if tag.startswith(TAG)}
        if not names:
            continue
        if len(names) > 1 or "" in names:
            said = ", ".join(sorted(cut(name) for name in names))
            raise RecordError(
                f"the item {cut(item.item_id)} names {said} as its cluster: give it one tag {TAG}<name>",
                pointer=f"/items/{at}/tags",
            )
        found[item.item_id] = names.pop()
    return found


@dataclass(frozen=True, slots=True)
class Grouping:
    """The clusters of a list of items: for each item the number of its cluster, from 0; and how many there are."""

    codes: tuple[int, ...]
    count: int

    def check(self, values: Sequence[float]) -> None:
        """Raises `UsageError` when the values are not one for each of the items."""
        if len(values) != len(self.codes):
            raise UsageError(f"{len(self.codes)} items have clusters, {len(values)} have values")

    def sums(self, values: Sequence[float]) -> list[float]:
        """The sum of the values of each cluster."""
        self.check(values)
        sums = [0.0] * self.count
        for code, value in zip(self.codes, values, strict=True):
            sums[code] += value
        return sums

    @property
    def sizes(self) -> list[int]:
        """The number of items of each cluster."""
        sizes = [0] * self.count
        for code in self.codes:
            sizes[code] += 1
        return sizes


def grouping(items: Sequence[str], clusters: Mapping[str, str] | None) -> Grouping | None:
    """The clusters of items, in the order in which they are met; None when every item stands alone."""
    if not clusters:
        return None
    numbers: dict[tuple[bool, str], int] = {}
    codes = []
    for item in items:
        name = clusters.get(item)
        key = (False, item) if name is None else (True, name)
        codes.append(numbers.setdefault(key, len(numbers)))
    return Grouping(tuple(codes), len(numbers)) if len(numbers) < len(codes) else None
