"""Runs inside an environment with the released clients: uses each of their calls against a server, unmodified.

    live_clients.py ROWS FOLDER

ROWS holds episodes as verifiers 0.4.0 writes them. The server, its traces service and the key come from the
environment, as users give them. Every check is a line of JSON on standard output: its name, and null or what was wrong.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import prime_evals
import prime_runs as pr
import prime_traces as pt
from pydantic import TypeAdapter
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.episode import WireEpisode
from verifiers.v1.utils import platform

ROWS = [json.loads(line) for line in Path(sys.argv[1]).read_bytes().splitlines()]
FOLDER = Path(sys.argv[2])
CHECKS: list[Callable[[], None]] = []


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS.append(function)
    return function


def fresh(count: int = 3, **run: Any) -> list[dict[str, Any]]:
    """Episodes of their own ids, of now, as plain documents."""
    made = []
    for row in ROWS[:count]:
        row = copy.deepcopy(row)
        row["id"] = uuid.uuid4().hex
        for trace in row["traces"]:
            trace["id"] = uuid.uuid4().hex
            trace["timing"] = {**trace.get("timing", {}), "start": time.time()}
            if run:
                trace["run"] = run
        if run:
            row["run"] = run
        made.append(row)
    return made


def objects(count: int = 3) -> list[Any]:
    """The same as objects of verifiers."""
    return [TypeAdapter(WireEpisode).validate_python(row) for row in fresh(count)]


def line_of(record: Any) -> bytes:
    """The line that prime_traces makes of a record."""
    return next(iter(pt.traces._record_lines([record])))


def equal(mine: Any, theirs: Any, what: str) -> None:
    if mine != theirs:
        raise AssertionError(f"{what}: {str(mine)[:300]} came back as {str(theirs)[:300]}")


def refused(kind: type[BaseException], call: Callable[[], Any]) -> Any:
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"was not refused with {kind.__name__}")


# --- prime-traces ----------------------------------------------------------------------------------------------------


@check
def traces_upload_and_read_back() -> None:
    run = {"type": "eval", "id": uuid.uuid4().hex}
    rows = fresh(3, **run)
    with pt.TracesClient() as client:
        receipts = client.upload_records(rows, line_format=pt.LineFormat.EPISODE, context={"team": "red"})
        equal("committed", receipts[0].status, "status")
        again = client.upload_records(rows, line_format=pt.LineFormat.EPISODE, context={"team": "red"})
        equal(receipts[0].upload_id, again[0].upload_id, "the receipt of a replay")
        traces = [trace for row in rows for trace in row["traces"]]
        found = list(client.iter(run_id=run["id"], limit=1))
        equal({trace["id"] for trace in traces}, {each.trace_id for each in found}, "ids of the listing")
        equal(len(traces), len(client.list(upload_id=receipts[0].upload_id, context={"team": "red"}).items), "filters")
        equal(0, len(client.list(run_id=run["id"], context={"team": "blue"}).items), "a filter that nothing passes")
        for trace in traces:
            equal(trace, json.loads(client.get_raw(trace["id"])), "a trace")
            equal(trace["id"], client.get(trace["id"]).trace_id, "a summary")
            nodes = client.list_nodes(trace["id"]).items
            equal(len(trace["nodes"]), len(nodes), "nodes")
            equal(len(trace.get("calls", [])), len(client.list_calls(trace["id"]).items), "calls")
        target = FOLDER / "downloaded.json"
        client.download_raw(traces[0]["id"], target)
        equal(traces[0], json.loads(target.read_bytes()), "a download")


@check
def traces_episodes_and_runs() -> None:
    run = {"type": "train", "id": uuid.uuid4().hex, "work": {"type": "train", "step": 7}}
    rows = fresh(3, **run)
    with pt.TracesClient() as client:
        receipt = client.upload_records(rows, line_format=pt.LineFormat.EPISODE, context={"run_type": "train"})[0]
        listed = client.list_episodes(run_id=run["id"]).items
        equal({row["id"] for row in rows}, {each.episode_id for each in listed}, "episodes")
        equal(3, len(client.list_episodes(upload_id=receipt.upload_id, run_step=7).items), "episodes of a step")
        for row in rows:
            about = client.get_episode(row["id"])
            equal(row["id"], about.episode_id, "an episode")
            raw = json.loads(client.get_episode_raw(row["id"]))
            expected = row if isinstance(raw["traces"][0], dict) else {**row, "traces": raw["traces"]}
            equal(expected, raw, "an episode's document")
            members = client.list_episode_traces(row["id"]).items
            equal({trace["id"] for trace in row["traces"]}, {each.trace_id for each in members}, "its traces")
        assert run["id"] in {each.run_id for each in client.list_runs(run_type="train", limit=100).items}
        equal(3, client.get_run(run["id"]).episode_count, "a run")
        equal([7], [step.step for step in client.list_run_steps(run["id"]).items], "its steps")
        refused(pt.NotFoundError, lambda: client.get_run("nobody"))


@check
def traces_search() -> None:
    run = {"type": "eval", "id": uuid.uuid4().hex}
    rows = fresh(2, **run)
    rows[0]["traces"][0]["nodes"][0]["message"]["content"] = "here is the Needle in it"
    with pt.TracesClient() as client:
        client.upload_records(rows, line_format=pt.LineFormat.EPISODE)
        found = client.search("Needle", run_id=run["id"])
        equal([rows[0]["traces"][0]["id"]], [each.trace_id for each in found.items], "matches")
        equal([], client.search("needle", run_id=run["id"]).items, "matches of another spelling")
        error = refused(pt.ValidationRejectedError, lambda: client.search("ab", run_id=run["id"]))
        assert error is not None


@check
def traces_bare_and_deleted() -> None:
    run = {"type": "eval", "id": uuid.uuid4().hex}
    traces = [trace for row in fresh(3, **run) for trace in row["traces"]]
    with pt.TracesClient() as client:
        client.upload_records(traces)
        equal(len(traces), len(client.list(run_id=run["id"]).items), "bare traces")
        equal(traces[0], json.loads(client.get_raw(traces[0]["id"])), "a bare trace")
        client.delete(traces[0]["id"])
        refused(pt.NotFoundError, lambda: client.delete(traces[0]["id"]))
        refused(pt.NotFoundError, lambda: client.get(traces[0]["id"]))
        client.delete_run(run["id"])
        refused(pt.NotFoundError, lambda: client.delete_run(run["id"]))


@check
def traces_refusals() -> None:
    row = fresh(1)[0]
    with pt.TracesClient() as client:
        for lines, code in (
            ([line_of(row), line_of(row)], "duplicate_episode_id"),
            ([b'{"id": 3}\n'], "invalid_trace"),
            ([b"{not json}\n"], "invalid_trace"),
        ):
            upload = partial(client.upload_lines, lines, line_format=pt.LineFormat.EPISODE)
            error = refused(pt.ValidationRejectedError, upload)
            equal(code, getattr(error, "code", None), "the code")
        error = refused(pt.ValidationRejectedError, lambda: client.list(cursor="made-up"))
        equal("invalid_cursor", getattr(error, "code", None), "the code")
        refused(pt.NotFoundError, lambda: client.get("nobody"))
    with pt.TracesClient(api_key="evh_0123456789abcdef_wrong") as stranger:
        refused(pt.UnauthorizedError, stranger.list)


@check
def traces_of_verifiers_objects_by_coroutines() -> None:
    episodes = objects(3)

    async def work() -> None:
        async with pt.AsyncTracesClient() as client:
            receipts = await client.upload_records(episodes, line_format=pt.LineFormat.EPISODE)
            equal("committed", receipts[0].status, "status")
            for episode in episodes:
                about = await client.get_episode(episode.id)
                equal(episode.id, about.episode_id, "an episode")
                for trace in json.loads(line_of(episode))["traces"]:
                    equal(trace, json.loads(await client.get_raw(trace["id"])), "a trace")

    asyncio.run(work())


# --- prime-runs ------------------------------------------------------------------------------------------------------


def opened(**how: Any) -> pr.Run:
    given = {"name": "interop", "environments": ["gsm8k"], "model": "m", "mode": "online", "on_error": "raise"}
    return pr.init(**{**given, **how})


def stored(run_id: str) -> dict[str, Any]:
    with pt.TracesClient() as client:
        return {each.episode_id: each for each in client.list_episodes(run_id=run_id, limit=100).items}


def evaluation(run_id: str) -> dict[str, Any]:
    found = prime_evals.EvalsClient(prime_evals.APIClient()).get_evaluation(run_id)
    return found.get("data", found)


@check
def runs_of_an_evaluation() -> None:
    config = FOLDER / "eval.toml"
    config.write_text('model = "m"\n')
    run = opened(config=config, tags=["a", "b"], description="words", framework="interop")
    episodes = objects(3)
    run.log_episodes(episodes[:2])
    run.log_episodes(episodes[2:])
    assert run.flush(30), "flush"
    run.finish({"avg_reward": 0.5})
    equal((pr.RunStatus.COMPLETED, 0, {}), (run.status, run.dropped_records, run.failed_records), "the end")
    equal({episode.id for episode in episodes}, set(stored(run.id)), "episodes")
    found = evaluation(run.id)
    equal("COMPLETED", found["status"], "status")
    equal(0.5, found["metrics"]["avg_reward"], "metrics")
    equal(["a", "b"], found["tags"], "tags")
    equal('model = "m"\n', found["metadata"]["config_source"]["text"], "the launch file")


@check
def runs_that_end_otherwise() -> None:
    for error, status in ((ValueError("broke"), "FAILED"), (KeyboardInterrupt(), "CANCELLED")):
        run = opened(on_error="warn")
        try:
            with run:
                run.log_episodes(objects(1))
                raise error
        except BaseException as raised:
            assert raised is error, raised
        equal(status, evaluation(run.id)["status"], "status")
        equal(1, len(stored(run.id)), "episodes")


@check
def runs_of_samples() -> None:
    run = opened(traces_opt_out=True)
    episodes = objects(3)
    run.log_episodes(episodes)
    run.finish()
    equal({}, run.failed_records, "failures")
    client = prime_evals.EvalsClient(prime_evals.APIClient())
    found = client.get_samples(run.id)
    equal({episode.id for episode in episodes}, {each["sample_id"] for each in found["samples"]}, "samples")
    expected = {each["sample_id"]: each for each in json.loads(json.dumps(pr.projection.build_samples(episodes)))}
    for sample in found["samples"]:
        mine = {name: value for name, value in expected[sample["sample_id"]].items() if name != "info"}
        equal(mine, {name: sample.get(name) for name in mine}, "a sample")


@check
def runs_that_are_attached() -> None:
    first = opened(on_error="warn")
    run = opened(id=first.id)
    assert run.attached
    run.log_episodes(objects(2))
    run.finish()
    equal("COMPLETED", evaluation(first.id)["status"], "status")
    equal(2, len(stored(first.id)), "episodes")
    first.finish()


@check
def runs_of_training() -> None:
    for opted_out in (False, True):
        run = opened(kind="train", team_id="a-team", training=pr.TrainingSpec(max_steps=5), traces_opt_out=opted_out)
        episodes = objects(3)
        run.log_metrics({"loss": 0.5}, step=0)
        run.log_episodes(episodes)
        run.log_metrics({"loss": 0.25}, step=10)
        assert run.flush(30), "flush"
        run.finish()
        equal((pr.RunStatus.COMPLETED, {}), (run.status, run.failed_records), "the end")
        if not opted_out:
            equal(3, len(stored(run.id)), "episodes")


# --- prime-evals -----------------------------------------------------------------------------------------------------


@check
def evals_calls() -> None:
    client = prime_evals.EvalsClient(prime_evals.APIClient())
    made = client.create_evaluation(
        "by hand", environments=[{"name": "gsm8k"}], model_name="m", dataset="d", framework="f", task_type="t",
        description="words", tags=["x"], metadata={"a": {"b": [1, 2.5, None, "é"]}}, metrics={"avg": 1},
    )  # fmt: skip
    name = made["evaluation_id"]
    samples = [{"example_id": number, "sample_id": f"s{number}", "odd": "\u0000 \U0001f600"} for number in range(250)]
    equal({"samples_pushed": 250, "samples_skipped": 0}, client.push_samples(name, samples, 4000), "pushed")
    read: list[dict[str, Any]] = []
    page = 1
    while True:
        found = client.get_samples(name, page=page, limit=100)
        read += found["samples"]
        if not found["hasMore"]:
            break
        page += 1
    equal(250, found["total"], "total")
    by_id = {each["sample_id"]: each for each in read}
    equal(250, len(by_id), "samples")
    for sample in samples:
        equal(sample, {key: by_id[sample["sample_id"]].get(key) for key in sample}, "a sample")
    client.update_evaluation(name, metadata={"c": 1}, tags=["y"])
    found = evaluation(name)
    equal(({"c": 1}, ["y"], "m"), (found["metadata"], found["tags"], found["model_name"]), "after an update")
    client.finalize_evaluation(name, {"avg": 2})
    found = evaluation(name)
    equal(("COMPLETED", 2), (found["status"], found["metrics"]["avg"]), "after the end")
    listed = client.list_evaluations(env_name="gsm8k", limit=100)
    assert name in {each["evaluation_id"] for each in listed["evaluations"]}, listed
    refused(prime_evals.APIError, lambda: client.get_evaluation("nobody"))
    refused(
        prime_evals.APIError,
        lambda: client.create_hosted_evaluation([found["environments"][0]["id"]], "m", {}),
    )


@check
def evals_calls_by_coroutines() -> None:
    async def work() -> None:
        async with prime_evals.AsyncEvalsClient() as client:
            made = await client.create_evaluation("by coroutines", environments=[{"name": "gsm8k"}])
            name = made["evaluation_id"]
            await client.push_samples(name, [{"sample_id": "s", "example_id": 1}])
            equal("s", (await client.get_samples(name))["samples"][0]["sample_id"], "a sample")
            await client.finalize_evaluation(name, {"avg": 2})
            found = await client.get_evaluation(name)
            equal("COMPLETED", found.get("data", found)["status"], "status")

    asyncio.run(work())


# --- verifiers -------------------------------------------------------------------------------------------------------


@check
def verifiers_eval_push() -> None:
    config = EvalConfig.model_validate({"model": "m", "run": {"name": "a push"}, "num_rollouts": 2})
    config.env.taskset.id = "gsm8k"
    state = platform.PushState()
    run = platform.open_run(config, state, num_examples=3)
    assert state.error is None and state.started, state.error
    episodes = objects(3)
    platform.log_episodes(run, episodes)
    platform.finish_run(run, episodes, state)
    assert state.finished and state.incomplete is None, (state.incomplete, state.error)
    equal({episode.id for episode in episodes}, set(stored(run.id)), "episodes")
    found = evaluation(run.id)
    equal("COMPLETED", found["status"], "status")
    metadata = found["metadata"]
    equal(("m", 3, 2), tuple(metadata[key] for key in ("model", "num_examples", "rollouts_per_example")), "the config")
    equal(pr.metrics.from_episodes(episodes)["avg_reward"], found["metrics"]["avg_reward"], "the average")
    state = platform.PushState()
    broken = platform.open_run(config.model_copy(deep=True, update={"run": type(config.run)()}), state, num_examples=3)
    platform.abort_run(broken, KeyboardInterrupt(), state)
    equal("CANCELLED", evaluation(broken.id)["status"], "status")


def results() -> Iterator[tuple[str, str | None]]:
    for function in CHECKS:
        try:
            function()
            yield function.__name__, None
        except Exception:
            yield function.__name__, traceback.format_exc()[-1800:]


if __name__ == "__main__":
    assert os.environ["PRIME_API_BASE_URL"].startswith("http://127.0.0.1:"), "nothing is sent elsewhere"
    assert os.environ["PRIME_TRACES_URL"].startswith("http://127.0.0.1:"), "nothing is sent elsewhere"
    for name, wrong in results():
        print(json.dumps([name, wrong]), flush=True)
