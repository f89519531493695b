"""Several tests asked at once: adjusted p-values.

Promise: a test is rejected when its adjusted p-value is at most alpha (`<=`, as in Holm's paper). Tests that were
declared but could not be made are None: they count in the size of the family and are never rejected. Order and ties
change no decision.
Policy: Holm holds the chance of any false claim; Benjamini-Hochberg the expected share of false ones among the claims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evh.errors import UsageError, cut

__all__ = ["Adjusted", "Correction", "adjust", "benjamini_hochberg", "holm"]

Correction = Literal["holm", "bh"]


class Adjusted(NamedTuple):
    """One test of a family: its own p-value, the adjusted one, and the decision."""

    p: float | None
    adjusted: float | None
    rejected: bool


def adjust(p_values: Sequence[float | None], method: Correction = "holm", *, alpha: float = 0.05) -> list[Adjusted]:
    """The tests of a family by a named correction."""
    if method not in ("holm", "bh"):
        raise UsageError(f"the correction is holm or bh, not {cut(method)}")
    return holm(p_values, alpha=alpha) if method == "holm" else benjamini_hochberg(p_values, alpha=alpha)


def holm(p_values: Sequence[float | None], *, alpha: float = 0.05) -> list[Adjusted]:
    """Holm's step-down: the i-th smallest p times (m - i + 1), at most 1, never below an earlier one."""
    order = _order(p_values, alpha)
    adjusted: dict[int, float] = {}
    highest = 0.0
    for step, (p, at) in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p))
        adjusted[at] = highest
    return _decided(p_values, adjusted, alpha)


def benjamini_hochberg(p_values: Sequence[float | None], *, alpha: float = 0.05) -> list[Adjusted]:
    """Benjamini and Hochberg's step-up: the i-th smallest p times m / i, at most 1, never above a later one."""
    order = _order(p_values, alpha)
    adjusted: dict[int, float] = {}
    lowest = 1.0
    for step, (p, at) in reversed(list(enumerate(order, 1))):
        lowest = min(lowest, len(p_values) * p / step)
        adjusted[at] = lowest
    return _decided(p_values, adjusted, alpha)


def _order(p_values: Sequence[float | None], alpha: float) -> list[tuple[float, int]]:
    check_alpha(alpha)
    for p in p_values:
        if p is not None and not 0 <= p <= 1:
            raise UsageError(f"a p-value lies between 0 and 1: {cut(p)}")
    return sorted((p, at) for at, p in enumerate(p_values) if p is not None)


def _decided(p_values: Sequence[float | None], adjusted: dict[int, float], alpha: float) -> list[Adjusted]:
    tests = []
    for at, p in enumerate(p_values):
        # A p of alpha/m times m is alpha, though floats may make it more: the boundary belongs to the rejected.
        value = adjusted.get(at)
        value = alpha if value is not None and math.isclose(value, alpha, rel_tol=1e-12) else value
        tests.append(Adjusted(p, value, value is not None and value <= alpha))
    return tests


def check_alpha(alpha: float) -> float:
    """The error rate, if it makes sense. Raises `UsageError`."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is a number between 0 and 1, such as 0.05, not {cut(alpha)}")
    return alpha
