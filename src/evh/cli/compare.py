"""`evh compare`: every metric of a candidate beside that of a baseline, with a word for each difference.

Promise: the word comes from the direction rule; exactly 0 is `identical`, at most `--noise` is `noise` (only when it is
given: `--noise 0` is not the same as none), without a direction it is `changed`. No word claims significance: that is
what `evh pair-test` is for. Exit code 0 whatever the differences are; two datasets are refused, and so
are sides without an item in common. Items that one side alone has are told.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from evh.cli._args import DONE, Once, Parser, add_json
from evh.errors import RecordError, UsageError, cut

if TYPE_CHECKING:
    from evh.cli._compared import Runs
    from evh.protocol import models
    from evh.store.arm import Arm

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh compare: a candidate beside a baseline, metric by metric

Usage
  evh compare --baseline A --candidate B [OPTIONS]

A is a promoted baseline, or like B a config id, the name of a run, or an
address. Of an arm of several repeats the values are means over its items.
Nothing here says whether a difference could be chance: `evh pair-test` does.

Options
  --baseline A      what is compared with
  --candidate B     what is compared
  --noise X         a difference of at most X is noise (default: none is)
  --dataset-id ID   the dataset, when an arm was run on several
  --runs-dir DIR    the folder of runs (default: data/runs)
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    compared, whatever came out
  1    there is no such arm, or they are of two datasets or share no item
  2    wrong usage
  130  interrupted

Examples
  evh compare --baseline main --candidate reranked
  evh compare --baseline bm25 --candidate reranked --noise 0.005
  evh compare --baseline main --candidate reranked_20261004T081530Z --json
"""


def parser() -> Parser:
    from evh.cli._args import number_of
    from evh.cli._compared import add_runs

    made = Parser("compare")
    made.add_argument("--baseline", action=Once, required=True)
    made.add_argument("--candidate", action=Once, required=True)
    made.add_argument("--noise", type=number_of, action=Once)
    made.add_argument("--dataset-id", action=Once)
    add_runs(made)
    add_json(made)
    return made


class Side(NamedTuple):
    """One side of the comparison: its values, over how many items each, and the runs behind it."""

    name: str
    dataset_id: str
    scores: dict[str, float]
    counts: dict[str, int]
    items: int | None
    """None for a baseline file, which holds values alone."""
    arm: Arm | None


def run(options: argparse.Namespace) -> int:
    """Compare; returns the exit code."""
    from evh.cli._compared import Runs
    from evh.stats.direction import change, direction_of, kind_of
    from evh.stats.provenance import confounds, records_of

    if options.noise is not None and options.noise < 0:
        raise UsageError("--noise is a number from 0 on")
    runs = Runs.of(options)
    before, after = _baseline(runs, options), _of_arm(runs, options.candidate, options.dataset_id)
    if before.dataset_id != after.dataset_id:
        raise RecordError(
            f"{cut(before.name)} is of the dataset {cut(before.dataset_id)}, {cut(after.name)} of "
            f"{cut(after.dataset_id)}: only results on one dataset can be compared"
        )
    arms = [side.arm for side in (before, after) if side.arm is not None]
    notices = _apart(before, after)
    records, declared = records_of(arms), runs.declared(arms)
    notices += [*runs.told(arms), *(confounds(arms) if len(arms) > 1 else [])]
    found: list[dict[str, Any]] = []
    for name in sorted(before.scores.keys() | after.scores.keys()):
        old, new = before.scores.get(name), after.scores.get(name)
        direction = direction_of(name, declared=declared, records=records)
        if direction.conflict:
            notices.append(direction.conflict)
        delta = None if old is None or new is None else new - old
        word = "only in the candidate" if old is None else "only in the baseline" if new is None else None
        if delta is not None:
            word = "no verdict" if direction.conflict and delta else change(delta, direction, noise=options.noise)
        kind = kind_of(name, declared=declared, records=records)
        found.append(
            {"metric": name, "kind": kind, "direction": direction.value, "baseline": old, "candidate": new}
            | {"delta": delta, "verdict": word, "over": [before.counts.get(name), after.counts.get(name)]}
        )
    _print(options, before, after, found, notices)
    return DONE


def _apart(before: Side, after: Side) -> list[str]:
    """That some items are of one side only. Raises `RecordError` when all are: nothing was measured twice."""
    if before.arm is None or after.arm is None:
        return []
    old, new = set(before.arm.items), set(after.arm.items)
    if not old & new:
        raise RecordError(
            f"{cut(before.name)} and {cut(after.name)} share no item: {len(old):,} are only in the baseline, "
            f"{len(new):,} only in the candidate, and values of other items cannot be compared"
        )
    if old == new:
        return []
    return [
        f"{len(old - new):,} items are only in the baseline and {len(new - old):,} only in the candidate: each value "
        "is over the items of its own side; `evh pair-test` takes the shared ones"
    ]


def _baseline(runs: Runs, options: argparse.Namespace) -> Side:
    from evh.harness.baselines import read_baseline

    name = options.baseline
    try:
        baseline = read_baseline(runs.project, name)
    except UsageError:  # an address, or an id that no baseline can have
        baseline = None
    if baseline is None:
        return _of_arm(runs, name, options.dataset_id)
    return _of_file(runs, baseline)


def _of_file(runs: Runs, baseline: models.Baseline) -> Side:
    """A promoted run: its values as they were, its declarations from the run if that is still here."""
    from evh.store.arm import Arm

    scores = {name: float(value) for name, value in baseline.scores.items()}
    behind = runs.run(baseline.promoted_from)
    arm = None if behind is None else Arm([behind])
    counts = {} if arm is None else {name: value.n for name in arm.metrics if (value := arm.value(name)) is not None}
    return Side(baseline.baseline_id, baseline.dataset_id, scores, counts, None if arm is None else arm.n_items, arm)


def _of_arm(runs: Runs, name: str, dataset_id: str | None) -> Side:
    arm = runs.arm(name, dataset_id)
    scores, counts = {}, {}
    for metric in arm.metrics:
        value = arm.value(metric)
        if value is not None:
            scores[metric], counts[metric] = value.mean, value.n
    for metric in ("cost_usd", "tokens_in", "tokens_out"):
        if metric in scores:
            scores[f"total_{metric}"], counts[f"total_{metric}"] = arm.total(metric), counts[metric]
    return Side(name, arm.dataset_id, scores, counts, arm.n_items, arm)


def _print(
    options: argparse.Namespace, before: Side, after: Side, found: list[dict[str, Any]], notices: list[str]
) -> None:
    if options.json:
        from evh.cli._data import json_text

        sides = {
            side: {"name": each.name, "items": each.items, "failed": None if each.arm is None else each.arm.n_errors}
            for side, each in (("baseline", before), ("candidate", after))
        }
        data = {"dataset_id": after.dataset_id, "noise": options.noise, "metrics": found, "notices": notices}
        print(json_text({"ok": True} | sides | data))
        return
    from evh.cli._tabled import print_notices, print_table
    from evh.cli._terminal import Screen, printable

    screen = Screen()
    screen.line(f"{printable(after.dataset_id)}: {printable(after.name)} against {printable(before.name)}")
    columns = [("metric", False), ("kind", False), ("baseline", False), ("candidate", False), ("delta", False)]
    columns += [("verdict", False), ("items", False)]
    names = ("metric", "kind", "baseline", "candidate", "delta", "verdict")
    print_table(screen, columns, [[*(each[name] for name in names), _over(each["over"])] for each in found])
    failed = ["unknown" if each.arm is None else f"{each.arm.n_errors:,}" for each in (before, after)]
    noise = "no noise level" if options.noise is None else f"noise up to {options.noise:g}"
    screen.line(f"rows that failed: {' and '.join(failed)}; {noise}; no test was made: `evh pair-test` makes one")
    print_notices(screen, notices)


def _over(counts: list[int | None]) -> str:
    shown = ["–" if count is None else f"{count:,}" for count in counts]
    return shown[0] if shown[0] == shown[1] else " and ".join(shown)
