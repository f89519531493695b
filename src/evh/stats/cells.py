"""What a table shows of an arm: each metric's mean over items, read from the arm once.

Promise: a cell, the interval beside it and the sum of money come from the same per-item values.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from evh.store.arm import Arm

__all__ = ["COST", "ArmValues", "Cell", "values_of_arm"]

COST = "cost_usd"


class Cell(msgspec.Struct, frozen=True, gc=False):
    """A metric of an arm: its mean over items, over how many, of how many the arm has."""

    mean: float
    n: int
    of: int


class ArmValues(msgspec.Struct, frozen=True, gc=False):
    """An arm's cells by metric, the per-item values of one of them, and its money."""

    arm: Arm
    cells: dict[str, Cell]
    chosen: dict[str, float]
    """v(i) of the metric that the table is ranked by; empty when the arm does not have it."""
    cost: float | None
    """US dollars of one pass, over the items that have a price."""

    @property
    def unscored(self) -> int | None:
        """Items that neither failed nor have the metric; None for several runs, where an item may have done both."""
        arm = self.arm
        return max(0, arm.n_items - len(self.chosen) - arm.n_errors) if len(arm.runs) == 1 else None


def values_of_arm(arm: Arm, columns: Iterable[str], metric: str) -> ArmValues:
    """Everything a table needs of an arm. Raises `RecordError` for a sum beyond a double."""
    cells: dict[str, Cell] = {}
    chosen: dict[str, float] = {}
    cost = None
    of = arm.n_items
    for name in columns:
        value = arm.value(name)
        if value is None:
            continue
        cells[name] = Cell(value.mean, value.n, of)
        if name == metric:
            chosen = arm.values(name)
        if name == COST:
            cost = arm.total(name)
    return ArmValues(arm, cells, chosen, cost)
