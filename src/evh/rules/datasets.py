"""V2, V4 and R4: runs and datasets fit together.

Promise: V2, the dataset of every run is there; V4, every copy of an input still has the digest that was frozen; R4, no
row is of an item that its dataset does not have. Copies are read in blocks, rows only as far as their ids.
Policy: a run outside any project (a folder of runs that was named alone, with no `datasets` beside it) has no dataset
to be held against, nor has a live run, whose tasks are those of its environment. A dataset whose copies were never made
here is noted: they can be made again at any time.
"""

from __future__ import annotations

from evh.errors import EvhError, cut
from evh.harness.dataset import check_materialized
from evh.harness.project import Project, is_plain_path
from evh.rules.outcome import Outcome
from evh.rules.tree import FoundRun, Tree
from evh.store import layout
from evh.store.rows import scan_heads

__all__ = ["r4", "v2", "v4"]


def v2(tree: Tree, outcome: Outcome) -> None:
    """The dataset of every run exists."""
    for folder, run in tree.runs():
        if folder.project is None or run.dataset_id is None or not folder.project.datasets.is_dir() or run.run.is_live:
            continue
        outcome.looked("runs")
        if not _has_dataset(folder.project, run.dataset_id):
            name = layout.RECORD if run.record is not None else layout.MANIFEST
            outcome.found(
                tree.shown(run.path / name),
                f"there is no dataset {cut(run.dataset_id)} in {tree.shown(folder.project.datasets)}",
                "put the dataset's file back, or move the run out of the tree: nobody can say what it measured",
                pointer="/dataset_id",
            )


def v4(tree: Tree, outcome: Outcome) -> None:
    """Materialized copies still match the digests of their dataset."""
    for project in tree.projects:
        for path in tree.files(project.datasets, "*.json"):
            frozen = tree.dataset(project, path.stem)
            if frozen is None:
                continue  # V1 says why
            if not (project.materialized / frozen.dataset_id).is_dir():
                outcome.noted(f"{tree.shown(path)}: its inputs are not materialized here")
                continue
            outcome.looked("copies", len(frozen))
            for fault in check_materialized(project, frozen):
                outcome.found(
                    tree.shown(path),
                    f"item {cut(fault.item_id)}: {fault.message}",
                    "restore the copy from the source; if the source itself was changed, freeze it under a new id",
                )


def r4(tree: Tree, outcome: Outcome) -> None:
    """The items of all rows belong to their dataset."""
    found = [
        (folder.project, run.dataset_id, run)
        for folder, run in tree.runs()
        if folder.project is not None and run.dataset_id is not None and not run.run.is_live and run.rows_path.exists()
    ]
    for project, dataset_id, run in sorted(found, key=lambda each: (str(each[0].root), each[1])):
        if _has_dataset(project, dataset_id):
            _items_of(tree, outcome, project, dataset_id, run)


def _items_of(tree: Tree, outcome: Outcome, project: Project, dataset_id: str, run: FoundRun) -> None:
    frozen = tree.dataset(project, dataset_id)
    if frozen is None:
        return
    rows = 0
    file = tree.shown(run.rows_path)
    try:
        for head, line in scan_heads(run.rows_path):
            rows += 1
            if head.item_id not in frozen.position:
                outcome.found(
                    file,
                    f"the dataset {dataset_id} has no item {cut(head.item_id)}",
                    "the row belongs to another dataset, or the dataset's file was replaced: restore what was there",
                    line=line.line,
                    pointer="/item_id",
                )
    except EvhError:
        outcome.noted(f"{file}: only {rows:,} rows could be looked at (V1 says why)")
    outcome.looked("rows", rows)


def _has_dataset(project: Project, dataset_id: str) -> bool:
    """Whether a dataset's file is there; an id that leads out of the folder is never looked for."""
    name = f"{dataset_id}.json"
    return is_plain_path(name) and "/" not in name and (project.datasets / name).is_file()
