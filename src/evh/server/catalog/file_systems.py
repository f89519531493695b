"""Which file systems a SQLite database may be on.

Promise: a folder on a file system of several machines is refused with words. What the system does not tell (other
systems than Linux) is let pass.
"""

from __future__ import annotations

import re
from pathlib import Path

from evh.errors import SourceError

__all__ = ["SHARED", "file_system_of", "refuse_shared"]

SHARED = frozenset(
    [
        "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.ceph", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone",
        "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2",
        "smb3", "smbfs", "wekafs",
    ]
)  # fmt: skip
"""Where locks or shared memory between processes do not hold."""
MOUNTS = Path("/proc/self/mountinfo")


def file_system_of(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """The kind of file system that a folder is on, as the system names it; None when it does not say."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    place = folder.resolve()
    best, kind = -1, None
    for line in lines:
        before, _, after = line.partition(" - ")
        words = before.split()
        if len(words) < 5 or not after:
            continue
        mounted = Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), words[4]))
        if place.is_relative_to(mounted) and len(mounted.parts) >= best:
            best, kind = len(mounted.parts), after.split()[0]
    return kind


def refuse_shared(folder: Path, mounts: Path = MOUNTS) -> None:
    """Raise `SourceError` for a folder where SQLite would be damaged."""
    kind = file_system_of(folder, mounts)
    if kind in SHARED:
        raise SourceError(
            f"is on {kind}, a file system of several machines, on which a SQLite database can be damaged: keep it on a "
            "local disk, or use PostgreSQL (`--database postgresql://…`)",
            source=str(folder),
        )
