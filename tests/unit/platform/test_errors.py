"""Every error row of the wire becomes its exception, and no message, repr or log holds a secret."""

from __future__ import annotations

import json
import logging
import traceback
from typing import Any

import pytest
from loopback_platform import KEY, Client, Loopback, Reply

from evh.errors import (
    Conflict,
    EvhError,
    Forbidden,
    NotFound,
    PaymentRequired,
    PlatformError,
    Refused,
    Retryable,
    ServiceNotEnabled,
    Unauthorized,
)
from evh.platform import Batch, Platform, Policy, Settings, capabilities, hub, traces, training
from evh.protocol.models import PresignedUpload

REFUSALS = (
    "upload_too_large", "trace_too_large", "too_many_traces_in_episode", "too_many_traces_in_upload",
    "episode_id_too_long", "environment_id_too_long", "duplicate_trace_id", "duplicate_episode_id", "digest_mismatch",
    "line_format_mismatch", "malformed_encoding", "invalid_trace", "invalid_metadata", "created_at_out_of_window",
    "unsupported_schema_version", "unknown_episode_reference", "invalid_idempotency_key", "invalid_cursor",
    "invalid_filter", "search_limit_exceeded",
)  # fmt: skip
ROWS: list[tuple[int, str, type[PlatformError]]] = [
    *((400, code, Refused) for code in REFUSALS),
    (413, "upload_too_large", Refused),
    (422, "invalid_trace", Refused),
    (401, "unauthenticated", Unauthorized),
    (402, "", PaymentRequired),
    (403, "forbidden", Forbidden),
    (403, "service_not_enabled", ServiceNotEnabled),
    *((404, f"{name}_not_found", NotFound) for name in ("trace", "run", "episode", "export_job")),
    (409, "line_format_conflict", Conflict),
    (409, "trace_not_indexed", Retryable),
    (429, "rate_limited", Retryable),
    *((503, code, Retryable) for code in ("writer_pool_saturated", "ingest_capacity_exceeded", "ingest_unavailable",
                                          "storage_unavailable", "auth_unavailable")),
    (502, "", Retryable),
    (504, "", Retryable),
    (418, "", PlatformError),
    (501, "", PlatformError),
]  # fmt: skip


@pytest.mark.parametrize(("status", "code", "kind"), ROWS)
def test_a_row_of_the_error_table(client: Client, server: Loopback, status: int, code: str, kind: type) -> None:
    client.policy = Policy(tries=1)
    error = {"code": code, "message": "what is said"} if code else {"message": "what is said"}
    server.replies = [Reply(status, {"error": error}, {"Retry-After": "9"})]
    with pytest.raises(PlatformError, match="what is said") as caught:
        client.run(traces.trace("t-1"))
    assert type(caught.value) is kind
    assert (caught.value.status, caught.value.code) == (status, code or None)
    assert f"GET /traces/t-1 at {server.url}" in str(caught.value)
    assert caught.value.retry_after == (9.0 if status in (429, 502, 503, 504) else None)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"code": "invalid_trace", "message": "line 3"}}, "invalid_trace: line 3"),
        ({"error": "told plainly"}, "told plainly"),
        ({"detail": "of FastAPI"}, "of FastAPI"),
        ({"detail": [{"loc": ["body"], "msg": "missing"}]}, '"msg":"missing"'),
        ({"message": "another"}, "another"),
        (b"<html>\n  gateway\n</html>", "<html> gateway </html>"),
        (b"\xff\xfe", "HTTP 400"),
        (b"", "HTTP 400"),
        ([1], "HTTP 400"),
        ({"error": {"code": 7, "message": None}}, "HTTP 400"),
        ({"error": {"code": "x\ny"}}, "HTTP 400"),
        (b"[" * 100_000, "HTTP 400"),
        (b"x" * 100_000, "…"),
    ],
)
def test_any_body_of_an_error_is_taken(client: Client, server: Loopback, body: Any, said: str) -> None:
    server.replies = [Reply(400, body)]
    with pytest.raises(Refused) as caught:
        client.run(traces.trace("t"))
    text = str(caught.value)
    assert said in text and len(text) < 800 and text.isprintable()


@pytest.mark.parametrize("body", [b"not json", b"[]", b'{"items":1}', b'{"items":[1],"next_cursor":null}'])
def test_an_answer_that_is_no_document_of_the_platform(client: Client, server: Loopback, body: bytes) -> None:
    server.replies = [Reply(body=body)]
    with pytest.raises(PlatformError, match="is this the platform"):
        client.items(traces.listing())


@pytest.mark.parametrize(
    "body", [b"not json", b'{"data":{}}', b'{"data":{"id":7}}', b"{}", b'{"id":""}', b'{"data":7}']
)
def test_an_environment_without_an_id(client: Client, server: Loopback, body: bytes) -> None:
    server.replies = [Reply(body=body)]
    with pytest.raises(PlatformError):
        client.run(hub.find("gsm8k"))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401, {"error": {"code": KEY, "message": f"no such token {KEY}"}}),
        Reply(403, {"detail": f"{KEY}"}),
        Reply(400, f"<html>{KEY}</html>".encode()),
        Reply(400, ("x" * 480 + KEY).encode()),
        Reply(503, {"error": {"code": "storage_unavailable", "message": KEY}}),
        Reply(200, f"not json {KEY}".encode()),
        Reply(200, {"evaluation_id": {"token": KEY}}),
        Reply(cut=-1),
    ],
)
@pytest.mark.parametrize("work", [hub.find("gsm8k"), traces.trace("t"), traces.upload(Batch(0, 3, 1, b"{}\n", (0,)))])
def test_the_key_is_in_no_message_no_traceback_of_it_and_no_log(
    client: Client, server: Loopback, caplog: pytest.LogCaptureFixture, reply: Reply, work: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    client.policy = Policy(tries=2)
    server.replies = [reply]
    try:
        client.run(work)
    except EvhError as error:
        shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.__cause__)
        assert KEY[:12] not in shown
    assert KEY[:12] not in caplog.text + "".join(str(record.args) for record in caplog.records)


def test_the_address_of_a_table_is_in_no_message_and_no_log(
    client: Client, server: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    client.policy = Policy(tries=1)
    secret = "canary-signature-1"
    place = PresignedUpload(presignedUrl=f"{server.url}/b?X-Signature={secret}", s3Key="k")
    for reply in (Reply(400, f"bad {secret} in {place.presignedUrl}".encode()), Reply(cut=-1), Reply(200)):
        server.replies = [reply]
        call = training.put_table(place, b"PAR1")
        assert secret not in repr(call)
        try:
            client.run(call)
        except PlatformError as error:
            assert secret not in str(error) + repr(error)
    assert secret not in caplog.text


def test_a_refused_connection_says_where_and_why() -> None:
    with Platform(Settings(api_key=KEY, base_url="http://127.0.0.1:9"), sleep=lambda seconds: None) as platform:
        assert KEY not in repr(platform) + repr(platform.settings)
        with pytest.raises(PlatformError, match=r"no connection.*at http://127\.0\.0\.1:9") as caught:
            platform.run(hub.find("gsm8k"))
    assert KEY not in json.dumps(caught.value.__dict__, default=str)


def test_a_service_that_refuses_does_not_count_as_one_without_capabilities(client: Client, server: Loopback) -> None:
    server.replies = [Reply(401)]
    with pytest.raises(Unauthorized):
        client.run(capabilities())
