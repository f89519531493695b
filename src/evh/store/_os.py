"""The system calls that change a disk: every write, sync, rename and removal of `evh.store` and `evh.harness` is one of
these.

Promise: nothing else in those packages changes a file (a test reads their syntax trees). So a test that puts its own
function in the place of one of these sees, records or breaks all of them, which is how kills, power cuts and full disks
are tried. Each function is the call of `os` that it is named for, looked up when it is called.
"""

from __future__ import annotations

import os

__all__ = ["O_BINARY", "create", "fsync", "link", "mkdir", "rename", "replace", "rmdir", "truncate", "unlink", "write"]

O_BINARY: int = getattr(os, "O_BINARY", 0)
O_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
O_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)


def create(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
    """`os.open` for writing; with `O_CREAT` it may make a name."""
    return os.open(path, flags | O_BINARY, mode)


def write(descriptor: int, data: bytes | bytearray | memoryview) -> int:
    """`os.write`: how many bytes were taken, which may be fewer than were given."""
    return os.write(descriptor, data)


def fsync(descriptor: int) -> None:
    """`os.fsync`, of a file's bytes or of a folder's names."""
    os.fsync(descriptor)


def truncate(descriptor: int, length: int) -> None:
    """`os.ftruncate`."""
    os.ftruncate(descriptor, length)


def replace(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """`os.replace`: a file takes the name of another, which is gone."""
    os.replace(source, target)


def rename(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """`os.rename`, of a folder: refused by the system when the target is a folder that is not empty."""
    os.rename(source, target)


def link(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """`os.link`: a second name for a file; FileExistsError when the name is taken."""
    os.link(source, target)


def unlink(path: str | os.PathLike[str]) -> None:
    """`os.unlink`."""
    os.unlink(path)


def mkdir(path: str | os.PathLike[str]) -> None:
    """`os.mkdir`: FileExistsError when the name is taken, so that one of two who ask gets it."""
    os.mkdir(path)


def rmdir(path: str | os.PathLike[str]) -> None:
    """`os.rmdir`, of an empty folder."""
    os.rmdir(path)
