"""What a user chooses of a comparison: the items that count, and which way of the metric is better.

Promise: what was chosen is told, and so are ids that no arm has. Policy: the names of the options; a list of items has
an id on each line, and only LF ends a line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import Once
from evh.errors import SourceError, UsageError, cut
from evh.store.atomic import why

if TYPE_CHECKING:
    from evh.harness.project import Project
    from evh.protocol import models
    from evh.stats.direction import Way
    from evh.store.arm import Arm

__all__ = ["Choice", "add_choice", "add_direction", "asked_way", "choice_of", "dataset_named"]


def add_choice(parser: Any) -> None:
    """Which items count."""
    parser.add_argument("--items", action=Once)
    parser.add_argument("--exclude-dataset", action="append")


def add_direction(parser: Any) -> None:
    """Which way of the metric is better, by the user's word."""
    parser.add_argument("--asc", action="store_true")
    parser.add_argument("--desc", action="store_true")


def asked_way(options: argparse.Namespace) -> Way | None:
    """The direction asked for: with `--asc` the smallest value is the best."""
    if options.asc and options.desc:
        raise UsageError("--asc and --desc contradict each other")
    return "lower" if options.asc else "higher" if options.desc else None


@dataclass(frozen=True, slots=True)
class Choice:
    """The items that count: `only` these (None: all), without `exclude`."""

    only: frozenset[str] | None
    exclude: frozenset[str]
    notices: list[str]

    def keeps(self, item: str) -> bool:
        return item not in self.exclude and (self.only is None or item in self.only)

    def missed(self, arms: Iterable[Arm]) -> list[str]:
        """That some of the ids asked for are items of no arm, if it is so."""
        lost = sorted((self.only or frozenset()).difference(*(arm.items for arm in arms)))
        if not lost:
            return []
        names = ", ".join(map(cut, lost[:5])) + (f" and {len(lost) - 5:,} more" if len(lost) > 5 else "")
        return [f"{len(lost):,} of the items asked for are in none of the arms: {names}"]

    @property
    def everything(self) -> bool:
        return self.only is None and not self.exclude


def choice_of(options: argparse.Namespace, project: Project) -> Choice:
    """The items that the options choose. Raises `SourceError` for a list or dataset that cannot be read."""
    only: frozenset[str] | None = None
    notices = []
    if options.items is not None:
        lines = _lines(options.items)
        only = frozenset(line.removesuffix("\r") for line in lines if line.strip())
        if not only:
            raise SourceError("the list of items is empty: one id stands on a line", source=options.items)
        notices.append(f"only the {len(only):,} items of {options.items}")
    exclude: set[str] = set()
    for name in options.exclude_dataset or ():
        dataset = dataset_named(project, name)
        if dataset is None:
            raise SourceError(f"there is no dataset {cut(name)}", source=project.portable(project.datasets))
        exclude |= {item.item_id for item in dataset.items}
        notices.append(f"without the {len(dataset.items):,} items of the dataset {name}")
    return Choice(only, frozenset(exclude), notices)


def _lines(name: str) -> list[str]:
    """The lines of a list. Only LF ends one: an id may hold whatever else looks like the end of a line, and spaces."""
    try:
        data = Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise SourceError(f"the list of items cannot be read: {why(error)}", source=name) from None
    try:
        return data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError("the list of items is not UTF-8", source=name, line=line) from None


def dataset_named(project: Project, dataset_id: str) -> models.Dataset | None:
    """The dataset of an id; None when the project has no file of it."""
    from evh.harness.project import is_plain_path
    from evh.protocol import models
    from evh.store.run_dir import read_document

    path = project.datasets / f"{dataset_id}.json"
    if not is_plain_path(dataset_id) or "/" in dataset_id or not path.exists():
        return None
    return read_document(path, models.Dataset)
