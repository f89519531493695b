"""`evh serve`: receive, keep and give back episodes, traces, evaluations and training runs, over HTTP.

Promise: the address is printed once the server answers. Without a token it answers on loopback only. SIGTERM and
Ctrl-C stop it in order, with exit code 0. Policy: the look of what is printed.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, FAILED, Once, Parser, add_json, count
from evh.errors import UsageError

if TYPE_CHECKING:
    from evh.server.serve import Started

__all__ = ["DATA", "HELP", "database_of", "parser", "run"]

DATA = "evh-data"
HELP = """\
evh serve: a server for runs: it receives, keeps and gives back

Usage
  evh serve [OPTIONS]
  evh serve verify [--data DIR] [--database URL]
  evh serve migrate [--data DIR] [--database URL]

Serves the upload and read API that evh and the released clients of the hosted
platform speak, until Ctrl-C. What it answers `committed` is on the disk.

On 127.0.0.1 it asks for no token as long as there is none; with one, and at
any other address, every request needs a token (see `evh token --help`).

verify reads everything that is stored and holds it against its digests; it may
run beside a server. migrate brings the database to this release's schema; a
SQLite file and an empty database are migrated at the start anyway.

Options
  --host ADDRESS    where to listen (default: 127.0.0.1)
  --port N          which port; 0 takes a free one (default: 8321)
  --data DIR        the folder that holds everything (default: evh-data)
  --database URL    keep the catalog there: postgresql://... (or EVH_DATABASE);
                    default: a SQLite file in the data folder
  --profile NAME    evh: lines up to 256 MiB; prime: the limits of the hosted
                    service (64 MiB a line, 256 MiB an upload)
  --public-url URL  how others reach the server, for addresses in answers
  --ready-file FILE written once the server answers: its address, as JSON
  --reserve MIB     disk space that stays free; writes are refused before
                    (default: 1024)
  --grace SECONDS   how long requests under way may take at the end
                    (default: 20)
  --quiet           no line per request
  --json            print the address (verify: the findings) as data
  -h, --help        this page

Exit codes
  0    stopped in order; verify: all is there; migrate: up to date
  1    it cannot start or failed; verify: something is damaged
  2    wrong usage; others could reach it and there is no token
  130  interrupted before it had started

Environment
  EVH_DATABASE  the database; so its password stands in no list of processes

Examples
  evh serve
  evh serve --host 0.0.0.0 --data /srv/evh --public-url https://evh.example.org
  evh serve --port 0 --ready-file server.json --quiet
  evh serve verify --data /srv/evh
"""
ACTIONS = ("verify", "migrate")
DEFAULT_PORT = 8321
SHOWN = 20


def parser() -> Parser:
    made = Parser("serve")
    made.add_argument("action", nargs="?", choices=ACTIONS, metavar="verify")
    for name in ("--host", "--data", "--database", "--profile", "--public-url", "--ready-file"):
        made.add_argument(name, action=Once)
    for name in ("--port", "--reserve", "--grace"):
        made.add_argument(name, action=Once, type=count)
    made.add_argument("--quiet", action="store_true")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Serve, verify or migrate; returns the exit code."""
    _needs_server_libraries()
    from evh.server.profiles import profile_named
    from evh.server.storage import open_storage

    port = DEFAULT_PORT if options.port is None else options.port
    if port > 65535:
        raise UsageError(f"--port {port}: the highest port is 65535")
    if options.public_url is not None and not options.public_url.startswith(("http://", "https://")):
        raise UsageError("--public-url begins with http:// or https://")
    data = Path(DATA if options.data is None else options.data)
    database = database_of(options)
    if options.action == "migrate":
        return _migrate(data, database, options)
    if options.action == "verify":
        return _verify(data, database, options)
    profile = profile_named(options.profile or "evh")
    reserve = (1024 if options.reserve is None else options.reserve) << 20
    with open_storage(data, database=database, profile=profile, reserve=reserve) as storage:
        from evh.server.profiles import Settings
        from evh.server.serve import GRACE_SECONDS, listen, run_server, settings_for

        host = options.host or "127.0.0.1"
        more = f" --data {data}" + (" --database URL" if database is not None and options.database else "")
        settings = settings_for(
            storage, host, Settings(profile=profile, public_url=options.public_url), f"evh token create{more}"
        )
        listening = listen(host, port)
        _log_requests(options.quiet)
        run_server(
            storage, settings, listening, host=host, told=lambda started: _tell(started, options),
            ready_file=None if options.ready_file is None else Path(options.ready_file),
            grace=GRACE_SECONDS if options.grace is None else options.grace,
        )  # fmt: skip
    return DONE


def database_of(options: argparse.Namespace) -> str | None:
    """Where the catalog is kept, when not in the data folder."""
    return options.database or os.environ.get("EVH_DATABASE") or None


def _needs_server_libraries() -> None:
    try:
        import alembic  # noqa: F401
        import python_multipart  # noqa: F401
        import sqlalchemy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UsageError(f"the server needs {error.name}: pip install 'evh[server]'") from None


def _tell(started: Started, options: argparse.Namespace) -> None:
    from evh.cli._data import json_text
    from evh.cli._terminal import Screen, printable

    if options.json:
        said = {
            "ok": True, "url": started.url, "host": started.host, "port": started.port, "pid": started.pid,
            "data": started.data, "profile": options.profile or "evh", "tokens": started.tokens,
        }  # fmt: skip
        sys.stdout.write(json_text(said) + "\n")
    else:
        screen = Screen()
        screen.line(f"serving at {started.url}, data in {printable(started.data)}")
        if started.tokens:
            screen.line("every request needs a token")
        else:
            screen.line("no token is asked for: every program on this machine may read and write")
        screen.line(f"clients: PRIME_API_BASE_URL={started.url} PRIME_TRACES_URL={started.url}; Ctrl-C stops")
    sys.stdout.flush()


def _log_requests(quiet: bool) -> None:
    """One line per request, and what failed, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logger = logging.getLogger("evh.server")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


def _existing(data: Path, database: str | None) -> None:
    if database is None and not data.is_dir():
        raise UsageError(f"there is no folder {data}: name the one that the server has with --data")


def _migrate(data: Path, database: str | None, options: argparse.Namespace) -> int:
    from evh.cli._data import json_text
    from evh.cli._terminal import Screen
    from evh.server.migrations import current
    from evh.server.storage import open_catalog

    _existing(data, database)
    catalog = open_catalog(data, database=database, migrate=True)
    try:
        revision = current(catalog.database)
    finally:
        catalog.close()
    if options.json:
        sys.stdout.write(json_text({"ok": True, "schema": revision}) + "\n")
    else:
        Screen().line(f"the database has schema {revision}, which is this release's")
    return DONE


def _verify(data: Path, database: str | None, options: argparse.Namespace) -> int:
    from evh.cli._data import json_text
    from evh.cli._terminal import Screen, plural, printable
    from evh.server.storage import open_storage
    from evh.server.verification import verify_store

    _existing(data, database)
    with open_storage(data, database=database) as storage:
        found = verify_store(storage)
    if options.json:
        damages = [{"place": each.place, "message": each.message} for each in found.damages]
        said: dict[str, Any] = {"ok": not damages, "lines": found.lines, "tables": found.tables, "bytes": found.bytes}
        sys.stdout.write(json_text(said | {"damages": damages}) + "\n")
    else:
        screen = Screen()
        what = f"{plural(found.lines, 'line')}, {plural(found.tables, 'table')}, {found.bytes:,} bytes"
        for each in found.damages[:SHOWN]:
            screen.line(screen.sign(False), f" {printable(each.place)}: {printable(each.message)}")
        if len(found.damages) > SHOWN:
            screen.line(f"and {len(found.damages) - SHOWN} more; --json has them all")
        damaged = f"; {len(found.damages)} damaged" if found.damages else "; all there"
        screen.line(screen.sign(not found.damages), f" {what}{damaged}")
    return FAILED if found.damages else DONE
