"""Datasets: inputs frozen under a name, each with the digest of its bytes.

Promise: a frozen dataset never changes (see `_freezing`). No two items have one id, in memory or on disk. What
`source_text` returns has the digest that was frozen, and an id or path in the file, however hostile, opens nothing
outside the materialized folder. A dataset of 200,000 items loads in under a second (see `_frozen`).
Policy: copies lie in `data/materialized/<dataset_id>`, where the item's `source_path` says; without one, below the id
with or without `.txt`.
When it breaks: a copy that is missing or was changed is refused by name, with the command that restores it.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from evh.errors import SourceError, cut
from evh.harness._freezing import Created, create_dataset
from evh.harness._frozen import Frozen, copy_paths, load_dataset
from evh.harness.project import Project, file_digest, read_inside

__all__ = ["Created", "Fault", "Frozen", "check_materialized", "create_dataset", "load_dataset", "source_text"]


class Fault(NamedTuple):
    """A materialized copy that is not what was frozen; `item_id` is empty when all copies are missing."""

    item_id: str
    message: str


# --- reading ---------------------------------------------------------------------------------------------------------


def source_text(project: Project, frozen: Frozen, index: int) -> str:
    """The text of an item. Raises `SourceError` when its copy is missing, was changed, or is not UTF-8."""
    item_id = frozen.item_ids[index]
    folder = project.materialized / frozen.dataset_id
    for path in copy_paths(frozen, index):
        try:
            data = read_inside(folder, path)
        except FileNotFoundError:
            continue
        except SourceError as error:
            raise SourceError(f"item {cut(item_id)}: {error}", source=str(frozen.path)) from None
        if hashlib.sha256(data).hexdigest() != frozen.digests[index]:
            raise _faulty(project, frozen, item_id, f"its copy {cut(path)} was changed since it was frozen")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise SourceError(
                f"item {cut(item_id)}: its source is not UTF-8 (byte {error.start}): an input is text",
                source=str(folder / path),
            ) from None
    raise _faulty(project, frozen, item_id, "its copy is missing")


def refuse_changed(project: Project, frozen: Frozen, indexes: Iterable[int]) -> None:
    """Raise `SourceError` for items whose copies are missing, were changed or are no text: before anything is paid."""
    first: SourceError | None = None
    count = total = 0
    for index in indexes:
        total += 1
        try:
            source_text(project, frozen, index)
        except SourceError as error:
            first = first or error
            count += 1
    if first is not None and count == 1:
        raise first
    if first is not None:
        raise SourceError(f"{count} of {total} items cannot be measured, the first: {first}", source=str(frozen.path))


def check_materialized(project: Project, frozen: Frozen) -> Iterator[Fault]:
    """Every copy that is missing, changed or not to be opened; one fault alone when the whole folder is missing."""
    folder = project.materialized / frozen.dataset_id
    if not folder.is_dir():
        yield Fault("", f"its copies are missing ({project.portable(folder)}): {_hint(project, frozen)}")
        return
    for index, item_id in enumerate(frozen.item_ids):
        try:
            digest = _copy_digest(folder, frozen, index)
        except SourceError as error:
            yield Fault(item_id, str(error))
            continue
        if digest is None:
            yield Fault(item_id, f"its copy is missing: {_hint(project, frozen)}")
        elif digest != frozen.digests[index]:
            yield Fault(item_id, f"its copy was changed since it was frozen: {_hint(project, frozen)}")


def _copy_digest(folder: Path, frozen: Frozen, index: int) -> str | None:
    for path in copy_paths(frozen, index):
        try:
            return file_digest(folder, path)
        except FileNotFoundError:
            continue
    return None


def _faulty(project: Project, frozen: Frozen, item_id: str, what: str) -> SourceError:
    return SourceError(f"item {cut(item_id)}: {what}: {_hint(project, frozen)}", source=str(frozen.path))


def _hint(project: Project, frozen: Frozen) -> str:
    folder = "DIR" if frozen.source_dir is None else shlex.quote(frozen.source_dir)
    return f"`evh dataset create {folder} --id {frozen.dataset_id}` restores it"
