"""`evh dataset`: freeze a folder of inputs, give it references, list what there is.

Promise: sources are only read. What exists is never changed: other items need another name, other references `--force`.
Policy: the look of what is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, action_of, add_json, closest
from evh.errors import EvhError, UsageError

if TYPE_CHECKING:
    from evh.harness.dataset import Frozen
    from evh.harness.project import Project
    from evh.harness.references import Authored

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh dataset: freeze inputs as a dataset, give them references, list them

Usage
  evh dataset create DIR --id ID [OPTIONS]
  evh dataset reference DATASET --tier TIER --from DIR|CONFIG [OPTIONS]
  evh dataset list [OPTIONS]

create freezes the files below DIR: every file is an item, its id the file's
path without the last suffix. The dataset, data/datasets/ID.json, holds a
digest of each; copies go to data/materialized/ID, and runs read those. The
same files again change nothing, and restore copies that are missing or were
changed; other files under a name that is taken are refused. Hidden files are
passed over, links that leave DIR are refused.

reference takes the right output of each item from the file of its name below
DIR (q1.txt for the item q1), or has them written by a config (a .yaml file).
Runs are scored against gold references when there are any, else silver ones.

Options
  --id ID           name of the dataset: lower-case letters, digits and _
  --glob PATTERN    freeze only files that match: '*.txt' by name, 'a/**/*.txt'
                    by path; several times for several patterns
  --description TEXT
                    what the items are, for people
  --tier TIER       gold: written or reviewed by people; silver: by a model
  --from DIR|CONFIG
                    where the references come from
  --force           replace references that exist
  --root DIR        the folder that holds data/ (default: the current one)
  --json            print what was done or found as data
  -h, --help        this page

Exit codes
  0    done, or nothing to do
  1    refused (nothing to freeze, other items under that name, references
       that exist) or failed; with list: a dataset cannot be read
  2    wrong usage
  130  interrupted

Examples
  evh dataset create questions/ --id questions_v1 --glob '*.txt'
  evh dataset reference questions_v1 --tier gold --from answers/
  evh dataset reference questions_v1 --tier silver --from author.yaml --force
  evh dataset list --json
"""

ACTIONS: dict[str, tuple[str, ...]] = {
    "create": ("id", "glob", "description"),
    "reference": ("tier", "source", "force"),
    "list": (),
}
"""What the command can do, and the options that belong to each alone."""
SPELLED = {"source": "from"}
SHOWN = 3


def parser() -> Parser:
    made = Parser("dataset")
    made.add_argument("action", nargs="?", metavar="create")
    made.add_argument("target", nargs="?", metavar="DIR")
    made.add_argument("--id", action=Once)
    made.add_argument("--glob", action="append")
    made.add_argument("--description", action=Once)
    made.add_argument("--tier", action=Once)
    made.add_argument("--from", dest="source", action=Once)
    made.add_argument("--force", action="store_true")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Do what the options ask for; returns the exit code."""
    from evh.harness.project import Project

    action = action_of(options, "dataset", ACTIONS, SPELLED)
    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    status: int = {"create": _create, "reference": _reference, "list": _list}[action](options, project)
    return status


def _create(options: argparse.Namespace, project: Project) -> int:
    from evh.harness.dataset import create_dataset

    if options.target is None or options.id is None:
        raise UsageError("name the folder to freeze and the dataset: evh dataset create DIR --id ID")
    made = create_dataset(project, Path(options.target), options.id, glob=options.glob, description=options.description)
    dataset = made.dataset
    if options.json:
        return _print_json(
            dataset_id=dataset.dataset_id,
            path=project.portable(made.path),
            materialized=project.portable(made.materialized),
            new=made.is_new,
            n_items=len(dataset),
            items_sha256=dataset.items_sha256,
            created_at=dataset.created_at,
            copies_written=made.restored,
            hidden=made.hidden,
            not_text=list(made.not_text),
        )
    from evh.cli._terminal import Screen, plural

    screen = Screen()
    frozen = f"{plural(len(dataset), 'item')} {'frozen' if made.is_new else 'identical to those frozen before'}"
    screen.line(screen.sign(True), f" {project.portable(made.path)}: {frozen}")
    if made.restored:
        done = "copied to" if made.is_new else "restored in"
        screen.line(f"  {plural(made.restored, 'file')} {done} {project.portable(made.materialized)}")
    if made.hidden:
        screen.line(f"  {plural(made.hidden, 'hidden entry', 'hidden entries')} passed over")
    if made.not_text:
        screen.line(f"  {plural(len(made.not_text), 'item')} not UTF-8, which runs refuse: {_few(made.not_text)}")
    return DONE


def _reference(options: argparse.Namespace, project: Project) -> int:
    from evh.harness.dataset import load_dataset
    from evh.harness.references import TIERS

    if options.target is None or options.tier is None or options.source is None:
        raise UsageError(
            "name the dataset, the tier and the source: evh dataset reference DATASET --tier TIER --from DIR|CONFIG"
        )
    if options.tier not in TIERS:
        raise UsageError(f"--tier is gold or silver, not {options.tier!r}{closest(options.tier, TIERS)}")
    frozen = load_dataset(project, options.target)
    made = _made(project, frozen, options)
    if options.json:
        return _print_json(
            reference_id=made.reference_id,
            path=project.portable(made.path),
            n_items=len(frozen),
            covered=made.covered,
            unmatched=list(made.unmatched),
        )
    from evh.cli._terminal import Screen, plural

    screen = Screen()
    share = f"references for {made.covered:,} of {plural(len(frozen), 'item')}"
    screen.line(screen.sign(True), f" {project.portable(made.path)}: {share}")
    if made.unmatched:
        screen.line(f"  {plural(len(made.unmatched), 'file')} named like no item: {_few(made.unmatched)}")
    return DONE


def _made(project: Project, frozen: Frozen, options: argparse.Namespace) -> Authored:
    from evh.harness.references import create_references

    source = Path(options.source)
    if source.suffix in (".yaml", ".yml") and not source.is_dir():
        from evh.harness.authoring import author

        return author(project, source, frozen, options.tier, force=options.force)
    if not source.is_dir():
        raise UsageError(f"--from {options.source!r} is neither a folder nor a config (.yaml)")
    return create_references(project, frozen, options.tier, source, force=options.force)


def _list(options: argparse.Namespace, project: Project) -> int:
    if options.target is not None:
        raise UsageError(f"`evh dataset list` takes no name, but was given {options.target!r}")
    found = [_described(project, path.stem) for path in sorted(project.datasets.glob("[!.]*.json"))]
    good = all(each["error"] is None for each in found)
    if options.json:
        _print_json(ok=good, datasets=found)
        return DONE if good else FAILED
    from evh.cli._terminal import Column, Part, Screen, number, printable, table

    screen = Screen()
    if not found:
        screen.line(
            f"no datasets in {project.portable(project.datasets)}: `evh dataset create DIR --id ID` freezes one"
        )
        return DONE
    columns = [Column("dataset"), Column("items", right=True), Column("frozen"), Column("references"), Column("")]
    rows: list[list[Part]] = []
    for each in found:
        tiers = ", ".join(f"{tier} {count:,}" for tier, count in each["references"].items()) or "none"
        note = "" if each["materialized"] else "copies missing"
        if each["error"] is not None:
            rows.append([printable(each["dataset_id"]), "–", "–", "–", (printable(each["error"]), "red")])
        else:
            rows.append([(each["dataset_id"], "bold"), number(each["n_items"]), each["created_at"], tiers, note])
    table(screen, columns, rows)
    return DONE if good else FAILED


def _described(project: Project, dataset_id: str) -> dict[str, Any]:
    """A dataset as the list shows it; what cannot be read is told in `error`."""
    from evh.harness.dataset import load_dataset
    from evh.harness.references import TIERS, load_references

    about: dict[str, Any] = {"dataset_id": dataset_id, "error": None, "references": {}, "materialized": False}
    try:
        frozen = load_dataset(project, dataset_id)
        about |= {
            "n_items": len(frozen),
            "created_at": frozen.created_at,
            "description": frozen.description,
            "items_sha256": frozen.items_sha256,
            "materialized": (project.materialized / dataset_id).is_dir(),
        }
        sets = {tier: load_references(project, frozen, tier) for tier in TIERS}
        about["references"] = {tier: each.covered for tier, each in sets.items() if each is not None}
    except EvhError as error:
        about["error"] = str(error)
    return about


def _few(names: tuple[str, ...]) -> str:
    from evh.cli._terminal import printable

    return ", ".join(map(printable, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")


def _print_json(*, ok: bool = True, **members: Any) -> int:
    from evh.cli._data import json_text

    sys.stdout.write(json_text({"ok": ok, **members}) + "\n")
    return DONE
