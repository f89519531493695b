"""Means with their intervals: t, Wilson and Clopper-Pearson for shares, bootstrap, and all of them over clusters.

Promise: the estimate and its interval describe one number, the mean over items. Every interval says its kind, level,
number of items and clusters, seed and draws, and for clusters which convention. What cannot be known is undefined
(None, with the reason), never 0: the error of one item, of one cluster, of values that are all equal.
Policy: `mean_interval` takes the clustered t interval when items have clusters, Wilson for a metric of 0 and 1, else t.
The clustered variance is corrected by C/(C-1) unless asked otherwise (`CR1`; `CR0` is Miller's paper), with t on C-1
degrees of freedom. Few clusters are said to be few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

from evh.errors import UsageError, cut
from evh.stats._libraries import load
from evh.stats._numbers import checked
from evh.stats._resampling import bootstrap_means, deviation
from evh.stats.clusters import Grouping
from evh.stats.streams import BOOTSTRAP_DRAWS, Stream, check_draws
from evh.store.aggregate import exact_mean, exact_sum

__all__ = [
    "Interval",
    "bootstrap_interval",
    "check_level",
    "clopper_pearson",
    "clustered_se",
    "mean_interval",
    "no_spread",
    "share_se",
    "standard_error",
    "t_interval",
    "wilson",
]

TOLERANCE = 1e-12
"""Of the largest value: what lies below is float noise."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and how far to trust it."""

    estimate: float
    low: float | None
    high: float | None
    se: float | None
    kind: str
    level: float
    n: int
    clusters: int | None = None
    convention: str | None = None
    draws: int | None = None
    seed: int | None = None
    undefined: str | None = None
    """Why there are no bounds."""

    def __str__(self) -> str:
        sizes = f"n={self.n}" + ("" if self.clusters is None else f", {self.clusters} clusters")
        if self.low is None or self.high is None:
            return f"{self.estimate:g} (no interval: {self.undefined}; {sizes})"
        how = [f"{self.kind} {self.level * 100:g} %", sizes, *([self.convention] if self.convention else [])]
        if self.draws is not None:
            how.append(f"{self.draws} draws, seed {self.seed}")
        return f"{self.estimate:g} [{self.low:g}, {self.high:g}] ({', '.join(how)})"


def mean_interval(values: Sequence[float], groups: Grouping | None = None, *, level: float = 0.95) -> Interval:
    """The mean of per-item values with the interval that fits them."""
    if groups is None and values and all(value in (0, 1) for value in values):
        return wilson(round(exact_sum(values)), len(values), level=level)
    return t_interval(values, groups, level=level)


def t_interval(
    values: Sequence[float], groups: Grouping | None = None, *, level: float = 0.95, corrected: bool = True
) -> Interval:
    """Mean and t interval: n - 1 degrees of freedom, or with clusters the clustered standard error and C - 1."""
    mean = _mean(values, level)
    convention = None if groups is None else ("CR1, C/(C-1)" if corrected else "CR0, uncorrected")
    kind = "t" if groups is None else "clustered t"
    count = len(values) if groups is None else groups.count
    common = {"n": len(values), "clusters": groups and groups.count, "convention": convention}
    se = _error_about(mean, values) if groups is None else clustered_se(values, groups, corrected=corrected)
    if se is None or no_spread(se, values):
        why = _why_undefined(count, groups)
        return Interval(mean, None, None, None, kind, level, undefined=why, **common)  # type: ignore[arg-type]
    reach = t_quantile(level, count - 1) * se
    return Interval(mean, mean - reach, mean + reach, se, kind, level, **common)  # type: ignore[arg-type]


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of a mean of independent items, s/sqrt(n); None for one item."""
    return _error_about(exact_mean(values), values) if values else None


def _error_about(mean: float, values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    # hypot neither overflows nor loses small deviations, as their squares would.
    return math.hypot(*[value - mean for value in values]) / math.sqrt((len(values) - 1) * len(values))


def no_spread(se: float, values: Sequence[float]) -> bool:
    """Whether a standard error is nothing but float noise, which would make an interval without width."""
    return se <= TOLERANCE * max(map(abs, values))


def share_se(share: float, n: int) -> float | None:
    """The standard error of a share, sqrt(p(1-p)/n); None for one item."""
    return math.sqrt(share * (1 - share) / n) if n > 1 else None


def clustered_se(values: Sequence[float], groups: Grouping, *, corrected: bool = True) -> float | None:
    """The clustered standard error, sqrt(sum over clusters of (sum of deviations)^2)/n, times sqrt(C/(C-1)) when
    corrected; None for one cluster."""
    mean = exact_mean(values)
    sums = groups.sums([value - mean for value in values])
    if groups.count < 2:
        return None
    return math.hypot(*sums) * math.sqrt(groups.count / (groups.count - 1) if corrected else 1.0) / len(values)


def wilson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share."""
    share = _share(successes, n, level)
    z = -NormalDist().inv_cdf((1 - level) / 2)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else middle - reach
    high = 1.0 if successes == n else middle + reach
    return Interval(share, low, high, share_se(share, n), "Wilson", level, n)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """The exact binomial interval of a share: never too short, often too long."""
    share = _share(successes, n, level)
    tail = (1 - level) / 2
    inverse = load("scipy.special").betaincinv
    low = 0.0 if successes == 0 else float(inverse(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(inverse(successes + 1, n - successes, 1 - tail))
    return Interval(share, low, high, share_se(share, n), "Clopper-Pearson", level, n)


def bootstrap_interval(
    values: Sequence[float],
    groups: Grouping | None = None,
    *,
    level: float = 0.95,
    method: Literal["percentile", "bca"] = "percentile",
    draws: int = BOOTSTRAP_DRAWS,
    stream: Stream | None = None,
) -> Interval:
    """The bootstrap interval of a mean, over items or whole clusters; `bca` corrects for bias and skew."""
    if method not in ("percentile", "bca"):
        raise UsageError(f"the bootstrap is percentile or bca, not {cut(method)}")
    mean = _mean(values, level)
    stream = stream or Stream()
    kind = f"{'cluster ' if groups else ''}bootstrap, {'percentile' if method == 'percentile' else 'BCa'}"
    count = len(values) if groups is None else groups.count
    clusters = None if groups is None else groups.count
    check_draws(draws, 2)
    np = load("numpy")
    means = None if count < 2 else bootstrap_means(values, groups, draws, stream.generator("bootstrap"))
    if means is None or no_spread(float(means.max() - means.min()), values):
        why = _why_undefined(count, groups)
        return Interval(mean, None, None, None, kind, level, len(values), clusters, undefined=why)
    tails = [(1 - level) / 2, (1 + level) / 2]
    if method == "bca":
        tails = _bca(values, groups, mean, means, tails)
    low, high = (float(bound) for bound in np.quantile(means, tails))
    return Interval(mean, low, high, deviation(means), kind, level, len(values), clusters, None, draws, stream.seed)


def _bca(
    values: Sequence[float], groups: Grouping | None, mean: float, means: object, tails: list[float]
) -> list[float]:
    """Efron's quantiles: shifted by the bias of the draws and the skew of the jackknife."""
    np = load("numpy")
    normal = NormalDist()
    drawn = np.asarray(means)
    below = (float((drawn < mean).sum()) + float((drawn == mean).sum()) / 2) / len(drawn)
    if not 0 < below < 1:
        return tails
    bias = normal.inv_cdf(below)
    sums = np.asarray(values if groups is None else groups.sums(values), dtype=np.float64)
    sizes = np.ones(len(sums)) if groups is None else np.asarray(groups.sizes, dtype=np.float64)
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    gaps = left_out.mean() - left_out
    length = math.hypot(*gaps.tolist())
    skew = float(((gaps / length) ** 3).sum()) / 6 if length else 0.0
    moved = []
    for tail in tails:
        z = bias + normal.inv_cdf(tail)
        room = 1 - skew * z
        moved.append(normal.cdf(bias + z / room) if room > 0 else float(z > 0))
    return moved


@lru_cache(maxsize=4096)
def t_quantile(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t."""
    return -float(load("scipy.special").stdtrit(freedom, (1 - level) / 2))


def _mean(values: Sequence[float], level: float) -> float:
    if not values:
        raise UsageError("an interval is of at least one item")
    check_level(level)
    return exact_mean(checked(values))


def _why_undefined(count: int, groups: Grouping | None) -> str:
    word = "item" if groups is None else "cluster"
    return f"one {word} shows no spread" if count < 2 else f"{word}s that are all alike show no spread"


def _share(successes: int, n: int, level: float) -> float:
    if not 0 <= successes <= n or n < 1:
        raise UsageError(f"{cut(successes)} successes of {cut(n)} are no share")
    check_level(level)
    return successes / n


def check_level(level: float) -> None:
    """Raises `UsageError` for a level that makes no sense."""
    if not 0 < level < 1:
        raise UsageError(f"a level is a number between 0 and 1, such as 0.95, not {cut(level)}")
