"""Freezing: the files of a folder become a dataset and its materialized copies.

Promise: the same items freeze to the same file, byte for byte, and other items under a name that is taken are refused.
The dataset file is written last, at once; until then there is no dataset. Nothing is written through a link.
Policy: making a dataset again restores copies that are missing or were changed; a new description replaces the old one
and `created_at` stays.
When it breaks: a kill while freezing leaves copies and no dataset; freezing again completes it. Two processes that
freeze different items under one name at once: the later file stands, and the other's copies are found out by digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evh.errors import SourceError, UsageError, cut
from evh.harness._frozen import Frozen, copy_paths, dataset_file, load_dataset
from evh.harness._sources import Source, find_sources
from evh.harness.project import Project, file_digest, make_folders, read_inside
from evh.protocol import models
from evh.protocol.codec import decode_strict, encode
from evh.protocol.jsontext import dumps
from evh.store.atomic import write_file
from evh.store.clock import now
from evh.store.outputs import read_regular

__all__ = ["Created", "create_dataset"]

VERSION = "1.0"
SHOWN = 3


class Created(NamedTuple):
    """What freezing did. `restored` copies were written (all of them for a new dataset), `hidden` files and folders
    passed over; the items of `not_text` are not UTF-8, which runs refuse."""

    dataset: Frozen
    path: Path
    materialized: Path
    is_new: bool
    restored: int
    hidden: int
    not_text: tuple[str, ...]


def create_dataset(
    project: Project,
    folder: Path,
    dataset_id: str,
    *,
    glob: Sequence[str] | None = None,
    description: str | None = None,
) -> Created:
    """Freeze the files below `folder` (those that match a pattern of `glob`, when there are any) as a dataset.

    Raises `UsageError` for a name that none can have, a pattern that matches nothing, or a folder that is no source;
    `SourceError` when there is nothing to freeze, files cannot be items, or the name is taken by other items;
    `WriteError`.
    """
    path = dataset_file(project, dataset_id)
    materialized = project.materialized / dataset_id
    _refuse_overlap(project, folder, materialized)
    found = find_sources(folder, glob or ())
    folder = folder.resolve()
    digests: dict[str, str] = {}
    not_text = []
    for source in found.sources:
        data = _read_source(folder, source)
        digests[source.item_id] = hashlib.sha256(data).hexdigest()
        if not _is_text(data):
            not_text.append(source.item_id)
    is_new = not path.exists()
    if is_new:
        document = models.Dataset(
            dataset_id=dataset_id,
            version=VERSION,
            created_at=now(),
            description=description,
            source_dir=project.portable(folder),
            items=[
                models.DatasetItem(item_id=each.item_id, source_sha256=digests[each.item_id], source_path=each.copy)
                for each in found.sources
            ],
        )
        content: bytes | None = _content(document)
        copies = {source.item_id: source.copy for source in found.sources}
    else:
        frozen = load_dataset(project, dataset_id)
        _refuse_others(frozen, digests)
        content = _described(path, description)
        copies = {item_id: copy_paths(frozen, index)[0] for index, item_id in enumerate(frozen.item_ids)}
    restored = _materialize(folder, found.sources, digests, materialized, copies)
    if content is not None:
        make_folders(project.datasets)
        write_file(path, content)
    return Created(
        load_dataset(project, dataset_id), path, materialized, is_new, restored, found.hidden, tuple(not_text)
    )


def _content(document: models.Dataset) -> bytes:
    """The file of a dataset: an item a line, so that people and version control can tell items apart."""
    encode(document, strict=True)  # the one writer's checks, on the whole
    head = {
        name: getattr(document, name)
        for name in ("dataset_id", "version", "created_at", "description", "source_dir")
        if getattr(document, name) is not None
    }
    members = b"".join(dumps(name) + b": " + dumps(value) + b",\n" for name, value in head.items())
    return b"{\n" + members + b'"items": [\n' + b",\n".join(map(encode, document.items)) + b"\n]\n}\n"


def _described(path: Path, description: str | None) -> bytes | None:
    """The file of an existing dataset with another description, all else kept; None when nothing changes."""
    if description is None:
        return None
    document = decode_strict(read_regular(path), models.Dataset)
    if document.description == description:
        return None
    document.description = description
    return _content(document)


def _refuse_overlap(project: Project, folder: Path, materialized: Path) -> None:
    real, data = folder.resolve(), project.data.resolve()
    if data.is_relative_to(real) and project.data.exists():
        raise UsageError(f"{cut(str(folder))} holds the project's own data folder: freeze a folder beside or below it")
    copies = materialized.resolve()
    if real.is_relative_to(copies) or copies.is_relative_to(real):
        raise UsageError(f"{cut(str(folder))} is where this dataset's copies belong: name the folder of the sources")


def _refuse_others(frozen: Frozen, digests: Mapping[str, str]) -> None:
    """Refuse, by name, items that are not those of the existing dataset."""
    added = [item_id for item_id in digests if item_id not in frozen.position]
    gone = [item_id for item_id in frozen.item_ids if item_id not in digests]
    changed = [
        item_id
        for item_id, at in frozen.position.items()
        if digests.get(item_id, frozen.digests[at]) != frozen.digests[at]
    ]
    told = [
        f"{len(ids)} {what} ({', '.join(map(cut, ids[:SHOWN]))}{', …' if len(ids) > SHOWN else ''})"
        for what, ids in (("added", added), ("gone", gone), ("changed", changed))
        if ids
    ]
    if told:
        raise SourceError(
            f"the dataset {frozen.dataset_id} is frozen with other items: {'; '.join(told)}. "
            "Runs were measured on it, so freeze these under a new --id",
            source=str(frozen.path),
        )


def _materialize(
    folder: Path, sources: Sequence[Source], digests: Mapping[str, str], materialized: Path, copies: Mapping[str, str]
) -> int:
    """Write the copies that are not there as frozen; returns how many."""
    written = 0
    make_folders(materialized)
    for source in sources:
        copy = copies[source.item_id]
        digest = digests[source.item_id]
        try:
            if file_digest(materialized, copy) == digest:
                continue
        except FileNotFoundError:
            pass  # it is written below
        data = _read_source(folder, source)
        if hashlib.sha256(data).hexdigest() != digest:
            raise SourceError("was changed while it was frozen: start again", source=source.path)
        *folders, name = copy.split("/")
        write_file(make_folders(materialized, folders) / name, data)
        written += 1
    return written


def _read_source(folder: Path, source: Source) -> bytes:
    try:
        return read_inside(folder, source.real)
    except FileNotFoundError:
        raise SourceError("went away while it was frozen: start again", source=source.path) from None


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
