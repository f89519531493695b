"""Statistics of comparing arms: intervals, paired tests, families of tests, tables; pure functions over arms.

`pair_test`, `family_test` and `leaderboard` take arms and answer in one object each; the modules below them hold the
tests themselves, over plain numbers. numpy and scipy (`pip install 'evh[stats]'`) are loaded by the functions that need
them.
"""

from __future__ import annotations

from evh.stats.aggregates import AggregateTest, paired_bootstrap_of
from evh.stats.catalog import Entry, HarnessAdapter
from evh.stats.clusters import clusters_of, grouping
from evh.stats.comparison import Options, PairTest, pair_test
from evh.stats.direction import Direction, change, direction_of, kind_of
from evh.stats.families import Adjusted, adjust, benjamini_hochberg, holm
from evh.stats.intervals import (
    Interval,
    bootstrap_interval,
    clopper_pearson,
    clustered_se,
    mean_interval,
    t_interval,
    wilson,
)
from evh.stats.leaderboard import Leaderboard, leaderboard
from evh.stats.mcnemar import mcnemar
from evh.stats.opponents import FamilyTest, family_test
from evh.stats.paired import TestOutcome, paired_bootstrap, paired_t, sign_flip
from evh.stats.power import detectable, items_needed, minimum_detectable
from evh.stats.ranks import midranks, spearman, wilcoxon
from evh.stats.streams import Stream
from evh.stats.tables import TableTest, friedman, nemenyi, table_test

__all__ = [
    "Adjusted",
    "AggregateTest",
    "Direction",
    "Entry",
    "FamilyTest",
    "HarnessAdapter",
    "Interval",
    "Leaderboard",
    "Options",
    "PairTest",
    "Stream",
    "TableTest",
    "TestOutcome",
    "adjust",
    "benjamini_hochberg",
    "bootstrap_interval",
    "change",
    "clopper_pearson",
    "clustered_se",
    "clusters_of",
    "detectable",
    "direction_of",
    "family_test",
    "friedman",
    "grouping",
    "holm",
    "items_needed",
    "kind_of",
    "leaderboard",
    "mcnemar",
    "mean_interval",
    "midranks",
    "minimum_detectable",
    "nemenyi",
    "pair_test",
    "paired_bootstrap",
    "paired_bootstrap_of",
    "paired_t",
    "sign_flip",
    "spearman",
    "t_interval",
    "table_test",
    "wilcoxon",
    "wilson",
]
