"""The items that two arms share, and what became of the others.

Promise: a pair is compared on the items of which both have the metric, in the order of their ids, whatever order the
rows stood in. Every item that is left out is counted under one reason. Fewer than three shared items are no test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from evh.errors import RecordError, SourceError, UsageError, cut
from evh.stats._numbers import LARGEST
from evh.store.arm import Arm

__all__ = ["FEWEST_ITEMS", "Pairing", "check_range", "pair", "values_of"]

FEWEST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class Pairing:
    """The values of two arms on the items they share; `dropped` counts the other items by reason."""

    items: list[str]
    first: list[float]
    second: list[float]
    dropped: dict[str, int]

    @property
    def differences(self) -> list[float]:
        return [a - b for a, b in zip(self.first, self.second, strict=True)]

    def check(self, first: str, second: str, metric: str) -> Pairing:
        """Itself, if there is enough for a test. Raises `SourceError` with the counts, `RecordError` for a value so
        large that its difference from another could not be squared."""
        if len(self.items) < FEWEST_ITEMS:
            said = "; ".join(f"{count} {reason}" for reason, count in self.dropped.items()) or "they have no others"
            raise SourceError(
                f"{cut(first)} and {cut(second)} share {len(self.items)} items with {cut(metric)}, and a test needs "
                f"{FEWEST_ITEMS}: {said}"
            )
        for name, values in ((first, self.first), (second, self.second)):
            check_range(name, metric, zip(self.items, values, strict=True))
        return self


def check_range(name: str, metric: str, values: Iterable[tuple[str, float]]) -> None:
    """Raises `RecordError` for an item of an arm with a value so large that its difference from another could not be
    squared."""
    for item, value in values:
        if abs(value) > LARGEST / 2:
            raise RecordError(
                f"the metric {cut(metric)} of the item {cut(item)} in {cut(name)} is {value:g}; statistics are of "
                f"numbers up to {LARGEST / 2:g}"
            )


def values_of(arm: Arm, metric: str) -> dict[str, float]:
    """The per-item values of a metric, means over repeats. Raises `UsageError` when the arm does not have it."""
    values = arm.values(metric)
    if not values:
        raise UsageError(
            f"{cut(arm.config_id)} has no metric {cut(metric)}; it has {', '.join(arm.metrics) or 'none at all'}"
        )
    return values


def pair(a: Arm, b: Arm, metric: str, *, only: Collection[str] | None = None, exclude: Collection[str] = ()) -> Pairing:
    """Two arms, item by item. `only` and `exclude` choose among the items."""
    return paired_values(
        (a.config_id, a.items, values_of(a, metric)),
        (b.config_id, b.items, values_of(b, metric)),
        metric,
        only,
        exclude,
    )


def paired_values(
    a: tuple[str, Collection[str], Mapping[str, float]],
    b: tuple[str, Collection[str], Mapping[str, float]],
    metric: str,
    only: Collection[str] | None,
    exclude: Collection[str],
) -> Pairing:
    """The same from names, items and values that were read already."""
    (first, its_items, ours), (second, other_items, theirs) = a, b
    in_first, in_second = frozenset(its_items), frozenset(other_items)
    chosen, left_out = None if only is None else frozenset(only), frozenset(exclude)
    shared = Pairing([], [], [], {})
    names = (first, second) if first != second else ("the first arm", "the second arm")
    for item in sorted(in_first | in_second):
        if item in left_out:
            reason = "excluded"
        elif chosen is not None and item not in chosen:
            reason = "not among the items asked for"
        elif item not in in_second:
            reason = f"only in {names[0]}"
        elif item not in in_first:
            reason = f"only in {names[1]}"
        elif item not in ours:
            reason = f"without {metric} in {names[0]}" if item in theirs else f"without {metric} in both"
        elif item not in theirs:
            reason = f"without {metric} in {names[1]}"
        else:
            shared.items.append(item)
            shared.first.append(ours[item])
            shared.second.append(theirs[item])
            continue
        shared.dropped[reason] = shared.dropped.get(reason, 0) + 1
    return shared
