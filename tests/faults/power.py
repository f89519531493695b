"""Power cuts without pulling a plug: the calls of `evh.store._os` recorded, and every disk that a cut may leave.

`Recorder` stands in for the calls of `_os` while a run is written into a real folder. `disk` builds, from any
prefix of the calls, one of the disks that a power cut at that moment may leave, and says so as plain folders and bytes:

* a file has the bytes of its last sync; of what was written since, a part in the order of writing, the last piece cut
  short or its end read as zeros; or, with `holes`, any part, with zeros where a piece is missing;
* a folder has the names of its last sync; of what was made, renamed or removed since, any part that keeps the order of
  each name. A rename is there or not as a whole, whether or not the bytes of its file are.

The one assumption is that nothing else is lost: what was synced stays.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evh.store import _os

CALLS = ("create", "write", "fsync", "truncate", "replace", "rename", "unlink", "mkdir", "rmdir")
CHANCES = (0.0, 0.2, 0.5, 0.8, 1.0)
"""How likely a change that was not synced is kept; a disk draws one of them, so that extremes are common."""


@dataclass(frozen=True)
class Event:
    """One call, or an acknowledgement (`ack`). `node` and `other` number the files and folders in the order of their
    making; folder 0 is the root. For a name, `node` is its folder and `other` what it names."""

    call: str
    node: int
    name: str = ""
    target: str = ""
    other: int = -1
    data: bytes = b""
    at: int = 0


@dataclass
class Tree:
    """A folder of a disk: names with the bytes of a file, or a folder."""

    entries: dict[str, bytes | Tree] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Make it real."""
        folder.mkdir()
        for name, entry in self.entries.items():
            if isinstance(entry, Tree):
                entry.write(folder / name)
            else:
                (folder / name).write_bytes(entry)


class Recorder:
    """Records what is done below `root`, an empty folder. Threads may call; the record has their true order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list[Event] = []
        self._guard = threading.RLock()
        self._nodes = {self._key(root.stat()): 0}
        self._made = 1
        self._real = {name: getattr(_os, name) for name in CALLS}

    @contextmanager
    def recording(self) -> Iterator[Recorder]:
        """Record while the block runs."""
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(_os, name, getattr(self, f"_{name}"))
            yield self

    def acknowledge(self, name: str) -> None:
        """Note that the program was told that `name` is done."""
        with self._guard:
            self.events.append(Event("ack", -1, name))

    def node(self, path: Path) -> int:
        """The number of a file or folder that stands there now."""
        return self._nodes[self._key(os.lstat(path))]

    @staticmethod
    def _key(about: os.stat_result) -> tuple[int, int]:
        return (about.st_dev, about.st_ino)

    def _new(self, about: os.stat_result) -> int:
        node = self._nodes[self._key(about)] = self._made
        self._made += 1
        return node

    def _place(self, path: Any) -> tuple[int, str]:
        whole = Path(os.fspath(path))
        return self.node(whole.parent), whole.name

    def _create(self, path: Any, flags: int, mode: int = 0o666) -> int:
        with self._guard:
            there = os.path.lexists(path)
            descriptor: int = self._real["create"](path, flags, mode)
            about = os.fstat(descriptor)
            if not there:
                folder, name = self._place(path)
                self.events.append(Event("create", folder, name, other=self._new(about)))
            elif flags & os.O_TRUNC:
                self.events.append(Event("truncate", self._nodes[self._key(about)]))
            return descriptor

    def _write(self, descriptor: int, data: Any) -> int:
        with self._guard:
            about = os.fstat(descriptor)
            at = os.lseek(descriptor, 0, os.SEEK_CUR)
            count: int = self._real["write"](descriptor, data)
            end = os.lseek(descriptor, 0, os.SEEK_CUR)
            at = end - count if end >= at + count else at
            self.events.append(Event("write", self._nodes[self._key(about)], data=bytes(data[:count]), at=at))
            return count

    def _fsync(self, descriptor: int) -> None:
        with self._guard:  # nothing else may be written meanwhile: what a sync covers must be known
            self.events.append(Event("fsync", self._nodes[self._key(os.fstat(descriptor))]))

    def _truncate(self, descriptor: int, length: int) -> None:
        with self._guard:
            self._real["truncate"](descriptor, length)
            self.events.append(Event("truncate", self._nodes[self._key(os.fstat(descriptor))], at=length))

    def _move(self, call: str, source: Any, target: Any) -> None:
        with self._guard:
            folder, name = self._place(source)
            there, new = self._place(target)
            assert folder == there, "a rename between folders is not modelled"
            node = self.node(Path(source))
            self._real[call](source, target)
            self.events.append(Event("rename", folder, name, new, other=node))

    def _replace(self, source: Any, target: Any) -> None:
        self._move("replace", source, target)

    def _rename(self, source: Any, target: Any) -> None:
        self._move("rename", source, target)

    def _remove(self, call: str, path: Any) -> None:
        with self._guard:
            folder, name = self._place(path)
            self._real[call](path)
            self.events.append(Event("unlink", folder, name))

    def _unlink(self, path: Any) -> None:
        self._remove("unlink", path)

    def _rmdir(self, path: Any) -> None:
        self._remove("rmdir", path)

    def _mkdir(self, path: Any) -> None:
        with self._guard:
            folder, name = self._place(path)
            self._real["mkdir"](path)
            self.events.append(Event("mkdir", folder, name, other=self._new(os.lstat(path))))


@dataclass
class _File:
    synced: bytes = b""
    pending: list[Event] = field(default_factory=list)


@dataclass
class _Folder:
    synced: dict[str, int] = field(default_factory=dict)
    pending: list[Event] = field(default_factory=list)


def disk(events: list[Event], chance: random.Random, *, holes: bool = False) -> Tree:
    """A disk that a power cut right after these calls may leave."""
    files: dict[int, _File] = {}
    folders: dict[int, _Folder] = {0: _Folder()}
    for event in events:
        if event.call in ("create", "mkdir", "rename", "unlink"):
            folders[event.node].pending.append(event)
            if event.call == "create":
                files[event.other] = _File()
            elif event.call == "mkdir":
                folders[event.other] = _Folder()
        elif event.call in ("write", "truncate"):
            files[event.node].pending.append(event)
        elif event.call == "fsync" and event.node in files:
            file = files[event.node]
            file.synced, file.pending = _contents(file.synced, file.pending), []
        elif event.call == "fsync":
            folder = folders[event.node]
            folder.synced, folder.pending = _names(folder.synced, folder.pending), []
    keep = chance.choice(CHANCES)

    def grown(node: int) -> Tree:
        kept: list[Event] = []
        lost: set[str] = set()
        for event in folders[node].pending:
            touched = {event.name, event.target} - {""}
            if touched & lost or chance.random() >= keep:
                lost |= touched
            else:
                kept.append(event)
        tree = Tree()
        for name, inner in _names(folders[node].synced, kept).items():
            tree.entries[name] = grown(inner) if inner in folders else _left(files[inner], chance, keep, holes)
        return tree

    return grown(0)


def _names(synced: dict[str, int], events: list[Event]) -> dict[str, int]:
    names = dict(synced)
    for event in events:
        if event.call == "unlink":
            names.pop(event.name, None)
        elif event.call == "rename":
            names[event.target] = event.other
            names.pop(event.name, None)
        else:
            names[event.name] = event.other
    return names


def _contents(synced: bytes, events: list[Event]) -> bytes:
    data = bytearray(synced)
    for event in events:
        if event.call == "truncate":
            del data[event.at :]
        else:
            data.extend(bytes(max(0, event.at - len(data))))
            data[event.at : event.at + len(event.data)] = event.data
    return bytes(data)


def _left(file: _File, chance: random.Random, keep: float, holes: bool) -> bytes:
    if holes:
        return _contents(file.synced, [event for event in file.pending if chance.random() < keep])
    count = 0
    while count < len(file.pending) and chance.random() < keep:
        count += 1
    data = _contents(file.synced, file.pending[:count])
    if count == len(file.pending) or file.pending[count].call == "truncate":
        return data
    piece = file.pending[count]
    part = piece.data[: chance.randrange(len(piece.data) + 1)]
    if chance.random() < 0.3:
        part += bytes(chance.randrange(len(piece.data) - len(part) + 1))
    return _contents(data, [Event("write", piece.node, data=part, at=piece.at)]) if part else data
