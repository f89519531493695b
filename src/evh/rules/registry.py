"""The rules in their order, and the one function that runs them.

Promise: every rule runs, whatever the ones before it found; a fault that a rule did not expect of a file becomes a
finding of that rule and stops no other. A new rule is one line of `RULES` and a heading of `docs/rules.md`.
Policy: the names. `V` is a rule of the RFC, `R` one of ours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evh.errors import EvhError, UsageError, cut
from evh.rules.arms import v3, v5, v8
from evh.rules.committed import v7, v9
from evh.rules.datasets import r4, v2, v4
from evh.rules.derived import r7, v6, v10
from evh.rules.goals import r6
from evh.rules.judged import r8
from evh.rules.outcome import KEPT, Outcome
from evh.rules.records import r1, r2, r3, r5
from evh.rules.schemas import v1
from evh.rules.tree import Progress, Tree
from evh.store.atomic import why

__all__ = ["RULES", "Rule", "rules_named", "validate"]


class Rule(NamedTuple):
    """A rule: its name, what holds when it is kept, and the function that looks."""

    name: str
    title: str
    check: Callable[[Tree, Outcome], None]

    def run(self, tree: Tree) -> Outcome:
        """What the rule finds in a tree."""
        outcome = Outcome(self.name, self.title, most=tree.most)
        try:
            self.check(tree, outcome)
        except EvhError as error:
            outcome.found(error.source or ".", f"the rule could not go on: {error.message}", "see V1 for this file")
        except OSError as error:
            file = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "."
            outcome.found(file, f"the rule could not go on: {why(error)}", "make the file or folder readable")
        return outcome


RULES: tuple[Rule, ...] = (
    Rule("V1", "every file matches its schema", v1),
    Rule("V2", "the dataset of every run exists", v2),
    Rule("V3", "every record names its build", v3),
    Rule("V4", "materialized copies are as frozen", v4),
    Rule("V5", "configs with other params have other results", v5),
    Rule("V6", "the run behind every baseline exists", v6),
    Rule("V7", "committed runs have their record", v7),
    Rule("V8", "an arm is one run or one set of repeats", v8),
    Rule("V9", "committed files of runs are whole", v9),
    Rule("V10", "derived runs were scored by the code that is here", v10),
    Rule("R1", "run.json and metrics.json name the same run", r1),
    Rule("R2", "counts and scores are those of the rows", r2),
    Rule("R3", "outputs are there and unchanged", r3),
    Rule("R4", "rows are of items of their dataset", r4),
    Rule("R5", "clocks and unfinished runs (notes only)", r5),
    Rule("R6", "runs keep the goals that bind them", r6),
    Rule("R7", "derived runs come from somewhere", r7),
    Rule("R8", "a reply that could not be read gave no metric", r8),
)


def rules_named(names: Iterable[str]) -> list[Rule]:
    """The rules of some names, in their own order. Raises `UsageError` for a name that no rule has."""
    wanted = {name.upper(): name for name in names}
    known = [rule.name for rule in RULES]
    for upper, name in wanted.items():
        if upper not in known:
            raise UsageError(f"there is no rule {cut(name)}: there are {', '.join(known)}")
    return [rule for rule in RULES if rule.name in wanted]


def validate(
    paths: Sequence[str | os.PathLike[str]],
    environ: Mapping[str, str],
    only: Iterable[str] | None = None,
    progress: Progress | None = None,
    *,
    most: int = KEPT,
) -> list[Outcome]:
    """What each rule (of those named in `only`) finds in the trees below some folders; none: the current folder.

    Raises `UsageError` for a rule that there is not, `SourceError` for a folder that holds nothing to validate.
    """
    rules = list(RULES) if only is None else rules_named(only)
    tree = Tree.at([Path(path) for path in paths], environ, progress=progress, most=most)
    return [rule.run(tree) for rule in rules]
