"""Downloads: the whole file under its name, or what was there before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from loopback_platform import Asked, Client, Loopback, Reply

from evh.errors import NotFound, TransportFault, WriteError
from evh.platform import traces

CALL = traces.trace_raw("t")
DOCUMENT = b"0123456789" * 100_000


def left(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_a_document_is_written_and_counted(client: Client, server: Loopback, tmp_path: Path) -> None:
    server.replies = [Reply(body=DOCUMENT)]
    assert client.download(CALL, tmp_path / "t.json") == len(DOCUMENT)
    assert (tmp_path / "t.json").read_bytes() == DOCUMENT
    assert left(tmp_path) == ["t.json"]


def test_what_is_there_stays_unless_force_is_given(client: Client, server: Loopback, tmp_path: Path) -> None:
    server.replies = [Reply(body=DOCUMENT)]
    (tmp_path / "t.json").write_bytes(b"mine")
    with pytest.raises(WriteError, match="force=True"):
        client.download(CALL, tmp_path / "t.json")
    assert server.asked == [] and (tmp_path / "t.json").read_bytes() == b"mine"
    client.download(CALL, tmp_path / "t.json", force=True)
    assert (tmp_path / "t.json").read_bytes() == DOCUMENT


def test_a_file_that_comes_while_the_download_runs_stays(client: Client, server: Loopback, tmp_path: Path) -> None:
    def answering(asked: Asked) -> Reply:
        (tmp_path / "t.json").write_bytes(b"theirs")
        return Reply(body=DOCUMENT)

    server.answering = answering
    with pytest.raises(WriteError, match="already"):
        client.download(CALL, tmp_path / "t.json")
    assert (tmp_path / "t.json").read_bytes() == b"theirs"
    assert left(tmp_path) == ["t.json"]


def test_an_answer_that_breaks_off_is_begun_anew(client: Client, server: Loopback, tmp_path: Path) -> None:
    server.replies = [Reply(body=DOCUMENT, cut=700_000), Reply(503), Reply(body=DOCUMENT)]
    assert client.download(CALL, tmp_path / "t.json") == len(DOCUMENT)
    assert (tmp_path / "t.json").read_bytes() == DOCUMENT


@pytest.mark.parametrize("reply", [Reply(404), Reply(body=DOCUMENT, cut=5)])
def test_nothing_is_left_of_a_failure(client: Client, server: Loopback, tmp_path: Path, reply: Reply) -> None:
    server.replies = [reply]
    (tmp_path / "t.json").write_bytes(b"mine")
    with pytest.raises((NotFound, TransportFault)):
        client.download(CALL, tmp_path / "t.json", force=True)
    assert (tmp_path / "t.json").read_bytes() == b"mine"
    assert left(tmp_path) == ["t.json"]


def test_a_disk_that_refuses_is_an_error_of_ours(client: Client, server: Loopback, tmp_path: Path) -> None:
    server.replies = [Reply(body=DOCUMENT)]
    with pytest.raises(WriteError):
        client.download(CALL, tmp_path / "no-such-folder" / "t.json")


def test_a_file_system_without_links(
    client: Client, server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    server.replies = [Reply(body=b"x")]
    assert client.download(CALL, tmp_path / "t.json") == 1
    assert left(tmp_path) == ["t.json"]
