"""How the runs of a launch ended, for people and as data.

Promise: every number says over how many items it is when those are not all; a launch of several repeats is one table.
Policy: the look; the kind that is shown for the harness's own metrics when the adapter declares none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.cli._terminal import Column, Part, Screen, number, plural, printable, table
from evh.store.aggregate import exact_mean

if TYPE_CHECKING:
    from evh.harness.launch import Finished
    from evh.harness.project import Project

__all__ = ["as_data", "show_finished", "show_stopped"]

WHY = {
    "interrupted": "interrupted",
    "cap": "the cost cap was reached",
    "item-failed": "an item failed",
    "items-failed": "items failed",
    "disk": "the disk refused",
    "taken-over": "another process took the run over",
    "fault": "an unexpected fault",
}
OURS = {"latency_ms": "speed", "output_words": "descriptive"}
MONEY = ("cost_usd", "tokens_in", "tokens_out")


def show_finished(screen: Screen, project: Project, finished: list[Finished]) -> None:
    """The runs that have their record: a line for each, and one table for all of them."""
    for each in finished:
        record = each.record
        if record is None:
            continue
        failed = f", {record.n_errors:,} accepted as failed" if record.n_errors else ""
        paid = f", ${number(each.cost_usd, digits=4)} paid by this launch" if each.cost_usd else ""
        path = project.portable(each.directory)
        screen.line(screen.sign(True), f" {path}: {plural(record.n_items, 'item')}{failed}{paid}")
    complete = [each for each in finished if each.record is not None]
    if complete:
        _scores(screen, complete)
        _coverage(screen, complete[-1])
        _money(screen, complete)


def _scores(screen: Screen, complete: list[Finished]) -> None:
    """The metrics; of several repeats the mean over the runs, and the largest minus the smallest."""
    several = len(complete) > 1
    rows: list[list[Part]] = []
    partial = False
    for name in sorted({name for each in complete for name in _record(each).scores}):
        values = [_record(each).scores[name] for each in complete if name in _record(each).scores]
        mean = exact_mean(values)
        spread = max(values) - min(values)
        over = _over(complete, name)
        partial = partial or bool(over)
        row: list[Part] = [name, number(mean, digits=4)]
        if several:
            row.append(number(spread, digits=4) if spread else "")
        rows.append([*row, _kind(complete, name), over])
    columns = [Column("metric"), Column("mean of runs" if several else "value", right=True)]
    columns += [Column("spread", right=True)] if several else []
    columns += [Column("kind"), Column("over" if partial else "")]
    if rows:
        table(screen, columns, rows, indent=2)
    primary = _record(complete[-1]).primary_metric
    if primary is not None and not any(primary in _record(each).scores for each in complete):
        screen.line(f"  no row has the primary metric {primary!r} that the adapter declares")


def _record(each: Finished) -> Any:
    return each.record


def _kind(complete: list[Finished], name: str) -> str:
    record = _record(complete[-1])
    if name == record.primary_metric:
        return "primary"
    declared: str | None = record.metric_kinds.get(name)
    return declared or OURS.get(name) or ("cost" if name.removeprefix("total_") in MONEY else "")


def _over(complete: list[Finished], name: str) -> str:
    """Over how many items a metric is, when those are not all in each run."""
    counts = [(each.counts[name], _record(each).n_items) for each in complete if name in each.counts]
    if not counts or all(count == items for count, items in counts):
        return ""
    return ", ".join(f"{count:,} of {items:,} items" for count, items in counts)


def _coverage(screen: Screen, each: Finished) -> None:
    covered = _record(each).reference_coverage
    if covered is not None:
        screen.line(f"  {covered.items_with_reference:,} of {plural(covered.items, 'item')} have a reference")


def _money(screen: Screen, complete: list[Finished]) -> None:
    """Where costs come from, when they are of several kinds or some are not known."""
    counts: dict[str | None, int] = {}
    for each in complete:
        for source, count in each.sources.items():
            counts[source] = counts.get(source, 0) + count
    unknown = counts.pop(None, 0)
    if counts and (unknown or len(counts) > 1):
        names = {"adapter": "the adapter", "bill": "the provider's bill", "prices": "the config's prices"}
        ways = ", ".join(f"{count:,} by {names[str(source)]}" for source, count in counts.items())
        known = sum(counts.values())
        screen.line(f"  cost of {known:,} of {known + unknown:,} calls known: {ways}")


def show_stopped(screen: Screen, project: Project, each: Finished, command: str, accept: str) -> None:
    """A run that stopped: why, after how many items, and how it goes on."""
    path = project.portable(each.directory)
    why = WHY.get(each.stop or "fault", "stopped")
    paid = f", ${number(each.cost_usd, digits=4)} paid by this launch" if each.cost_usd else ""
    items = f"{each.done:,} of {plural(each.planned, 'item')}"
    screen.line(screen.sign(False), f" {path}: stopped ({why}) after {items}{paid}")
    if each.fault is not None:
        screen.line(f"  {printable(each.fault)}")
    if each.failed:
        screen.line(f"  {plural(each.failed, 'item')} failed in this launch: {path}/errors.jsonl says why")
    screen.line(f"  go on with:      {command}")
    if each.failed and each.failed == each.planned - each.done:
        screen.line(f"  or accept them:  {accept}")
    if each.repeats_left:
        follow = "follows" if each.repeats_left == 1 else "follow"
        screen.line(f"  {plural(each.repeats_left, 'more repeat')} {follow} when it goes on")


def as_data(project: Project, each: Finished, command: str) -> dict[str, Any]:
    """How one run ended, as data."""
    record = each.record
    why = WHY.get(each.stop or "fault", "stopped") + (f": {each.fault}" if each.fault is not None else "")
    return {
        "run_id": each.directory.name,
        "path": project.portable(each.directory),
        "ok": record is not None,
        "items": each.planned,
        "done": each.done,
        "failed": each.failed,
        "cost_usd": each.cost_usd,
        "scores": None if record is None else record.scores,
        "counts": dict(each.counts),
        "repeats_left": each.repeats_left,
        "stopped": None if record is not None else {"reason": each.stop, "message": why, "resume": command},
    }
