"""What was uploaded is read back: summaries, pages, documents and parts of them, nodes, calls, runs, search."""

from __future__ import annotations

import json
from typing import Any

import pytest
from server_support import body, episode, line, trace
from web_support import Client, code_of

from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.server import search

TRAIN = {"type": "train", "id": "run-t"}


def steps(step: int) -> dict[str, Any]:
    return TRAIN | {"work": {"type": "train", "step": step}}


RECORDS = [
    episode("e1", "run-a", errors=[{"type": "Boom", "message": "it went"}], ok=False),
    episode("e2", "run-a", traces=[trace("t2"), trace("t3", agent={"name": "judge", "config": {"model": "m2"}})]),
    episode("e3", "run-b", traces=[]),
    episode("e4", steps(1)),
    episode("e5", steps(2)),
]


def fill(client: Client) -> Client:
    assert client.upload(body(*RECORDS), context={"run_type": "eval", "team": "red"}).status_code == 200
    return client


@pytest.fixture(scope="module")
def filled(shared_client: Client) -> Client:
    """For tests that only read."""
    return fill(shared_client)


@pytest.fixture
def changing(client: Client) -> Client:
    """For tests that add or delete."""
    return fill(client)


def ids(answer: Any, name: str) -> list[str]:
    assert answer.status_code == 200, answer.text
    return sorted(item[name] for item in answer.json()["items"])


def check(answer: Any, kind: Any) -> Any:
    """An answer that fits its schema."""
    assert answer.status_code == 200, answer.text
    return decode_strict(answer.content, kind)


def test_answers_fit_their_schemas(filled: Client) -> None:
    for path, kind in {
        "/api/v1/capabilities": models.Capabilities,
        "/api/v1/traces": models.TracePage,
        "/api/v1/traces/t2": models.TraceSummary,
        "/api/v1/traces/t2/nodes": models.NodePage,
        "/api/v1/traces/t2/calls": models.CallPage,
        "/api/v1/episodes": models.EpisodePage,
        "/api/v1/episodes/e2": models.EpisodeSummary,
        "/api/v1/episodes/e2/traces": models.TracePage,
        "/api/v1/episodes/e2/versions": models.EpisodePage,
        "/api/v1/runs": models.RunPage,
        "/api/v1/runs/run-a": models.RunSummary,
        "/api/v1/runs/run-t/steps": models.RunSteps,
        "/api/v1/runs/nothing/steps": models.RunSteps,
        "/api/v1/runs/run-a/search?query=2%2B2": models.SearchPage,
    }.items():
        check(filled.get(path), kind)


def test_documents_come_back_byte_for_byte(filled: Client) -> None:
    for record in RECORDS:
        answer = filled.get(f"/api/v1/episodes/{record['id']}", params={"raw": "true"})
        assert answer.content == line(record) and answer.headers["content-type"] == "application/json"
    answer = filled.get("/api/v1/traces/t3", params={"raw": "true"})
    assert answer.content == line(RECORDS[1]["traces"][1])
    envelope = filled.get("/api/v1/episodes/e2", params={"raw": "envelope"}).json()
    assert envelope["traces"] == ["t2", "t3"] and envelope["id"] == "e2"


def test_under_the_released_profile_a_raw_episode_is_its_envelope(make_client: Any, changing: Client) -> None:
    from evh.server.limits import RELEASED

    client = make_client(profile=RELEASED)
    assert client.get("/api/v1/episodes/e2", params={"raw": "true"}).json()["traces"] == ["t2", "t3"]
    assert client.get("/api/v1/episodes/e2", params={"raw": "document"}).content == line(RECORDS[1])
    assert "episode_documents" not in client.get("/api/v1/capabilities").json()["features"]


@pytest.mark.parametrize("path", ["/api/v1/episodes/e2", "/api/v1/traces/t3"])
def test_parts_of_documents(filled: Client, path: str) -> None:
    whole = filled.get(path, params={"raw": "true"})
    data, tag = whole.content, whole.headers["etag"]

    def part(**headers: str) -> Any:
        return filled.get(path, params={"raw": "true"}, headers={k.replace("_", "-"): v for k, v in headers.items()})

    for asked, start, stop in (
        ("bytes=0-9", 0, 10), ("bytes=5-", 5, len(data)), ("bytes=-7", len(data) - 7, len(data)),
        (f"bytes=3-{len(data) + 50}", 3, len(data)), ("bytes=-99999999", 0, len(data)),
    ):  # fmt: skip
        answer = part(Range=asked)
        assert (answer.status_code, answer.content) == (206, data[start:stop])
        assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(data)}"
    for asked in (f"bytes={len(data)}-", "bytes=-0"):
        answer = part(Range=asked)
        assert code_of(answer) == (416, "range_not_satisfiable")
        assert answer.headers["content-range"] == f"bytes */{len(data)}"
    for asked in ("bytes=9-3", "bytes=0-1,4-5", "lines=0-1", "bytes=a-b", "bytes=-", "bytes=" + "9" * 30 + "-"):
        assert (part(Range=asked).status_code, part(Range=asked).content) == (200, data)
    assert part(Range="bytes=0-1", If_Range=tag).status_code == 206
    assert part(Range="bytes=0-1", If_Range='"other"').content == data
    assert part(If_None_Match=tag).status_code == 304
    head = filled.http.head(path, params={"raw": "true"})
    assert (head.content, int(head.headers["content-length"])) == (b"", len(data))


FILTERS = [
    ("/api/v1/episodes", {"run_id": "run-a"}, ["e1", "e2"]),
    ("/api/v1/episodes", {"has_error": "true"}, ["e1"]),
    ("/api/v1/episodes", {"outcome": "error"}, ["e1"]),
    ("/api/v1/episodes", {"run_step": "2"}, ["e5"]),
    ("/api/v1/episodes", {"step_min": "1", "step_max": "1"}, ["e4"]),
    ("/api/v1/episodes", {"environment_id": "gsm8k", "run_id": "run-b"}, ["e3"]),
    ("/api/v1/episodes", {"context.team": "red", "run_id": "run-b"}, []),
    ("/api/v1/episodes", {"context.team": "blue"}, []),
    ("/api/v1/episodes", {"created_after": "2030-01-01T00:00:00Z"}, []),
    ("/api/v1/traces", {"model_id": "m2"}, ["t3"]),
    ("/api/v1/traces", {"task_id": "7", "run_id": "run-a"}, ["t-e1", "t2", "t3"]),
    ("/api/v1/traces", {"reward_min": "0.5", "reward_max": "1e0", "run_id": "run-t"}, ["t-e4", "t-e5"]),
    ("/api/v1/traces", {"reward_min": "1.5"}, []),
    ("/api/v1/traces", {"run_step": "1"}, ["t-e4"]),
    ("/api/v1/traces", {"context.team": "red", "step_min": "2"}, ["t-e5"]),
    ("/api/v1/traces", {"is_truncated": "true"}, []),
    ("/api/v1/traces", {"created_before": "2023-11-14T22:13:19Z"}, []),
    ("/api/v1/traces", {"upload_id": ["none", "other"]}, []),
    ("/api/v1/episodes/e2/traces", {"model_id": "m1"}, ["t2"]),
]


@pytest.mark.parametrize(("path", "asked", "found"), FILTERS)
def test_filters(filled: Client, path: str, asked: dict[str, Any], found: list[str]) -> None:
    assert ids(filled.get(path, params=asked), "trace_id" if "traces" in path else "episode_id") == found


WRONG = [
    ("/api/v1/traces", {"limit": "101"}), ("/api/v1/traces", {"limit": "0"}), ("/api/v1/traces", {"limit": "x"}),
    ("/api/v1/traces", {"limit": "1_0"}), ("/api/v1/traces", {"limit": "٣"}), ("/api/v1/traces", {"reward_min": "nan"}),
    ("/api/v1/traces", {"reward_min": "1e999"}), ("/api/v1/traces", {"has_error": "maybe"}),
    ("/api/v1/traces", {"created_after": "yesterday"}), ("/api/v1/traces", {"sort": "id"}),
    ("/api/v1/traces", {"created_after": "0001-01-01T00:00:00+23:59"}), ("/api/v1/traces", {"run_idd": "x"}),
    ("/api/v1/traces", {"run_id": ["a", "b"]}), ("/api/v1/traces", {"context.": "x"}),
    ("/api/v1/traces", {"run_id": "x" * 9000}), ("/api/v1/traces", {"run_step": "9" * 40}),
    ("/api/v1/traces", {"upload_id": [str(each) for each in range(101)]}),
    ("/api/v1/runs", {"run_type": "other"}), ("/api/v1/runs/run-a/search", {"query": "ab"}),
    ("/api/v1/runs/run-a/search", {}), ("/api/v1/runs/run-a/search", {"query": "abc", "field": "id"}),
    ("/api/v1/traces/t2/nodes", {"after": "0", "cursor": "x"}), ("/api/v1/evaluations/", {"skip": "-1"}),
    ("/api/v1/capabilities", {"x": "y"}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "asked"), WRONG)
def test_wrong_parameters_are_refused(filled: Client, path: str, asked: dict[str, Any]) -> None:
    assert code_of(filled.get(path, params=asked)) == (400, "invalid_filter")


def test_pages_are_walked_by_cursor_and_cursors_belong_to_their_filters(filled: Client) -> None:
    for path, name, count in (
        ("/api/v1/traces", "trace_id", 5), ("/api/v1/episodes", "episode_id", 5), ("/api/v1/runs", "run_id", 2),
        ("/api/v1/traces/t2/nodes", "node_idx", 2), ("/api/v1/runs/run-a/search", "trace_id", 3),
    ):  # fmt: skip
        seen: list[Any] = []
        text = {"query": "2+2"} if "search" in path else {}
        asked: dict[str, Any] = {"limit": 1, **text}
        while True:
            page = filled.get(path, params=asked).json()
            seen += [item[name] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            asked["cursor"] = page["next_cursor"]
            if "nodes" not in path:
                other = {"created_after": "2001-01-01T00:00:00Z"} if "search" not in path else {"reward_min": 0}
                assert code_of(filled.get(path, params=asked | other)) == (400, "invalid_cursor"), path
        assert len(seen) == len(set(seen)) == count, (path, seen)
        assert code_of(filled.get(path, params={"cursor": "bm90aGluZw", **text})) == (400, "invalid_cursor")


def test_orders(filled: Client) -> None:
    for order in ("created_at", "-created_at", "ingested_at", "-ingested_at"):
        assert len(filled.get("/api/v1/traces", params={"sort": order}).json()["items"]) == 5


def test_an_episode_says_its_own_error_and_its_traces_totals(filled: Client) -> None:
    found = filled.get("/api/v1/episodes/e1").json()
    assert found["has_error"] is True and found["error"] == {"type": "Boom", "message": "it went"}
    assert found["traces"]["any_trace_error"] is False
    assert filled.get("/api/v1/episodes/e2").json()["traces"]["trace_count"] == 2
    assert filled.get("/api/v1/episodes/e3").json()["traces"]["trace_count"] == 0


def test_versions_of_an_episode(changing: Client) -> None:
    assert changing.upload(body(episode("e3", "run-b", traces=[], info={"new": 1}))).json()["new_versions"] == 1
    assert changing.get("/api/v1/episodes/e3").json()["version"] == 2
    versions = changing.get("/api/v1/episodes/e3/versions").json()["items"]
    assert [(each["version"], each["versions"]) for each in versions] == [(1, 2), (2, 2)]
    old = changing.get("/api/v1/episodes/e3", params={"raw": "document", "version": 1})
    assert old.content == line(RECORDS[2])
    assert code_of(changing.get("/api/v1/episodes/e3", params={"version": 3})) == (404, "episode_not_found")


def test_what_is_not_there(filled: Client) -> None:
    for path, code in {
        "/api/v1/traces/x": "trace_not_found", "/api/v1/traces/x/nodes": "trace_not_found",
        "/api/v1/traces/x/calls": "trace_not_found", "/api/v1/episodes/x": "episode_not_found",
        "/api/v1/episodes/x/traces": "episode_not_found", "/api/v1/episodes/x/versions": "episode_not_found",
        "/api/v1/runs/x": "run_not_found", "/api/v1/runs/x/search?query=abc": "run_not_found",
        "/api/v1/traces/export/job": "export_job_not_found", "/api/v1/evaluations/x": "evaluation_not_found",
        "/api/v1/evaluations/x/samples": "evaluation_not_found", "/api/v1/rft/external-runs/x": "run_not_found",
        "/nothing": "not_found", "/api/v1/": "not_found", "/api/v2/traces": "not_found",
    }.items():  # fmt: skip
        assert code_of(filled.get(path)) == (404, code), path
    assert code_of(filled.get("/api/v1/traces/export")) == (403, "service_not_enabled")
    assert code_of(filled.put("/api/v1/traces", {})) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    "name", ["..", ".", "%2e%2e", "%00", "a%00b", "%ff", "..%2f..%2fetc%2fpasswd", "x" * 5000, "%F0%9F%98%80", "a'b\"c"]
)
def test_hostile_names_are_names_of_nothing(filled: Client, name: str) -> None:
    for path in ("/api/v1/traces/", "/api/v1/episodes/", "/api/v1/runs/", "/api/v1/evaluations/"):
        answer = filled.http.get(f"http://127.0.0.1{path}{name}")
        assert answer.status_code in (200, 404)  # `.` and `..` may be the listing itself
        assert "root:" not in answer.text


def test_traces_are_deleted_once(changing: Client) -> None:
    hint = {"created_at": "2001-01-01T00:00:00Z"}
    assert code_of(changing.delete("/api/v1/traces/t2", params=hint)) == (404, "trace_not_found")
    answer = changing.delete("/api/v1/traces/t2")
    assert (answer.status_code, answer.content) == (202, b"")
    assert code_of(changing.delete("/api/v1/traces/t2")) == (404, "trace_not_found")
    assert code_of(changing.get("/api/v1/traces/t2")) == (404, "trace_not_found")
    assert changing.get("/api/v1/episodes/e2").json()["traces"]["trace_count"] == 1
    assert changing.delete("/api/v1/traces", params={"run_id": "run-t"}).status_code == 202
    assert code_of(changing.delete("/api/v1/traces", params={"run_id": "run-t"})) == (404, "run_not_found")
    assert code_of(changing.delete("/api/v1/traces")) == (400, "invalid_filter")
    assert changing.get("/api/v1/episodes/e4").status_code == 200


def test_nodes_and_calls_as_they_were_written(filled: Client) -> None:
    nodes = filled.get("/api/v1/traces/t2/nodes").json()["items"]
    told = [(each["node_idx"], each["parent_idx"], each["sampled"]) for each in nodes]
    assert told == [(0, None, False), (1, 0, True)]
    assert nodes[1]["message"] == {"role": "assistant", "content": "4"}
    only = filled.get("/api/v1/traces/t2/nodes", params={"role": ["assistant", "tool"], "sampled": "true"}).json()
    assert [each["node_idx"] for each in only["items"]] == [1]
    assert [each["node_idx"] for each in filled.get("/api/v1/traces/t2/nodes?after=0").json()["items"]] == [1]
    [call] = filled.get("/api/v1/traces/t2/calls", params={"model": "m1"}).json()["items"]
    assert (call["call_idx"], call["node_idx"], call["model"]) == (0, 1, "m1")
    assert filled.get("/api/v1/traces/t2/calls", params={"finish_reason": "stop"}).json()["items"] == []


def test_runs_and_their_steps(filled: Client) -> None:
    assert ids(filled.get("/api/v1/runs"), "run_id") == ["run-a", "run-t"]
    assert ids(filled.get("/api/v1/runs", params={"run_type": "eval"}), "run_id") == ["run-a", "run-t"]
    assert ids(filled.get("/api/v1/runs", params={"run_type": ["train", "unknown"]}), "run_id") == []
    assert ids(filled.get("/api/v1/runs", params={"created_by": "u"}), "run_id") == []
    assert filled.get("/api/v1/runs/run-a").json()["trace_count"] == 3
    found = filled.get("/api/v1/runs/run-t/steps").json()
    assert (found["step_min"], found["step_max"], found["step_count"]) == (1, 2, 2)
    page = filled.get("/api/v1/runs", params={"run_type": "eval", "limit": 1}).json()
    for other in ({}, {"run_type": "train"}):
        asked = {"limit": 1, "cursor": page["next_cursor"]} | other
        assert code_of(filled.get("/api/v1/runs", params=asked)) == (400, "invalid_cursor")


def test_search_says_where_in_code_points(client: Client) -> None:
    parts = [{"type": "text", "text": "needle in a part"}]
    nodes = [
        {"message": {"role": "user", "content": "é😀" * 60 + "needle" + "z" * 200}},
        {"message": {"role": "user", "content": parts}},
        {"message": {"role": "assistant", "content": "Needle", "reasoning_content": "a needle"}},
    ]
    client.upload(body(episode("e1", "r", traces=[trace("t1", nodes=nodes, calls=[])])))
    found = client.get("/api/v1/runs/r/search", params={"query": "needle"}).json()
    assert found["coverage"] == {"examined_traces": 1, "unindexed_trace_ids": [], "partial_index": False}
    first, second = found["items"]
    assert (first["match_start"], first["match_end"], first["representation"]) == (120, 126, "text")
    assert first["excerpt"][120 - first["excerpt_start"] :].startswith("needle") and len(first["excerpt"]) == 166
    assert second["representation"] == "json" and second["node_idx"] == 1
    asked = {"query": "needle", "field": "reasoning_content", "role": "assistant"}
    assert [each["node_idx"] for each in client.get("/api/v1/runs/r/search", params=asked).json()["items"]] == [2]
    long = client.get("/api/v1/runs/r/search", params={"query": "x" * 1001})
    assert code_of(long) == (400, "search_limit_exceeded")


def test_a_page_of_search_ends_after_so_many_bytes(filled: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SCAN_BYTES", 1)
    seen, asked, pages = [], {"query": "2+2"}, 0
    while True:
        page = filled.get("/api/v1/runs/run-a/search", params=asked).json()
        seen += [each["trace_id"] for each in page["items"]]
        pages += 1
        assert (page["coverage"] is None) == ("cursor" in asked)
        if page["next_cursor"] is None:
            break
        asked["cursor"] = page["next_cursor"]
    assert sorted(seen) == ["t-e1", "t2", "t3"] and pages == 3


def test_context_is_given_back(filled: Client) -> None:
    assert filled.get("/api/v1/traces/t2").json()["context"] == {"run_type": "eval", "team": "red"}
    assert json.loads(filled.get("/openapi.json").content)["openapi"] == "3.1.0"
