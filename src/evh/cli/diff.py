"""`evh diff`: what differs between two runs: how they were measured, and what came out item by item.

Promise: every path of the fingerprints that differs is listed; `arm.…` is what a comparison is about, each other path
is marked as a confound. A run without a fingerprint is told, not taken for equal. Exit code 0 whether they differ
or not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, Once, Parser, add_json, count
from evh.errors import SHOWN_CHARACTERS, RecordError, cut

if TYPE_CHECKING:
    from evh.stats.direction import Direction
    from evh.store.arm import Arm
    from evh.store.run_dir import RunDir

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh diff: how two runs differ, in what was measured and in what came out

Usage
  evh diff A B [OPTIONS]

A and B are names of finished runs, or their folders. Of the fingerprints, paths
that begin with arm. are what a comparison is about; every other path that
differs is a confound. Items are listed by how much they differ.

Options
  --metric METRIC   the metric of the items (default: the declared primary one)
  --limit N         how many items are listed (default: 20; 0 for none)
  --runs-dir DIR    the folder of runs (default: data/runs)
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print the same as data, with every item that differs
  -h, --help        this page

Exit codes
  0    looked at, whether they differ or not
  1    there is no such run, or they are of two datasets
  2    wrong usage
  130  interrupted

Examples
  evh diff bm25_r1 bm25_r2
  evh diff bm25_20261004T081530Z reranked_20261004T081931Z --metric ndcg
  evh diff old new --limit 0 --json
"""

LISTED = 20


def parser() -> Parser:
    from evh.cli._compared import add_runs

    made = Parser("diff")
    made.add_argument("a", metavar="A")
    made.add_argument("b", metavar="B")
    made.add_argument("--metric", action=Once)
    made.add_argument("--limit", type=count, action=Once)
    add_runs(made)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Show what differs; returns the exit code."""
    from evh.cli._compared import Runs
    from evh.cli._tested import metric_of
    from evh.stats.direction import direction_of
    from evh.stats.pairing import pair
    from evh.stats.provenance import records_of
    from evh.store.arm import Arm

    runs = Runs.of(options)
    first, second = runs.the_run(options.a), runs.the_run(options.b)
    a, b = Arm([first]), Arm([second])
    if a.dataset_id != b.dataset_id:
        raise RecordError(
            f"{cut(options.a)} is of the dataset {cut(a.dataset_id)}, {cut(options.b)} of {cut(b.dataset_id)}: their "
            "items are not the same"
        )
    paths = list(_paths(first, second))
    declared = runs.declared([a, b])
    metric, notices = metric_of([a, b], options.metric, declared)
    direction = direction_of(metric, declared=declared, records=records_of([a, b]))
    shared = pair(a, b, metric)
    items: list[dict[str, Any]] = [
        {"item_id": item, "a": ours, "b": theirs, "delta": theirs - ours, "verdict": _word(theirs - ours, direction)}
        for item, ours, theirs in zip(shared.items, shared.first, shared.second, strict=True)
        if ours != theirs
    ]
    items.sort(key=lambda each: (-abs(each["delta"]), each["item_id"]))
    lacking = [run.path.name for run in (first, second) if run.record is None or run.record.fingerprint is None]
    notices += [f"{name} has no fingerprint: nobody can say how it was measured" for name in lacking]
    notices += [*([direction.conflict] if direction.conflict else []), *runs.told([a, b])]
    about = {"metric": metric, "direction": direction.value, "shared": len(shared.items), "dropped": shared.dropped}
    about |= {"failed": [a.n_errors, b.n_errors]}
    if options.json:
        from evh.cli._data import json_text

        print(json_text({"ok": True, "fingerprint": paths} | about | {"items": items, "notices": notices}))
        return DONE
    _show((a, b), paths, about, items, LISTED if options.limit is None else options.limit, notices)
    return DONE


def _word(delta: float, direction: Direction) -> str:
    from evh.stats.direction import change

    return "no verdict" if direction.conflict else change(delta, direction)


def _paths(first: RunDir, second: RunDir) -> Iterator[dict[str, Any]]:
    """The dotted paths of the two fingerprints that differ, and the build, which is not in them."""
    from evh.protocol.jsontext import canonical

    sides = [_flat(run) for run in (first, second)]
    for path in sorted(sides[0].keys() | sides[1].keys()):
        values = [side.get(path) for side in sides]
        # By their text: 1 and true are not the same, 1 and 1.0 are.
        if (path in sides[0]) != (path in sides[1]) or canonical(values[0]) != canonical(values[1]):
            yield {"path": path, "a": values[0], "b": values[1], "confound": not path.startswith("arm.")}


def _flat(run: RunDir) -> dict[str, Any]:
    """The leaves of a run's fingerprint, and its build, by dotted path; the hash follows from the others."""
    from evh.cli._data import as_plain

    record = run.record
    if record is None:
        return {}
    found: dict[str, Any] = {f"build.{name}": value for name, value in as_plain(record.build).items()}
    if record.fingerprint is None:
        return found
    pending = [("", as_plain(record.fingerprint))]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(f"{path}.{name}" if path else str(name), each) for name, each in value.items()]
        elif path not in ("hash", "hash_invalid_because"):
            found[path] = value
    return found


def _texts(one: Any, other: Any) -> tuple[str, str]:
    """Two values that differ, for people: as JSON has them, a text without its quotes where that is no other value."""
    from evh.cli._data import json_text
    from evh.cli._terminal import clip

    texts = [json_text(value, indent=None) for value in (one, other)]
    bare = [value if isinstance(value, str) else text for value, text in zip((one, other), texts, strict=True)]
    shown = texts if bare[0] == bare[1] else bare
    none = [value is None for value in (one, other)]
    first, second = ("–" if gone else clip(text, SHOWN_CHARACTERS) for gone, text in zip(none, shown, strict=True))
    return first, second


def _show(
    arms: tuple[Arm, Arm],
    paths: list[dict[str, Any]],
    about: dict[str, Any],
    items: list[dict[str, Any]],
    limit: int,
    notices: list[str],
) -> None:
    from evh.cli._tabled import print_notices, print_table
    from evh.cli._terminal import Screen, plural, printable

    screen = Screen()
    names = [arm.runs[0].path.name for arm in arms]
    confounds = sum(each["confound"] for each in paths)
    screen.line(f"fingerprints: {plural(len(paths), 'path differs', 'paths differ')}, {plural(confounds, 'confound')}")
    if paths:
        columns = [("path", True), (names[0], True), (names[1], True), ("", False)]
        shown = [(each, "confound" if each["confound"] else "the arm") for each in paths]
        print_table(screen, columns, [[each["path"], *_texts(each["a"], each["b"]), word] for each, word in shown])
    dropped = "; ".join(f"{number:,} {why}" for why, number in sorted(about["dropped"].items())) or "none"
    screen.line(
        f"{printable(about['metric'])}: {plural(len(items), 'item differs', 'items differ')} of "
        f"{about['shared']:,} shared; dropped: {printable(dropped)}; rows that failed: "
        f"{about['failed'][0]:,} and {about['failed'][1]:,}"
    )
    if items and limit:
        columns = [("item", True), (names[0], True), (names[1], True), ("delta", False), ("", False)]
        members = ("item_id", "a", "b", "delta", "verdict")
        print_table(screen, columns, [[each[name] for name in members] for each in items[:limit]])
    if len(items) > limit:
        screen.line(f"{len(items) - limit:,} more, by --limit or --json")
    print_notices(screen, notices)
