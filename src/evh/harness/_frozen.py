"""A frozen dataset in memory, and its strict reading.

Promise: exactly the verdict of the schema, and what it cannot say: no member stands twice (E64), no two items have one
id (E4), no id holds a NUL, the id is the file's stem. 200,000 items take about 40 MB and under a second: items are
decoded one by one out of the text, and kept as columns.
Policy: how the columns are packed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import overload

import msgspec

from evh.errors import DecodeError, EvhError, RecordError, SchemaError, SourceError, UsageError, cut, pointer
from evh.harness.project import Project, is_plain_path
from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.protocol.jsontext import check_text
from evh.store.outputs import read_regular

__all__ = ["Frozen", "copy_paths", "dataset_file", "decode_frozen", "load_dataset"]

_ID = re.compile(r"[a-z0-9_]{1,250}")


class Digests(Sequence[str]):
    """Hexadecimal digests, 32 bytes each."""

    def __init__(self) -> None:
        self._packed = bytearray()

    def append(self, digest: str) -> None:
        self._packed += bytes.fromhex(digest)

    def __len__(self) -> int:
        return len(self._packed) // 32

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index] * 32
        return self._packed[at : at + 32].hex()


class Paths(Sequence[str | None]):
    """Paths of the items' copies: mostly an id and a suffix, of which only the suffix is kept, once."""

    def __init__(self, item_ids: list[str]) -> None:
        self._item_ids = item_ids
        self._kept: list[str | tuple[str] | None] = []
        self._tails: dict[str, str] = {}

    def append(self, path: str | None) -> None:
        """Add the path of the item whose id was added last."""
        item_id = self._item_ids[len(self._kept)]
        if path is not None and path.startswith(item_id):
            tail = path[len(item_id) :]
            self._kept.append(self._tails.setdefault(tail, tail))
        else:
            self._kept.append(None if path is None else (path,))

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> str | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[str | None]: ...
    def __getitem__(self, index: int | slice) -> str | list[str | None] | None:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        kept = self._kept[index]
        if isinstance(kept, str):
            return self._item_ids[index] + kept
        return kept if kept is None else kept[0]


class Frozen:
    """A dataset as it was frozen: for item `i` its `item_ids[i]`, `digests[i]` and `paths[i]` (None: named like the
    item). `position` finds an item by id; `items_sha256` is the digest of all ids and digests in order."""

    __slots__ = (
        "created_at", "dataset_id", "description", "digests", "item_ids", "items_sha256", "path", "paths", "position",
        "source_dir",
    )  # fmt: skip

    def __init__(self, path: Path, head: models.Dataset) -> None:
        self.path = path
        self.dataset_id = head.dataset_id
        self.created_at = head.created_at
        self.description = head.description
        self.source_dir = head.source_dir
        self.item_ids: list[str] = []
        self.digests = Digests()
        self.paths = Paths(self.item_ids)
        self.position: dict[str, int] = {}
        self.items_sha256 = ""

    def __len__(self) -> int:
        return len(self.item_ids)

    def __repr__(self) -> str:
        return f"<Frozen {self.dataset_id}: {len(self)} items>"


MEMBERS = tuple(f'"{name}"'.encode() for name in models.DatasetItem.__struct_encode_fields__)
"""The members of an item as they stand in a text; one that stands there once cannot stand there twice."""


class _Items(msgspec.Struct):
    items: msgspec.Raw


def decode_frozen(data: bytes, path: Path) -> Frozen:
    """The dataset that a file's bytes hold. Raises `DecodeError`, `SchemaError` or `RecordError`."""
    try:
        text = msgspec.json.decode(data, type=_Items).items
        raws = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raws = []
        text = msgspec.Raw(b"")
    if not raws:
        decode_strict(data, models.Dataset)
        raise DecodeError("is no dataset")
    at = data.find(memoryview(text))
    head_text = b"".join((data[:at], b"[", bytes(raws[0]), b"]", data[at + len(bytes(text)) :]))
    _refuse_repeated(head_text, "")
    frozen = Frozen(path, decode_strict(head_text, models.Dataset))
    if frozen.dataset_id != path.stem:
        raise RecordError(f"the file {path.name} holds the dataset {cut(frozen.dataset_id)}", pointer="/dataset_id")
    digest = hashlib.sha256()
    for index, raw in enumerate(raws):
        item = _item(raw, index)
        item_id = item.item_id
        first = frozen.position.setdefault(item_id, index)
        if first != index:
            raise RecordError(
                f"the items {first} and {index} have one id, {cut(item_id)}", pointer=pointer("items", index, "item_id")
            )
        if "\0" in item_id:
            raise RecordError(f"the id {cut(item_id)} holds a NUL", pointer=pointer("items", index, "item_id"))
        frozen.item_ids.append(item_id)
        frozen.digests.append(item.source_sha256)
        frozen.paths.append(item.source_path)
        digest.update((item_id + item.source_sha256).encode("utf-8", "surrogatepass"))
    frozen.items_sha256 = digest.hexdigest()
    return frozen


def _item(raw: msgspec.Raw, index: int) -> models.DatasetItem:
    text = bytes(raw)
    try:
        item = decode_strict(text, models.DatasetItem)
    except SchemaError as error:
        place = pointer("items", index)
        broken = [each._replace(pointer=place + each.pointer) for each in error.violations]
        raise SchemaError("Dataset", broken) from None
    except DecodeError as error:
        place = pointer("items", index)
        raise DecodeError(f"{place}: {error.message}", pointer=place) from None
    if b"\\" in text or any(text.count(name) > 1 for name in MEMBERS):  # a member may stand twice
        _refuse_repeated(text, pointer("items", index))
    return item


def _refuse_repeated(text: bytes, place: str) -> None:
    for fault in check_text(text):
        if fault.kind == "duplicate-key":
            raise RecordError(
                f"the member {cut(fault.value)} stands more than once in one object", pointer=place + fault.pointer
            )


# --- on disk ---------------------------------------------------------------------------------------------------------


def load_dataset(project: Project, dataset_id: str) -> Frozen:
    """A frozen dataset, read strictly. Raises `UsageError` for a name that none can have, `SourceError` when there is
    none, and `DecodeError`, `SchemaError` or `RecordError` for a file that is damaged."""
    path = dataset_file(project, dataset_id)
    if not path.exists():
        raise SourceError(
            f"there is no dataset {dataset_id}: `evh dataset create DIR --id {dataset_id}` freezes one, "
            "`evh dataset list` shows those there are",
            source=str(path),
        )
    try:
        return decode_frozen(read_regular(path), path)
    except EvhError as error:
        raise error.at(str(path), None) from None


def dataset_file(project: Project, dataset_id: str) -> Path:
    """Where a dataset lies or would lie. Raises `UsageError` for a name that none can have."""
    if not _ID.fullmatch(dataset_id):
        raise UsageError(
            f"{cut(dataset_id)} cannot name a dataset: use lower-case letters, digits and underscores (at most 250)"
        )
    return project.datasets / f"{dataset_id}.json"


def copy_paths(frozen: Frozen, index: int) -> Sequence[str]:
    """The paths at which a copy may lie. Raises `SourceError` when an id that is no plain path is all there is."""
    path = frozen.paths[index]
    if path is not None:
        return (path,)
    item_id = frozen.item_ids[index]
    if not is_plain_path(item_id):
        raise SourceError(
            f"item {cut(item_id)} has no source_path, and its id is not usable as one", source=str(frozen.path)
        )
    return (f"{item_id}.txt", item_id)
