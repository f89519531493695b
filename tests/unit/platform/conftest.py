"""Each test runs with the blocking and with the async client, against a platform on the loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback_platform import Client, Loopback, loopback


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


@pytest.fixture(params=["blocking", "async"])
def client(request: pytest.FixtureRequest, server: Loopback) -> Client:
    return Client(request.param, server)
