"""A PostgreSQL server for tests: its own data folder, a unix socket, no port, no service.

Promise: it lives as long as the block, and leaves nothing behind. Root lends it another user, since it refuses to run
as root.
Policy: nothing in it is durable, on purpose (`fsync` is off): tests kill our server, not the database.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["HOW_TO_HAVE_POSTGRES", "postgres_programs", "running_postgres"]

HOW_TO_HAVE_POSTGRES = (
    "no PostgreSQL to test with: install one (Debian: `apt-get install postgresql`, no service is needed), or give "
    "EVH_TEST_POSTGRES_URL, a URL whose user may create databases"
)
SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=60")


def postgres_programs() -> Path | None:
    """Where the programs of the newest installed PostgreSQL are; None when there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    places = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(places, key=lambda path: int(path.parent.name) if path.parent.name.isdigit() else 0, default=None)


@contextlib.contextmanager
def running_postgres(programs: Path) -> Iterator[str]:
    """The URL of a server that lives as long as the block; its user may create databases."""
    user = None
    if os.geteuid() == 0:
        user = next(each for each in pwd.getpwall() if each.pw_name in ("postgres", "nobody"))
    folder = Path(tempfile.mkdtemp(prefix="evh-pg-"))
    try:
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "HOME": str(folder)}

        def call(*words: str) -> None:
            subprocess.run(
                words,
                check=True,
                capture_output=True,
                timeout=60,
                cwd=folder,
                env=environment,
                user=None if user is None else user.pw_uid,
                group=None if user is None else user.pw_gid,
                extra_groups=None if user is None else [],
            )

        data = folder / "data"
        call(str(programs / "initdb"), "-D", str(data), "-U", "evh", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = " ".join(
            f"-c {each}" for each in (*SETTINGS, "listen_addresses=", f"unix_socket_directories={folder}")
        )
        control = (str(programs / "pg_ctl"), "-D", str(data), "-w", "-t", "30")
        call(*control, "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://evh@/postgres?host={folder}"
        finally:
            call(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
