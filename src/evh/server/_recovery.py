"""What a crashed writer left of its segment, made whole.

Promise: `recover` touches only a segment whose writer is gone (its lock is free) and that was not sealed. A torn tail
is cut, its bytes kept in `<name>.torn`; then the segment is sealed. Damage that whole frames follow is no torn tail:
such a segment is left as it is, and readers step over the damage.
"""

from __future__ import annotations

import os
from pathlib import Path

from evh.errors import LockedError
from evh.server import _frames
from evh.server._frames import Frame, Torn
from evh.store import _os
from evh.store.atomic import write_all, write_file
from evh.store.lock import FileLock

__all__ = ["recover"]


def recover(path: Path) -> bool:
    """Make a segment whole, when that is needed and may be done; whether it is sealed now. Raises OSError."""
    reading = os.open(path, os.O_RDONLY)
    try:
        if _frames.is_sealed(reading):
            return True
    finally:
        os.close(reading)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        lock = FileLock(descriptor, path, note=False)
    except LockedError:
        os.close(descriptor)
        return False
    except BaseException:
        os.close(descriptor)
        raise
    try:
        return _frames.is_sealed(lock.descriptor) or _seal(path, lock.descriptor)
    finally:
        lock.release()


def _seal(path: Path, descriptor: int) -> bool:
    frames: list[Frame] = []
    torn: Torn | None = None
    for found in _frames.walk(descriptor):
        if isinstance(found, Frame):
            frames.append(found)
        elif found.damaged:
            return False
        else:
            torn = found
    if torn is not None:
        size = os.fstat(descriptor).st_size
        write_file(path.with_name(f"{path.name}.torn"), _frames.read_at(descriptor, torn.at, size - torn.at))
        _os.truncate(descriptor, torn.at)
    write_all(descriptor, _frames.table_of(frames))
    _os.fsync(descriptor)
    return True
