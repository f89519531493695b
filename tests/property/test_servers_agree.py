"""Random operations over HTTP against two servers, one on SQLite and one on PostgreSQL: the answers are equal.

What a server makes up by itself (ids, times, addresses, cursors) is compared by where it stands; all else to the byte.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from sqlalchemy.engine import make_url

from evh.server.records import SCOPES
from evh.server.storage import open_catalog
from evh.testing.live import Server

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
EXAMPLES, STEPS = {"dev": (8, 20), "ci": (40, 40), "deep": (300, 60)}[PROFILE]
MADE_UP = frozenset(["viewer_url", "presignedUrl"])
"""And every time."""
PHASES = (Phase.generate, Phase.shrink) if PROFILE == "deep" else (Phase.generate,)
"""What fails is shown as it was found: to make it small takes minutes over HTTP."""
_projects = itertools.count()
NAMES, RUNS = st.sampled_from("abcd"), st.sampled_from(["r1", "r2", None])
ODD = "\u0000 \U0001f600 \\ud800"


class Side:
    """One of the two, with the names it gave to things."""

    def __init__(self, url: str, token: str) -> None:
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30)
        self.names: dict[str, str] = {}

    def call(self, method: str, path: str, **how: Any) -> httpx.Response:
        return self.http.request(method, self.spelled(path), **how)

    def spelled(self, text: str) -> str:
        """A text with its own ids in the place of their names."""
        for name, own in self.names.items():
            text = text.replace(f"<{name}>", own)
        return text

    def plain(self, value: Any, key: str = "") -> Any:
        """An answer without what is made up."""
        if isinstance(value, dict):
            return {self.plain(name): self.plain(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.plain(each) for each in value]
        if key in MADE_UP or key.endswith("_at"):
            return None if value is None else "made up"
        if key == "next_cursor":
            return value is not None
        if isinstance(value, str):
            for name, own in sorted(self.names.items(), key=lambda item: -len(item[1])):
                value = value.replace(own, f"<{name}>")
        return value


class ServersMachine(RuleBasedStateMachine):
    """A project of its own on each side."""

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.sides = pair.sides()
        self.bodies: list[tuple[bytes, str]] = []
        self.evaluations: list[str] = []
        self.training: list[str] = []
        self.counted = itertools.count()

    def teardown(self) -> None:
        for side in self.sides:
            side.http.close()

    def both(self, method: str, path: str, **how: Any) -> None:
        """Ask both; their answers are equal."""
        self.compare([side.call(method, path, **how) for side in self.sides], (method, path, how))

    def compare(self, answers: list[httpx.Response], what: Any) -> None:
        first, second = (
            (answer.status_code, side.plain(_document(answer)))
            for side, answer in zip(self.sides, answers, strict=True)
        )
        assert first == second, (what, first, second)
        assert first[0] < 500, (what, first)

    def named(self, kind: str, answers: list[httpx.Response], *way: str) -> str | None:
        """Name what both made; the ids stand there in their answers."""
        if answers[0].status_code >= 300:
            return None
        found = []
        for answer in answers:
            value = answer.json()
            for step in way:
                value = value[step]
            found.append(value)
        known = next((name for name, own in self.sides[0].names.items() if own == found[0]), None)
        if known is not None:
            assert self.sides[1].names[known] == found[1]
            return known
        name = f"{kind}{next(self.counted)}"
        for side, own in zip(self.sides, found, strict=True):
            side.names[name] = own
        return name

    # --- what is uploaded ------------------------------------------------------------------------------------------

    @rule(rows=st.lists(st.tuples(NAMES, RUNS, st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=3),
          packed=st.booleans(), line_format=st.sampled_from(["episode", "episode", "trace"]))  # fmt: skip
    def upload(self, rows: list[tuple[str, str | None, int, int]], packed: bool, line_format: str) -> None:
        lines = []
        for name, run, variant, count in rows:
            if line_format == "trace":
                lines.append(trace(f"t-{name}", run, variant))
            else:
                lines.append(episode(name, run, variant, count))
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        self.bodies.append((data, line_format))
        self.send(data, line_format, packed=packed)

    @precondition(lambda self: self.bodies)
    @rule(data=st.data(), other=st.booleans())
    def upload_again(self, data: st.DataObject, other: bool) -> None:
        body, line_format = data.draw(st.sampled_from(self.bodies))
        self.send(body, {"episode": "trace", "trace": "episode"}[line_format] if other else line_format)

    @rule(data=st.sampled_from([b"", b"\n\n", b"{}\n", b"nothing\n", b'{"id": "x", "id": "y"}\n', b"\xff\n"]))
    def upload_nonsense(self, data: bytes) -> None:
        self.send(data, "episode")

    def send(self, data: bytes, line_format: str, *, packed: bool = False) -> None:
        head = "Content-Encoding: gzip\r\n" if packed else ""
        part = gzip.compress(data, 1, mtime=0) if packed else data
        metadata = b'{"schema_version":1,"context":{"team":"red"}}'
        content = (
            b'--x\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n' + metadata
            + b'\r\n--x\r\nContent-Disposition: form-data; name="traces"; filename="t"\r\n' + head.encode() + b"\r\n"
            + part + b"\r\n--x--\r\n"
        )  # fmt: skip
        headers = {
            "Content-Type": "multipart/form-data; boundary=x",
            "Idempotency-Key": f"sha256:{hashlib.sha256(data).hexdigest()}",
            **({"X-Prime-Line-Format": "episode"} if line_format == "episode" else {}),
        }
        self.both("POST", "/api/v1/traces", content=content, headers=headers)

    @rule(name=NAMES)
    def delete_trace(self, name: str) -> None:
        self.both("DELETE", f"/api/v1/traces/t-{name}")

    @rule(run=st.sampled_from(["r1", "r2"]))
    def delete_traces_of_a_run(self, run: str) -> None:
        self.both("DELETE", f"/api/v1/traces?run_id={run}")

    # --- what is read ----------------------------------------------------------------------------------------------

    @rule(
        what=st.sampled_from(["traces", "episodes"]), limit=st.integers(1, 3),
        filters=st.fixed_dictionaries(
            {},
            optional={
                "run_id": st.sampled_from(["r1", "r2", "nobody"]), "has_error": st.sampled_from(["true", "false"]),
                "outcome": st.sampled_from(["success", "error"]), "run_step": st.integers(0, 2),
                "created_after": st.just("2026-01-01T00:00:00Z"), "context.team": st.sampled_from(["red", "blue"]),
                "environment_id": st.just("gsm8k"),
            },
        ),
    )  # fmt: skip
    def list_pages(self, what: str, limit: int, filters: dict[str, Any]) -> None:
        cursors: list[str | None] = [None, None]
        for _ in range(30):
            answers = []
            for side, cursor in zip(self.sides, cursors, strict=True):
                asked = {**filters, "limit": limit, **({} if cursor is None else {"cursor": cursor})}
                answers.append(side.call("GET", f"/api/v1/{what}", params=asked))
            plain = [side.plain(_document(answer)) for side, answer in zip(self.sides, answers, strict=True)]
            assert answers[0].status_code == answers[1].status_code < 500
            assert plain[0] == plain[1], (what, filters)
            if answers[0].status_code != 200:
                return
            cursors = [answer.json()["next_cursor"] for answer in answers]
            if cursors[0] is None:
                return
        raise AssertionError("a listing without an end")

    @rule(name=NAMES, tail=st.sampled_from(["", "?raw=document", "?raw=true", "/traces", "/versions", "?version=1"]))
    def read_episode(self, name: str, tail: str) -> None:
        self.both("GET", f"/api/v1/episodes/{name}{tail}")

    @rule(name=NAMES, tail=st.sampled_from(["", "?raw=true", "/nodes", "/nodes?role=user&limit=1", "/calls"]))
    def read_trace(self, name: str, tail: str) -> None:
        self.both("GET", f"/api/v1/traces/t-{name}{tail}")

    @rule(run=st.sampled_from(["r1", "r2", "nobody"]), tail=st.sampled_from(["", "/steps", "/search?query=quest"]))
    def read_run(self, run: str, tail: str) -> None:
        self.both("GET", f"/api/v1/runs/{run}{tail}")

    @rule()
    def list_runs(self) -> None:
        self.both("GET", "/api/v1/runs")

    # --- evaluations -----------------------------------------------------------------------------------------------

    @rule(name=st.sampled_from(["gsm8k", "other", ODD, ""]))
    def resolve(self, name: str) -> None:
        answers = [side.call("POST", "/api/v1/environmentshub/resolve", json={"name": name}) for side in self.sides]
        self.named("env", answers, "data", "id")
        self.compare(answers, ("resolve", name))

    @rule(
        ours=st.sampled_from([None, "o1", "o2"]), extra=st.sampled_from([{}, {"model_name": ODD}, {"odd": [1, None]}])
    )
    def create_evaluation(self, ours: str | None, extra: dict[str, Any]) -> None:
        environment = next((name for name in self.sides[0].names if name.startswith("env")), None)
        given: dict[str, Any] = {"name": "n", "tags": [ODD], **extra}
        if ours is not None:
            given["metadata"] = {"evh": {"run_id": ours}}
        answers = []
        for side in self.sides:
            environments = [] if environment is None else [{"id": side.names[environment]}]
            answers.append(side.call("POST", "/api/v1/evaluations/", json={**given, "environments": environments}))
        name = self.named("evaluation", answers, "evaluation_id")
        self.compare(answers, ("create", given))
        if name is not None and name not in self.evaluations:
            self.evaluations.append(name)

    @precondition(lambda self: self.evaluations)
    @rule(
        data=st.data(), verb=st.sampled_from(["PUT", "PUT", "POST", "GET", "samples", "read"]),
        body=st.sampled_from(
            [{"metrics": {"a": 1.5}}, {"metadata": {"x": ODD}}, {"status": "FAILED", "error_message": ODD},
             {"tags": []}, {"status": "nonsense"}, {"name": 3}, {}]
        ),
    )  # fmt: skip
    def use_evaluation(self, data: st.DataObject, verb: str, body: dict[str, Any]) -> None:
        at = f"/api/v1/evaluations/<{data.draw(st.sampled_from(self.evaluations))}>"
        if verb == "samples":
            self.both("POST", f"{at}/samples", json={"samples": [{"sample_id": "s", "odd": ODD, "n": len(body)}]})
        elif verb == "read":
            self.both("GET", f"{at}/samples?page=1&limit=2")
        elif verb == "POST":
            self.both("POST", f"{at}/finalize", json={"metrics": body.get("metrics", {})})
        else:
            self.both(verb, at, **({"json": body} if verb == "PUT" else {}))

    @rule(query=st.sampled_from(["", "?evh_run_id=o1", "?environment_name=gsm8k&limit=1", "?skip=1", "?limit=x"]))
    def list_evaluations(self, query: str) -> None:
        self.both("GET", f"/api/v1/evaluations/{query}")

    # --- training --------------------------------------------------------------------------------------------------

    @rule(team=st.sampled_from(["a-team", None]))
    def create_training(self, team: str | None) -> None:
        given = {"base_model": "m", "max_steps": 0, "environments": [], "name": ODD, "team_id": team}
        answers = [side.call("POST", "/api/v1/rft/external-runs", json=given) for side in self.sides]
        name = self.named("training", answers, "run", "id")
        self.compare(answers, ("create training", team))
        if name is not None:
            self.training.append(name)

    @precondition(lambda self: self.training)
    @rule(data=st.data(), what=st.sampled_from(["metrics", "table", "finalize", "failed", "show", "read"]))
    def use_training(self, data: st.DataObject, what: str) -> None:
        name = data.draw(st.sampled_from(self.training))
        at = f"/api/v1/rft/external-runs/<{name}>"
        if what == "show":
            self.both("GET", at)
        elif what == "read":
            self.both("GET", f"{at}/metrics")
        elif what == "failed":
            self.both("PUT", f"{at}/status", json={"status": "failed", "error_message": ODD})
        elif what == "table":
            self.table(name)
        else:
            body: dict[str, Any] = {"metrics": {"loss": 0.5}} if what == "metrics" else {"exit_code": 0}
            answers = [
                side.call("POST", f"/api/v1/rft/{what}", json={"run_id": side.names[name], **body})
                for side in self.sides
            ]
            self.compare(answers, what)

    def table(self, name: str) -> None:
        """A table, from the address that is asked for to its confirmation."""
        asked = [{"run_id": side.names[name], "step": 10} for side in self.sides]
        given = [
            side.call("POST", "/api/v1/rft/samples/presign", json=body)
            for side, body in zip(self.sides, asked, strict=True)
        ]
        self.named("table", given, "data", "s3Key")
        self.compare(given, "presign")
        if given[0].status_code >= 300:
            return
        places = [answer.json()["data"] for answer in given]
        headers = {"Content-Type": "application/parquet"}
        puts = [httpx.put(place["presignedUrl"], content=b"PAR1 rows PAR1", headers=headers) for place in places]
        assert puts[0].status_code == puts[1].status_code < 300
        done = [
            side.call("POST", "/api/v1/rft/samples/confirm", json={**body, "s3_key": place["s3Key"]})
            for side, body, place in zip(self.sides, asked, places, strict=True)
        ]
        self.compare(done, "confirm")


class Pair:
    """The two servers."""

    def __init__(self, *servers: Server) -> None:
        self.servers = servers

    def sides(self) -> list[Side]:
        """Both, in a project that nobody used before."""
        project = f"p{next(_projects)}"
        made = []
        for server in self.servers:
            catalog = open_catalog(server.folder, database=server.database)
            try:
                token, _ = _token(catalog, project)
            finally:
                catalog.close()
            made.append(Side(server.url, token))
        return made


def _token(catalog: Any, project: str) -> tuple[str, Any]:
    from evh.server.access import CatalogAccess

    made: tuple[str, Any] = CatalogAccess(catalog).create(project, scopes=SCOPES, name="a machine")
    return made


def _document(answer: httpx.Response) -> Any:
    """JSON as a value, except of stored documents, whose every byte counts."""
    if "raw=" in str(answer.request.url) or not answer.content:
        return answer.content
    return answer.json()


def trace(name: str, run: str | None, variant: int) -> dict[str, Any]:
    """A trace; its time is its name's, so that listings have an order."""
    return {
        "id": name, "task": {"type": "t", "data": {"idx": variant, "odd": "\u0000 \U0001f600"}},
        "agent": {"name": "a", "config": {"model": f"m{variant}"}},
        "nodes": [{"message": {"role": "user", "content": f"question {variant}"}, "parent": None}],
        "rewards": {"score": {"score": variant / 2}}, "ok": variant != 1,
        "timing": {"start": 1_800_000_000.0 + sum(map(ord, name)) + variant},
        **({} if run is None else {"run": {"type": "train", "id": run, "work": {"type": "train", "step": variant}}}),
    }  # fmt: skip


def episode(name: str, run: str | None, variant: int, count: int) -> dict[str, Any]:
    return {
        "id": name, "env": {"id": "gsm8k"}, "task": {"type": "t", "data": {"idx": 0}}, "ok": variant != 2,
        "traces": [trace(f"t-{name}-{number}" if number else f"t-{name}", run, variant) for number in range(count)],
        **({} if run is None else {"run": {"type": "train", "id": run, "work": {"type": "train", "step": variant}}}),
    }  # fmt: skip


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[Pair]:
    root: Path = tmp_path_factory.mktemp("servers")
    name = f"evh_agree_{os.getpid()}"
    url = make_url(postgres_url).set(drivername="postgresql+psycopg")
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    database = url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    try:
        with ExitStack() as stack:
            servers = [Server(root / "sqlite", tokens=True), Server(root / "postgres", database=database, tokens=True)]
            yield Pair(*(stack.enter_context(server) for server in servers))
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def test_sqlite_and_postgresql_give_the_same_answers(pair: Pair) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        lambda: ServersMachine(pair),
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, print_blob=True, phases=PHASES
        ),
    )
    for server in pair.servers:
        assert "Traceback" not in server.said
        assert server.evh("serve", "verify", "--json")["damages"] == []
