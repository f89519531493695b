"""A web app over a fresh store, and clients of it that need no socket."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from evh.server.app import make_app
from evh.server.profiles import Settings
from evh.server.storage import Storage, open_catalog, open_storage

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]  # where the helpers are

from web_support import LOCAL, Client, TestClient  # noqa: E402

MakeClient = Callable[..., Client]
MakeStorage = Callable[[], Storage]


@pytest.fixture(scope="session")
def make_storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeStorage]:
    """Gives fresh stores, whose schema was made once."""
    template = tmp_path_factory.mktemp("template") / "store"
    open_catalog(template).close()
    with ExitStack() as stack:

        def make() -> Storage:
            folder = tmp_path_factory.mktemp("web") / "store"
            shutil.copytree(template, folder)
            return stack.enter_context(open_storage(folder, reserve=0))

        yield make


@pytest.fixture
def storage(make_storage: MakeStorage) -> Iterator[Storage]:
    with make_storage() as made:
        yield made


@pytest.fixture
def make_client(storage: Storage) -> Iterator[MakeClient]:
    """Gives a client of an app with these settings, which sends `token` when there is one."""
    with ExitStack() as stack:

        def make(token: str | None = None, base_url: str = LOCAL, **settings: Any) -> Client:
            app = make_app(Settings(**settings), storage)
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            made = TestClient(app, base_url=base_url, headers=headers)
            return Client(stack.enter_context(made))

        yield make


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    """A client of a server on loopback that asks for no token."""
    return make_client()


@pytest.fixture(scope="module")
def shared_client(make_storage: MakeStorage) -> Iterator[Client]:
    """The same, for all tests of a module that leave it as it is."""
    with make_storage() as made, TestClient(make_app(Settings(), made), base_url=LOCAL) as http:
        yield Client(http)


@pytest.fixture(scope="module")
def empty(shared_client: Client) -> Client:
    """A server that is asked for nothing but what it refuses."""
    return shared_client
