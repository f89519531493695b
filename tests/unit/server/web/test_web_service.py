"""What surrounds the API: health, metrics, ids, headers, the log, faults of our own, and the OpenAPI document."""

from __future__ import annotations

import logging
import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
from server_support import body, episode
from web_support import Client, code_of

from evh.server.app import ALL
from evh.server.faults import retry_later
from evh.server.storage import Storage


def test_health(client: Client, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    written: list[int] = []
    real = storage.catalog.ping
    monkeypatch.setattr(storage.catalog, "ping", lambda: written.append(1) or real())
    clock = [1000.0]
    monkeypatch.setattr("evh.server.health.time", SimpleNamespace(monotonic=lambda: clock[0], time=time.time))
    for _ in range(20):
        assert client.get("/readyz").json() == {"status": "ready"}
    assert len(written) == 1, "a real write, but not one for everybody who asks"
    clock[0] += 0.9
    client.get("/readyz")
    assert len(written) == 1
    clock[0] += 0.2
    client.get("/readyz")
    assert len(written) == 2, "a second later it is looked at again"


def test_a_database_that_does_not_answer_is_not_ready(
    client: Client, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise retry_later("storage_unavailable", "the database does not answer")

    monkeypatch.setattr(storage.catalog, "ping", broken)
    answer = client.get("/readyz")
    assert code_of(answer) == (503, "storage_unavailable") and answer.headers["retry-after"]
    assert client.get("/healthz").status_code == 200


def test_metrics_count_what_happened_and_name_nobody(client: Client) -> None:
    data = body(episode("secret-episode"))
    client.upload(data)
    client.upload(data)
    client.get("/api/v1/traces?limit=0")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    said = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    assert said["evh_uploads_committed_total"] == said["evh_uploads_replayed_total"] == "1"
    assert said["evh_lines_accepted_total"] == "1" and said["evh_bytes_accepted_total"] == str(len(data))
    assert said['evh_refused_total{code="invalid_filter"}'] == "1"
    assert said["evh_commit_seconds_count"] == said['evh_commit_seconds_bucket{le="+Inf"}'] == "1"
    assert float(said["evh_disk_free_bytes"]) > 0 and "evh_room_bytes" in said
    assert float(said["evh_open_segment_age_seconds"]) >= 0
    assert "secret" not in answer.text
    for line in answer.text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) evh_\w+ .+|evh_\w+(\{\w+=\"[\w+.]+\"\})? [0-9.e+-]+", line), line


def test_every_answer_has_an_id_and_keeps_browsers_out(client: Client) -> None:
    for path in ("/api/v1/traces", "/nothing", "/healthz", "/api/v1/traces?x=y"):
        headers = client.get(path).headers
        assert re.fullmatch(r"[0-9a-f]{32}", headers["x-request-id"])
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"] and "server" not in headers
    for said, kept in (("abc-1", True), ("a b", False), ("x" * 65, False), ("<script>", False)):
        answered = client.get("/healthz", headers={"X-Request-ID": said}).headers["x-request-id"]
        assert (answered == said) is kept


def test_the_log_has_no_secrets(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "evh.server")
    secret = "canary-1234567"
    client.get(f"/api/v1/traces?cursor={secret}", headers={"Authorization": f"Bearer {secret}", "Cookie": secret})
    client.post("/api/v1/evaluations/", {"name": secret, "metadata": {"key": secret}})
    client.http.put(f"/api/v1/rft/tables/a/b?token={secret}", content=secret.encode())
    client.get("/api/v1/traces/line%0Abreak%1b[31m")
    assert "/api/v1/evaluations/" in caplog.text and secret not in caplog.text
    assert "\x1b" not in caplog.text and "line\\nbreak" in caplog.text


def test_a_fault_of_our_own_says_nothing_of_itself(
    client: Client, storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("canary-1234567")

    monkeypatch.setattr(storage.catalog.heads, "traces", broken)
    answer = client.get("/api/v1/traces")
    assert code_of(answer) == (500, "internal_error") and "canary" not in answer.text
    assert answer.headers["x-request-id"] in caplog.text


def test_the_document_names_every_address_and_its_codes(client: Client) -> None:
    document = client.get("/openapi.json").json()
    operations = {(path, method) for path, methods in document["paths"].items() for method in methods}
    assert len(operations) == len(ALL) + 2
    names = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert len(names) == len(set(names))
    upload = document["paths"]["/api/v1/traces"]["post"]["responses"]
    assert "`digest_mismatch`" in upload["400"]["description"] and "`rate_limited`" in upload["429"]["description"]
    text = client.get("/openapi.json").text
    assert "#/$defs/" not in text
    for reference in set(re.findall(r'"#/components/schemas/(\w+)"', text)):
        assert reference in document["components"]["schemas"]
