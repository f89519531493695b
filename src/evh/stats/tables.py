"""A whole table of arms at once: within-item ranks, Friedman, Nemenyi, the permutation of ranks, chances of a place.

Promise: only items that every arm has count; their number stands in the result. Rank 1 is the better end by the table's
direction, equal values share midranks, noise parts nobody. A place at the first is counted only when it is nobody
else's: arms that are all tied, or one arm alone, have no order. Clusters are permuted and drawn whole.
Policy: 5,000 permutations of ranks (enumerated when they are fewer; their chi-squared limit where drawing would shuffle
more than 50 million ranks, which takes hundreds of items), 2,000 bootstrap draws. Friedman's chi-squared and
Nemenyi's distance take items as independent: with clusters they are left out, and `notices` says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

from evh.errors import SourceError, UsageError
from evh.stats._libraries import load
from evh.stats._numbers import above_zero, checked
from evh.stats._resampling import blocks, bootstrap_rows
from evh.stats.clusters import Grouping
from evh.stats.families import check_alpha
from evh.stats.ranks import same_within
from evh.stats.streams import RANK_PERMUTATIONS, TABLE_DRAWS, Stream, check_draws

__all__ = [
    "Friedman",
    "Places",
    "RankPermutation",
    "TableTest",
    "friedman",
    "nemenyi",
    "rank_permutation",
    "table_test",
    "within_item_ranks",
]

FEWEST_ITEMS = 3
MOST_SHUFFLED = 50_000_000


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test: the mean rank of each arm, the statistic corrected for ties, its asymptotic p-value."""

    mean_ranks: list[float]
    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class Places:
    """How often an arm came where, of the bootstrap draws. No claim about a pair."""

    first: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class TableTest:
    """What can be said about a table as a whole."""

    arms: list[str]
    n: int
    clusters: int | None
    mean_ranks: list[float]
    p: float
    """Of the permutation of ranks: under no effect each item could rank the arms in any order."""
    method: str
    draws: int | None
    seed: int
    friedman: Friedman | None
    critical_distance: float | None
    """Arms differ by Nemenyi's test when their mean ranks are further apart than this."""
    differing: list[tuple[str, str]]
    top: int
    """How many places count as the top, and as the bottom."""
    places: list[Places]
    place_draws: int
    alpha: float
    notices: list[str]


def within_item_ranks(rows: Sequence[Sequence[float]], *, sign: int = 1) -> Any:
    """The ranks of arms (columns) within each item (row), 1 for the best; `sign` is -1 when less is better."""
    np = load("numpy")
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise UsageError("a table of ranks has a row for each item, and in each row a value of every arm")
    values = np.asarray(rows, dtype=np.float64)
    checked(values.ravel().tolist())
    return _ranks(np, values * -sign, same_within(float(np.abs(values).max())))


def _ranks(np: Any, values: Any, tolerance: float) -> Any:
    """Midranks of each row from the smallest, by comparing every column with every other."""
    count = values.shape[1]
    ranks = np.full(values.shape, (count + 1) / 2)
    for column in range(count):
        gaps = values - values[:, column : column + 1]
        ranks += ((gaps > tolerance).astype(np.int8) - (gaps < -tolerance).astype(np.int8)) / 2
    return ranks


def friedman(ranks: Any) -> Friedman:
    """Friedman's test from within-item ranks."""
    np = load("numpy")
    ranks = np.asarray(ranks, dtype=np.float64)
    n, k = ranks.shape
    if k < 2:
        raise UsageError("Friedman's test compares at least two arms")
    middle = (k + 1) / 2
    means = ranks.mean(axis=0)
    spread = float(((ranks - middle) ** 2).sum()) / (k - 1)
    if not spread:
        return Friedman([float(mean) for mean in means], 0.0, 1.0)
    statistic = n * n * float(((means - middle) ** 2).sum()) / spread
    return Friedman([float(mean) for mean in means], statistic, _chi_squared_tail(k - 1, statistic))


def _chi_squared_tail(freedom: int, statistic: float) -> float:
    return above_zero(float(load("scipy.special").chdtrc(freedom, statistic)))


def nemenyi(k: int, n: int, *, alpha: float = 0.05) -> float | None:
    """Nemenyi's critical distance of mean ranks for k arms on n items; None where the distribution has no value."""
    check_alpha(alpha)
    if k < 2 or n < 1:
        return None
    quantile = float(load("scipy.stats").studentized_range.ppf(1 - alpha, k, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(k * (k + 1) / (6 * n)) if math.isfinite(quantile) else None


class RankPermutation(NamedTuple):
    """The p-value of the sum of squared mean ranks, how it was found, and the draws; None when nothing was drawn."""

    p: float
    method: str
    draws: int | None


def rank_permutation(
    ranks: Any, groups: Grouping | None = None, *, draws: int = RANK_PERMUTATIONS, stream: Stream | None = None
) -> RankPermutation:
    """The test of whether arms differ at all: under no effect the ranks of each item (of each cluster, alike for its
    items) could stand in any order."""
    np = load("numpy")
    check_draws(draws)
    ranks = np.asarray(ranks, dtype=np.float64)
    centred = ranks - (ranks.shape[1] + 1) / 2
    if groups is not None:
        sums = np.zeros((groups.count, ranks.shape[1]))
        np.add.at(sums, list(groups.codes), centred)
        centred = sums
    units, k = centred.shape
    name = f"permutation of ranks within {'items' if groups is None else 'clusters'}"
    observed = float((centred.sum(axis=0) ** 2).sum())
    least = observed - 1e-9 * max(1.0, observed)
    if not centred.any():
        return RankPermutation(1.0, f"{name}, exact", None)
    orders = math.factorial(k) if k <= 8 else draws + 1
    if (units - 1) * math.log(orders) <= math.log(draws):
        # One unit can stay as it is: the statistic does not know which column is which arm.
        totals = centred[:1]
        for unit in centred[1:]:
            turned = unit[np.array(list(permutations(range(k))))]
            totals = (totals[:, None, :] + turned[None, :, :]).reshape(-1, k)
        return RankPermutation(float(((totals**2).sum(axis=1) >= least).mean()), f"{name}, exact", None)
    if units * k * draws > MOST_SHUFFLED:
        statistic = (k - 1) * observed / float((centred**2).sum())
        return RankPermutation(_chi_squared_tail(k - 1, statistic), f"{name}, chi-squared", None)
    generator = (stream or Stream()).generator("ranks")
    hits = 0
    for start, stop in blocks(draws, units * k):
        turned = np.broadcast_to(centred, (stop - start, units, k)).copy()
        generator.permuted(turned, axis=2, out=turned)
        hits += int(((turned.sum(axis=1) ** 2).sum(axis=1) >= least).sum())
    return RankPermutation((1 + hits) / (draws + 1), f"{name}, Monte Carlo", draws)


def table_test(
    arms: Sequence[str],
    rows: Sequence[Sequence[float]],
    groups: Grouping | None = None,
    *,
    sign: int = 1,
    alpha: float = 0.05,
    rank_draws: int = RANK_PERMUTATIONS,
    draws: int = TABLE_DRAWS,
    stream: Stream | None = None,
) -> TableTest:
    """All of it, for a row of values per item that every arm has. Raises `SourceError` for fewer than three items."""
    if len(arms) < 2:
        raise UsageError("a table of one arm has no order")
    if sign not in (1, -1):
        raise UsageError("no order without a direction: ask for one, or declare the metric's")
    if len(rows) < FEWEST_ITEMS:
        raise SourceError(f"{len(rows)} items have a value of all {len(arms)} arms; a test needs {FEWEST_ITEMS}")
    np = load("numpy")
    stream = stream or Stream()
    ranks = within_item_ranks(rows, sign=sign)
    if ranks.shape[1] != len(arms):
        raise UsageError(f"the table names {len(arms)} arms and has values of {ranks.shape[1]}")
    values = np.asarray(rows, dtype=np.float64)
    n, k = ranks.shape
    overall = rank_permutation(ranks, groups, draws=rank_draws, stream=stream)
    means = [float(mean) for mean in ranks.mean(axis=0)]
    notices = []
    test = distance = None
    if groups is None:
        test, distance = friedman(ranks), nemenyi(k, n, alpha=alpha)
        if distance is None:
            notices.append(f"Nemenyi's distance has no value for {k} arms")
    else:
        notices.append("Friedman and Nemenyi take items as independent; these are in clusters, so they are left out")
    apart = [
        (arms[one], arms[other])
        for one in range(k)
        for other in range(one + 1, k)
        if distance is not None and abs(means[one] - means[other]) > distance
    ]
    top = max(1, min(5, k // 4))
    generator = stream.generator("places")
    drawn_means = bootstrap_rows(values.T.tolist(), groups, check_draws(draws), generator).T
    order = _ranks(np, drawn_means * -sign, same_within(float(np.abs(values).max())))
    # Two that share the first place have rank 1.5 each: only what is below that came first alone.
    shares = [(order < 1.25).mean(axis=0), (order <= top).mean(axis=0), (order >= k + 1 - top).mean(axis=0)]
    return TableTest(
        arms=list(arms),
        n=n,
        clusters=None if groups is None else groups.count,
        mean_ranks=means,
        p=overall.p,
        method=overall.method,
        draws=overall.draws,
        seed=stream.seed,
        friedman=test,
        critical_distance=distance,
        differing=apart,
        top=top,
        places=[Places(*(float(share[at]) for share in shares)) for at in range(k)],
        place_draws=draws,
        alpha=alpha,
        notices=notices,
    )
