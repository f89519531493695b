"""`evh doctor`: is everything here that live runs and uploads need.

Promise: each thing is looked at by itself, and one that fails hides no other. The key is never shown, only whether
there is one and where it comes from. The platform is asked, nothing is changed there; on this disk a hidden file is
written and removed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evh.cli._args import DONE, FAILED, Once, Parser, add_json
from evh.errors import EvhError, PlatformError, UsageError

if TYPE_CHECKING:
    from evh.harness.project import Project
    from evh.platform import Settings

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh doctor: is everything here that live runs and uploads need

Usage
  evh doctor [OPTIONS]

Settings and where each comes from (of the key only whether it is set), whether
the platform answers and takes the key, what it can do, how far its clock is
from this one, and the disk that runs are written to: its file system, whether
files can be locked, the room that is left, and how long a sync takes.

Options
  --root DIR   the folder that holds data/ (default: the current one)
  --json       print the same as data
  -h, --help   this page

Exit codes
  0    nothing is wrong
  1    something is, and it is said what
  2    wrong usage
  130  interrupted

Examples
  evh doctor
  evh doctor --json
  PRIME_API_BASE_URL=http://127.0.0.1:8321 evh doctor
"""

SECONDS = 5.0
SKEW_SECONDS = 60.0
LEAST_ROOM = 1 << 30
SLOW_SYNC = 0.05
SYNCS = 5
SHOWN = ("base_url", "traces_url", "team_id", "runs_mode", "traces_opt_out")


class Finding(NamedTuple):
    """One thing that was looked at: `good` None says that it is neither right nor wrong."""

    name: str
    good: bool | None
    said: str


def parser() -> Parser:
    made = Parser("doctor")
    made.add_argument("--root", action=Once)
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Look at everything; returns the exit code."""
    from evh.harness.project import Project

    project = Project.at(None if options.root is None else Path(options.root), os.environ)
    found = [*_settings(), *_disk(project)]
    good = all(each.good is not False for each in found)
    if options.json:
        from evh.cli._data import json_text

        sys.stdout.write(json_text({"ok": good, "findings": [each._asdict() for each in found]}) + "\n")
        return DONE if good else FAILED
    from evh.cli._terminal import Column, Part, Screen, printable, table

    screen = Screen()
    rows: list[list[Part]] = []
    for each in found:
        sign: Part = "" if each.good is None else screen.sign(each.good)
        rows.append([sign, each.name, printable(each.said)])
    table(screen, [Column(""), Column(""), Column("", least=40, wraps=True)], rows)
    return DONE if good else FAILED


def _settings() -> Iterator[Finding]:
    from evh.cli._uploaded import settings_of
    from evh.live.modes import resolve_mode

    try:
        settings = settings_of()
    except UsageError as error:
        yield Finding("settings", False, str(error))
        return
    sources = settings.sources
    key = f"set, from {sources['api_key']}" if settings.api_key else "not set"
    yield Finding("api_key", None, key)
    for name in SHOWN:
        value = getattr(settings, name)
        said = str(value).lower() if isinstance(value, bool) else value or "not set"
        yield Finding(name, None, f"{said} ({sources[name]})")
    for notice in settings.notices:
        yield Finding("settings", False, notice.message)
    try:
        resolved = resolve_mode(None, os.environ, settings)
    except UsageError as error:
        yield Finding("mode", False, str(error))
        return
    yield Finding("mode", None, resolved.mode + (f": {resolved.reason}" if resolved.reason else ""))
    if resolved.mode == "online":
        yield from _platform(settings)


def _platform(settings: Settings) -> Iterator[Finding]:
    from dataclasses import replace
    from importlib.util import find_spec

    if find_spec("httpx") is None:
        yield Finding("platform", False, "sending needs the library httpx: pip install 'evh[live]'")
        return
    from evh.live.patience import Patience
    from evh.live.wire import Wire
    from evh.platform import capabilities, evaluations
    from evh.platform.call import Answer

    wire = Wire(settings, Patience(0.0), hurry=SECONDS)
    try:
        try:
            said = wire.once(capabilities())
            lines = "" if not said.max_line_bytes else f", lines of {said.max_line_bytes:,} bytes at most"
            yield Finding("traces service", True, f"{said.server}: {', '.join(said.encodings or ['plain'])}{lines}")
        except PlatformError as error:
            yield Finding("traces service", False, str(error))
        listing = evaluations.listing(limit=1).first
        before = time.time()
        try:
            answer: Answer = wire.once(replace(listing, read=lambda answer: answer))  # type: ignore[arg-type, assignment, return-value]
        except PlatformError as error:
            yield Finding("platform", False, str(error))
            return
        yield Finding("platform", True, f"{settings.base_url} answers and takes the key")
        yield from _clock(answer.headers.get("date"), before)
    finally:
        wire.close()


def _clock(date: str | None, before: float) -> Iterator[Finding]:
    from email.utils import parsedate_to_datetime

    try:
        theirs = parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError, OverflowError):
        yield Finding("clock", None, "the platform does not say its time")
        return
    skew = theirs - (before + time.time()) / 2
    good = abs(skew) < SKEW_SECONDS
    said = (
        "agrees with the platform's" if abs(skew) < 2 else f"is {abs(skew):.0f} s {'behind' if skew > 0 else 'ahead'}"
    )
    yield Finding("clock", good, said + ("" if good else ": set it, records carry its time"))


def _disk(project: Project) -> Iterator[Finding]:
    import shutil

    folder = project.runs
    while not folder.is_dir():
        folder = folder.parent
    yield Finding("runs", None, str(folder) if folder == project.runs else f"{project.runs} (not there yet)")
    yield _file_system(folder)
    left = shutil.disk_usage(folder).free
    yield Finding("room", left >= LEAST_ROOM, f"{left / 2**30:,.1f} GiB left")
    try:
        with _probe(folder) as (path, descriptor):
            yield _locks(path)
            yield _syncs(descriptor)
    except OSError as error:
        yield Finding("disk", False, f"nothing can be written to {folder}: {error.strerror}")


def _file_system(folder: Path) -> Finding:
    try:
        from evh.server.catalog.file_systems import SHARED, file_system_of
    except ImportError:  # what tells it comes with the server
        return Finding("file system", None, "not looked at (pip install 'evh[server]')")
    kind = file_system_of(folder)
    words = "of several machines: locks may not hold between them" if kind in SHARED else "of this machine"
    return Finding("file system", None, "not told by the system" if kind is None else f"{kind}, {words}")


@contextlib.contextmanager
def _probe(folder: Path) -> Iterator[tuple[Path, int]]:
    """A hidden file for as long as it is needed."""
    path = folder / f".evh-doctor-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        yield path, descriptor
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            path.unlink()


def _locks(path: Path) -> Finding:
    from evh.store.lock import FileLock

    try:
        FileLock(os.open(path, os.O_RDWR), path, note=False).release()
    except EvhError as error:
        return Finding("locks", False, error.message)
    return Finding("locks", True, "files can be locked")


def _syncs(descriptor: int) -> Finding:
    def timed(work: Callable[[], Any]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    def sync() -> None:
        os.write(descriptor, b"\0" * 4096)
        os.fsync(descriptor)

    seconds = sorted(timed(sync) for _ in range(SYNCS))[SYNCS // 2]
    slow = ": slow, rows are synced in groups" if seconds > SLOW_SYNC else ""
    return Finding("sync", True, f"{seconds * 1000:.1f} ms to make 4 KiB durable{slow}")
