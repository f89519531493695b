"""Calibration: 50 clusters of 10 items, no effect, 2,000 simulated data sets. A test at 5 % rejects 5 %."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from evh.stats import Stream, grouping, paired_bootstrap, paired_t, sign_flip
from evh.stats.clusters import Grouping
from evh.stats.paired import TestOutcome

CLUSTERS, SIZE, DATA_SETS = 50, 10, 2_000
Test = Callable[[list[float], Grouping | None, Stream], TestOutcome]
TESTS: dict[str, Test] = {
    "sign flips": lambda d, groups, stream: sign_flip(d, groups, draws=499, stream=stream),
    "paired t": lambda d, groups, _: paired_t(d, groups),
    "paired bootstrap": lambda d, groups, stream: paired_bootstrap(d, groups, draws=499, stream=stream),
}


@pytest.fixture(scope="module")
def data_sets() -> list[list[float]]:
    """Differences that share half of their variance within a cluster and have mean 0."""
    draw = np.random.Generator(np.random.PCG64(1))
    shared = np.repeat(draw.normal(size=(DATA_SETS, CLUSTERS)), SIZE, axis=1)
    own = draw.normal(size=(DATA_SETS, CLUSTERS * SIZE))
    return [list(map(float, row)) for row in shared + own]


@pytest.mark.parametrize("name", sorted(TESTS))
def test_clustered_tests_keep_their_level_and_naive_ones_do_not(name: str, data_sets: list[list[float]]) -> None:
    items = [f"i{at}" for at in range(CLUSTERS * SIZE)]
    groups = grouping(items, {item: f"c{at // SIZE}" for at, item in enumerate(items)})
    rates = []
    for clusters in (groups, None):
        found = [TESTS[name](each, clusters, Stream(at)).p for at, each in enumerate(data_sets)]
        rates.append(sum(p is not None and p <= 0.05 for p in found) / len(found))
    print(f"{name}: rejects {rates[0]:.1%} with clusters, {rates[1]:.1%} without")
    assert abs(rates[0] - 0.05) <= 0.015, rates
    assert rates[1] > 0.3, rates


def test_a_paired_bootstrap_of_2000_items_is_quick() -> None:
    values = [float(value) for value in np.random.Generator(np.random.PCG64(2)).normal(size=2000)]
    paired_bootstrap(values, draws=100)
    spent = []
    for _ in range(3):
        start = time.process_time()
        paired_bootstrap(values, draws=10_000)
        spent.append(time.process_time() - start)
    assert min(spent) < 0.2, spent  # 0.07 s of a processor with nothing else to do
