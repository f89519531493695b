"""`evh leaderboard`: the arms of a dataset in one table, ranked by one metric, with intervals and what to beware of.

Promise: order, ranks, intervals, frontier and the block below the table follow one direction and one set of items. What
was left out is told: unfinished runs by number, unreadable ones and arms that are no set of repeats by name, and those
two make the exit code 1. Policy: which columns stand in the table; `--json` has all of them.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import SourceError, UsageError, cut

if TYPE_CHECKING:
    from evh.cli._tabled import Value
    from evh.cli._terminal import Screen
    from evh.stats.leaderboard import Leaderboard, Row
    from evh.stats.tables import TableTest

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh leaderboard: rank the arms of a dataset, with intervals and coverage

Usage
  evh leaderboard [OPTIONS]

An arm is every repeat of a config, averaged per item. Equal arms share a rank.
A `*` marks an arm that no other beats in quality, cost and time at once.

Options
  --dataset-id ID         the dataset (needed when there are runs of several)
  --sort METRIC           rank by this metric (default: the declared primary)
  --asc                   the smallest value is the best
  --desc                  the largest value is the best
  --match TEXT            only configs with this text in their id
  --items FILE            only the items listed in a file, one id on a line
  --exclude-dataset ID    without the items of a dataset; may be repeated
  --no-test               no block of tests over the whole table
  --seed N                seed of the draws (default: 20260926)
  --format FORMAT         rich, md, json or csv (default: rich)
  --runs-dir DIR          the folder of runs (default: data/runs)
  --root DIR              the folder that holds data/ (default: the current one)
  --json                  print the same as data
  -h, --help              this page

Exit codes
  0    the table is whole
  1    something was left out (unreadable, or no set of repeats), or there is
       nothing to rank
  2    wrong usage
  130  interrupted

Examples
  evh leaderboard
  evh leaderboard --dataset-id questions_v1 --sort cost_usd
  evh leaderboard --runs-dir data/runs-rescored --format md > table.md
"""

PASS = "cost of a pass"
FORMATS = ("rich", "md", "json", "csv")


def parser() -> Parser:
    from evh.cli._args import count
    from evh.cli._choice import add_choice, add_direction
    from evh.cli._compared import add_runs

    made = Parser("leaderboard")
    made.add_argument("--dataset-id", action=Once)
    made.add_argument("--sort", action=Once)
    add_direction(made)
    made.add_argument("--match", action=Once)
    add_choice(made)
    made.add_argument("--no-test", action="store_true")
    made.add_argument("--seed", type=count, action=Once)
    made.add_argument("--format", choices=FORMATS, action=Once)
    add_runs(made)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Print the table; returns the exit code."""
    from evh.store.collector import uncollected

    with uncollected():
        return _ranked(options)


def _ranked(options: argparse.Namespace) -> int:
    from evh.cli._choice import asked_way, choice_of
    from evh.cli._compared import Runs
    from evh.cli._data import as_data
    from evh.cli._terminal import Screen
    from evh.stats.leaderboard import leaderboard
    from evh.stats.streams import SEED

    form = options.format or ("json" if options.json else "rich")
    if options.json and form != "json":
        raise UsageError(f"--json and --format {form} contradict each other")
    way = asked_way(options)
    runs = Runs.of(options)
    choice = choice_of(options, runs.project)
    match = options.match or ""
    dataset_id = runs.one_dataset(options.dataset_id, match)
    arms = runs.with_items(runs.arms(dataset_id, match=match, choice=choice)[0])
    if not arms:
        more = f": {'; '.join(runs.notices)}" if runs.notices else ""
        raise SourceError(f"holds no arm to rank of the dataset {cut(dataset_id)}{more}", source=runs.shown)
    board = leaderboard(
        arms,
        sort=options.sort,
        asked=way,
        declared=runs.declared(arms),
        clusters=runs.clusters(dataset_id),
        seed=SEED if options.seed is None else options.seed,
        significance=False if options.no_test else None,
    )
    notices = [*choice.notices, *choice.missed(arms), *runs.told(arms), *board.notices]
    left_out = sum(arm.left_out for arm in arms)
    code = FAILED if runs.faults else DONE
    if form == "json":
        from evh.cli._data import json_text

        data = as_data(board) | {"notices": notices, "rows_left_out": left_out}
        print(json_text({"ok": not runs.faults, "folder": runs.shown} | data))
        return code
    _show(board, form)
    screen = Screen(sys.stdout if form == "rich" else sys.stderr)
    _tell(screen, board, notices, left_out)
    return code


def _show(board: Leaderboard, form: str) -> None:
    from evh.cli._tabled import known, print_csv, print_markdown, print_table
    from evh.cli._terminal import Screen

    more = _more(board)
    exact = form == "csv"
    rows = [_cells(row, more, exact) for row in board.rows]
    columns, rows = known(_columns(board, more, exact), rows, PASS)
    if form == "csv":
        print_csv(columns, rows)
    elif form == "md":
        print_markdown(columns, rows)
    else:
        print_table(Screen(), columns, rows)


def _more(board: Leaderboard) -> list[str]:
    """The other metrics that stand in the table: quality first, then speed; totals and money have columns of their
    own."""
    order = {"quality": 0, "descriptive": 1, "speed": 2}
    names = [name for name, kind in board.columns.items() if kind in order and name != board.metric]
    return sorted(names, key=lambda name: (order[board.columns[name]], name))[:6]


def _columns(board: Leaderboard, more: list[str], exact: bool) -> list[tuple[str, bool]]:
    mark = "frontier" if exact else ""
    names = ["rank", mark, "config", board.metric, "low", "high", "items", "failed", "runs", *more, PASS]
    return [(name, name == "config") for name in names]


def _cells(row: Row, more: list[str], exact: bool) -> list[Value]:
    value = row.value
    rank: Value = row.rank
    if exact:
        rank = int(row.rank) if row.rank is not None and row.rank.is_integer() else row.rank
    else:
        rank = "—" if row.rank is None else f"{row.rank:g}" + ("=" if row.tied else "")
    return [
        rank,
        "*" if row.dominated is False else "",
        row.config_id,
        ("—" if not exact else None) if value is None else value.estimate,
        None if value is None else value.low,
        None if value is None else value.high,
        f"{row.n} of {row.items}" if row.n != row.items else row.items,
        row.failed,
        row.runs,
        *(None if (cell := row.cells.get(name)) is None else cell.mean for name in more),
        row.cost,
    ]


def _tell(screen: Screen, board: Leaderboard, notices: list[str], left_out: int) -> None:
    """Below the table: what the numbers are, the tests of the whole table, what to beware of."""
    from evh.cli._tabled import print_notices
    from evh.cli._terminal import plural

    kinds = sorted({f"{row.value.kind} {row.value.level * 100:g} %" for row in board.rows if row.value is not None})
    screen.line(
        f"{board.dataset_id}: {board.metric}, better is {board.direction}; intervals: {', '.join(kinds) or 'none'}"
    )
    dropped = f"; {plural(left_out, 'row')} of other items left out" if left_out else ""
    screen.line(f"{plural(board.shared, 'item')} in every arm{dropped}")
    tied = sum(1 for row in board.rows if row.tied)
    if tied:
        screen.line(f"{plural(tied, 'arm')} marked = share a rank: names decide only where they stand")
    if board.significance is not None:
        _block(screen, board.significance)
    print_notices(screen, notices)


def _block(screen: Screen, block: TableTest) -> None:
    from evh.cli._tabled import print_notices, print_table
    from evh.cli._terminal import number, plural

    draws = f", {block.draws:,} draws, seed {block.seed}" if block.draws is not None else ""
    clusters = f", {plural(block.clusters, 'cluster')}" if block.clusters is not None else ""
    screen.line(
        f"any difference at all: p = {number(block.p, digits=4)} ({block.method}, "
        f"{plural(block.n, 'item')}{clusters}{draws})"
    )
    if block.critical_distance is not None:
        pairs = "; ".join(f"{a} and {b}" for a, b in block.differing[:10]) or "no pair"
        more = f" and {len(block.differing) - 10} more" if len(block.differing) > 10 else ""
        screen.line(
            f"mean ranks further apart than {number(block.critical_distance)} (Nemenyi, all pairs, "
            f"alpha {block.alpha:g}): {pairs}{more}"
        )
    columns = [("config", True), ("mean rank", False), ("P(first)", False), (f"P(top {block.top})", False)]
    columns.append((f"P(bottom {block.top})", False))
    order = sorted(range(len(block.arms)), key=lambda at: (block.mean_ranks[at], block.arms[at]))
    rows: list[list[Value]] = [
        [block.arms[at], block.mean_ranks[at], *(block.places[at].first, block.places[at].top, block.places[at].bottom)]
        for at in order
    ]
    print_table(screen, columns, rows)
    screen.line(f"places: bootstrap over items, {block.place_draws:,} draws, seed {block.seed}; no claim about a pair")
    print_notices(screen, block.notices)
