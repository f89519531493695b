"""Real parts for tests of live runs: a server as a process, a proxy that breaks what goes through it, a PostgreSQL.

    from evh.testing.live import FaultProxy, Server, answer, lose

    with Server(tmp_path / "server") as server, FaultProxy(server.url) as proxy:
        proxy.script(answer(503), lose())           # the next two requests; those after them pass
        with evh.open_run(name="a", environments=["gsm8k"], base_url=proxy.url, mode="online") as run:
            run.log_episodes(episodes)
        documents = server.documents()

Promise: everything is on loopback and ends with its block. Needs `pip install 'evh[server,live]'`. With pytest the
plugin `evh.testing.live.plugin`, loaded wherever evh is installed, gives them as the fixtures `evh_server` and
`evh_fault_proxy`, and keeps every upload of a test on this machine. Names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.testing.live.faults import (
        Fault,
        answer,
        cut,
        delay,
        drop,
        garble,
        lose,
        passing,
        random_fault,
        replace,
        reset,
        truncate,
    )
    from evh.testing.live.postgres import HOW_TO_HAVE_POSTGRES, postgres_programs, running_postgres
    from evh.testing.live.proxy import FaultProxy, Seen
    from evh.testing.live.server import Server

__all__ = [
    "HOW_TO_HAVE_POSTGRES",
    "Fault",
    "FaultProxy",
    "Seen",
    "Server",
    "answer",
    "cut",
    "delay",
    "drop",
    "garble",
    "lose",
    "passing",
    "postgres_programs",
    "random_fault",
    "replace",
    "reset",
    "running_postgres",
    "truncate",
]

_HOMES = {
    "HOW_TO_HAVE_POSTGRES": "postgres",
    "FaultProxy": "proxy",
    "Seen": "proxy",
    "Server": "server",
    "postgres_programs": "postgres",
    "running_postgres": "postgres",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'evh.testing.live' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"evh.testing.live.{_HOMES.get(name, 'faults')}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
