"""Who may ask for what: every address with every scope, with other projects' ids, and without a token; and a server on
loopback that other sites, names and proxies cannot use."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from server_support import body, episode, key
from web_support import LOCAL, Client, TestClient, code_of, multipart

from evh.server.app import ALL, make_app
from evh.server.endpoint import Endpoint
from evh.server.profiles import Settings
from evh.server.records import SCOPES
from evh.server.storage import Storage

LINES = body(episode("e1", "run-a"))
PARQUET = b"PAR1" + b"\0" * 8 + b"PAR1"
BODIES: dict[str, dict[str, Any]] = {
    "EnvironmentResolve": {"name": "gsm8k"},
    "EnvironmentLookup": {"id": "{environment}"},
    "EvaluationCreate": {"name": "mine", "metadata": {"evh": {"run_id": "ours"}}},
    "EvaluationUpdate": {"name": "taken over"},
    "EvaluationFinalize": {"metrics": {}},
    "SamplesBody": {"samples": [{"a": 1}]},
    "ExternalRunCreate": {"base_model": "m", "max_steps": 0, "team_id": "t"},
    "ExternalRunStatus": {"status": "failed"},
    "RunMetrics": {"run_id": "{training}", "metrics": {"step": 1}},
    "RftFinalize": {"run_id": "{training}"},
    "SamplesPresign": {"run_id": "{training}", "step": 1},
    "SamplesConfirm": {"run_id": "{training}", "step": 1, "s3_key": "{table}"},
}
NO_THING_OF_OTHERS = frozenset({
    "POST /api/v1/traces", "GET /api/v1/traces", "GET /api/v1/episodes", "GET /api/v1/runs",
    "GET /api/v1/runs/{run_id}/steps", "POST /api/v1/environmentshub/resolve",
    "GET /api/v1/environmentshub/{owner}/{name}/@latest", "POST /api/v1/evaluations", "POST /api/v1/evaluations/",
    "GET /api/v1/evaluations", "GET /api/v1/evaluations/", "POST /api/v1/rft/external-runs",
    "GET /api/v1/rft/external-runs", "GET /metrics", "GET /api/v1/capabilities",
})  # fmt: skip
"""Addresses that name nothing of a project: a foreign one cannot be asked for there."""
REFUSED_TO_ALL = {"GET /api/v1/traces/export", "POST /api/v1/hosted-evaluations"}


def name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


class Town:
    """Two projects with everything in them, and a token for each scope of the second."""

    def __init__(self, storage: Storage) -> None:
        self.http = TestClient(make_app(Settings(tokens=True), storage), base_url="http://evh.example")
        self.tokens = {scope: storage.access.create("theirs", scopes=[scope])[0] for scope in SCOPES}
        self.owner = storage.access.create("ours", scopes=["admin"])[0]
        client = self.as_(self.owner)
        assert client.upload(LINES, context={"k": "v"}).status_code == 200
        self.ids = {
            "trace_id": "t-e1", "episode_id": "e1", "run_id": "run-a", "upload_id": key(LINES)[7:], "job_id": "job",
            "owner": "o", "name": "n",
        }  # fmt: skip
        made = client.post("/api/v1/evaluations/", BODIES["EvaluationCreate"]).json()
        self.ids["evaluation_id"] = made["evaluation_id"]
        resolved = client.post("/api/v1/environmentshub/resolve", {"name": "gsm8k"}).json()
        self.ids["environment"] = resolved["data"]["id"]
        run = client.post("/api/v1/rft/external-runs", BODIES["ExternalRunCreate"]).json()["run"]["id"]
        self.ids["training"] = run
        placed = client.post("/api/v1/rft/samples/presign", {"run_id": run, "step": 1}).json()["data"]
        self.ids["table"] = placed["s3Key"]
        assert self.http.put(placed["presignedUrl"], content=PARQUET).status_code == 200

    def as_(self, token: str | None) -> Client:
        self.http.headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return Client(self.http)

    def ask(self, endpoint: Endpoint, token: str | None) -> Any:
        """A request that would be carried out for the owner."""
        client = self.as_(token)
        ids = self.ids | {"run_id": self.ids["training"]} if "external-runs" in endpoint.path else self.ids
        path = re.sub(r"\{key:path\}", self.ids["table"], endpoint.path)
        path = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], path)
        if endpoint.path.endswith("/search"):
            path += "?query=abc"
        if name(endpoint) == "DELETE /api/v1/traces":
            path += "?run_id=run-a"
        if endpoint.raw_body == "multipart/form-data":
            return client.upload(body(episode("e2")))
        if endpoint.presigned:
            return client.http.put(path + "?token=guessed", content=PARQUET)
        if endpoint.body is None:
            return client.http.request(endpoint.method, path)
        text = json.dumps(BODIES[endpoint.body])
        for word in ("environment", "training", "table"):
            text = text.replace(f"{{{word}}}", self.ids[word])
        headers = {"Content-Type": "application/json"}
        return client.http.request(endpoint.method, path, content=text.encode(), headers=headers)


@pytest.fixture(scope="module")
def town(make_storage: Any) -> Any:
    with make_storage() as storage:
        made = Town(storage)
        with made.http:
            yield made


def test_every_body_has_an_example_and_every_exception_is_an_address() -> None:
    assert {endpoint.body for endpoint in ALL if endpoint.body is not None} == set(BODIES)
    assert {name(endpoint) for endpoint in ALL} >= NO_THING_OF_OTHERS | REFUSED_TO_ALL


@pytest.mark.parametrize("endpoint", ALL, ids=name)
def test_without_a_token_that_counts_nothing_is_told(town: Town, endpoint: Endpoint) -> None:
    wrong = town.tokens["admin"][:-1] + ("A" if town.tokens["admin"][-1] != "A" else "B")
    for token in (None, "evh_nothing", wrong, "x" * 5000):
        answer = town.ask(endpoint, token)
        if endpoint.scope is None and token is None:
            assert answer.status_code == (403 if endpoint.presigned else 200)
        else:
            assert code_of(answer) == (401, "unauthenticated")
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("endpoint", [each for each in ALL if each.scope is not None], ids=name)
def test_without_the_scope_nothing_is_told(town: Town, endpoint: Endpoint) -> None:
    for scope in SCOPES:
        if scope not in (endpoint.scope, "admin"):
            answer = town.ask(endpoint, town.tokens[scope])
            assert code_of(answer) == (403, "forbidden") and str(endpoint.scope) in answer.text


@pytest.mark.parametrize("endpoint", [each for each in ALL if name(each) not in NO_THING_OF_OTHERS], ids=name)
def test_what_another_project_has_is_not_there(town: Town, endpoint: Endpoint) -> None:
    for scope in (endpoint.scope, "admin"):
        answer = town.ask(endpoint, None if scope is None else town.tokens[scope])
        status, code = code_of(answer)
        if "hosted-evaluations" in endpoint.path or name(endpoint) in REFUSED_TO_ALL:
            assert (status, code) == (403, "service_not_enabled")
        elif endpoint.presigned:
            assert (status, code) in ((403, "forbidden"), (401, "unauthenticated"))
        elif endpoint.body == "SamplesConfirm":
            assert status in (404, 400)
        else:
            assert status == 404 and code.endswith("_not_found"), answer.text


@pytest.mark.parametrize(
    "path", ["/api/v1/traces", "/api/v1/episodes", "/api/v1/runs", "/api/v1/evaluations/", "/api/v1/rft/external-runs"]
)
def test_listings_show_nothing_of_others(town: Town, path: str) -> None:
    listed = town.as_(town.tokens["admin"]).get(path).json()
    shown = next(value for value in listed.values() if isinstance(value, list))
    assert not [each for each in shown if set(town.ids.values()) & set(map(str, each.values()))]
    mine = town.as_(town.owner).get(path).json()
    assert next(value for value in mine.values() if isinstance(value, list))


def test_the_same_names_in_two_projects_are_two_things(town: Town) -> None:
    theirs = town.as_(town.tokens["admin"])
    assert theirs.upload(LINES).json()["replayed"] is False
    made = theirs.post("/api/v1/evaluations/", BODIES["EvaluationCreate"]).json()
    assert made["evaluation_id"] != town.ids["evaluation_id"]
    resolved = theirs.post("/api/v1/environmentshub/resolve", {"name": "gsm8k"}).json()["data"]["id"]
    assert resolved != town.ids["environment"]


def test_a_token_says_its_project_and_a_revoked_one_nothing(make_client: Any, storage: Storage) -> None:
    token, row = storage.access.create("mine", scopes=["evals:read"])
    client = make_client(token, tokens=True)
    said = client.get("/api/v1/capabilities").json()
    assert (said["project"], said["scopes"]) == ("mine", ["evals:read"])
    assert "project" not in make_client(None, tokens=True).get("/api/v1/capabilities").json()
    storage.access.revoke(row.prefix)
    assert code_of(client.get("/api/v1/capabilities")) == (401, "unauthenticated")
    assert code_of(client.get("/api/v1/evaluations/")) == (401, "unauthenticated")


def test_hosted_runs_may_send_their_token_beside(make_client: Any, storage: Storage) -> None:
    token, _ = storage.access.create("mine", scopes=["evals:write"])
    client = make_client(None, tokens=True)
    for path, status in (("/api/internal/rft/metrics", 404), ("/api/v1/rft/metrics", 401)):
        answer = client.http.post(path, json={"run_id": "r", "metrics": {}}, headers={"x-api-key": token})
        assert answer.status_code == status


def test_loopback_takes_any_key_but_one_of_ours_must_count(make_client: Any, storage: Storage) -> None:
    assert make_client("any-key").get("/api/v1/traces").status_code == 200
    assert code_of(make_client("evh_0123456789abcdef_x").get("/api/v1/traces")) == (401, "unauthenticated")
    token, _ = storage.access.create("other", scopes=["traces:read"])
    assert make_client(token).get("/api/v1/capabilities").json()["project"] == "other"


FOREIGN: list[tuple[str, dict[str, str]]] = [
    ("http://evil.example", {}),
    ("http://127.0.0.1.evil.example", {}),
    ("http://192.168.1.2:8321", {}),
    (LOCAL, {"Origin": "http://evil.example"}),
    (LOCAL, {"Origin": "null"}),
    (LOCAL, {"Origin": "http://localhost.evil.example:8321"}),
    (LOCAL, {"Origin": "http://["}),
    (LOCAL, {"Sec-Fetch-Site": "cross-site"}),
    (LOCAL, {"Sec-Fetch-Site": "same-site"}),
    (LOCAL, {"X-Forwarded-For": "10.0.0.1"}),
    (LOCAL, {"Forwarded": "for=10.0.0.1"}),
    (LOCAL, {"Host": ""}),
    (LOCAL, {"Host": "["}),
]


@pytest.mark.parametrize(("base", "headers"), FOREIGN)
def test_without_tokens_other_names_sites_and_proxies_are_refused(
    empty: Client, base: str, headers: dict[str, str]
) -> None:
    for path in ("/api/v1/traces", "/readyz", "/openapi.json", "/metrics", "/nothing"):
        assert code_of(empty.http.get(base + path, headers=headers)) == (403, "forbidden")
    sent, kind = multipart(LINES)
    headers = headers | {"Content-Type": kind, "Idempotency-Key": key(LINES), "X-Prime-Line-Format": "episode"}
    assert code_of(empty.http.post(base + "/api/v1/traces", content=sent, headers=headers)) == (403, "forbidden")
    assert empty.get("/api/v1/episodes").json()["items"] == []


@pytest.mark.parametrize(
    "base", ["http://localhost:8321", "http://127.0.0.1:1", "http://[::1]:8321", "http://LOCALHOST"]
)
def test_without_tokens_its_own_names_are_taken(empty: Client, base: str) -> None:
    assert empty.http.get(f"{base}/api/v1/traces", headers={"Origin": "http://localhost:3000"}).status_code == 200


def test_with_tokens_any_name_and_proxy_will_do(town: Town) -> None:
    client = town.as_(town.owner)
    headers = {"X-Forwarded-For": "10.0.0.1", "Origin": "https://viewer.example"}
    answer = client.http.get("/api/v1/traces", headers=headers)
    assert answer.status_code == 200 and not [name for name in answer.headers if name.startswith("access-control")]
    assert code_of(client.http.options("/api/v1/traces", headers=headers)) == (405, "method_not_allowed")
