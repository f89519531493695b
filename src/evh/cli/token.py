"""`evh token`: make, list and revoke the tokens that a server asks for.

Promise: a token is shown once, when it is made; what is kept cannot be turned back into it. A revoked one counts no
more from that moment on, also at a server that runs. Policy: the look of what is printed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._args import DONE, Once, Parser, add_json, count
from evh.cli.serve import DATA, _needs_server_libraries, database_of
from evh.errors import UsageError

if TYPE_CHECKING:
    from evh.server.access import CatalogAccess
    from evh.server.records import TokenRow

__all__ = ["HELP", "parser", "run"]

HELP = """\
evh token: make, list and revoke the tokens of a server

Usage
  evh token create [--project NAME] [--scope SCOPE]... [OPTIONS]
  evh token list [--project NAME] [OPTIONS]
  evh token revoke TOKEN [OPTIONS]

A token belongs to one project, which is made when there is none, and sees
nothing of the others. It works where the data folder (or database) of the
server is at hand; the server may run meanwhile. Clients take the token as
PRIME_API_KEY.

create prints the token once: only its digest is kept. revoke takes the
token's first part (evh_ and 16 digits), as list shows it, or the whole token.

Options
  --project NAME    the project (default: default; list: all)
  --scope SCOPE     what it may do, several times for several: traces:read,
                    traces:write, evals:read, evals:write, admin (all, and
                    /metrics); default: all but admin
  --name TEXT       what it is for, for people
  --expires DAYS    it counts for so many days (default: for ever)
  --data DIR        the folder of the server (default: evh-data)
  --database URL    where the catalog is kept, as for `evh serve`
  --json            print the same as data
  -h, --help        this page

Exit codes
  0    done
  1    refused (no such token or project), or failed
  2    wrong usage

Environment
  EVH_DATABASE  the database, as for `evh serve`

Examples
  evh token create --name laptop
  evh token create --project team-a --scope traces:read --expires 30
  evh token list
  evh token revoke evh_0123456789abcdef
"""
ACTIONS = ("create", "list", "revoke")
DAY_US = 24 * 3600 * 1_000_000
MOST_DAYS = 36_500


def parser() -> Parser:
    made = Parser("token")
    made.add_argument("action", nargs="?", choices=ACTIONS, metavar="create")
    made.add_argument("token", nargs="?", metavar="TOKEN")
    made.add_argument("--scope", action="append")
    for name in ("--project", "--name", "--data", "--database"):
        made.add_argument(name, action=Once)
    made.add_argument("--expires", action=Once, type=count, metavar="DAYS")
    add_json(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Do what the options say; returns the exit code."""
    _needs_server_libraries()
    _check(options)
    from evh.server.access import CatalogAccess
    from evh.server.storage import open_catalog

    data, database = Path(options.data or DATA), database_of(options)
    if options.action != "create" and database is None and not data.is_dir():
        raise UsageError(f"there is no folder {data}: name the one that the server has with --data")
    catalog = open_catalog(data, database=database)
    try:
        access = CatalogAccess(catalog)
        if options.action == "create":
            _create(access, options)
        elif options.action == "revoke":
            row = access.revoke(options.token)
            _print(options, {"ok": True, "token": _as_data(row)}, f"evh_{row.prefix} is revoked")
        else:
            _list(access, options)
    finally:
        catalog.close()
    return DONE


def _check(options: argparse.Namespace) -> None:
    if options.action is None:
        raise UsageError("say what to do: create, list or revoke")
    if (options.action == "revoke") != (options.token is not None):
        raise UsageError("evh token revoke TOKEN" if options.token is None else "only revoke takes a TOKEN")
    if options.expires is not None and not 1 <= options.expires <= MOST_DAYS:
        raise UsageError(f"--expires is a number of days from 1 to {MOST_DAYS}")
    given = [name for name in ("scope", "name", "expires") if getattr(options, name) is not None]
    if options.action != "create" and given:
        raise UsageError(f"--{given[0]} belongs to create")
    if options.action == "revoke" and options.project is not None:
        raise UsageError("--project belongs to create and list")


def _create(access: CatalogAccess, options: argparse.Namespace) -> None:
    from evh.server.records import SCOPES
    from evh.server.text import now_us

    expires = None if options.expires is None else now_us() + options.expires * DAY_US
    scopes = options.scope or [each for each in SCOPES if each != "admin"]
    token, row = access.create(options.project or "default", scopes=scopes, name=options.name or "", expires_us=expires)
    _print(options, {"ok": True, "secret": token, "token": _as_data(row)}, token)
    if not options.json:
        print("This is the only time it is shown: keep it where secrets are kept.", file=sys.stderr, flush=True)


def _list(access: CatalogAccess, options: argparse.Namespace) -> None:
    from evh.cli._terminal import Column, Screen, printable, table

    rows = access.list(options.project)
    if options.json:
        _print(options, {"ok": True, "tokens": [_as_data(row) for row in rows]}, "")
        return
    screen = Screen()
    if not rows:
        screen.line("there is no token")
        return
    columns = [Column(name) for name in ("token", "project", "name", "scopes", "last used", "state")]
    table(
        screen,
        columns,
        [
            [
                f"evh_{row.prefix}", printable(row.project_name), printable(row.name), ", ".join(sorted(row.scopes)),
                _day(row.last_used_us) or "never", _state(row),
            ]
            for row in rows
        ],
    )  # fmt: skip


def _as_data(row: TokenRow) -> dict[str, Any]:
    from evh.server.text import rfc3339

    def at(instant: int | None) -> str | None:
        return None if instant is None else rfc3339(instant)

    return {
        "prefix": f"evh_{row.prefix}", "project": row.project_name, "name": row.name, "scopes": sorted(row.scopes),
        "created_at": at(row.created_us), "expires_at": at(row.expires_us), "last_used_at": at(row.last_used_us),
        "revoked_at": at(row.revoked_us), "state": _state(row),
    }  # fmt: skip


def _state(row: TokenRow) -> str:
    from evh.server.text import now_us

    if row.revoked_us is not None:
        return "revoked"
    if row.expires_us is None:
        return "counts"
    return "expired" if row.expires_us <= now_us() else f"counts until {_day(row.expires_us)}"


def _day(instant: int | None) -> str:
    from evh.server.text import rfc3339

    return "" if instant is None else rfc3339(instant)[:10]


def _print(options: argparse.Namespace, data: dict[str, Any], line: str) -> None:
    from evh.cli._data import json_text

    sys.stdout.write((json_text(data) if options.json else line) + "\n")
    sys.stdout.flush()
