"""`evh token`: made once, shown once, listed without its secret, revoked at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_support import Evh


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVH_DATABASE", raising=False)


def test_a_token_is_shown_once(evh: Evh, tmp_path: Path) -> None:
    ran = evh("token", "create", "--name", "laptop")
    token = ran.out.strip()
    assert ran.code == 0 and re.fullmatch(r"evh_[0-9a-f]{16}_[\w-]{43}", token) and "only time" in ran.err
    listed = evh("token", "list")
    assert token[:20] in listed.out and "laptop" in listed.out and token not in listed.out
    secret = token.split("_", 2)[2].encode()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret in path.read_bytes()]


def test_scopes_project_and_days(evh: Evh) -> None:
    made = evh("token", "create", "--project", "team-a", "--scope", "traces:read", "--expires", "30", "--json").json
    assert made["token"]["project"] == "team-a" and made["token"]["scopes"] == ["traces:read"]
    assert made["token"]["state"].startswith("counts until ") and made["secret"].startswith(made["token"]["prefix"])
    plain = evh("token", "create", "--json").json["token"]
    assert plain["scopes"] == ["evals:read", "evals:write", "traces:read", "traces:write"]
    assert [each["project"] for each in evh("token", "list", "--json").json["tokens"]] == ["team-a", "default"]
    assert len(evh("token", "list", "--project", "team-a", "--json").json["tokens"]) == 1


def test_a_revoked_token_stays_listed(evh: Evh) -> None:
    token = evh("token", "create").out.strip()
    assert evh("token", "revoke", token[:20]).out == f"{token[:20]} is revoked\n"
    [listed] = evh("token", "list", "--json").json["tokens"]
    assert listed["state"] == "revoked" and listed["revoked_at"]
    assert evh("token", "revoke", token).code == 0  # again, and by the whole token


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["token"], 2, "say what to do"),
        (["token", "revoke"], 2, "evh token revoke TOKEN"),
        (["token", "list", "x"], 2, "only revoke takes a TOKEN"),
        (["token", "list", "--scope", "admin"], 2, "--scope belongs to create"),
        (["token", "create", "--scope", "root"], 2, "scopes"),
        (["token", "create", "--expires", "0"], 2, "--expires"),
        (["token", "create", "--project", "a/b"], 2, "no name of a project"),
        (["token", "create", "--database", "mysql://x/y"], 2, "postgresql://"),
        (["token", "create", "--data", "no/such/place"], 1, "no/such/place"),
        (["token", "revoke", "evh_0123456789abcdef"], 2, "there is no folder evh-data"),
    ],
)
def test_what_is_refused(evh: Evh, arguments: list[str], code: int, said: str) -> None:
    ran = evh(*arguments)
    assert ran.code == code and said in ran.err and not ran.out


def test_a_token_that_is_none_is_not_revoked(evh: Evh) -> None:
    evh("token", "create")
    ran = evh("token", "revoke", "evh_0123456789abcdef")
    assert ran.code == 1 and "there is no token" in ran.err
    assert evh("token", "list", "--project", "other").code == 1
