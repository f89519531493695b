"""`evh family-test`: one arm against every opponent whose id has a text in it, corrected for their number.

Promise: the family is every opponent that was declared, those included that cannot be tested. Adding an opponent
changes no other opponent's own p-value, only the adjusted ones. Exit code 0 whatever the answers are.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evh.cli._args import DONE, Once, Parser, add_json

if TYPE_CHECKING:
    from evh.cli._tabled import Value
    from evh.stats.opponents import FamilyTest

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh family-test: one arm against many, corrected for their number

Usage
  evh family-test A --against TEXT [OPTIONS]

A is a config id, the name of a single run, or an address. Its opponents are the
other configs of the same dataset that have TEXT in their id. An opponent is
separated when its adjusted p-value is at most alpha.

Options
  --against TEXT          which opponents; those that cannot be tested count
  --method METHOD         holm (some error at all) or bh (share of errors);
                          default: holm
  --test TEST             sign-flip, mcnemar, wilcoxon, t or bootstrap
                          (default: sign-flip)
  --metric METRIC         the metric (default: the declared primary one)
  --permutations N        sign flips that are drawn (default: 20000)
  --seed N                seed of the draws (default: 20260926)
  --alpha X               the error that is accepted (default: 0.05)
  --asc                   the smaller value is the better
  --desc                  the larger value is the better
  --dataset-id ID         the dataset, when the arm was run on several
  --items FILE            only the items listed in a file, one id on a line
  --exclude-dataset ID    without the items of a dataset; may be repeated
  --runs-dir DIR          the folder of runs (default: data/runs)
  --root DIR              the folder that holds data/ (default: the current one)
  --json                  print the same as data
  -h, --help              this page

Exit codes
  0    tested, whatever came out
  1    no such arm, or no opponent that can be tested
  2    wrong usage
  130  interrupted

Examples
  evh family-test reranked --against bm25
  evh family-test reranked --against _v1 --method bh --metric ndcg
  evh family-test reranked --against bm25 --alpha 0.01 --json
"""

CORRECTIONS = ("holm", "bh")
TESTS = ("sign-flip", "mcnemar", "wilcoxon", "t", "bootstrap")


def parser() -> Parser:
    from evh.cli._args import count
    from evh.cli._compared import add_choice, add_direction, add_runs, number_of

    made = Parser("family-test")
    made.add_argument("a", metavar="A")
    made.add_argument("--against", action=Once, required=True)
    made.add_argument("--method", choices=CORRECTIONS, action=Once, dest="correction")
    made.add_argument("--test", choices=TESTS, action=Once, dest="method")
    made.add_argument("--metric", action=Once)
    made.add_argument("--permutations", type=count, action=Once)
    made.add_argument("--seed", type=count, action=Once)
    made.add_argument("--alpha", type=number_of, action=Once)
    add_direction(made)
    made.add_argument("--dataset-id", action=Once)
    add_choice(made)
    add_runs(made)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Test the family; returns the exit code."""
    from evh.cli._compared import Runs, as_data, choice_of
    from evh.cli._tested import family_of

    runs = Runs.of(options)
    choice = choice_of(options, runs.project)
    found, notices = family_of(options, runs, choice)
    if options.json:
        from evh.cli._data import json_text

        print(json_text({"ok": True} | as_data(found) | {"notices": notices}))
        return DONE
    _show(found, notices)
    return DONE


def _show(found: FamilyTest, notices: list[str]) -> None:
    from evh.cli._tabled import print_notices, print_table
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    arm = printable(found.arm)
    screen.line(
        f"{printable(found.dataset_id)}: {printable(found.metric)}, better is {printable(str(found.direction))}; "
        f"{arm} against {plural(found.size, 'opponent')}"
    )
    columns = [("opponent", True), ("difference", False), ("low", False), ("high", False), ("items", False)]
    columns += [(name, False) for name in ("ahead", "behind", "equal", "p", "adjusted p", "verdict")]
    rows: list[list[Value]] = []
    for each in found.opponents:
        pair = each.pair
        if pair is None:
            rows.append([each.config_id, *[None] * 9, "skipped"])
            continue
        gap = pair.difference
        counts: list[Value] = [pair.n, pair.wins, pair.losses, pair.ties]
        rows.append(
            [each.config_id, gap.estimate, gap.low, gap.high, *counts, pair.test.p, each.adjusted, each.verdict]
        )
    print_table(screen, columns, rows)
    tests = sorted({each.pair.test.method for each in found.opponents if each.pair is not None})
    kinds = sorted({each.pair.difference.kind for each in found.opponents if each.pair is not None})
    name = {"holm": "Holm", "bh": "Benjamini-Hochberg"}[found.correction]
    screen.line(
        f"separated from {found.separated} of {found.size}, better than {found.ahead}; correction: {name} over "
        f"{found.size}, alpha {found.alpha:g}; test: {', '.join(tests)}; intervals (uncorrected): {', '.join(kinds)}; "
        f"seed {found.seed}"
    )
    for each in found.opponents:
        if each.pair is None:
            screen.line(f"skipped {printable(each.config_id)}: {printable(each.skipped or '')}")
            continue
        failed = each.pair.failed
        if each.pair.dropped or any(failed):
            reasons = "; ".join(f"{count:,} {printable(why)}" for why, count in sorted(each.pair.dropped.items()))
            screen.line(
                f"{printable(each.config_id)}: dropped {reasons or 'none'}; rows that failed: {failed[0]:,} and "
                f"{failed[1]:,}"
            )
        notices = [*notices, *each.pair.notices]
    print_notices(screen, notices)
