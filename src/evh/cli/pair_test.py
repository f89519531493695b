"""`evh pair-test`: two arms on the items they share, and whether their difference could be chance.

Promise: everything that decides the answer is printed: items used, dropped and why, failed, the interval's kind, the
test, its draws and seed, the threshold. A smallest p-value above the threshold is said to be out of reach, not
"no difference". Exit code 0 whatever the answer is.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evh.cli._args import DONE, Once, Parser, count

if TYPE_CHECKING:
    from evh.stats.comparison import PairTest

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh pair-test: could the difference between two arms be chance

Usage
  evh pair-test A B [OPTIONS]

A and B are config ids, the names of single runs, or addresses
(<runs dir>/<dataset id>/<config id>). Differences are A minus B, on the items
that both have. Clusters of items (tag cluster:<name>) are respected.

Options
  --metric METRIC         the metric (default: the declared primary one)
  --method METHOD         sign-flip, mcnemar, wilcoxon, t or bootstrap
                          (default: sign-flip, exact where that fits)
  --permutations N        sign flips that are drawn (default: 20000)
  --seed N                seed of the draws (default: 20260926)
  --alpha X               the error that is accepted (default: 0.05)
  --family M              one of M tests: the threshold is alpha/M (Bonferroni)
  --bootstrap             the interval by bootstrap instead of t
  --asc                   the smaller value is the better
  --desc                  the larger value is the better
  --dataset-id ID         the dataset, when an arm was run on several
  --items FILE            only the items listed in a file, one id on a line
  --exclude-dataset ID    without the items of a dataset; may be repeated
  --runs-dir DIR          the folder of runs (default: data/runs)
  --root DIR              the folder that holds data/ (default: the current one)
  --json                  print the same as data
  -h, --help              this page

Exit codes
  0    tested, whatever came out
  1    no such arm, or fewer than three shared items
  2    wrong usage
  130  interrupted

Examples
  evh pair-test reranked baseline
  evh pair-test reranked baseline --metric ndcg --family 3
  evh pair-test data/runs/q/a data/runs-rescored/q/a --method t --json
"""


def parser() -> Parser:
    from evh.cli._tested import add_test

    made = Parser("pair-test")
    made.add_argument("a", metavar="A")
    made.add_argument("b", metavar="B")
    made.add_argument("--family", type=count, action=Once)
    made.add_argument("--bootstrap", action="store_true")
    add_test(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Test the pair; returns the exit code."""
    from evh.cli._choice import choice_of
    from evh.cli._compared import Runs
    from evh.cli._tested import metric_of, options_of
    from evh.stats.comparison import pair_test

    runs = Runs.of(options)
    choice = choice_of(options, runs.project)
    a, b = runs.arm(options.a, options.dataset_id), runs.arm(options.b, options.dataset_id)
    declared = runs.declared([a, b])
    metric, chosen = metric_of([a, b], options.metric, declared)
    how = options_of(options, runs, choice, a.dataset_id, declared)
    found = pair_test(a, b, metric, how)
    notices = [*choice.notices, *choice.missed([a, b]), *chosen, *runs.told([a, b]), *found.notices]
    if options.json:
        from evh.cli._data import as_data, json_text

        print(json_text({"ok": True} | as_data(found) | {"family": how.family, "seed": how.seed, "notices": notices}))
        return DONE
    # Two arms of one config (a run and its rescore) are told apart as they were named.
    names = (found.a, found.b) if found.a != found.b else (options.a, options.b)
    _show(found, names, how.family, notices)
    return DONE


def _show(found: PairTest, names: tuple[str, str], family: int, notices: list[str]) -> None:
    from evh.cli._tabled import print_notices
    from evh.cli._terminal import Screen, number, plural, printable
    from evh.cli._tested import left_out

    screen = Screen()
    a, b = map(printable, names)
    clusters = f" in {plural(found.clusters, 'cluster')}" if found.clusters is not None else ""
    screen.line(
        f"{printable(found.dataset_id)}: {printable(found.metric)}, better is {printable(str(found.direction))}; "
        f"{plural(found.n, 'shared item')}{clusters}"
    )
    screen.line(f"  {a}: {number(found.mean_a, digits=4)}   {b}: {number(found.mean_b, digits=4)}")
    screen.line(f"  difference: {found.difference}")
    screen.line(f"  {a} is ahead on {found.wins:,} items, behind on {found.losses:,}, equal on {found.ties:,}")
    p = "undefined" if found.test.p is None else number(found.test.p, digits=4)
    share = f", alpha {found.alpha:g} shared by a family of {family} (Bonferroni)" if family > 1 else ", no correction"
    screen.line(f"  p = {p} ({found.test.signature}); threshold {found.threshold:g}{share}")
    screen.line(f"  {left_out(found)}")
    if found.detectable is not None:
        screen.line(f"  smallest true difference shown with 80 % power: {number(found.detectable, digits=4)}")
    sign = {"better": f"{a} is better", "worse": f"{a} is worse", "changed": "they differ"}
    screen.line("  ", (sign.get(found.verdict, found.verdict), "bold"))
    print_notices(screen, notices)
