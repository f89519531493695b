"""Tokens and quotas: who is let in, and how much of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import UsageError
from evh.server.access import CatalogAccess
from evh.server.catalog import Catalog
from evh.server.faults import ServerFault
from evh.server.quotas import Gate
from evh.server.records import SCOPES, ProjectRow, Usage
from evh.server.text import now_us


@pytest.fixture
def access(catalog: Catalog) -> CatalogAccess:
    return CatalogAccess(catalog)


def test_a_token_opens_its_project_with_its_scopes(access: CatalogAccess) -> None:
    token, row = access.create("p", scopes=["traces:write"], name="ü\0")
    who = access.authenticate(token)
    assert (who.project_name, who.scopes, who.token, who.name) == ("p", {"traces:write"}, row.prefix, "ü\0")
    assert who.may("traces:write") and not who.may("traces:read") and not who.may("admin")
    assert access.authenticate(access.create("p", scopes=["admin"])[0]).may("evals:write")


def test_everything_else_is_unauthenticated_and_not_told_apart(access: CatalogAccess) -> None:
    token, row = access.create("p", scopes=SCOPES)
    expired, _ = access.create("p", scopes=SCOPES, expires_us=now_us() - 1)
    revoked, gone = access.create("p", scopes=SCOPES)
    access.revoke(gone.prefix)
    other = "A" if token[-1] != "A" else "B"
    said = set()
    for bad in (
        "",
        "x",
        token[:-1],
        token + "A",
        token[:-1] + other,
        f"evh_{row.prefix}_",
        expired,
        revoked,
        "é",
        "\0",
    ):
        with pytest.raises(ServerFault) as caught:
            access.authenticate(bad)
        assert (caught.value.status, caught.value.code) == (401, "unauthenticated")
        said.add(caught.value.message)
    assert len(said) == 1
    assert access.authenticate(token).token == row.prefix


def test_no_secret_is_kept(access: CatalogAccess, make_sqlite: object) -> None:
    token, row = access.create("p", scopes=["admin"])
    secret = token.split("_", 2)[2]
    assert secret not in repr(access.list()) and secret not in repr(row)


def test_the_secret_is_in_no_file_of_the_database(tmp_path: Path) -> None:
    from evh.server.storage import open_catalog

    catalog = open_catalog(tmp_path / "store")
    token, _ = CatalogAccess(catalog).create("p", scopes=["admin"])
    catalog.close()
    written = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    assert token.split("_", 2)[1].encode() in written and token.split("_", 2)[2].encode() not in written


def test_a_revocation_counts_at_once_for_every_process(make_sqlite: object, tmp_path: Path) -> None:
    from evh.server.storage import open_catalog

    one, two = open_catalog(tmp_path / "store"), open_catalog(tmp_path / "store")
    try:
        token, row = CatalogAccess(one).create("p", scopes=["admin"])
        assert CatalogAccess(two).authenticate(token)
        CatalogAccess(one).revoke(row.prefix)
        with pytest.raises(ServerFault):
            CatalogAccess(two).authenticate(token)
    finally:
        one.close()
        two.close()


def test_tokens_are_listed_with_what_became_of_them(access: CatalogAccess) -> None:
    first, row = access.create("p", scopes=["admin", "evals:read"])
    access.create("q", scopes=["admin"])
    assert [each.project_name for each in access.list()] == ["p", "q"]
    assert access.list("p") == [row]
    access.authenticate(first)
    (used,) = access.list("p")
    assert used.last_used_us is not None
    access.authenticate(first)  # noted once a minute
    assert access.list("p") == [used]
    revoked = access.revoke(first)  # the whole token names itself too
    assert revoked.revoked_us is not None and access.revoke(row.prefix) == revoked
    for bad in ("", "0" * 16, "é", "\0"):
        with pytest.raises(ServerFault) as caught:
            access.revoke(bad)
        assert caught.value.status == 404
    with pytest.raises(ServerFault) as caught:
        access.list("none")
    assert caught.value.code == "project_not_found"


@pytest.mark.parametrize("scopes", [[], ["everything"], ["traces:read", "x"]])
def test_scopes_of_no_kind_are_refused(access: CatalogAccess, scopes: list[str]) -> None:
    with pytest.raises(UsageError, match="a token needs scopes out of"):
        access.create("p", scopes=scopes)


def test_loopback_gets_a_project_without_a_token(access: CatalogAccess) -> None:
    who = access.local()
    assert (who.project_name, who.token) == ("default", None) and who.may("admin")


NOTHING = Usage(0, 0, 0, 0)


def project(**limits: int) -> ProjectRow:
    return ProjectRow(1, "p", 0, **limits)


def test_a_rate_is_a_bucket_that_fills_again() -> None:
    now = [0.0]
    gate = Gate(lambda: now[0])
    limited = project(episodes_per_second=2)
    for _ in range(20):  # ten seconds' worth at once
        gate.admit(limited, NOTHING, size=1, episodes=1)
    with pytest.raises(ServerFault) as caught:
        gate.admit(limited, NOTHING, size=1, episodes=4)
    assert (caught.value.status, caught.value.code, caught.value.retry_after) == (429, "rate_limited", 2.0)
    now[0] = 2.0
    gate.admit(limited, NOTHING, size=1, episodes=4)
    with pytest.raises(ServerFault):
        gate.admit(limited, NOTHING, size=1, episodes=1)


def test_an_upload_larger_than_the_bucket_goes_when_it_is_full() -> None:
    now = [0.0]
    gate = Gate(lambda: now[0])
    limited = project(bytes_per_second=10)
    gate.admit(limited, NOTHING, size=1000, episodes=1)
    with pytest.raises(ServerFault) as caught:
        gate.admit(limited, NOTHING, size=1, episodes=1)
    assert caught.value.retry_after == pytest.approx(90.1)
    now[0] = 91.0
    gate.admit(limited, NOTHING, size=1, episodes=1)


def test_what_is_refused_for_one_rate_is_not_counted_by_the_other() -> None:
    gate = Gate(lambda: 0.0)
    limited = project(bytes_per_second=1, episodes_per_second=1)
    for _ in range(3):
        gate.admit(limited, NOTHING, size=1, episodes=1)
    with pytest.raises(ServerFault):
        gate.admit(limited, NOTHING, size=8, episodes=1)
    for _ in range(7):
        gate.admit(limited, NOTHING, size=1, episodes=1)


def test_a_project_that_is_full_is_refused_before_it_is_read() -> None:
    with pytest.raises(ServerFault) as caught:
        Gate().admit(project(max_bytes=10), Usage(10, 0, 0, 0), size=1, episodes=1)
    assert (caught.value.status, caught.value.code) == (429, "ingest_capacity_exceeded")
    assert caught.value.retry_after is not None
