"""R1, R2, R3 and R5: a run agrees with itself.

Promise: R1, `run.json` and the record name the same run; R2, the record's numbers are those of its rows, and the counts
of a live run's end those of its files; R3,
every output that a row names is there with the digest that the row names; R5 tells, without ever failing, of clocks
that went backwards or disagree, records from the future, and runs that are not finished.
Policy: records of harnesses before 0.4.0 (no `run.json`) have rounded scores; a score that equals the recomputed one
rounded to 6 or 10 decimals is noted there. Means that differ in their last digit alone agree: how they were summed is
not the rule's matter. Outputs are read in blocks.
"""

from __future__ import annotations

import math

from evh.errors import EvhError, SourceError, UsageError, cut, pointer
from evh.harness.project import file_digest
from evh.protocol import models
from evh.rules.outcome import Outcome
from evh.rules.tree import FoundRun, Tree
from evh.store import layout
from evh.store.aggregate import Aggregate, aggregate
from evh.store.clock import instant, now
from evh.store.rows import read_metric_rows, scan_heads
from evh.store.segments import count_run

__all__ = ["r1", "r2", "r3", "r5"]

MEMBERS = ("run_id", "dataset_id", "config_id", "repeat_index")
ROUNDED = (6, 10)
SEGMENTS = "restore the files of the run's rows: what was logged is never edited"
REWRITE = "rows or record were changed after the run: restore both from where they were last right, or measure again"


def r1(tree: Tree, outcome: Outcome) -> None:
    """`run.json` and the record name the same run, dataset, config and repeat."""
    for _, run in tree.runs():
        manifest, record = run.manifest, run.record
        if manifest is None or record is None:
            continue
        outcome.looked("runs")
        for member in MEMBERS:
            planned, recorded = getattr(manifest, member), getattr(record, member)
            if planned != recorded:
                outcome.found(
                    tree.shown(run.path / layout.RECORD),
                    f"{member} is {cut(recorded)}, in {layout.MANIFEST} it is {cut(planned)}",
                    "one of the two files is of another run: restore the one that was copied here",
                    pointer=f"/{member}",
                )


def r2(tree: Tree, outcome: Outcome) -> None:
    """The record's counts and scores are those of its rows, the counts of an end those of its files."""
    for _, run in tree.runs():
        _end(tree, outcome, run)
        record = run.record
        if record is None:
            continue
        file = tree.shown(run.path / layout.RECORD)
        if not run.rows_path.exists():
            if record.n_items and (run.manifest is None or run.manifest.kind == "measured"):
                outcome.looked("records")
                message = f"the record counts {record.n_items:,} rows, and there is no {layout.PREDICTIONS}"
                outcome.found(file, message, REWRITE, pointer="/n_items")
            continue
        try:
            counted = aggregate(read_metric_rows(run.rows_path))
            scores = counted.scores()
        except EvhError:
            outcome.noted(f"{file}: its numbers cannot be computed again, for rows cannot be read (V1 says which)")
            continue
        outcome.looked("records")
        outcome.looked("rows", counted.n_items)
        _counts(outcome, file, record, counted)
        _scores(outcome, file, run, record, scores)


def _end(tree: Tree, outcome: Outcome, run: FoundRun) -> None:
    """The counts of a live run's end, against the lines of its files."""
    end = run.end
    if end is None:
        return
    file = tree.shown(run.path / layout.END)
    outcome.looked("ends of live runs")
    found = count_run(run.path)
    pairs: list[tuple[tuple[str, ...], int, int]] = [
        (("episodes",), end.counts.episodes, found.episodes),
        (("steps",), end.counts.steps, found.steps),
    ]
    names = sorted(end.counts.segments.keys() | found.segments.keys()) if end.counts.segments else []
    pairs += [(("segments", name), end.counts.segments.get(name, 0), found.segments.get(name, 0)) for name in names]
    for place, said, there in pairs:
        if said != there:
            message = f"it counts {said:,} rows of {place[-1]}, there are {there:,}"
            outcome.found(file, message, SEGMENTS, pointer=pointer("counts", *place))


def _counts(outcome: Outcome, file: str, record: models.RunRecord, counted: Aggregate) -> None:
    for member, said, found in (
        ("n_items", record.n_items, counted.n_items),
        ("n_errors", record.n_errors or 0, counted.n_errors),
    ):
        if said != found:
            outcome.found(file, f"{member} is {said}, the rows give {found}", REWRITE, pointer=f"/{member}")


def _scores(
    outcome: Outcome, file: str, run: FoundRun, record: models.RunRecord, scores: dict[str, int | float]
) -> None:
    older = run.manifest is None
    rounded: list[str] = []
    for name in sorted(record.scores.keys() | scores.keys()):
        said, found = record.scores.get(name), scores.get(name)
        if said == found or _is_last_digit(said, found):
            continue
        if older and said is not None and found is not None and any(round(found, digits) == said for digits in ROUNDED):
            rounded.append(name)
        elif found is None:
            outcome.found(file, f"no row has the metric {cut(name)} ({said!r})", REWRITE, pointer="/scores")
        elif said is None:
            outcome.found(file, f"the rows give {cut(name)} {found!r}, the record lacks it", REWRITE, pointer="/scores")
        else:
            outcome.found(file, f"{cut(name)} is {said!r}, the rows give {found!r}", REWRITE, pointer="/scores")
    if rounded:
        outcome.noted(f"{file}: rounded, as by harnesses before 0.4.0: {', '.join(map(cut, rounded[:9]))}")


def _is_last_digit(said: int | float | None, found: int | float | None) -> bool:
    """Whether two means differ by how they were summed alone: other writers round more than once."""
    return said is not None and found is not None and math.isclose(said, found, rel_tol=1e-12, abs_tol=1e-15)


def r3(tree: Tree, outcome: Outcome) -> None:
    """The output of every row is there and is what the row says."""
    for _, run in tree.runs():
        if run.rows_path.exists():
            _outputs(tree, outcome, run)


def _outputs(tree: Tree, outcome: Outcome, run: FoundRun) -> None:
    file, folder = tree.shown(run.rows_path), run.path / layout.OUTPUTS
    closed = run.state in ("finished", "ended")
    advice = (
        "restore the file: the run is finished, and its record counts an output that is gone; else measure again"
        if closed
        else "`evh run --resume` measures the item again"
    )
    read = unsaid = 0
    try:
        for head, line in scan_heads(run.rows_path):
            if head.output_sha256 is None:
                unsaid += head.error is None
                continue
            read += 1
            if read % 1000 == 0:
                tree.progress(file, line.line)
            try:
                name = run.run.output_path(head.item_id).name  # of an older harness it may be named by hand
            except UsageError:
                continue  # an id that no file can have: V1 and R4 tell of it
            try:
                said = None if file_digest(folder, name) == head.output_sha256 else "was changed since it was written"
            except FileNotFoundError:
                said = "is missing"
            except SourceError as error:
                said = error.message
            if said is not None:
                message = f"item {cut(head.item_id)}: its output {layout.OUTPUTS}/{name} {said}"
                outcome.found(file, message, advice, line=line.line, pointer="/_output_sha256")
    except EvhError:
        outcome.noted(f"{file}: only {read:,} outputs could be looked at (V1 says why)")
    outcome.looked("outputs", read)
    if unsaid:
        outcome.noted(f"{file}: rows that name no digest of their output: {unsaid:,}")


def r5(tree: Tree, outcome: Outcome) -> None:
    """Times are in order and runs are finished: notes only."""
    present = instant(now())
    for _, run in tree.runs():
        outcome.looked("runs")
        shown = tree.shown(run.path)
        if run.state in ("unfinished", "stale"):
            why = "stopped" if run.state == "unfinished" else f"is held by {run.run.holder}"
            how = "open_run(resume=True) goes on" if run.run.is_live else "`evh run --resume` goes on"
            outcome.noted(f"{shown}: is not finished ({why}): {how}, tables leave it out")
        elif run.state == "running":
            outcome.noted(f"{shown}: is being written by {run.run.holder}")
        elif run.end is not None and run.end.status != "completed":
            why = "" if run.end.error is None else f": {cut(run.end.error, 200)}"
            outcome.noted(f"{shown}: ended as {run.end.status}{why}")
        record, manifest = run.record, run.manifest
        if record is None:
            continue
        try:
            created = instant(record.created_at)
            started = None if manifest is None else instant(manifest.started_at)
            source = None if record.source_created_at is None else instant(record.source_created_at)
        except EvhError:
            continue  # V1 names it
        if started is not None and created < started and record.imported is None:
            outcome.noted(f"{shown}: created_at is before started_at: the clock was set back while it ran")
        if source is not None and created < source:
            outcome.noted(
                f"{shown}: created_at ({record.created_at}) is before that of the run it was derived from "
                f"({record.source_created_at}): the two clocks disagree"
            )
        if created > present:
            outcome.noted(f"{shown}: created_at ({record.created_at}) is in the future: a goal's cut-over goes by it")
