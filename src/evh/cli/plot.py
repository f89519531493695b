"""`evh plot`: the leaderboard, a pair or a family as a picture, from the numbers that the tables have.

Promise: the better end, the order and the intervals are those of `leaderboard`, `pair-test` and `family-test`; the
picture itself says what kind of interval it shows, over how many items, what was left out and which correction holds.
Nothing is loaded when it is looked at. A picture that is there is replaced whole or not at all.
Policy: SVG, or an HTML page with the notices below it, or PNG, which needs the library resvg-py and a font.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import SourceError, UsageError, cut

if TYPE_CHECKING:
    from evh.cli._choice import Choice
    from evh.cli._compared import Runs

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh plot: a picture of a leaderboard, a pair or a family

Usage
  evh plot leaderboard -o FILE [OPTIONS]
  evh plot pair A B -o FILE [OPTIONS]
  evh plot forest A --against TEXT -o FILE [OPTIONS]

leaderboard: each arm's value with its interval, the best at the top. pair: the
difference A minus B of each shared item. forest: A minus each opponent, with
intervals. WHAT is one of these; ARMs are as for the command of that name.

Options
  -o, --output FILE       the picture: .svg, .html, or .png (evh[plot])
  --metric METRIC         the metric (default: the declared primary one)
  --against TEXT          which opponents (forest)
  --method METHOD         the correction of a forest, holm or bh
  --match TEXT            only configs with this text in their id (leaderboard)
  --asc                   the smallest value is the best
  --desc                  the largest value is the best
  --seed N                seed of the draws (default: 20260926)
  --dataset-id ID         the dataset, when there are several
  --items FILE            only the items listed in a file, one id on a line
  --exclude-dataset ID    without the items of a dataset; may be repeated
  --runs-dir DIR          the folder of runs (default: data/runs)
  --root DIR              the folder that holds data/ (default: the current one)
  --json                  print where it is, and the notices, as data
  -h, --help              this page

Exit codes
  0    drawn
  1    something was left out of a leaderboard (it is drawn without), there is
       nothing to draw, or it cannot be written
  2    wrong usage
  130  interrupted

Examples
  evh plot leaderboard -o table.svg
  evh plot pair reranked bm25 --metric ndcg -o pair.html
  evh plot forest reranked --against bm25 -o forest.svg
"""

KINDS = ("leaderboard", "pair", "forest")
ENDINGS = (".svg", ".html", ".png")


ARMS = {"leaderboard": "no named arm", "pair": "two arms", "forest": "one arm"}


class Picture(NamedTuple):
    """A drawing, and what is to be said about it."""

    title: str
    svg: str
    lines: list[str]


def parser() -> Parser:
    from evh.cli._args import count
    from evh.cli._choice import add_choice, add_direction
    from evh.cli._compared import add_runs

    made = Parser("plot")
    made.add_argument("what", choices=KINDS, metavar="WHAT")
    made.add_argument("arms", nargs="*", metavar="ARM")
    made.add_argument("-o", "--output", action=Once, required=True)
    made.add_argument("--metric", action=Once)
    made.add_argument("--against", action=Once)
    made.add_argument("--method", choices=("holm", "bh"), action=Once, dest="correction")
    made.add_argument("--match", action=Once)
    add_direction(made)
    made.add_argument("--seed", type=count, action=Once)
    made.add_argument("--dataset-id", action=Once)
    add_choice(made)
    add_runs(made)
    add_json(made)
    made.set_defaults(method=None, alpha=None, permutations=None)
    return made


def run(options: argparse.Namespace) -> int:
    """Draw; returns the exit code."""
    from evh.cli._choice import choice_of
    from evh.cli._compared import Runs
    from evh.cli._data import json_text
    from evh.cli._tabled import print_notices
    from evh.cli._terminal import Screen

    output = Path(options.output)
    _check(options, output)
    runs = Runs.of(options)
    choice = choice_of(options, runs.project)
    picture = {"leaderboard": _board, "pair": _pair, "forest": _forest}[options.what](options, runs, choice)
    _write(output, picture)
    shown = runs.project.portable(output)
    code = FAILED if runs.faults and options.what == "leaderboard" else DONE
    if options.json:
        print(json_text({"ok": code == DONE, "path": shown, "title": picture.title, "notices": picture.lines}))
        return code
    screen = Screen()
    screen.line(screen.sign(True), f" {shown}: {picture.title}")
    print_notices(screen, picture.lines)
    return code


def _check(options: argparse.Namespace, output: Path) -> None:
    wanted = {"leaderboard": 0, "pair": 2, "forest": 1}[options.what]
    if len(options.arms) != wanted:
        raise UsageError(f"a {options.what} is of {ARMS[options.what]}, not of {len(options.arms)}")
    if (options.against is None) == (options.what == "forest"):
        raise UsageError("--against TEXT names the opponents of a forest, and belongs to nothing else")
    if options.correction is not None and options.what != "forest":
        raise UsageError("--method corrects a forest, and belongs to nothing else")
    if options.match is not None and options.what != "leaderboard":
        raise UsageError("--match belongs to a leaderboard")
    if output.suffix.lower() not in ENDINGS:
        raise UsageError(f"the picture is named .svg, .html or .png, not {cut(output.name or options.output)}")
    if not output.parent.is_dir():
        raise SourceError("there is no such folder to put the picture in", source=str(output.parent))


def _write(output: Path, picture: Picture) -> None:
    from evh.cli._drawing import page, png
    from evh.store.atomic import write_file

    match output.suffix.lower():
        case ".html":
            data = page(picture.title, picture.svg, picture.lines).encode()
        case ".png":
            data = png(picture.svg)
        case _:
            data = picture.svg.encode()
    write_file(output, data)


def _board(options: argparse.Namespace, runs: Runs, choice: Choice) -> Picture:
    from evh.cli._choice import asked_way
    from evh.cli._drawing import GOOD, Legend, Point, points
    from evh.cli._terminal import number, plural
    from evh.stats.leaderboard import leaderboard

    dataset_id = runs.one_dataset(options.dataset_id, options.match or "")
    arms = runs.with_items(runs.arms(dataset_id, match=options.match or "", choice=choice)[0])
    if not arms:
        more = f": {'; '.join(runs.notices)}" if runs.notices else ""
        raise SourceError(f"holds no arm to draw of the dataset {cut(dataset_id)}{more}", source=runs.shown)
    found = leaderboard(
        arms,
        sort=options.metric,
        asked=asked_way(options),
        declared=runs.declared(arms),
        clusters=runs.clusters(dataset_id),
        significance=False,
    )
    rows = []
    best = min((row.rank for row in found.rows if row.rank is not None), default=None)
    for row in found.rows:
        if row.value is not None:
            rank = "" if row.rank is None else f"{row.rank:g}{'=' if row.tied else ''} "
            over = f"n={row.n}" + (f" of {row.items}" if row.n != row.items else "")
            tone = 1 if row.rank is not None and row.rank == best else 0
            value = row.value.estimate
            word = f"{value:.4g} ({over})" if abs(value) < 10_000 else f"{number(value, digits=1)} ({over})"
            rows.append(Point(rank + row.config_id, row.value.estimate, row.value.low, row.value.high, word, tone))
    title = f"{found.metric} on {dataset_id}"
    kinds = sorted({f"{row.value.kind} {row.value.level * 100:g} %" for row in found.rows if row.value is not None})
    axis = f"{found.metric}, better is {found.direction.value}; intervals: {', '.join(kinds)}"
    failed = sum(row.failed for row in found.rows)
    told = [axis, *choice.notices, *choice.missed(arms), f"rows that failed: {failed:,}"]
    told += [f"without {found.metric}: {row.config_id}" for row in found.rows if row.value is None]
    told += [f"left out: {plural(runs.faults, 'run or arm', 'runs or arms')}"] if runs.faults else []
    legend = [] if best is None else [Legend(GOOD, "the first rank")]
    return Picture(title, points(title, told, rows, legend), [*told, *runs.told(arms), *found.notices])


def _pair(options: argparse.Namespace, runs: Runs, choice: Choice) -> Picture:
    from evh.cli._drawing import BAD, GOOD, PLAIN, Legend, bars
    from evh.cli._terminal import plural
    from evh.cli._tested import left_out, metric_of, options_of
    from evh.stats.comparison import pair_test
    from evh.stats.pairing import pair

    a, b = (runs.arm(name, options.dataset_id) for name in options.arms)
    declared = runs.declared([a, b])
    metric, chosen = metric_of([a, b], options.metric, declared)
    found = pair_test(a, b, metric, options_of(options, runs, choice, a.dataset_id, declared))
    shared = pair(a, b, metric, only=choice.only, exclude=choice.exclude)
    values = sorted(zip(shared.items, shared.differences, strict=True), key=lambda each: (-each[1], each[0]))
    # Two arms of one config, measured and derived: what was typed tells them apart.
    names = options.arms if found.a == found.b else (found.a, found.b)
    title = f"{names[0]} minus {names[1]}: {metric} on {found.dataset_id}"
    if found.direction.sign:
        sides = ((GOOD, names[0], "better", found.wins), (BAD, names[1], "better", found.losses))
    else:
        sides = ((PLAIN, names[0], "larger", found.wins), (PLAIN, names[1], "larger", found.losses))
    legend = [Legend(tone, f"{name} is {how} on {plural(count, 'item')}") for tone, name, how, count in sides]
    if found.ties:
        legend.append(Legend("none", f"equal on {plural(found.ties, 'item')}"))
    p = "undefined" if found.test.p is None else f"{found.test.p:.4g}"
    told = [
        f"{plural(found.n, 'shared item')}, the largest difference first; better is {found.direction}",
        f"mean difference {found.difference}",
        f"p = {p} ({found.test.signature}), threshold {found.threshold:g}: {found.verdict}",
        left_out(found),
        *choice.notices,
        *choice.missed([a, b]),
    ]
    svg = bars(title, told, values, found.direction.sign, legend, f"difference in {metric}")
    return Picture(title, svg, [*told, *chosen, *runs.told([a, b]), *found.notices])


def _forest(options: argparse.Namespace, runs: Runs, choice: Choice) -> Picture:
    from evh.cli._drawing import BAD, GOOD, PLAIN, Legend, Point, points
    from evh.cli._tested import family_name, family_notices, family_of

    options.a = options.arms[0]
    found, notices = family_of(options, runs, choice)
    rows = []
    for each in found.opponents:
        if each.pair is None:
            continue
        gap = each.pair.difference
        p = "" if each.adjusted is None else f"adj. p {each.adjusted:.3g}, "
        tone = {"better": 1, "worse": -1}.get(str(each.verdict), 0)
        rows.append(Point(each.config_id, gap.estimate, gap.low, gap.high, f"{p}n={each.pair.n}", tone))
    notices += family_notices(found)
    arm = family_name(options.a, found)
    title = f"{arm} minus each opponent: {found.metric} on {found.dataset_id}"
    kinds = sorted({f"{e.pair.difference.kind} {e.pair.difference.level * 100:g} %" for e in found.opponents if e.pair})
    axis = f"difference, better is {found.direction.value}; intervals (uncorrected): {', '.join(kinds)}"
    tests = sorted({each.pair.test.method for each in found.opponents if each.pair})
    name = {"holm": "Holm", "bh": "Benjamini-Hochberg"}[found.correction]
    told = [
        axis,
        f"separated from {found.separated} of {found.size}, better than {found.ahead}; correction: {name} over "
        f"{found.size}, alpha {found.alpha:g}; test: {', '.join(tests)}; seed {found.seed}",
        *choice.notices,
        *(f"skipped {each.config_id}: {each.skipped}" for each in found.opponents if each.pair is None),
    ]
    tones = {row.tone for row in rows}
    said = ((1, GOOD, "better"), (-1, BAD, "worse"), (0, PLAIN, "not separated, or no direction"))
    legend = [
        Legend(colour, f"{arm} is {word}, by the corrected test" if tone else word)
        for tone, colour, word in said
        if tone in tones
    ]
    return Picture(title, points(title, told, rows, legend, zero=True), [*told, *notices])
