"""V1: every file of the tree matches its schema, strictly.

Promise: datasets, configs, reference manifests, baselines, goals, and of each run its manifest, record, end, rows,
episodes, metrics by step, launches, failed attempts and lease are held against the schema, with no member passed over.
On top of it: ids are unique and are those of their files, an item has one row in a run, rows have `_extra` all or none,
and the parts of an episode agree (`evh.protocol.verify`). One bad file is one file's findings.
Policy: rows without any `_extra` are older than 0.4.0 and only noted; so are links that lead out of a folder of runs,
which are not followed.
Memory: of the rows of one run at a time, their ids and lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evh.errors import EvhError, cut
from evh.harness.config import load_config
from evh.harness.dataset import load_dataset
from evh.harness.project import Project
from evh.protocol import models
from evh.protocol.verify import verify
from evh.rules.outcome import Outcome
from evh.rules.strictly import FileOfTree, check_document, check_lines, report
from evh.rules.tree import FoundRun, Tree
from evh.store import layout

__all__ = ["v1"]

DATASET = "a dataset never changes: freeze the inputs again under a new id with `evh dataset create`"
CONFIG = "correct the file; `evh run --config FILE --dry-run` reads it without a call"
BY_HAND = "correct the file by hand, or take it from where it was last right"
RECORD = "a record is never edited: restore it, or measure again and remove this run"
ROWS = "restore the file, or remove the run and measure again: rows are never edited"
LEASE = "stop the run's writer, then resume the run: that writes the lease anew"
RENAME = "give the file the name of its id, or the document the id of its file"


def v1(tree: Tree, outcome: Outcome) -> None:
    """Each dataset, config, manifest, record, row, episode, baseline and goal matches its schema."""
    for project in tree.projects:
        _datasets(tree, project, outcome)
        _configs(tree, project, outcome)
        _references(tree, project, outcome)
        _named(tree, project, outcome)
    for folder in tree.folders:
        try:
            runs = folder.runs
        except EvhError as error:
            outcome.found(tree.shown(folder.path), error.message, "make the folder readable")
            continue
        for link in folder.left_out:
            outcome.noted(f"{tree.shown(link.path)}: {link.why} (no rule looked at it)")
        for run in runs:
            _run(tree, run, outcome)


# --- a project's own files -------------------------------------------------------------------------------------------


def _datasets(tree: Tree, project: Project, outcome: Outcome) -> None:
    for path in tree.files(project.datasets, "*.json"):
        file = FileOfTree(outcome, path, tree.shown(path), DATASET)
        outcome.looked("datasets")
        try:
            outcome.looked("items", len(load_dataset(project, path.stem)))
        except EvhError as error:
            report(file, error)


def _configs(tree: Tree, project: Project, outcome: Outcome) -> None:
    for path in tree.files(project.configs, "*.y*ml"):
        if path.suffix in (".yaml", ".yml"):
            outcome.looked("configs")
            try:
                load_config(path)
            except EvhError as error:
                report(FileOfTree(outcome, path, tree.shown(path), CONFIG), error)


def _references(tree: Tree, project: Project, outcome: Outcome) -> None:
    for path in tree.files(project.references, "*/*/manifest.json"):
        if path.parent.name.startswith("."):
            continue
        outcome.looked("reference manifests")
        file = FileOfTree(outcome, path, tree.shown(path), BY_HAND)
        found = check_document(file, models.ReferenceManifest)
        told = None if found is None else (found.tier, found.dataset_id)
        if told is not None and told != (path.parent.parent.name, path.parent.name):
            file.found(
                f"says that these are {told[0]} references of {cut(told[1])}, which is not what its folders say",
                advice="move the folder to where it belongs: was it copied?",
            )


def _named(tree: Tree, project: Project, outcome: Outcome) -> None:
    """Goals and baselines; a baseline that was replaced has its time in the name of its file."""
    for path in tree.files(project.goals, "*.json"):
        outcome.looked("goals")
        file = FileOfTree(outcome, path, tree.shown(path), BY_HAND)
        goal = check_document(file, models.Goal)
        if goal is not None and goal.goal_id != path.stem:
            file.found(f"the file holds the goal {cut(goal.goal_id)}", pointer="/goal_id", advice=RENAME)
    for pattern in ("*.json", "superseded/*.json"):
        for path in tree.files(project.baselines, pattern):
            outcome.looked("baselines")
            file = FileOfTree(outcome, path, tree.shown(path), BY_HAND)
            baseline = check_document(file, models.Baseline)
            if baseline is None:
                continue
            name = baseline.baseline_id
            if path.stem != name if pattern == "*.json" else not path.stem.startswith(f"{name}_"):
                file.found(f"the file holds the baseline {cut(name)}", pointer="/baseline_id", advice=RENAME)


# --- a run -----------------------------------------------------------------------------------------------------------


def _run(tree: Tree, run: FoundRun, outcome: Outcome) -> None:
    def file(path: Path, advice: str) -> FileOfTree:
        return FileOfTree(outcome, path, tree.shown(path), advice)

    documents: tuple[tuple[str, type[Any], str, str], ...] = (
        (layout.MANIFEST, models.RunManifest, "run manifests", RECORD),
        (layout.RECORD, models.RunRecord, "records", RECORD),
        (layout.END, models.RunEnd, "ends of live runs", RECORD),
        (layout.LEASE, models.Lease, "leases", LEASE),
    )
    for name, kind, words, advice in documents:
        path = run.path / name
        if path.exists() or path.is_symlink():
            outcome.looked(words)
            check_document(file(path, advice), kind)
    open_end = run.state not in ("finished", "ended")
    if run.rows_path.exists():
        _rows(tree, file(run.rows_path, ROWS), outcome, open_end=open_end)
    others: list[tuple[Path, type[Any], str]] = [
        (run.path / layout.ATTEMPTS, models.Attempt, "attempts"),
        (run.path / layout.ERRORS, models.ItemError, "errors"),
        (run.path / layout.STEPS, models.StepRow, "rows of steps"),
    ]
    others += [
        (path, models.StepRow, "rows of steps") for path in tree.files(run.path / layout.STEP_SEGMENTS, "*.jsonl")
    ]
    for path, kind, words in others:
        if path.exists():
            for _ in check_lines(file(path, ROWS), kind, tree.progress, open_end=open_end):
                outcome.looked(words)
    segments = [run.path / layout.TRACES, *tree.files(run.path / layout.SEGMENTS, "*.jsonl")]
    for path in segments:
        if path.exists():
            _episodes(tree, file(path, ROWS), outcome, open_end=open_end)


def _rows(tree: Tree, file: FileOfTree, outcome: Outcome, *, open_end: bool) -> None:
    lines: dict[str, int] = {}
    first: dict[bool, int] = {}
    rows = 0
    for line, row in check_lines(file, models.PredictionRow, tree.progress, open_end=open_end):
        rows += 1
        if row is None:
            continue
        plain = row.plain()
        item_id = plain["item_id"]
        known = lines.setdefault(item_id, line.line)
        if known != line.line:
            file.found(
                f"the item {cut(item_id)} has two rows, on lines {known} and {line.line}",
                line=line.line,
                pointer="/item_id",
                advice="keep the row that was measured: repeats are runs of their own",
            )
        has_extra = plain.get("_extra") is not None
        if has_extra not in first:
            first[has_extra] = line.line
    outcome.looked("rows", rows)
    if len(first) == 2:
        file.found(
            f"some rows have _extra (line {first[True]}) and some do not (line {first[False]})",
            line=max(first.values()),
            advice="the file is a mixture of two runs: take it apart, or measure again",
        )
    elif False in first:
        file.noted("no row has _extra: they are older than 0.4.0, can be read, and cannot be resumed or rescored")


def _episodes(tree: Tree, file: FileOfTree, outcome: Outcome, *, open_end: bool) -> None:
    episodes = 0
    for line, episode in check_lines(file, models.Episode, tree.progress, open_end=open_end):
        episodes += 1
        if episode is not None:
            for violation in verify(episode):
                message = f"{violation.message} [{violation.keyword}]"
                file.found(message, line=line.line, pointer=violation.pointer)
    outcome.looked("episodes", episodes)
