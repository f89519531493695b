"""`evh judge-score`: what it asks, what it writes, and how it stops and goes on."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import Evh
from judge_support import SCORER, graded, judged, judged_folder, rows, write_judge
from run_support import entered

from evh.protocol import models
from tests.soak import runs as soak
from tests.support.chat_server import ChatServer, Reply, answer
from tests.support.run_project import RunProject, listing


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    return entered(RunProject(tmp_path / "p", 3), monkeypatch)


@pytest.fixture
def judge(project: RunProject, server: ChatServer, evh: Evh) -> Path:
    """The scorer's file; there is a finished run to judge."""
    assert evh("run", "--config", project.config, "--run-id", "arm-x").code == 0
    return write_judge(project, server)


def test_a_verdict_for_each_row_beside_an_untouched_source(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    before = listing(project.runs)
    server.says(*graded(1, 0.5, 0))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert ran.code == 0 and "grade  0.5" in ran.out, ran
    assert listing(project.runs) == before
    run = judged(project)
    record = run.record
    assert record.scores["grade"] == 0.5 and record.scores["judge_cost_usd"] == 0.01
    assert record.scores["total_cost_usd"] == 0.75, "the judge's money is not the arm's"
    assert record.scores["judge_unparsed"] == 0 and "length" not in record.scores
    assert record.scores["size"] == 6 and record.primary_metric == "grade"
    assert record.metric_kinds["judge_cost_usd"] == "cost"
    block = record.derived
    assert isinstance(block, models.JudgeDerived) and block.from_ == "../runs/arm-x"
    assert (block.with_.scorer, block.with_.model, block.with_.models_seen) == ("helpful", "judge-1", {"scripted-1": 3})
    assert block.with_.params == {"base_url": server.url} and block.with_.file == "judge.py"
    assert record.created_at == block.at and record.source_created_at == project.run.record.created_at
    assert record.fingerprint.hash is None and record.fingerprint.hash_invalid_because
    source, made = rows(project.run), rows(run)
    for item_id in source:
        for name in ("latency_ms", "cost_usd", "tokens_in", "output_words", "_extra", "_output_sha256"):
            assert made[item_id][name] == source[item_id][name]
        assert run.output(item_id) == project.run.output(item_id)
    assert server.requests[0].body["messages"][-1]["content"] == "Grade this from 0 to 1: TEXT 0"
    assert not list(run.path.parent.glob(".*.judging"))


def test_b019_b104_a_reply_that_cannot_be_read_gives_no_metric_and_is_counted(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    server.says(*graded(1, "C", 0))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert ran.code == 0 and "grade  0.5 over 2 of 3" in ran.out and "1 reply could not be read" in ran.out
    made = rows(judged(project))
    assert "grade" not in made["i1"] and made["i1"]["judge_unparsed"] == 1 and made["i1"]["judge_cost_usd"] == 0.01
    assert all(("grade" in row) == (row["judge_unparsed"] == 0) for row in made.values())
    assert judged(project).record.scores["grade"] == 0.5


def test_b103_e60_failed_calls_are_counted_and_too_many_leave_no_record(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    server.says(*graded(0.84), Reply(400, {"error": "no"}), Reply(400, {"error": "no"}))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert ran.code == 3 and "grade  0.84 over 1 of 3" in ran.out and "warning: 2 of 3 calls failed" in ran.out
    assert not judged_folder(project).exists() and "--resume" in ran.out
    server.says(*graded(0.5), Reply(400, {"error": "no"}))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1", "--resume", "--max-failed", "0.5")
    assert ran.code == 0, ran
    made = rows(judged(project))
    assert "grade" not in made["i2"] and "judge_unparsed" not in made["i2"] and "judge_cost_usd" not in made["i2"]
    assert judged(project).record.scores["grade"] == pytest.approx(0.67)
    (error,) = judged(project).errors()
    assert error.item_id == "i2" and "no" in error.message


def test_the_cap_stops_and_a_resume_asks_for_nothing_twice(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    server.says(*graded(1, 0, 0.5))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1", "--max-cost-usd", "0.02", "--json")
    assert ran.code == 3 and ran.json["runs"][0]["stopped"]["reason"] == "cap" and len(server.requests) == 2
    assert ran.json["runs"][0]["stopped"]["resume"].endswith("--resume")
    refused = evh("judge-score", "--scorer", judge)
    assert refused.code == 1 and "--resume" in refused.err and len(server.requests) == 2
    done = evh("judge-score", "--scorer", judge, "--resume", "--json")
    assert done.code == 0 and len(server.requests) == 3
    assert (done.json["runs"][0]["replies"], done.json["runs"][0]["asked"]) == (3, 1)
    assert judged(project).record.scores["grade"] == 0.5
    again = evh("judge-score", "--scorer", judge, "--json")
    assert again.code == 0 and again.json["judged_before"] == ["data/runs/arm-x"] and len(server.requests) == 3


def test_e61_another_prompt_under_one_scorer_id_is_refused(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    write_judge(project, server, SCORER.replace("Grade this", "Mark this"))
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "new SCORER_ID" in ran.err and len(server.requests) == 3
    write_judge(project, server, "# a remark\n" + SCORER)
    assert evh("judge-score", "--scorer", judge).code == 0, "a remark changes no score"


def test_e61_a_stopped_pass_is_not_gone_on_with_by_another_prompt(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    server.says(*graded(1))
    assert evh("judge-score", "--scorer", judge, "--concurrency", "1", "--max-cost-usd", "0.01").code == 3
    write_judge(project, server, SCORER.replace("judge-1", "judge-2"))
    ran = evh("judge-score", "--scorer", judge, "--resume")
    assert ran.code == 1 and "another prompt, model or setting" in ran.err and len(server.requests) == 1


def test_a_parser_that_fails_stops_and_its_repair_costs_nothing(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    write_judge(project, server, SCORER.replace("return {", "return {}[1] and {"))
    server.says(*graded(1))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert ran.code == 3 and "parse failed: KeyError" in ran.out and len(server.requests) == 1
    write_judge(project, server)
    server.says(*graded(0, 0.5))
    assert evh("judge-score", "--scorer", judge, "--resume").code == 0
    assert len(server.requests) == 3 and judged(project).record.scores["grade"] == 0.5


@pytest.mark.parametrize("scorer_id", ["a/b", "..", "", "x" * 101, "../helpful"])
def test_e62_a_scorer_id_that_is_no_folder_name_is_refused(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path, scorer_id: str
) -> None:
    write_judge(project, server, SCORER.replace('"helpful"', json.dumps(scorer_id)))
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "SCORER_ID" in ran.err and not server.requests


def test_b017_judging_a_judged_run_stands_beside_it(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    first = listing(judged_folder(project))
    monkeypatch.setenv("EVAL_RUNS_DIR", "data/runs-judged/helpful")
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "originals are never touched" in ran.err
    write_judge(project, server, SCORER.replace("helpful", "second").replace('"grade"', '"mark"'))
    server.says(*graded(0, 0, 0))
    assert evh("judge-score", "--scorer", judge).code == 0
    assert listing(judged_folder(project)) == first
    record = judged(project, "second").record
    assert record.scores["mark"] == 0 and "grade" not in record.scores
    assert record.derived.from_ == "../helpful/arm-x" or record.derived.from_.endswith("helpful/arm-x")
    assert record.derived.source.with_.scorer == "helpful"


def test_items_that_failed_when_measured_are_not_judged(evh: Evh, project: RunProject, server: ChatServer) -> None:
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(text.replace("    told(text)", "    told(text)\n    assert text != 'text 1'"), "utf-8")
    assert evh("run", "--config", project.config, "--keep-going", "--run-id", "arm-x").code == 3
    assert evh("run", "--resume", "--accept-failures").code == 0
    judge = write_judge(project, server)
    server.says(*graded(1, 0))
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 0 and "1 item failed when measured: not judged" in ran.out and "over 2 of 3" in ran.out
    assert judged(project).record.n_errors == 1 and len(server.requests) == 2
    assert "judge_unparsed" not in rows(judged(project))["i1"]


def test_messages_references_and_sources_reach_the_judge(
    evh: Evh, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = entered(RunProject(tmp_path / "q", 2, references={"i0": "R0"}), monkeypatch)
    assert evh("run", "--config", project.config, "--run-id", "arm-x").code == 0
    text = SCORER.replace(
        "return QUESTION + output",
        'return [{"role": "system", "content": "be strict"}, {"role": "user", "content": "a"}, '
        '{"role": "assistant", "content": "b"}, {"role": "user", "content": f"{output}|{reference}|{source_text}"}]',
    )
    judge = write_judge(project, server, text)
    server.says(*graded(1, 1))
    assert evh("judge-score", "--scorer", judge, "--concurrency", "1").code == 0
    asked = [each.body["messages"] for each in server.requests]
    assert [each["role"] for each in asked[0]] == ["system", "user", "assistant", "user"]
    assert [each[-1]["content"] for each in asked] == ["TEXT 0|R0|text 0", "TEXT 1|None|text 1"]
    coverage = judged(project).record.reference_coverage
    assert (coverage.items_with_reference, coverage.items) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def parse", "def read", "parse(reply)"),
        ("def prompt(", "def ask(", "prompt("),
        ('"model": "judge-1", ', "", "PARAMS"),
        ('"base_url"', '"base_ulr"', "did you mean base_url"),
        ('"base_url": "URL"', '"base_url": "URL", "prompt": "x {text}"', "PARAMS has no prompt"),
        ('METRIC_KINDS = {"grade"', 'METRIC_KINDS = {"judge_cost_usd"', "written and declared by the harness"),
        ("def parse(reply):", "def parse(reply):\n    return 1\n", None),
        ('{"grade": float', '{"size": float', None),
        ('{"grade": float', '{"judge_cost_usd": float', None),
        ("return QUESTION + output", 'return ""', None),
    ],
)
def test_what_is_wrong_with_a_scorer_is_told(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path, old: str, new: str, said: str | None
) -> None:
    assert old in SCORER
    write_judge(project, server, SCORER.replace(old, new))
    server.says(*graded(1, 1, 1))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert "Traceback" not in ran.err + ran.out
    if said is not None:
        assert ran.code in (1, 2) and said in ran.err and not server.requests
    else:
        assert ran.code == 3 and "judge.py" in ran.out and len(server.requests) <= 1


def test_nothing_meant_and_wrong_usage(evh: Evh, project: RunProject, judge: Path) -> None:
    assert evh("judge-score").code == 2
    assert evh("judge-score", "--scorer", judge, "--max-failed", "2").code == 2
    ran = evh("judge-score", "--scorer", judge, "--dataset-id", "other")
    assert ran.code == 1 and "no finished run" in ran.err
    assert evh("judge-score", "--scorer", "nowhere.py").code == 1


def test_a_key_stands_nowhere(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-very-secret-key")
    write_judge(project, server, SCORER.replace('"URL"', '"URL", "api_key_env": "JUDGE_KEY"'))
    server.says(answer("sk-very-secret-key GRADE: 1"), *graded(1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    assert server.requests[0].headers["Authorization"] == "Bearer sk-very-secret-key"
    for path in (project.root / "data").rglob("*"):
        assert path.is_dir() or b"sk-very-secret" not in path.read_bytes(), path


EPISODES = SCORER.replace(
    "def prompt(output, reference=None, source_text=None):", "def prompt_episode(episode):"
).replace("QUESTION + output", "QUESTION + episode.traces[0].nodes[0].message.content")


def test_a_judge_sees_the_whole_episode(
    evh: Evh, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"episodes": True, "longest": 0}
    project = entered(RunProject(tmp_path / "e", 2, adapter=soak.ADAPTER, params=params), monkeypatch)
    assert evh("run", "--config", project.config, "--run-id", "arm-x", "--concurrency", "1").code == 0
    judge = write_judge(project, server, EPISODES)
    server.says(*graded(1, 0))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert ran.code == 0, ran
    assert [each.body["messages"][-1]["content"][-6:] for each in server.requests] == ["text 0", "text 1"]
    assert judged(project).record.scores["grade"] == 0.5 and "exact" not in judged(project).record.scores
    assert len(list(judged(project).episodes())) == 2, "the episodes are there to be judged again"


def test_a_judge_of_episodes_refuses_runs_without_them(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    write_judge(project, server, EPISODES)
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "no episodes" in ran.err and not server.requests


def test_an_interrupt_keeps_what_was_paid(project: RunProject, server: ChatServer, judge: Path) -> None:
    server.says(*graded(1), graded(0)[0]._replace(hangs=True))
    with project.start("judge-score", "--scorer", judge, "--concurrency", "1") as child:
        for _ in range(2):
            assert server.arrived.acquire(timeout=30)
        child.send_signal(signal.SIGINT)
        assert child.stderr is not None
        assert any(line.startswith("stopping") for line in child.stderr)
        folder = judged_folder(project).with_name(".arm-x.judging")
        assert len((folder / "verdicts.jsonl").read_bytes().splitlines()) == 1
        server.release()
        out, error = child.communicate(timeout=30)
    assert child.returncode == 3 and "interrupted" in out, (out, error)
    kept = [json.loads(line)["item_id"] for line in (folder / "verdicts.jsonl").read_bytes().splitlines()]
    assert kept == ["i0", "i1"] and len(server.requests) == 2, "the call that ran was waited for and kept"
    server.says(*graded(0.5))
    assert project.process("judge-score", "--scorer", judge, "--resume").returncode == 0
    assert len(server.requests) == 3 and judged(project).record.scores["grade"] == 0.5


def test_b101_a_second_pass_over_one_run_is_refused(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    server.says(graded(1)[0]._replace(hangs=True), *graded(1, 1))
    with project.start("judge-score", "--scorer", judge, "--concurrency", "1") as child:
        assert server.arrived.acquire(timeout=30)
        ran = evh("judge-score", "--scorer", judge, "--resume")
        assert ran.code == 1 and "is being written by" in ran.err and len(server.requests) == 1
        server.release()
        child.communicate(timeout=30)
    assert child.returncode == 0


def test_an_endpoint_that_refuses_everything_is_not_asked_for_ever(
    evh: Evh, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = entered(RunProject(tmp_path / "many", 40), monkeypatch)
    assert evh("run", "--config", project.config, "--run-id", "arm-x").code == 0
    judge = write_judge(project, server)
    server.says(*[Reply(401, {"error": {"message": "bad key"}})] * 40)
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "2")
    assert ran.code == 3 and "every call fails" in ran.out and "bad key" in ran.out
    assert 20 <= len(server.requests) <= 22


def test_e51_a_newer_member_of_the_source_is_not_copied(
    evh: Evh, project: RunProject, server: ChatServer, judge: Path
) -> None:
    path = project.run.path / "metrics.json"
    path.write_text(path.read_text("utf-8").replace('"adapter":', '"of_the_future": 1, "adapter":', 1), "utf-8")
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    assert "of_the_future" not in (judged_folder(project) / "metrics.json").read_text("utf-8")


def test_what_is_written_is_valid(evh: Evh, project: RunProject, server: ChatServer, judge: Path) -> None:
    server.says(*graded(1, "C", 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    ran = evh("validate")
    assert ran.code == 0, ran.out
