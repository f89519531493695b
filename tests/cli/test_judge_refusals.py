"""`evh judge-score`: what is refused before anything is asked, and replies that are never mixed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_support import Evh
from judge_support import SCORER, graded, judged, judged_folder, rows, write_judge
from run_support import entered

from tests.soak import runs as soak
from tests.support.chat_server import ChatServer, Reply, answer
from tests.support.run_project import RunProject, listing

WITH_REFERENCE = SCORER.replace("reference=None, source_text=None", "reference=None").replace(
    "QUESTION + output", "f'{output}|{reference}'"
)
WITH_SOURCE = SCORER.replace("reference=None, source_text=None", "source_text=None")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evh: Evh) -> RunProject:
    """A finished run of three items with references."""
    made = RunProject(tmp_path / "p", 3, references={f"i{n}": f"R{n}" for n in range(3)})
    entered(made, monkeypatch)
    assert evh("run", "--config", made.config, "--run-id", "arm-x").code == 0
    return made


def edit_reference(project: RunProject) -> None:
    (project.root / "data" / "references" / "gold" / "small" / "i1.txt").write_text("EDITED", "utf-8")


def test_replies_about_other_references_are_not_mixed(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server, WITH_REFERENCE)
    server.says(*graded(1))
    assert evh("judge-score", "--scorer", judge, "--concurrency", "1", "--max-cost-usd", "0.01").code == 3
    edit_reference(project)
    ran = evh("judge-score", "--scorer", judge, "--resume")
    assert ran.code == 1 and "other references" in ran.err and len(server.requests) == 1


def test_a_run_that_was_judged_against_other_references_is_no_run_of_this_judge(
    evh: Evh, project: RunProject, server: ChatServer
) -> None:
    judge = write_judge(project, server, WITH_REFERENCE)
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    assert evh("judge-score", "--scorer", judge, "--json").json["judged_before"] == ["data/runs/arm-x"]
    edit_reference(project)
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "was judged against 'gold/small' as it was then" in ran.err and len(server.requests) == 3


def test_e29_references_that_changed_since_the_measurement_are_told(
    evh: Evh, project: RunProject, server: ChatServer
) -> None:
    judge = write_judge(project, server, WITH_REFERENCE)
    edit_reference(project)
    server.says(*graded(1, 1, 1))
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 0 and "references changed: gold/small has other files than at measurement" in ran.out
    data = judged(project).record.fingerprint.data
    assert data.references_sha256_at_measurement == project.run.record.fingerprint.data.references_sha256


def test_e28_e30_another_set_and_back_is_held_against_the_first(
    evh: Evh, project: RunProject, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = project.root / "data" / "references"
    silver = references / "silver" / "small"
    silver.mkdir(parents=True)
    (silver / "i0.txt").write_text("silver", "utf-8")
    (references / "gold").rename(references / "away")
    server.says(*graded(1, 1, 1, 1, 1, 1))
    assert evh("judge-score", "--scorer", write_judge(project, server, WITH_REFERENCE)).code == 0
    data = judged(project).record.fingerprint.data
    assert (data.reference_id, data.reference_id_at_measurement) == ("silver/small", "gold/small")
    assert data.references_sha256_at_measurement is None, "another set is no change of the files of one"
    (references / "away").rename(references / "gold")
    edit_reference(project)
    monkeypatch.setenv("EVAL_RUNS_DIR", "data/runs-judged/helpful")
    judge = write_judge(project, server, WITH_REFERENCE.replace("helpful", "back"))
    assert "references changed: gold/small" in evh("judge-score", "--scorer", judge).out


def test_replies_about_other_source_texts_are_not_mixed(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server, WITH_SOURCE)
    server.says(*graded(1))
    assert evh("judge-score", "--scorer", judge, "--concurrency", "1", "--max-cost-usd", "0.01").code == 3
    project.items["i2"] = "another text"
    project.freeze()
    ran = evh("judge-score", "--scorer", judge, "--resume")
    assert ran.code == 1 and "source texts" in ran.err and len(server.requests) == 1


def test_e43_a_model_that_holds_the_key_is_masked(
    evh: Evh, project: RunProject, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-very-secret-key")
    text = SCORER.replace("judge-1", "org/sk-very-secret-key").replace('"URL"', '"URL", "api_key_env": "JUDGE_KEY"')
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", write_judge(project, server, text)).code == 0
    for path in (project.root / "data").rglob("*"):
        assert path.is_dir() or b"sk-very-secret" not in path.read_bytes(), path


@pytest.mark.parametrize("wants", [SCORER, WITH_REFERENCE])
def test_an_output_that_is_not_what_its_row_says_is_not_judged(
    evh: Evh, project: RunProject, server: ChatServer, wants: str
) -> None:
    judge = write_judge(project, server, wants)
    [path] = (project.run.path / "outputs").glob("*i2*")
    path.write_text("edited", "utf-8")
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "was changed since it was written" in ran.err and not server.requests
    path.unlink()
    path.symlink_to(judge)
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "links are not followed" in ran.err and not server.requests


def test_a_source_text_that_changed_is_refused(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server, WITH_SOURCE)
    (project.root / "data" / "materialized" / "small" / "source-2.txt").write_text("edited", "utf-8")
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and not server.requests


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_what_stands_in_the_place_of_the_run_is_refused_before_it_is_paid(
    evh: Evh, project: RunProject, server: ChatServer, what: str
) -> None:
    judge = write_judge(project, server)
    place = judged_folder(project)
    place.parent.mkdir(parents=True)
    if what == "folder":
        place.mkdir()
        (place / "notes.txt").write_text("mine", "utf-8")
    elif what == "file":
        place.write_text("mine", "utf-8")
    else:
        place.symlink_to("nowhere")
    before = listing(place.parent)
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "stands where the judged run belongs" in ran.err and not server.requests
    assert listing(place.parent) == before


@pytest.mark.parametrize("link", ["data/runs-judged", "data/runs-judged/helpful"])
def test_e15_e17_a_folder_that_leads_into_the_sources_is_refused(
    evh: Evh, project: RunProject, server: ChatServer, link: str
) -> None:
    judge = write_judge(project, server)
    path = project.root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(project.run.path)
    before = listing(project.runs)
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "originals are never touched" in ran.err and not server.requests
    assert listing(project.runs) == before


def deepened(project: RunProject, depth: int) -> None:
    """Make the run one that was derived that many times over."""
    block: dict[str, Any] = {}
    for number in range(depth):
        block = {
            "kind": "rescore", "from": f"d{number}/arm-x", "at": f"2026-10-04T08:{number // 60:02}:{number % 60:02}Z",
            "with": {"adapter": "a.py", "sha256": "a" * 64}, **({"source": block} if block else {}),
        }  # fmt: skip
    path = project.run.path / "metrics.json"
    record = json.loads(path.read_bytes()) | {"derived": block, "source_created_at": "2026-10-04T08:00:00Z"}
    path.write_text(json.dumps(record), "utf-8")


def test_a_run_that_cannot_be_derived_from_again_is_refused_before_it_is_paid(
    evh: Evh, project: RunProject, server: ChatServer
) -> None:
    judge = write_judge(project, server)
    deepened(project, 64)
    ran = evh("judge-score", "--scorer", judge)
    assert ran.code == 1 and "derived 64 times over" in ran.err and not server.requests
    deepened(project, 63)
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0


def test_extras_with_a_name_of_the_judges_own_are_refused(
    evh: Evh, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = entered(RunProject(tmp_path / "q", 2), monkeypatch)
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(text.replace('"size"', '"judge_unparsed"'), "utf-8")
    assert evh("run", "--config", project.config, "--run-id", "arm-x").code == 0
    ran = evh("judge-score", "--scorer", write_judge(project, server))
    assert ran.code == 1 and "judge_unparsed in `_extra`" in ran.err and not server.requests


def test_one_run_that_is_refused_stops_the_others_before_they_are_paid(
    evh: Evh, project: RunProject, server: ChatServer
) -> None:
    judge = write_judge(project, server, WITH_REFERENCE)
    assert evh("run", "--config", project.config, "--run-id", "arm-a").code == 0
    server.says(*graded(1))
    stopped = ("--match", "arm-x", "--concurrency", "1", "--max-cost-usd", "0.01")
    assert evh("judge-score", "--scorer", judge, *stopped).code == 3
    edit_reference(project)
    ran = evh("judge-score", "--scorer", judge, "--resume")
    assert ran.code == 1 and "other references" in ran.err and len(server.requests) == 1


EPISODES = SCORER.replace(
    "def prompt(output, reference=None, source_text=None):", "def prompt_episode(episode):"
).replace("QUESTION + output", "'x'")


@pytest.mark.parametrize(("change", "said"), [("twice", "several episodes"), ("gone", "1 rows have no episode")])
def test_episodes_that_give_no_single_verdict_are_refused_before_they_are_paid(
    evh: Evh, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch, change: str, said: str
) -> None:
    params = {"episodes": True, "longest": 0}
    project = entered(RunProject(tmp_path / "e", 2, adapter=soak.ADAPTER, params=params), monkeypatch)
    assert evh("run", "--config", project.config, "--run-id", "arm-x", "--concurrency", "1").code == 0
    traces = project.run.path / "traces.jsonl"
    one, two = traces.read_bytes().splitlines(keepends=True)
    traces.write_bytes(one + two + two if change == "twice" else one)
    ran = evh("judge-score", "--scorer", write_judge(project, server, EPISODES))
    assert ran.code == 1 and said in ran.err and not server.requests


def test_a_folder_without_a_reply_stops_nobody(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server)
    assert evh("judge-score", "--scorer", judge, "--max-cost-usd", "0").code == 3
    write_judge(project, server, SCORER.replace("judge-1", "judge-2"))
    server.says(*graded(1, 1, 1))
    assert evh("judge-score", "--scorer", judge).code == 0
    assert judged(project).record.derived.with_.model == "judge-2"


def test_a_reply_with_half_a_surrogate_pair_is_kept_and_read(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server)
    server.says(answer("\ud83d GRADE: 1"), answer("\u2028\x00\x85 GRADE: 1"), *graded(1))
    assert evh("judge-score", "--scorer", judge, "--concurrency", "1").code == 0
    assert judged(project).record.scores["grade"] == 1 and evh("validate").code == 0


def test_replies_that_were_cut_off_are_counted(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server)
    server.says(answer("GRADE: 0", finish="length"), *graded(1, 1))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1")
    assert ran.code == 0 and "1 reply cut off at the token limit" in ran.out


def test_coverage_counts_every_row(
    evh: Evh, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = entered(RunProject(tmp_path / "q", 3, references={"i0": "R", "i1": "R"}), monkeypatch)
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(text.replace("    told(text)", "    told(text)\n    assert text != 'text 1'"), "utf-8")
    assert evh("run", "--config", project.config, "--keep-going", "--run-id", "arm-x").code == 3
    assert evh("run", "--resume", "--accept-failures").code == 0
    server.says(*graded(1, 1))
    ran = evh("judge-score", "--scorer", write_judge(project, server, WITH_REFERENCE))
    assert ran.code == 0 and "2 of 3 items have a reference" in ran.out
    found, source = (run.record.reference_coverage for run in (judged(project), project.run))
    assert (found.items_with_reference, found.items) == (source.items_with_reference, source.items) == (2, 3)


@pytest.mark.parametrize(
    "bad",
    [
        Reply(200, b'{"choices": [{"mess', promised=500),
        Reply(200, b"<html>"),
        Reply(200, {"choices": []}),
        Reply(500, {"error": "boom"}),
        Reply(429, {"error": "slow"}),
        Reply(200, {"error": {"message": "dead", "code": 503}}),
    ],
)
def test_a_bad_reply_is_a_failure_of_its_row_alone(
    evh: Evh, project: RunProject, server: ChatServer, bad: Reply
) -> None:
    judge = write_judge(project, server)
    server.says(bad, *graded(1, 0))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "1", "--max-failed", "0.5")
    assert ran.code == 0 and "grade  0.5 over 2 of 3" in ran.out and "1 of 3 calls failed" in ran.out
    assert "judge_unparsed" not in rows(judged(project))["i0"]


def test_an_interrupt_before_anything_was_kept_is_130(project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server)
    server.says(Reply(400, {"error": "no"})._replace(hangs=True))
    with project.start("judge-score", "--scorer", judge, "--concurrency", "1") as child:
        assert server.arrived.acquire(timeout=30)
        child.send_signal(signal.SIGINT)
        assert child.stderr is not None
        assert any(line.startswith("stopping") for line in child.stderr)
        server.release()
        out, error = child.communicate(timeout=30)
    assert child.returncode == 130 and "interrupted" in out, (out, error)


def test_the_cap_lets_one_call_tell_the_price_before_others_run(
    evh: Evh, project: RunProject, server: ChatServer
) -> None:
    judge = write_judge(project, server)
    server.says(*graded(1, 1, 1, cost=0.5))
    ran = evh("judge-score", "--scorer", judge, "--concurrency", "3", "--max-cost-usd", "0.01")
    assert ran.code == 3 and "cost cap" in ran.out and len(server.requests) == 1
    assert evh("judge-score", "--scorer", judge, "--concurrency", "3", "--max-cost-usd", "9", "--resume").code == 0
    assert len(server.requests) == 3


def test_the_command_that_goes_on_keeps_what_was_chosen(evh: Evh, project: RunProject, server: ChatServer) -> None:
    judge = write_judge(project, server)
    options = ("--max-failed", "0.5", "--match", "arm x", "--dataset-id", "small")
    assert evh("run", "--config", project.configure(config_id="arm x"), "--run-id", "spaced").code == 0
    ran = evh("judge-score", "--scorer", judge, *options, "--max-cost-usd", "0", "--json")
    command = ran.json["runs"][0]["stopped"]["resume"]
    assert ran.code == 3 and all(part in command for part in ("--max-failed 0.5", "--match 'arm x'", "--resume"))
