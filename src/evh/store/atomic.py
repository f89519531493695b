"""Whole files, written so that a reader or a crash never meets half of one.

Promise: after `write_file` returns, the file has the new bytes and stays so through a power cut; when it raises, the
old file is untouched (unless the message says that the new one is in place) and nothing else is left behind.
Policy: the new bytes go to a hidden file of unique name in the same folder, which is synced and renamed over the old
one, then the folder is synced. A link is followed: the file that it names is replaced. Permissions of the old file
are kept. A process killed in between may leave the hidden `.<name>.<random>.tmp`, never a damaged file.
Limits: "on disk" is what the operating system calls so. Windows cannot sync a folder; there the rename is as durable
as its file system makes it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path

from evh.errors import UsageError, WriteError
from evh.store import _os

__all__ = ["clear_temporary", "sync_folder", "write_all", "write_file"]

TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)


def write_file(path: str | os.PathLike[str], data: bytes | bytearray | memoryview) -> None:
    """Make `path` a file of exactly these bytes, at once and durably. Raises `WriteError`."""
    target = real_path(path)
    try:
        mode: int | None = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None
    if mode is not None and not stat.S_ISREG(mode):
        raise WriteError("is not a regular file and is left alone", source=str(path))
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = _os.create(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except OSError as error:
        raise WriteError(f"cannot be written: {why(error)}; the old file is untouched", source=str(path)) from None
    try:
        try:
            write_all(descriptor, data)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, stat.S_IMODE(mode))
            _os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            _os.unlink(temporary)
        if isinstance(error, OSError):
            raise WriteError(f"cannot be written: {why(error)}; the old file is untouched", source=str(path)) from None
        raise
    try:
        sync_folder(target.parent)
    except OSError as error:
        raise WriteError(
            f"the new content is in place, but the folder could not be synced ({why(error)}): "
            "a power cut may bring the old content back",
            source=str(path),
        ) from None


def clear_temporary(folder: Path) -> int:
    """Remove what killed writers of whole files left in a folder that only the caller writes; returns how many files
    that were. Raises OSError."""
    names = [name for name in os.listdir(folder) if TEMPORARY.fullmatch(name)]  # noqa: PTH208
    for name in names:
        _os.unlink(folder / name)
    return len(names)


def write_all(descriptor: int, data: bytes | bytearray | memoryview) -> None:
    """Write every byte, however many calls that takes. Raises OSError; some bytes may then be written."""
    left = memoryview(data).cast("B")
    while left:
        left = left[_os.write(descriptor, left) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the platform has a call for it. Raises OSError."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _os.fsync(descriptor)
    finally:
        os.close(descriptor)


def real_path(path: str | os.PathLike[str]) -> Path:
    """The path with its links followed. Raises `WriteError` for a path that can name nothing."""
    try:
        raw = os.fspath(path)
    except TypeError:
        raise UsageError(f"{type(path).__name__} is not a path") from None
    try:
        return Path(raw).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise WriteError(f"is no usable path: {why(error)}", source=str(raw)[:200]) from None


def why(error: BaseException) -> str:
    """What the operating system says, without the path that it repeats."""
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__
