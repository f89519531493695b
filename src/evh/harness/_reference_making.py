"""Making a set of references: whole, or not at all.

Promise: a set is made in `<folder>.partial`, synced, and renamed when complete. One that exists is refused; with
`force` it stays in `<folder>.replaced` until the new one is in its place. A file that belongs to no item is counted and
named; an item with two files is refused.
When it breaks: a fault removes the unfinished set. A kill leaves a `.partial` folder, which the next attempt removes;
one in the middle of a replacement leaves the old set in `.replaced`, which the next attempt puts back first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from evh.errors import RecordError, SourceError, UsageError, WriteError, cut
from evh.harness._frozen import Frozen
from evh.harness._sources import Source, find_sources
from evh.harness.project import Project, make_folders, read_inside, remove_folder
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store import _os
from evh.store.atomic import sync_folder, why, write_file
from evh.store.clock import now
from evh.store.layout import output_name
from evh.store.outputs import read_regular

__all__ = [
    "MANIFEST", "TIERS", "Authored", "Tier", "aside_of", "author_references", "checked_tier", "create_references",
    "reference_text",
]  # fmt: skip

Tier: TypeAlias = Literal["gold", "silver"]
TIERS: tuple[Tier, ...] = ("gold", "silver")
MANIFEST = "manifest.json"
SHOWN = 3


class Authored(NamedTuple):
    """A set that was made: `covered` items have a reference, `unmatched` are files that belong to no item."""

    reference_id: str
    path: Path
    covered: int
    unmatched: tuple[str, ...] = ()


def create_references(project: Project, frozen: Frozen, tier: Tier, source: Path, *, force: bool = False) -> Authored:
    """Make a set from the files below a folder: each belongs to the item whose id is its path without the last suffix,
    or whose output would have its name.

    Raises `SourceError` when the set exists (without `force`), no file belongs to an item, two belong to one, or one
    is no text; `WriteError`.
    """
    _refuse_existing(project, frozen, tier, force)
    found = find_sources(source)
    by_name = {output_name(item_id): item_id for item_id in frozen.item_ids}
    matched: dict[str, Source] = {}
    unmatched = []
    for each in found.sources:
        if each.path == MANIFEST:
            continue  # a set that was copied as a whole brings its own; this one gets a new one
        item_id = each.item_id if each.item_id in frozen.position else by_name.get(each.path)
        if item_id is None:
            unmatched.append(each.path)
        elif item_id in matched:
            raise SourceError(
                f"{cut(matched[item_id].path)} and {cut(each.path)} both belong to item {cut(item_id)}: remove one",
                source=str(source),
            )
        else:
            matched[item_id] = each
    if not matched:
        shown = ", ".join(map(cut, unmatched[:SHOWN]))
        raise SourceError(
            f"none of the files ({shown}{', …' if len(unmatched) > SHOWN else ''}) is named "
            f"like an item of {frozen.dataset_id}: the first item is {cut(frozen.item_ids[0])}",
            source=str(source),
        )
    real = source.resolve()

    def answers() -> Iterator[tuple[str, str]]:
        for item_id, each in matched.items():
            try:
                data = read_inside(real, each.real)
            except FileNotFoundError:
                raise SourceError("went away while the set was made: start again", source=each.path) from None
            yield item_id, reference_text(data, item_id, str(source / each.path))

    made = author_references(project, frozen, tier, answers(), force=force, source=project.portable(source))
    return made._replace(unmatched=tuple(unmatched))


def author_references(
    project: Project,
    frozen: Frozen,
    tier: Tier,
    answers: Iterable[tuple[str, str]],
    *,
    force: bool = False,
    source: str | None = None,
    authored_by: str | None = None,
    authored_with: str | None = None,
    model: str | None = None,
    system_under_test: models.FingerprintSystem | None = None,
    params: Mapping[str, Any] | None = None,
    cost_usd: Callable[[], float | None] | None = None,
    caveat: str | None = None,
) -> Authored:
    """Make a set from answers, an item's id and text each; the rest is told in the manifest. `cost_usd` is asked once
    all answers are there.

    Raises `SourceError` when the set exists (without `force`), `RecordError` when there are no answers or one belongs
    to no item, comes twice or is no text that UTF-8 can carry, `WriteError`. No part of a set is then left behind.
    """
    folder = _refuse_existing(project, frozen, tier, force)
    partial = folder.with_name(f"{folder.name}.partial")
    remove_folder(partial)
    make_folders(partial)
    try:
        covered = _write_all(partial, frozen, answers)
        if _says_the_same(partial, folder):  # a set that says when it was made anew would be another set
            remove_folder(partial)
            return Authored(f"{tier}/{frozen.dataset_id}", folder, covered)
        manifest = models.ReferenceManifest(
            dataset_id=frozen.dataset_id,
            tier=tier,
            created_at=now(),
            n_items=covered,
            source=source,
            authored_by=authored_by,
            authored_with=authored_with,
            model=model,
            system_under_test=system_under_test,
            params=dict(params or {}),
            cost_usd=None if cost_usd is None else cost_usd(),
            caveat=caveat,
        )
        write_file(partial / MANIFEST, encode(manifest, strict=True) + b"\n")
        _put_in_place(partial, folder)
    except BaseException:
        remove_folder(partial)
        raise
    return Authored(f"{tier}/{frozen.dataset_id}", folder, covered)


def _says_the_same(partial: Path, folder: Path) -> bool:
    """Whether the set that is there has the texts of the new one, file for file; its manifest is not looked at."""
    try:
        names = {path.name for path in partial.iterdir()}
        if names != {path.name for path in folder.iterdir()} - {MANIFEST}:
            return False
        return all(read_regular(partial / name) == read_regular(folder / name) for name in names)
    except (OSError, SourceError):
        return False


def _write_all(partial: Path, frozen: Frozen, answers: Iterable[tuple[str, str]]) -> int:
    seen: set[str] = set()
    for item_id, text in answers:
        if item_id not in frozen.position:
            raise RecordError(f"the dataset {frozen.dataset_id} has no item {cut(item_id)}")
        if item_id in seen:
            raise RecordError(f"two references for the item {cut(item_id)}")
        seen.add(item_id)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise RecordError(f"the reference of item {cut(item_id)} holds a lone surrogate") from None
        write_file(partial / output_name(item_id), data)
    if not seen:
        raise RecordError(f"there is no reference for any item of {frozen.dataset_id}: nothing was made")
    return len(seen)


def _refuse_existing(project: Project, frozen: Frozen, tier: Tier, force: bool) -> Path:
    """Where the set belongs; an interrupted replacement is undone first."""
    folder = project.references / checked_tier(tier) / frozen.dataset_id
    aside = aside_of(folder)
    try:
        if aside.exists() and not os.path.lexists(folder):
            _os.rename(aside, folder)
            sync_folder(folder.parent)
    except OSError as error:
        raise WriteError(f"the old set cannot be put back: {why(error)}", source=str(aside)) from None
    if os.path.lexists(folder) and not force:
        raise SourceError(
            f"there are {tier} references of {frozen.dataset_id} already, and runs may have been scored against them: "
            "--force replaces them",
            source=str(folder),
        )
    return folder


def _put_in_place(partial: Path, folder: Path) -> None:
    aside = aside_of(folder)
    try:
        if os.path.lexists(folder):
            remove_folder(aside)
            _os.rename(folder, aside)
        try:
            _os.rename(partial, folder)
        except OSError:
            if aside.exists() and not folder.exists():
                _os.rename(aside, folder)
            raise
        sync_folder(folder.parent)
    except OSError as error:
        raise WriteError(f"the new set cannot be put in place: {why(error)}", source=str(folder)) from None
    remove_folder(aside)


def aside_of(folder: Path) -> Path:
    """Where the old set lies while it is replaced."""
    return folder.with_name(f"{folder.name}.replaced")


def checked_tier(tier: str) -> Tier:
    """The tier of that name. Raises `UsageError` for another."""
    for each in TIERS:
        if tier == each:
            return each
    raise UsageError(f"a tier is gold or silver, not {cut(tier)}")


def reference_text(data: bytes, item_id: str, source: str) -> str:
    """The text of a reference's bytes. Raises `SourceError` when they are none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise SourceError(
            f"the reference of item {cut(item_id)} is not UTF-8 (byte {error.start})", source=source
        ) from None
