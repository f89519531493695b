"""`evh serve`: what it refuses before it serves, and its other two verbs. Serving itself is tested as a process."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from cli_support import Evh


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVH_DATABASE", raising=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "evh.example"])
def test_a_server_that_others_can_reach_needs_a_token(evh: Evh, host: str) -> None:
    ran = evh("serve", "--host", host, "--port", "0", "--data", "store")
    assert ran.code == 2 and "evh token create --data store" in ran.err


def test_an_address_that_is_taken(evh: Evh) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = evh("serve", "--port", str(port))
    assert ran.code == 1 and f"127.0.0.1:{port}" in ran.err and "in use" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--port", "65536"], 2, "65535"),
        (["--port", "x"], 2, "whole number"),
        (["--profile", "other"], 2, "evh and prime"),
        (["--public-url", "evh.example"], 2, "http://"),
        (["--database", "mysql://x/y"], 2, "postgresql://"),
        (["--data", "no/such/place"], 1, "no/such/place"),
        (["verify"], 2, "there is no folder evh-data"),
        (["migrate"], 2, "there is no folder evh-data"),
        (["other"], 2, "other"),
    ],
)
def test_what_is_refused(evh: Evh, arguments: list[str], code: int, said: str) -> None:
    ran = evh("serve", *arguments)
    assert ran.code == code and said in ran.err and not ran.out


def test_a_folder_that_is_no_store(evh: Evh, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    ran = evh("serve", "--data", "store", "--port", "0")
    assert ran.code == 1 and "store" in ran.err


def test_migrate_says_which_schema(evh: Evh) -> None:
    evh("token", "create", "--data", "store")
    assert evh("serve", "migrate", "--data", "store", "--json").json["ok"] is True
    assert "schema" in evh("serve", "migrate", "--data", "store").out


def test_verify_finds_what_was_damaged(evh: Evh, tmp_path: Path) -> None:
    from evh.server.storage import open_storage

    data = b'{"id":"e1","env":{"id":"x"},"task":{"type":"Task","data":{}},"ok":true,"traces":[]}\n'
    with open_storage(tmp_path / "store", reserve=0) as storage:
        import hashlib

        key = f"sha256:{hashlib.sha256(data).hexdigest()}"
        storage.ingest.upload(storage.access.local(), data, key=key, line_format="episode")
        [name] = storage.segments.names()
    sound: Any = evh("serve", "verify", "--data", "store", "--json").json
    assert (sound["ok"], sound["lines"], sound["damages"]) == (True, 1, [])
    segment = tmp_path / "store" / "segments" / name
    held = bytearray(segment.read_bytes())
    held[60] ^= 255
    segment.write_bytes(held)
    ran = evh("serve", "verify", "--data", "store")
    assert ran.code == 1 and name in ran.out and "1 damaged" in ran.out
