"""How small a difference a comparison could have seen, and how many items a difference needs.

Promise: the formulae of Miller (arXiv 2411.00640, section 5): a paired comparison of two arms on n items, two-sided.
Policy: the normal approximation; 5 % and 80 % by default.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from evh.errors import UsageError, cut
from evh.stats.families import check_alpha

__all__ = ["detectable", "items_needed", "minimum_detectable", "z_sum"]

LARGEST_RATIO = 1e9
"""Of the differences' spread to the difference to see: more items than 10^18 are nobody's."""


def z_sum(alpha: float = 0.05, power: float = 0.8) -> float:
    """z(1 - alpha/2) + z(power): 2.80159 for 5 % and 80 %."""
    check_alpha(alpha)
    if not 0 < power < 1:
        raise UsageError(f"power is a number between 0 and 1, such as 0.8, not {cut(power)}")
    normal = NormalDist()
    # By the lower tail: 1 - alpha/2 is 1 for a small alpha.
    return normal.inv_cdf(power) - normal.inv_cdf(alpha / 2 or alpha)


def items_needed(
    difference: float,
    *,
    between: float,
    within: tuple[float, float] = (0.0, 0.0),
    repeats: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Items needed to see a true difference: `between` is the variance of the items' differences in mean score
    (omega squared), `within` the variance of one arm's score on one item over repeats, for each arm."""
    if not (math.isfinite(difference) and difference):
        raise UsageError(f"the difference to see is a finite number other than 0, not {cut(difference)}")
    ratio = z_sum(alpha, power) * math.sqrt(_variance(between, within, repeats)) / abs(difference)
    if not ratio <= LARGEST_RATIO:
        raise UsageError(f"no number of items shows a difference as small as {cut(difference)}")
    return max(1, math.ceil(ratio * ratio - 1e-9))


def minimum_detectable(
    n: int,
    *,
    between: float,
    within: tuple[float, float] = (0.0, 0.0),
    repeats: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """The smallest true difference that n items show with the given power; arguments as in `items_needed`."""
    if n < 1:
        raise UsageError(f"the number of items is at least 1, not {cut(n)}")
    return z_sum(alpha, power) * math.sqrt(_variance(between, within, repeats) / n)


def detectable(se: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that a measured standard error (clustered, if the items are) shows."""
    if not se >= 0:
        raise UsageError(f"a standard error is a number from 0 on, not {cut(se)}")
    return z_sum(alpha, power) * se


def _variance(between: float, within: tuple[float, float], repeats: tuple[int, int]) -> float:
    if not all(0 <= each < math.inf for each in (between, *within)) or min(repeats) < 1:
        raise UsageError("variances are finite numbers from 0 on, and there is at least one repeat")
    return between + within[0] / repeats[0] + within[1] / repeats[1]
