"""Evaluations, the hub, samples, training runs and their tables over HTTP."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

import pytest
from web_support import Client, code_of, packed

from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.server.storage import Storage

PARQUET = b"PAR1" + b"\0" * 8 + b"PAR1"


def check(answer: Any, kind: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return decode_strict(answer.content, kind)


def opened(client: Client, **members: Any) -> str:
    made = check(client.post("/api/v1/evaluations/", {"name": "n", "tags": [], **members}), models.EvaluationCreated)
    found: str = made["evaluation_id"]
    return found


def test_an_evaluation_from_open_to_closed(client: Client) -> None:
    environment = check(client.post("/api/v1/environmentshub/resolve", {"name": "gsm8k"}), models.EnvironmentResolved)
    environment_id = environment["data"]["id"]
    given = {
        "environments": [{"id": environment_id, "version_id": "v"}], "model_name": "m", "dataset": "d",
        "framework": "f", "metadata": {"a": {"b": 1}}, "metrics": None, "newer": [1],
    }  # fmt: skip
    name = opened(client, **given)
    path = f"/api/v1/evaluations/{name}"
    held = check(client.get(path), models.Evaluation)
    assert (held["status"], held["newer"], held["metadata"]) == ("RUNNING", [1], {"a": {"b": 1}})
    assert held["environment_ids"] == [environment_id] and held["environment_names"] == ["gsm8k"]
    assert held["viewer_url"] == f"http://127.0.0.1{path}"
    changed = check(client.put(path, {"metadata": {"c": 2}, "tags": [], "description": None}), models.Evaluation)
    assert (changed["metadata"], changed["dataset"], changed["status"]) == ({"c": 2}, "d", "RUNNING")
    done = check(client.post(f"{path}/finalize", {"metrics": {"avg_reward": 0.5}}), models.Evaluation)
    assert (done["status"], done["metrics"]) == ("COMPLETED", {"avg_reward": 0.5}) and done["finalized_at"]
    assert code_of(client.post(f"{path}/finalize", {})) == (409, "evaluation_closed")
    refused = client.put(path, {"status": "FAILED", "name": "other"})
    assert code_of(refused) == (409, "evaluation_closed")
    assert client.get(path).json()["name"] == "n"
    page = check(client.get("/api/v1/evaluations", params={"environment_name": "gsm8k"}), models.EvaluationPage)
    assert (page.total, page.skip, page.limit) == (1, 0, 50)
    assert client.get("/api/v1/evaluations/?environment_name=other").json()["total"] == 0
    assert client.get("/api/v1/evaluations/?skip=1&limit=0").json()["evaluations"] == []


def test_finalize_needs_no_body_and_a_status_closes(client: Client) -> None:
    first, second = opened(client), opened(client)
    assert client.post(f"/api/v1/evaluations/{first}/finalize").json()["status"] == "COMPLETED"
    path = f"/api/v1/evaluations/{second}"
    for status in ("COMPLETED", "RUNNING", "other"):
        assert code_of(client.put(path, {"status": status})) == (400, "invalid_request")
    long = client.put(path, {"status": "FAILED", "error_message": "x" * 5000})
    assert code_of(long) == (400, "invalid_request")
    failed = client.put(path, {"status": "FAILED", "error_message": "boom"}).json()
    assert (failed["status"], failed["error_message"]) == ("FAILED", "boom")


def test_a_second_open_for_our_run_is_the_first(client: Client) -> None:
    ours = {"metadata": {"evh": {"run_id": "r-1"}}}
    assert opened(client, **ours) == opened(client, **ours) != opened(client)
    found = client.get("/api/v1/evaluations/", params={"evh_run_id": "r-1"}).json()
    assert found["total"] == 1 and found["evaluations"][0]["metadata"] == ours["metadata"]


def test_members_that_the_server_says_cannot_be_given(client: Client) -> None:
    name = opened(client, evaluation_id="mine", total_samples=9, status="COMPLETED", viewer_url="http://evil.example")
    held = client.get(f"/api/v1/evaluations/{name}").json()
    assert (held["evaluation_id"], held["total_samples"], held["status"]) == (name, 0, "RUNNING")
    assert "evil" not in held["viewer_url"]


BODIES = [
    b"", b"{", b"[]", b"null", b'{"name":1}', b'{"name":""}', b'{"name":NaN}', b'{"name":"\xff"}',
    b'{"name":"\\ud800"}',
    b'\xef\xbb\xbf{"name":"a"}x', b'{"name":"a","metadata":[]}', b'{"name":"a","tags":"b"}', b'{"name":"a"} {}',
    b'{"name":"a","metadata":' + b'{"a":' * 200 + b"1" + b"}" * 201,
    b'{"name":"a","metadata":' + b'{"a":' * 100_000, b'{"name":"a","x":1e400}', b"[" * 100_000 + b"]" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("sent", BODIES)
def test_bodies_that_do_not_fit_are_refused(empty: Client, sent: bytes) -> None:
    assert code_of(empty.http.post("/api/v1/evaluations/", content=sent)) == (400, "invalid_request")


def test_odd_text_is_kept(client: Client) -> None:
    name = opened(client, metadata={"a\u0000": "b\u0000\u2028"}, model_name="\u0000" * 600)
    held = client.get(f"/api/v1/evaluations/{name}").json()
    assert held["metadata"] == {"a\u0000": "b\u0000\u2028"} and held["model_name"].startswith("\u0000")


def test_bodies_have_limits(make_client: Any) -> None:
    client = make_client(json_bytes=1000, samples_bytes=2000)
    assert code_of(client.post("/api/v1/evaluations/", {"name": "x" * 1000})) == (413, "request_too_large")
    name = opened(client)
    assert client.post(f"/api/v1/evaluations/{name}/samples", {"samples": [{"a": "x" * 1500}]}).status_code == 200
    large = client.post(f"/api/v1/evaluations/{name}/samples", {"samples": [{"a": "x" * 2500}]})
    assert code_of(large) == (413, "request_too_large")
    bomb = packed(b'{"name":"' + b"x" * (1 << 20) + b'"}', "zstd")
    answer = client.http.post("/api/v1/evaluations/", content=bomb, headers={"Content-Encoding": "zstd"})
    assert code_of(answer) == (413, "request_too_large")
    assert client.http.app.state.house.held.now == 0


def test_samples_come_back_as_they_were_spelled(client: Client) -> None:
    path = f"/api/v1/evaluations/{opened(client)}/samples"
    sent = b'{"samples":[{"a":1.0,"b":1e2,"big":123456789012345678901234567890},{"c":"\\u0000"},{\n "d":\n1\n}]}'
    answer = client.http.post(path, content=sent)
    assert answer.json() == {"samples_pushed": 3, "samples_skipped": 0, "total_samples": 3}
    page = client.get(path)
    held = b'{"samples":[{"a":1.0,"b":1e2,"big":123456789012345678901234567890},{"c":"\\u0000"},{"d":1}],'
    assert page.content == held + b'"total":3,"page":1,"limit":100,"hasMore":false}'
    second = client.get(path, params={"page": 2, "limit": 2}).json()
    assert (len(second["samples"]), second["hasMore"]) == (1, False)
    assert client.get(path, params={"limit": 2}).json()["hasMore"] is True
    assert client.get(path, params={"page": 9}).json()["samples"] == []
    assert client.http.head(path).content == b""
    assert client.http.post(path, content=b'{"samples":[]}').json()["total_samples"] == 3
    odd = b'{"samples":[{"c":"\\ud800"}]}'
    assert client.http.post(path, content=odd).json()["total_samples"] == 4
    assert client.get(path, params={"page": 4, "limit": 1}).content.startswith(odd.removesuffix(b"}"))


@pytest.mark.parametrize(
    "sent",
    [b"", b"{}", b'{"samples":{}}', b'{"samples":[1]}', b'{"samples":[{]}', b'{"samples":[{"a":NaN}]}',
     b'{"samples":[{"a":"\xff"}]}', b'{"samples":[' + b"[" * 200_000, b'{"samples":["{}"]}'],
)  # fmt: skip
def test_samples_that_are_none_are_refused(empty: Client, sent: bytes) -> None:
    assert code_of(empty.http.post("/api/v1/evaluations/x/samples", content=sent)) == (400, "invalid_request")


def test_the_hub(client: Client) -> None:
    first = client.get("/api/v1/environmentshub/owner/gsm8k/@latest").json()["data"]
    again = client.get("/api/v1/environmentshub/owner/gsm8k/@latest").json()["data"]
    own = client.post("/api/v1/environmentshub/resolve", {"name": "gsm8k", "team_id": "t"}).json()["data"]
    assert first["id"] == again["id"] != own["id"]
    found = check(client.post("/api/v1/environmentshub/lookup", {"id": own["id"]}), models.EnvironmentResolved)
    assert found["data"]["name"] == "gsm8k"
    assert code_of(client.post("/api/v1/environmentshub/lookup", {"id": "x"})) == (404, "environment_not_found")
    assert code_of(client.post("/api/v1/environmentshub/resolve", {"name": "x" * 600})) == (400, "invalid_environment")


def test_hosted_evaluations_are_refused_clearly(client: Client) -> None:
    assert code_of(client.post("/api/v1/hosted-evaluations", {})) == (403, "service_not_enabled")
    assert code_of(client.http.patch("/api/v1/hosted-evaluations/x/cancel")) == (403, "service_not_enabled")


RUN = {"base_model": "m", "max_steps": 10, "environments": [{"id": "gsm8k"}], "team_id": "t", "name": "n"}


@pytest.mark.parametrize("root", ["/api/v1/rft", "/api/internal/rft"])
def test_a_training_run_from_registration_to_its_end(client: Client, root: str) -> None:
    run = check(client.post("/api/v1/rft/external-runs", {**RUN, "id": "mine"}), models.ExternalRunCreated)["run"]
    name = run["id"]
    assert (run["name"], run["status"], run["base_model"]) == ("n", "running", "m") and name != "mine"
    for metrics in ({"step": 1, "loss": 0.5}, {"step": 1, "loss": 0.5}, {"step": 2.5}, {"loss": True}):
        assert client.post(f"{root}/metrics", {"run_id": name, "metrics": metrics}).status_code == 200
    items = client.get(f"/api/v1/rft/external-runs/{name}/metrics").json()["items"]
    assert [each["step"] for each in items] == [1, None, None]
    later = client.get(f"/api/v1/rft/external-runs/{name}/metrics", params={"after": items[0]["seq"], "limit": 1})
    assert later.json()["items"] == items[1:2]
    for _ in range(2):
        done = client.post(f"{root}/finalize", {"run_id": name, "exit_code": 0}).json()["run"]
        assert done["status"] == "completed"
    status = f"/api/v1/rft/external-runs/{name}/status"
    assert code_of(client.put(status, {"status": "failed"})) == (409, "run_closed")
    assert code_of(client.put(status, {"status": "other"})) == (400, "invalid_request")
    assert client.get("/api/v1/rft/external-runs").json()["total"] == 1
    assert code_of(client.post(f"{root}/metrics", {"run_id": "x", "metrics": {}})) == (404, "run_not_found")


def test_a_run_may_fail(client: Client) -> None:
    first, second = (client.post("/api/v1/rft/external-runs", RUN).json()["run"]["id"] for _ in range(2))
    assert client.post("/api/v1/rft/finalize", {"run_id": first, "exit_code": 3}).json()["run"]["status"] == "failed"
    failed = client.put(f"/api/v1/rft/external-runs/{second}/status", {"status": "failed", "error_message": "why"})
    assert (failed.json()["run"]["status"], failed.json()["run"]["error_message"]) == ("failed", "why")


@pytest.mark.parametrize("root", ["/api/v1/rft", "/api/internal/rft"])
def test_a_table_goes_where_it_was_told_to(client: Client, storage: Storage, root: str) -> None:
    name = client.post("/api/v1/rft/external-runs", RUN).json()["run"]["id"]
    place = check(client.post(f"{root}/samples/presign", {"run_id": name, "step": 10}), models.SamplesPresigned)["data"]
    url, key = place["presignedUrl"], place["s3Key"]
    confirm = {"run_id": name, "step": 10, "s3_key": key}
    assert code_of(client.post(f"{root}/samples/confirm", confirm)) == (400, "upload_missing")
    bare = url.partition("?")[0]
    for address in (bare, f"{bare}?token=guessed", f"{bare}x?{urlsplit(url).query}"):
        assert code_of(client.http.put(address, content=PARQUET)) == (403, "forbidden")
    assert code_of(client.http.put(url, content=b"PAR1 is no table")) == (400, "invalid_table")
    first = client.http.put(url, content=PARQUET, headers={"Content-Type": "application/parquet"})
    assert first.status_code == 200
    assert client.http.put(url, content=PARQUET).status_code == 200  # its answer was lost, say
    assert code_of(client.http.put(url, content=PARQUET + PARQUET)) == (409, "upload_stored")
    for _ in range(2):
        assert client.post(f"{root}/samples/confirm", confirm).json()["data"]["state"] == "confirmed"
    assert code_of(client.post(f"{root}/samples/confirm", confirm | {"step": 11})) == (400, "upload_missing")
    [table] = client.get(f"/api/v1/rft/external-runs/{name}/tables").json()["items"]
    assert table["digest"] == hashlib.sha256(PARQUET).hexdigest() and table["size_bytes"] == len(PARQUET)
    read = client.get(f"/api/v1/rft/external-runs/{name}/tables/{key}")
    assert (read.content, read.headers["content-type"]) == (PARQUET, "application/vnd.apache.parquet")
    part = client.get(f"/api/v1/rft/external-runs/{name}/tables/{key}", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"PAR1")
    for other in ("x", "..%2F..%2Fcatalog.db", key + "x"):
        assert code_of(client.get(f"/api/v1/rft/external-runs/{name}/tables/{other}")) == (404, "table_not_found")


def test_tables_have_a_limit(make_client: Any) -> None:
    client = make_client(table_bytes=100)
    name = client.post("/api/v1/rft/external-runs", RUN).json()["run"]["id"]
    url = client.post("/api/v1/rft/samples/presign", {"run_id": name, "step": 10}).json()["data"]["presignedUrl"]
    assert code_of(client.http.put(url, content=b"PAR1" * 100)) == (413, "request_too_large")


def test_addresses_are_those_of_the_public_name(make_client: Any) -> None:
    client = make_client(public_url="https://evh.example/")
    name = client.post("/api/v1/rft/external-runs", RUN).json()["run"]["id"]
    url = client.post("/api/v1/rft/samples/presign", {"run_id": name, "step": 10}).json()["data"]["presignedUrl"]
    assert url.startswith("https://evh.example/api/v1/rft/tables/")
    assert client.post("/api/v1/evaluations/", {"name": "n"}).json()["viewer_url"].startswith("https://evh.example/api")
