"""`evh family-test`: one arm against every opponent whose id has a text in it, corrected for their number.

Promise: the family is every opponent that was declared, those included that cannot be tested. Adding an opponent
changes no other opponent's own p-value, only the adjusted ones. Exit code 0 whatever the answers are.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evh.cli._args import DONE, Once, Parser

if TYPE_CHECKING:
    from evh.cli._tabled import Value
    from evh.stats.comparison import PairTest
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


def parser() -> Parser:
    from evh.cli._tested import add_test

    made = Parser("family-test")
    made.add_argument("a", metavar="A")
    made.add_argument("--against", action=Once, required=True)
    made.add_argument("--method", choices=CORRECTIONS, action=Once, dest="correction")
    add_test(made, "--test")
    return made


def run(options: argparse.Namespace) -> int:
    """Test the family; returns the exit code."""
    from evh.cli._choice import choice_of
    from evh.cli._compared import Runs
    from evh.cli._tested import family_name, family_notices, family_of

    runs = Runs.of(options)
    choice = choice_of(options, runs.project)
    found, notices = family_of(options, runs, choice)
    if options.json:
        from evh.cli._data import as_data, json_text

        print(json_text({"ok": True} | as_data(found) | {"notices": notices}))
        return DONE
    _show(found, family_name(options.a, found), [*notices, *family_notices(found)])
    return DONE


def _show(found: FamilyTest, name: str, notices: list[str]) -> None:
    from evh.cli._tabled import print_notices, print_table
    from evh.cli._terminal import Screen, plural, printable
    from evh.cli._tested import left_out

    screen = Screen()
    arm = printable(name)
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
    pairs = [each.pair for each in found.opponents if each.pair is not None]
    tests = sorted({_test(pair) for pair in pairs})
    kinds = sorted({f"{pair.difference.kind} {pair.difference.level * 100:g} %" for pair in pairs})
    correction = {"holm": "Holm", "bh": "Benjamini-Hochberg"}[found.correction]
    screen.line(
        f"separated from {found.separated} of {found.size}, better than {found.ahead}; correction: {correction} over "
        f"{found.size}, alpha {found.alpha:g}; test: {', '.join(tests)}; intervals (uncorrected): {', '.join(kinds)}; "
        f"seed {found.seed}"
    )
    for each in found.opponents:
        if each.pair is None:
            screen.line(f"skipped {printable(each.config_id)}: {printable(each.skipped or '')}")
            continue
        if each.pair.dropped or any(each.pair.failed):
            screen.line(f"{printable(each.config_id)}: {left_out(each.pair)}")
    if not any(pair.dropped or any(pair.failed) for pair in pairs):
        screen.line("items dropped: none; rows that failed: none")
    print_notices(screen, notices)


def _test(pair: PairTest) -> str:
    """What was done for a pair; the seed stands once for all."""
    draws = "" if pair.test.draws is None else f", {pair.test.draws:,} draws"
    return pair.test.method + draws + ("" if pair.clusters is None else f", {pair.clusters} clusters")
