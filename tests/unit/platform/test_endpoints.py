"""Every endpoint of the wire: the request as it goes out, the answer as it is read, with both clients."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from email import message_from_bytes
from typing import Any

import pytest
import zstandard
from loopback_platform import KEY, Asked, Client, Loopback, Reply

from evh.errors import Ambiguous, Conflict, PlatformError, Refused, UsageError
from evh.platform import Batch, Paged, capabilities, evaluations, hub, traces, training
from evh.protocol.models import (
    EvaluationCreate,
    EvaluationUpdate,
    ExternalRunCreate,
    PresignedUpload,
)

EVALUATION = {"evaluation_id": "e-1", "name": "run", "status": "RUNNING", "of_a_later_release": 1}
SUMMARY = {"trace_id": "t-1", "score": {"reward": None}, "model": {"id": "m"}}
PAGE = {"items": [SUMMARY], "next_cursor": None}
BODY = b'{"id":"a"}\n{"id":"b"}\n'
BATCH = Batch(0, len(BODY), 2, BODY, (0, 11))

CREATE = EvaluationCreate(name="run", environments=[{"id": "env-1"}], metadata={"evh": {"run_id": "ours"}})
TRAIN = ExternalRunCreate(base_model="m", max_steps=0, team_id="t", environments=[{"id": "gsm8k"}])


@pytest.mark.parametrize(
    ("work", "method", "path", "params", "sent", "answer", "read"),
    [
        (hub.find("gsm8k"), "POST", "/environmentshub/resolve", {}, {"name": "gsm8k"}, {"data": {"id": "x"}}, "x"),
        (hub.find("gsm8k", team_id="t"), "POST", "/environmentshub/resolve", {}, {"name": "gsm8k", "team_id": "t"},
         {"data": {"id": "x"}}, "x"),
        (hub.find("me/gsm8k"), "GET", "/environmentshub/me/gsm8k/@latest", {}, None, {"data": {"id": "x"}}, "x"),
        (hub.find("me/gsm8k"), "GET", "/environmentshub/me/gsm8k/@latest", {}, None, {"id": "x"}, "x"),
        (hub.look_up("x"), "POST", "/environmentshub/lookup", {}, {"id": "x"}, {"data": {"id": "x"}}, "x"),
        (evaluations.create(CREATE), "POST", "/evaluations/", {}, CREATE.plain(), {"evaluation_id": "e-1"}, None),
        (evaluations.update("e-1", EvaluationUpdate(tags=[])), "PUT", "/evaluations/e-1", {},
         {"tags": []}, {}, None),
        (evaluations.finalize("e-1"), "POST", "/evaluations/e-1/finalize", {}, {"metrics": {}}, {}, None),
        (evaluations.finalize("e-1", {"a": 1}), "POST", "/evaluations/e-1/finalize", {}, {"metrics": {"a": 1}}, {},
         None),
        (evaluations.append_samples("e-1", b'{"samples":[{"a":1}]}'), "POST", "/evaluations/e-1/samples", {},
         {"samples": [{"a": 1}]}, {}, None),
        (evaluations.look_up("e-1"), "GET", "/evaluations/e-1", {}, None, EVALUATION, None),
        (training.create(TRAIN), "POST", "/rft/external-runs", {}, TRAIN.plain(), {"run": {"id": "r-1"}}, None),
        (training.log_metrics("r", {"step": 1, "loss": 0.5}), "POST", "/rft/metrics", {},
         {"run_id": "r", "metrics": {"step": 1, "loss": 0.5}}, {}, None),
        (training.presign("r", 10), "POST", "/rft/samples/presign", {}, {"run_id": "r", "step": 10},
         {"data": {"presignedUrl": "https://s.example/x", "s3Key": "k"}}, None),
        (training.confirm("r", 10, "k"), "POST", "/rft/samples/confirm", {},
         {"run_id": "r", "step": 10, "s3_key": "k"}, {}, None),
        (training.finalize("r"), "POST", "/rft/finalize", {}, {"run_id": "r", "exit_code": 0}, {}, None),
        (training.set_status("r", "failed", error_message="oom"), "PUT", "/rft/external-runs/r/status", {},
         {"status": "failed", "error_message": "oom"}, {}, None),
        (traces.trace("t-1"), "GET", "/traces/t-1", {}, None, SUMMARY, None),
        (traces.trace("."), "GET", "/traces/%2E", {}, None, SUMMARY, None),
        (traces.trace("a b?ü"), "GET", "/traces/a%20b%3F%C3%BC", {}, None, SUMMARY, None),
        (traces.trace_raw("t-1"), "GET", "/traces/t-1", {"raw": ["true"]}, None, {"id": "t-1"}, b'{"id": "t-1"}'),
        (traces.delete("t-1"), "DELETE", "/traces/t-1", {}, None, {}, None),
        (traces.delete("t-1", created_at="2026-01-01T00:00:00Z"), "DELETE", "/traces/t-1",
         {"created_at": ["2026-01-01T00:00:00Z"]}, None, {}, None),
        (traces.delete_run("r-1"), "DELETE", "/traces", {"run_id": ["r-1"]}, None, {}, None),
        (traces.episode("ep"), "GET", "/episodes/ep", {}, None, {"episode_id": "ep"}, None),
        (traces.episode_raw("ep"), "GET", "/episodes/ep", {"raw": ["true"]}, None, {}, b"{}"),
        (traces.run("r"), "GET", "/runs/r", {}, None, {"run_id": "r"}, None),
        (traces.run_steps("r"), "GET", "/runs/r/steps", {}, None,
         {"step_min": None, "step_max": None, "step_count": 0, "items": []}, None),
    ],
)  # fmt: skip
def test_a_call_goes_out_and_its_answer_is_read(
    client: Client,
    server: Loopback,
    work: Any,
    method: str,
    path: str,
    params: dict[str, list[str]],
    sent: Any,
    answer: Any,
    read: Any,
) -> None:
    server.replies = [Reply(body=answer)]
    result = client.run(work)
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.params) == (method, "/api/v1" + path, params)
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["user-agent"].startswith("evh/")
    if sent is None:
        assert asked.body == b""
    else:
        assert asked.json == sent and asked.headers["content-type"] == "application/json"
    if read is not None:
        assert result == read


def test_answers_are_typed_and_keep_what_we_do_not_know(client: Client, server: Loopback) -> None:
    server.replies = [Reply(body=EVALUATION)]
    found = client.run(evaluations.look_up("e-1"))
    assert (found.evaluation_id, found.status, found.metrics, found.of_a_later_release) == ("e-1", "RUNNING", None, 1)
    server.replies = [Reply(body={"run": {"id": "r-1", "status": "active"}})]
    assert client.run(training.create(TRAIN)).id == "r-1"
    server.replies = [Reply(body=SUMMARY)]
    found = client.run(traces.trace("t-1"))
    assert (found.trace_id, found.score.reward, found.model.id, found.task_id) == ("t-1", None, "m", None)


# --- listings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listing", "path", "params"),
    [
        (traces.listing(run_id="r", upload_id=["a", "b"], has_error=False, reward_min=0.5, outcome=None, limit=100,
                        context={"evh.run_id": "ours"}), "/traces",
         {"run_id": ["r"], "upload_id": ["a", "b"], "has_error": ["false"], "reward_min": ["0.5"], "limit": ["100"],
          "context.evh.run_id": ["ours"]}),
        (traces.listing(environment_id="e", model_id="m", model_provider="p", task_id="t", reward_max=1,
                        is_truncated=True, created_after="a", created_before="b", run_step=1, step_min=2, step_max=3,
                        search="s", sort="created_at"), "/traces",
         {"environment_id": ["e"], "model_id": ["m"], "model_provider": ["p"], "task_id": ["t"], "reward_max": ["1"],
          "is_truncated": ["true"], "created_after": ["a"], "created_before": ["b"], "run_step": ["1"],
          "step_min": ["2"], "step_max": ["3"], "search": ["s"], "sort": ["created_at"]}),
        (traces.episodes(run_id="r", run_step=3), "/episodes", {"run_id": ["r"], "run_step": ["3"]}),
        (traces.episode_traces("ep", task_id="t"),
         "/episodes/ep/traces", {"task_id": ["t"]}),
        (traces.runs(run_type=["eval", "train"], created_by="u"), "/runs",
         {"run_type": ["eval", "train"], "created_by": ["u"]}),
        (traces.nodes("t", role=["user", "tool"], sampled=True, after=4), "/traces/t/nodes",
         {"role": ["user", "tool"], "sampled": ["true"], "after": ["4"]}),
        (traces.calls("t", model="m", finish_reason="stop"), "/traces/t/calls",
         {"model": ["m"], "finish_reason": ["stop"]}),
        (traces.search("r", "needle", field="content", role="user", has_error=True), "/runs/r/search",
         {"query": ["needle"], "field": ["content"], "role": ["user"], "has_error": ["true"]}),
    ],
)  # fmt: skip
def test_a_listing_keeps_its_filters_from_page_to_page(
    client: Client, server: Loopback, listing: Paged[Any, Any], path: str, params: dict[str, list[str]]
) -> None:
    page: dict[str, Any] = {"items": [{"n": 1}], "next_cursor": "c-2", "partial_index": False}
    server.replies = [Reply(body=page), Reply(body={**page, "items": [{"n": 2}], "next_cursor": None})]
    assert [item["n"] for item in client.items(listing)] == [1, 2]
    assert [asked.path for asked in server.asked] == ["/api/v1" + path] * 2
    assert server.asked[0].params == params
    assert server.asked[1].params == {**params, "cursor": ["c-2"]}


def test_a_filter_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="run_idd"):
        traces.listing(run_idd="r")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="reward_min"):
        traces.listing(reward_min=object())  # type: ignore[typeddict-item]


def test_evaluations_and_samples_are_listed_to_the_end(client: Client, server: Loopback) -> None:
    def answering(asked: Asked) -> Reply:
        if asked.path.endswith("/samples"):
            page = int(asked.params["page"][0])
            return Reply(body={"samples": [{"n": page}], "total": 3, "page": page, "limit": 1, "hasMore": page < 3})
        skip = int(asked.params["skip"][0])
        rows = [{"evaluation_id": f"e-{number}", "name": "x"} for number in range(skip, min(skip + 2, 5))]
        return Reply(body={"evaluations": rows, "total": 5, "skip": skip, "limit": 2})

    server.answering = answering
    listing = evaluations.listing(environment_name="gsm8k", suite_id="s", team_id="t", limit=2)
    assert [each.evaluation_id for each in client.items(listing)] == [f"e-{number}" for number in range(5)]
    assert server.asked[0].params == {
        "environment_name": ["gsm8k"], "suite_id": ["s"], "team_id": ["t"], "skip": ["0"], "limit": ["2"],
    }  # fmt: skip
    assert client.items(evaluations.samples("e-1", limit=1)) == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("bad", ["a/b", "", "\ud800"])
@pytest.mark.parametrize(
    "make",
    [traces.trace, traces.trace_raw, traces.delete, traces.nodes, traces.episode, traces.run, evaluations.look_up,
     evaluations.finalize, lambda bad: training.set_status(bad, "failed")],
)  # fmt: skip
def test_an_id_that_no_address_can_hold_is_refused_here(make: Callable[[str], Any], bad: str) -> None:
    with pytest.raises(UsageError, match="id"):
        make(bad)


# --- uploads ---------------------------------------------------------------------------------------------------------


def parts(asked: Asked) -> dict[str, tuple[dict[str, str], bytes]]:
    """The parts of a multipart body, as the standard library reads them."""
    message = message_from_bytes(b"Content-Type: " + asked.headers["content-type"].encode() + b"\r\n\r\n" + asked.body)
    found = {}
    for part in message.get_payload():
        name = re.search(r'name="([a-z]+)"', part["Content-Disposition"])  # type: ignore[union-attr,index]
        assert name is not None
        headers = {key.lower(): value for key, value in part.items()}  # type: ignore[union-attr]
        found[name[1]] = (headers, part.get_payload(decode=True))  # type: ignore[union-attr]
    return found  # type: ignore[return-value]


def receipt(**more: Any) -> Reply:
    return Reply(body={"upload_id": BATCH.digest, "status": "committed", **more})


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "identity"])
def test_an_upload_is_two_parts_under_the_name_of_its_bytes(client: Client, server: Loopback, encoding: Any) -> None:
    server.replies = [receipt(accepted=2)]
    found = client.run(traces.upload(BATCH, encoding=encoding, context={"evh.run_id": "ours"}))
    assert (found.upload_id, found.status, found.accepted, found.replayed) == (BATCH.digest, "committed", 2, None)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/api/v1/traces")
    assert asked.headers["idempotency-key"] == "sha256:" + hashlib.sha256(BODY).hexdigest()
    assert asked.headers["x-prime-line-format"] == "episode"
    sent = parts(asked)
    assert sent["metadata"] == (
        {"content-disposition": 'form-data; name="metadata"', "content-type": "application/json"},
        b'{"schema_version":1,"context":{"evh.run_id":"ours"}}',
    )
    headers, lines = sent["traces"]
    assert headers["content-disposition"] == 'form-data; name="traces"; filename="traces.jsonl"'
    assert headers["content-type"] == "application/x-ndjson"
    assert headers.get("content-encoding") == (None if encoding == "identity" else encoding)
    opened = {"gzip": gzip.decompress, "zstd": zstandard.decompress, "identity": bytes}[encoding](lines)
    assert opened == BODY


def test_bare_traces_and_no_context(client: Client, server: Loopback) -> None:
    server.replies = [receipt()]
    client.run(traces.upload(BATCH, episodes=False))
    (asked,) = server.asked
    assert "x-prime-line-format" not in asked.headers
    assert parts(asked)["metadata"][1] == b'{"schema_version":1}'


def test_an_upload_is_sent_five_times_with_the_same_bytes(client: Client, server: Loopback) -> None:
    server.replies = [Reply(503), Reply(cut=-1), Reply(504), Reply(429), receipt(replayed=True)]
    assert client.run(traces.upload(BATCH)).replayed is True
    assert len({(asked.body, asked.headers["idempotency-key"]) for asked in server.asked}) == 1


@pytest.mark.parametrize("answer", [{}, {"upload_id": "other", "status": "committed"},
                                    {"upload_id": BATCH.digest, "status": "queued"}, [1], b"<html>"])  # fmt: skip
def test_a_receipt_that_is_not_that_of_the_batch_is_no_receipt(client: Client, server: Loopback, answer: Any) -> None:
    server.replies = [Reply(body=answer)]
    with pytest.raises(PlatformError):
        client.run(traces.upload(BATCH))


def test_the_team_goes_to_the_traces_service_only(server: Loopback) -> None:
    from evh.platform import Platform

    server.replies = [Reply(body={"run_id": "r", "data": {"id": "x"}})]
    with Platform(server.settings(team_id="team-1")) as platform:
        platform.run(traces.run("r"))
        platform.run(hub.find("gsm8k"))
    assert server.asked[0].headers["x-prime-team-id"] == "team-1"
    assert "x-prime-team-id" not in server.asked[1].headers


def test_without_a_key_none_is_sent(server: Loopback) -> None:
    from evh.platform import Platform, Settings

    server.replies = [Reply(401, {"error": {"code": "unauthenticated", "message": "who?"}})]
    with Platform(Settings(base_url=server.url)) as platform, pytest.raises(PlatformError, match="PRIME_API_KEY"):
        platform.run(hub.find("gsm8k"))
    assert "authorization" not in server.asked[0].headers


@pytest.mark.parametrize("root", ["/api/internal/rft", "/api/internal"])
def test_runs_that_the_platform_hosts_have_a_door_of_their_own(server: Loopback, root: str) -> None:
    from evh.platform import Platform, resolve

    server.replies = [Reply()]
    settings = resolve({"api_key": KEY, "base_url": server.url + root}, environ={}, home=None)
    with Platform(settings) as platform:
        platform.run(training.log_metrics("r", {"step": 1}))
    assert server.asked[0].path == "/api/internal/rft/metrics"
    assert server.asked[0].headers["x-api-key"] == KEY


# --- what depends on answers -----------------------------------------------------------------------------------------


def test_what_a_service_can_do(client: Client, server: Loopback) -> None:
    server.replies = [Reply(body={"server": "evh-1", "encodings": ["zstd", "gzip"], "max_line_bytes": 7})]
    said = client.run(capabilities())
    assert (said.server, said.encodings, said.max_line_bytes) == ("evh-1", ["zstd", "gzip"], 7)
    server.replies = [Reply(404, {"detail": "Not Found"})]
    said = client.run(capabilities())
    assert (said.encodings, said.max_line_bytes, said.max_upload_bytes) == (["gzip"], 64 << 20, 256 << 20)


def hosting(known: list[dict[str, Any]], create: list[Reply]) -> Callable[[Asked], Reply]:
    """A platform that knows these evaluations, and answers a create with one reply after the other."""

    def answering(asked: Asked) -> Reply:
        if asked.method == "POST":
            return create.pop(0)
        skip = int(asked.params["skip"][0])
        return Reply(body={"evaluations": known[skip : skip + 1], "total": len(known), "skip": skip, "limit": 1})

    return answering


OURS = {"evaluation_id": "e-7", "name": "run", "metadata": {"evh": {"run_id": "ours"}}, "viewer_url": "https://v"}
OTHERS = [
    {"evaluation_id": "e-1", "name": "x", "metadata": None},
    {"evaluation_id": "e-2", "name": "y", "metadata": {"evh": {"run_id": "theirs"}}},
    {"evaluation_id": "e-3", "name": "z", "metadata": {"evh": 1}},
]


def test_an_evaluation_is_opened_once(client: Client, server: Loopback) -> None:
    server.answering = hosting([*OTHERS, OURS], [Reply(body={"evaluation_id": "e-9"})])
    assert client.run(evaluations.open_once(CREATE)).evaluation_id == "e-9"
    assert [asked.method for asked in server.asked] == ["POST"]


def test_in_doubt_the_platform_is_asked_before_anything_is_sent(client: Client, server: Loopback) -> None:
    server.answering = hosting([*OTHERS, OURS], [])
    found = client.run(evaluations.open_once(CREATE, in_doubt=True))
    assert (found.evaluation_id, found.viewer_url) == ("e-7", "https://v")
    assert {asked.method for asked in server.asked} == {"GET"}
    assert server.asked[0].params["evh_run_id"] == ["ours"]


def test_in_doubt_and_unknown_it_is_opened(client: Client, server: Loopback) -> None:
    server.answering = hosting(OTHERS, [Reply(body={"evaluation_id": "e-9"})])
    assert client.run(evaluations.open_once(CREATE, in_doubt=True)).evaluation_id == "e-9"


def test_a_lost_answer_is_asked_for(client: Client, server: Loopback) -> None:
    server.answering = hosting([*OTHERS, OURS], [Reply(cut=-1)])
    assert client.run(evaluations.open_once(CREATE)).evaluation_id == "e-7"
    server.answering = hosting(OTHERS, [Reply(504)])
    with pytest.raises(Ambiguous):
        client.run(evaluations.open_once(CREATE))
    server.answering, server.replies = None, [Reply(504)]
    with pytest.raises(Ambiguous):  # nor is it known when nobody can be asked
        client.run(evaluations.open_once(CREATE))


def test_opening_once_needs_an_id_to_find_it_by() -> None:
    with pytest.raises(UsageError, match="run_id"):
        next(evaluations.open_once(EvaluationCreate(name="run")))


def test_closing_as_completed(client: Client, server: Loopback) -> None:
    server.replies = [Reply()]
    assert client.run(evaluations.close("e-1", metrics={"avg_reward": 1.0}, metadata={"a": 1})) == "COMPLETED"
    assert [(asked.method, asked.path, asked.json) for asked in server.asked] == [
        ("PUT", "/api/v1/evaluations/e-1", {"metadata": {"a": 1}}),
        ("POST", "/api/v1/evaluations/e-1/finalize", {"metrics": {"avg_reward": 1.0}}),
    ]


def test_closing_as_failed_sends_the_status_by_itself(client: Client, server: Loopback) -> None:
    server.replies = [Reply()]
    assert client.run(evaluations.close("e-1", "FAILED", metrics={"a": 1}, error_message="x" * 9000)) == "FAILED"
    assert [asked.json for asked in server.asked] == [
        {"metrics": {"a": 1}},
        {"status": "FAILED", "error_message": "x" * 4096},
    ]


def test_metrics_that_are_refused_do_not_keep_a_run_open(client: Client, server: Loopback) -> None:
    server.replies = [Reply(422, {"detail": "metrics"}), Reply()]
    with pytest.raises(Refused, match="metrics"):
        client.run(evaluations.close("e-1", "FAILED", metrics={"a": 1}))
    assert server.asked[1].json == {"status": "FAILED"}


@pytest.mark.parametrize("ending", ["COMPLETED", "FAILED", "CANCELLED"])
def test_what_is_closed_already_is_closed(client: Client, server: Loopback, ending: str) -> None:
    def answering(asked: Asked) -> Reply:
        return Reply(body={**EVALUATION, "status": "COMPLETED"}) if asked.method == "GET" else Reply(409)

    server.answering = answering
    assert client.run(evaluations.close("e-1", ending)) == "COMPLETED"
    assert client.run(evaluations.close("e-1", ending, metadata={"a": 1})) == "COMPLETED"


def test_a_close_that_nobody_can_be_asked_about(client: Client, server: Loopback) -> None:
    server.replies = [Reply(502)]
    with pytest.raises(Ambiguous):
        client.run(evaluations.close("e-1"))
    server.answering = lambda asked: Reply(500 if asked.method == "GET" else 409)
    assert client.run(evaluations.close("e-1", "FAILED")) == "FAILED"
    server.answering = lambda asked: Reply(body=EVALUATION) if asked.method == "GET" else Reply(409)
    with pytest.raises(Conflict):
        client.run(evaluations.close("e-1"))


@pytest.mark.parametrize(("status", "closed"), [("COMPLETED", True), ("RUNNING", False)])
def test_a_close_in_doubt_is_looked_up(client: Client, server: Loopback, status: str, closed: bool) -> None:
    def answering(asked: Asked) -> Reply:
        return Reply(body={**EVALUATION, "status": status}) if asked.method == "GET" else Reply(502)

    server.answering = answering
    if closed:
        assert client.run(evaluations.close("e-1")) == "COMPLETED"
    else:
        with pytest.raises(Ambiguous):
            client.run(evaluations.close("e-1"))
    assert [asked.method for asked in server.asked] == ["POST", "GET"]


def test_a_table_goes_to_its_place_without_the_key(client: Client, server: Loopback) -> None:
    place = {"presignedUrl": f"{server.url}/bucket/table?signature=canary-signature", "s3Key": "k-1"}

    def answering(asked: Asked) -> Reply:
        return Reply(body={"data": place}) if asked.path.endswith("presign") else Reply()

    server.answering = answering
    assert client.run(training.send_table("r", 10, b"PAR1")) == "k-1"
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("POST", "/api/v1/rft/samples/presign"),
        ("PUT", "/bucket/table"),
        ("POST", "/api/v1/rft/samples/confirm"),
    ]
    put = server.asked[1]
    assert (put.body, put.headers["content-type"]) == (b"PAR1", "application/parquet")
    assert put.params == {"signature": ["canary-signature"]}
    assert KEY not in str(put.headers) and "authorization" not in put.headers


def test_a_table_that_is_refused_or_has_no_place(client: Client, server: Loopback) -> None:
    place = PresignedUpload(presignedUrl=f"{server.url}/bucket?signature=canary", s3Key="k")
    server.replies = [Reply(403, b"<Error>signature=canary is too old</Error>")]
    with pytest.raises(PlatformError) as caught:
        client.run(training.put_table(place, b"PAR1"))
    assert "canary" not in str(caught.value)
    server.replies = [Reply(body={"data": {"other": 1}})]
    with pytest.raises(PlatformError, match="presignedUrl, s3Key"):
        client.run(training.presign("r", 1))


def test_closing_a_training_run(client: Client, server: Loopback) -> None:
    server.replies = [Reply()]
    client.run(training.close("r"))
    client.run(training.close("r", "failed", error_message="oom"))
    client.run(training.close("r", "crashed", error_message="killed"))
    client.run(training.close("r", "cancelled"))
    assert [asked.json for asked in server.asked] == [
        {"run_id": "r", "exit_code": 0},
        {"status": "failed", "error_message": "oom"},
        {"status": "failed", "error_message": "crashed: killed"},
        {"status": "failed", "error_message": "cancelled: cancelled"},
    ]


def test_a_training_run_that_cannot_be_finalized_gets_its_status_and_a_closed_one_is_closed(
    client: Client, server: Loopback
) -> None:
    server.replies = [Reply(400), Reply()]
    client.run(training.close("r"))
    assert server.asked[1].path == "/api/v1/rft/external-runs/r/status"
    server.replies = [Reply(409)]
    client.run(training.close("r"))
    client.run(training.close("r", "failed"))
    with pytest.raises(UsageError):
        next(training.close("r", "done"))
    with pytest.raises(Conflict):
        client.run(training.set_status("r", "failed"))
    server.replies = [Reply(422)]
    with pytest.raises(Refused):
        client.run(training.close("r", "failed"))
