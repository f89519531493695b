"""The pytest plugin, loaded wherever evh is installed: what tests upload stays on this machine.

Promise: while pytest runs, every client of evh, every uploader and every process that a test starts refuses an address
that is not loopback: a live run goes offline with the reason, other calls raise `UsageError`. A key or an address in
the environment or in `~/.prime/config.json` does not change that. The fixtures `evh_server` (a running `evh serve` over
a temporary folder) and `evh_fault_proxy` (a proxy before it) are made when a test asks for them.
Policy: `evh_push_anywhere = true` in pytest's configuration lifts it, for tests that are meant to push.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from evh.testing.live import FaultProxy, Server

__all__ = ["evh_fault_proxy", "evh_server"]

OPTION = "evh_push_anywhere"
VARIABLE = "EVH_ONLY_LOOPBACK"
BEFORE = pytest.StashKey[str | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(OPTION, "let tests upload runs to other machines", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEFORE] = os.environ.get(VARIABLE)
    _set(config)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Again before each test: one before it may have cleared the environment."""
    _set(item.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    before = config.stash.get(BEFORE, None)
    if before is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = before


@pytest.fixture
def evh_server(tmp_path: Path) -> Iterator[Server]:
    """A server that runs as long as the test."""
    from evh.testing.live import Server

    with Server(tmp_path / "evh-server") as server:
        yield server


@pytest.fixture
def evh_fault_proxy(evh_server: Server) -> Iterator[FaultProxy]:
    """A proxy before `evh_server`; what goes through it can be broken."""
    from evh.testing.live import FaultProxy

    with FaultProxy(evh_server.url) as proxy:
        yield proxy


def _set(config: pytest.Config) -> None:
    if not config.getini(OPTION):
        os.environ[VARIABLE] = "1"
