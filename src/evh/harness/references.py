"""References: what the right output of an item is, written by people (gold) or by a model (silver).

Promise: a set is there whole or not at all (see `_reference_making`). Nothing is read through a link. A set that fits
no item, or gives one item two references, is refused: an output is never scored against nothing without a word.
Policy: gold counts before silver. An item's reference lies in `data/references/<tier>/<dataset_id>` under the name that
its output would have, or as `<item_id>.txt` where people put it there by hand. A manifest is asked for agreement where
there is one.
When it breaks: readers ignore the `.partial` folder that a kill leaves, and refuse by name a set whose replacement was
interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from evh.errors import EvhError, SourceError, cut
from evh.harness._frozen import Frozen
from evh.harness._reference_making import (
    MANIFEST,
    TIERS,
    Authored,
    Tier,
    aside_of,
    author_references,
    checked_tier,
    create_references,
    reference_text,
)
from evh.harness.project import Project, read_inside
from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.store.atomic import why
from evh.store.fingerprint import files_digest
from evh.store.layout import output_name

__all__ = ["TIERS", "Authored", "References", "Tier", "author_references", "create_references", "load_references"]


class References:
    """A set of references for the items of one dataset; texts are read when they are asked for.

    `sha256` is the digest of every file of the set, its manifest included; `covered` how many items have a reference.
    """

    def __init__(self, folder: Path, tier: Tier, frozen: Frozen, names: list[str]) -> None:
        self.tier: Tier = tier
        self.reference_id = f"{tier}/{frozen.dataset_id}"
        self._folder = folder
        self._frozen = frozen
        self._at = bytearray(len(frozen))  # 0: none, 1: named like the output, 2: named by hand
        self._match(set(names))
        self.covered = len(self._at) - self._at.count(0)
        if not self.covered:
            raise SourceError(
                f"holds a reference for none of the {len(frozen)} items: every output would be scored against nothing",
                source=str(folder),
            )
        self.sha256 = files_digest(_contents(folder, names))

    def _match(self, names: set[str]) -> None:
        names.discard(MANIFEST)
        for index, item_id in enumerate(self._frozen.item_ids):
            ours, by_hand = output_name(item_id), f"{item_id}.txt"
            if ours in names and by_hand in names and ours != by_hand:
                raise SourceError(
                    f"item {cut(item_id)} has two references, {ours} and {cut(by_hand)}: remove one",
                    source=str(self._folder),
                )
            self._at[index] = 1 if ours in names else 2 if by_hand in names else 0

    def has(self, index: int) -> bool:
        """Whether the item at a place of the dataset has a reference."""
        return bool(self._at[index])

    def text(self, item_id: str) -> str | None:
        """The reference of an item; None when it has none. Raises `SourceError` when it cannot be read."""
        index = self._frozen.position.get(item_id)
        if index is None or not self._at[index]:
            return None
        name = output_name(item_id) if self._at[index] == 1 else f"{item_id}.txt"
        try:
            return reference_text(read_inside(self._folder, name), item_id, str(self._folder / name))
        except FileNotFoundError:
            raise SourceError(
                f"the reference of item {cut(item_id)} went away since the set was read", source=str(self._folder)
            ) from None


def load_references(project: Project, frozen: Frozen, tier: Tier | None = None) -> References | None:
    """The references of a dataset: of one tier, or gold before silver; None when there are none.

    Raises `SourceError` for a set that is damaged, holds anything but files, or fits no item at all.
    """
    for each in TIERS if tier is None else (checked_tier(tier),):
        folder = project.references / each / frozen.dataset_id
        if folder.is_dir():
            names = _names(folder)
            _check_manifest(folder, each, frozen, names)
            return References(folder, each, frozen, names)
        if os.path.lexists(folder):
            raise SourceError("is no folder of references: move it away", source=str(folder))
        if aside_of(folder).exists():
            raise SourceError(
                f"a replacement was interrupted: the old set lies in {aside_of(folder).name}; "
                "make the set again with --force, or rename the folder back",
                source=str(folder),
            )
    return None


def _names(folder: Path) -> list[str]:
    """The files of a set, in the order of their names' bytes."""
    names = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_file(follow_symlinks=False):
                    raise SourceError("is a link, folder or device among references: move it away", source=entry.path)
                names.append(entry.name)
    except OSError as error:
        raise SourceError(f"cannot be listed: {why(error)}", source=str(folder)) from None
    return sorted(names, key=os.fsencode)


def _contents(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for name in names:
        try:
            yield name, read_inside(folder, name)
        except FileNotFoundError:
            raise SourceError("went away while the set was read", source=str(folder / name)) from None


def _check_manifest(folder: Path, tier: Tier, frozen: Frozen, names: list[str]) -> None:
    if MANIFEST not in names:
        return  # a set that people put there by hand
    path = str(folder / MANIFEST)
    try:
        manifest = decode_strict(read_inside(folder, MANIFEST), models.ReferenceManifest)
    except EvhError as error:
        raise SourceError(f"is no manifest of references: {error}", source=path) from None
    told = (manifest.tier, manifest.dataset_id)
    if told != (tier, frozen.dataset_id):
        raise SourceError(
            f"says that these are {manifest.tier} references of {cut(manifest.dataset_id)}, "
            f"not {tier} ones of {frozen.dataset_id}: was the folder copied?",
            source=path,
        )
