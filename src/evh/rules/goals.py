"""R6: goal policies and their cut-over.

Promise: a run on a goal's dataset whose own `created_at` is at or after the goal's cut-over names the goal and meets
what it requires; earlier runs are exempt. Instants are compared in UTC. A time that cannot be read, or that has no
zone, is a finding, never "before".
Policy: a run that several goals bind names one of them and meets the requirements of all. A build whose `dirty` is
null (a declared one) counts as clean.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evh.errors import EvhError, cut
from evh.harness.project import Project
from evh.protocol import models
from evh.rules.outcome import Outcome
from evh.rules.tree import FoundRun, Tree
from evh.store import layout
from evh.store.clock import instant
from evh.store.run_dir import read_document

__all__ = ["r6"]


class _Policy(NamedTuple):
    goal: models.Goal
    cut_over: datetime


def r6(tree: Tree, outcome: Outcome) -> None:
    """Runs made after a goal's cut-over name it and meet what it requires."""
    policies: dict[Path, list[_Policy]] = {}
    for project in tree.projects:
        policies[project.root] = list(_policies(tree, project, outcome))
    for folder, run in tree.runs():
        held = policies.get(folder.project.root, []) if folder.project is not None else []
        if held and (run.path / layout.RECORD).exists():
            _check(tree, outcome, run, held)


def _policies(tree: Tree, project: Project, outcome: Outcome) -> Iterator[_Policy]:
    for path in tree.files(project.goals, "*.json"):
        outcome.looked("goals")
        try:
            goal = read_document(path, models.Goal)
            yield _Policy(goal, instant(goal.cut_over))
        except EvhError as error:
            outcome.found(
                tree.shown(path),
                f"the goal cannot be read, so that no run can be held to it: {error.message}",
                "correct the file (V1 tells all that is wrong); a cut-over is a time such as 2026-10-04T00:00:00Z",
            )


def _check(tree: Tree, outcome: Outcome, run: FoundRun, policies: list[_Policy]) -> None:
    file, record = tree.shown(run.path / layout.RECORD), run.record
    if record is None:
        outcome.looked("records")
        outcome.found(
            file,
            "the record cannot be read, so nobody can say whether a goal binds it",
            "V1 tells what is wrong with it",
        )
        return
    concerned = [policy for policy in policies if policy.goal.dataset_id == record.dataset_id]
    if not concerned:
        return
    outcome.looked("records")
    try:
        created = instant(record.created_at)
    except EvhError as error:
        outcome.found(file, error.message, "a time without a zone is nobody's: see V1", pointer="/created_at")
        return
    bound = [policy.goal for policy in concerned if policy.cut_over <= created]
    if not bound:
        return
    names = [goal.goal_id for goal in bound]
    if record.goal not in names:
        said = "names no goal" if record.goal is None else f"names the goal {cut(record.goal)}"
        outcome.found(
            file,
            f"the run {said}; it was made after the cut-over of {' and '.join(map(cut, names))}",
            "set `goal` in the config and measure again",
            pointer="/goal",
        )
    for goal in bound:
        for pointer, message in _unmet(record, goal.requires):
            advice = f"measure again as the goal {cut(goal.goal_id)} requires"
            outcome.found(file, f"the goal {cut(goal.goal_id)} requires {message}", advice, pointer=pointer)


def _unmet(record: models.RunRecord, requires: models.GoalRequires) -> Iterator[tuple[str, str]]:
    tier, metric, least = requires.reference_tier, requires.primary_metric, requires.min_items
    if tier is not None and record.reference_tier != tier:
        yield "/reference_tier", f"{tier} references, the run has {record.reference_tier or 'none'}"
    if metric is not None and record.primary_metric != metric:
        yield "/primary_metric", f"the primary metric {cut(metric)}, the run has {cut(record.primary_metric)}"
    if least is not None and record.n_items < least:
        yield "/n_items", f"at least {least:,} items, the run has {record.n_items:,}"
    if requires.build_clean and (record.build.ref == "unknown" or record.build.dirty):
        yield "/build", "a clean build, the run's is " + ("unknown" if record.build.ref == "unknown" else "dirty")
