"""The frontier of a table: which arms are dominated.

Promise: an arm is dominated when another is at least as good, no dearer and no slower, and not equal in all three. What
no arm of the table has is left out of the comparison; an arm that lacks what others have is not judged (None) and
dominates nobody. The work grows as n log n.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Standing", "dominated"]


class Standing(NamedTuple):
    """An arm's quality (more is better here: the caller turns it), cost and time."""

    quality: float | None
    cost: float | None
    time: float | None


def dominated(standings: Sequence[Standing]) -> list[bool | None]:
    """Whether each arm is dominated by another of the table."""
    used = [axis for axis in range(3) if any(each[axis] is not None for each in standings)]
    verdicts: list[bool | None] = [None] * len(standings)
    if 0 not in used:
        return verdicts
    points: dict[tuple[float, float, float], list[int]] = {}
    for at, each in enumerate(standings):
        if all(each[axis] is not None for axis in used):
            points.setdefault((-(each.quality or 0.0), each.cost or 0.0, each.time or 0.0), []).append(at)
    # By falling quality, whoever came before is at least as good. Of those, the cheapest and fastest are kept, costs
    # rising and times falling: the last one that is no dearer is the fastest of them.
    costs: list[float] = []
    times: list[float] = []
    for point in sorted(points):
        _, cost, time = point
        at = bisect_right(costs, cost)
        beaten = at > 0 and times[at - 1] <= time
        for index in points[point]:
            verdicts[index] = beaten
        if not beaten:
            start = bisect_left(costs, cost)
            stop = start
            while stop < len(costs) and times[stop] >= time:
                stop += 1
            costs[start:stop] = [cost]
            times[start:stop] = [time]
    return verdicts
