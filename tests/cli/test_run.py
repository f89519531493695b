"""`evh run`: what it measures, what it prints, what it refuses before anything is paid."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_support import Evh
from run_support import entered

from evh.store import open_run_dir
from tests.support.run_project import ADAPTER, RunProject, listing


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    return entered(RunProject(tmp_path / "p", 4), monkeypatch)


# What a run is


def test_a_run_is_measured_and_told(evh: Evh, project: RunProject) -> None:
    ran = evh("run", "--config", project.config)
    path = project.run.path
    assert ran.code == 0
    assert ran.err == f"run data/runs/{path.name}: 4 items to measure\n"
    assert ran.out.startswith(f"✓ data/runs/{path.name}: 4 items, $1 paid")
    assert re.search(r"^  total_cost_usd +1\b", ran.out, re.MULTILINE)
    assert sorted(each.name for each in path.iterdir()) == [
        "attempts.jsonl", "metrics.json", "outputs", "predictions.jsonl", "run.json",
    ]  # fmt: skip
    assert project.run.output("i1") == "TEXT 1"
    assert re.fullmatch(r"arm_\d{8}T\d{6}Z", path.name)
    evh("run", "--config", f"@{project.config}")
    assert len(list(project.runs.iterdir())) == 2


def test_the_outcome_as_data(evh: Evh, project: RunProject) -> None:
    good = evh("run", "--config", project.config, "--run-id", "one", "--json")
    assert good.code == 0
    (run,) = good.json["runs"]
    assert good.json["ok"] and run["ok"]
    assert {name: run[name] for name in ("run_id", "path", "items", "done", "failed", "cost_usd", "stopped")} == {
        "run_id": "one", "path": "data/runs/one", "items": 4, "done": 4, "failed": 0, "cost_usd": 1.0, "stopped": None,
    }  # fmt: skip
    assert run["scores"]["length"] == 6 and run["counts"]["length"] == 4
    bad = evh("run", "--config", project.config, "--run-id", "two", "--max-cost-usd", "0.5", "--json")
    assert bad.code == 3
    (run,) = bad.json["runs"]
    assert (bad.json["ok"], run["ok"], run["done"], run["scores"]) == (False, False, 2, None)
    assert run["stopped"] == {
        "reason": "cap", "message": "the cost cap was reached", "resume": "evh run --resume two",
    }  # fmt: skip
    for arguments in (["--config", "none.yaml"], ["--resume", "none"]):
        refused = evh("run", *arguments, "--json")
        assert refused.code == 1
        assert refused.json["ok"] is False and refused.json["error"]["message"]
    dry = evh("run", "--config", project.config, "--dry-run", "--json")
    assert dry.json["calls"] == 4
    assert evh("run", "--resume", "one", "--json").json == {"ok": True, "runs": []}


def test_a_dry_run_calls_nothing_and_creates_nothing(evh: Evh, project: RunProject) -> None:
    project.configure(max_tokens=100, usd_per_mtok_in=1, usd_per_mtok_out=10)
    before = listing(project.root)
    ran = evh("run", "--config", project.config, "--dry-run", "--repeat", "3", "--limit", "2")
    assert ran.code == 0
    assert "6 calls (2 items, 3 passes)" in ran.out
    assert "about 9 tokens in" in ran.out
    assert "at most 600 tokens out" in ran.out
    assert "at most $0.006" in ran.out
    project.configure()
    assert "cost unknown" in evh("run", "--config", project.config, "--dry-run").out
    after = listing(project.root)
    assert {k: v for k, v in before.items() if k != "data/configs/arm.yaml"} == {
        k: v for k, v in after.items() if k != "data/configs/arm.yaml" and "__pycache__" not in k
    }
    assert project.calls == []


def test_repeats_are_runs_of_their_own_with_the_spread_between_them(evh: Evh, project: RunProject) -> None:
    ran = evh("run", "--config", project.config, "--repeat", "3", "--run-id", "x")
    assert ran.code == 0
    assert sorted(path.name for path in project.runs.iterdir()) == ["x_r1", "x_r2", "x_r3"]
    records = [open_run_dir(path).record for path in sorted(project.runs.iterdir())]
    assert [each.repeat_index for each in records if each is not None] == [1, 2, 3]
    assert [each.params["seed"] for each in records if each is not None] == [0, 1, 2]
    assert re.search(r"\bspread\b", ran.out)
    assert len(project.calls) == 12


def test_b110_e20_b092_the_clock_goes_back_and_the_zone_is_another(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    started = iter(range(10**6))

    def stamps() -> str:  # each call is a second earlier
        return f"2026-10-04T08:15:{59 - next(started) % 60:02d}Z"

    for module in ("run_attempt", "setup", "measuring"):
        monkeypatch.setattr(f"evh.harness.{module}.now", stamps)
    for module in ("record", "lease"):
        monkeypatch.setattr(f"evh.store.{module}.now", stamps)
    try:
        assert evh("run", "--config", project.config).code == 0
    finally:
        monkeypatch.undo()
        time.tzset()
    run = project.run
    assert run.record is not None and run.manifest is not None
    assert run.record.created_at < run.manifest.started_at
    assert all(stored.row.latency_ms is not None and stored.row.latency_ms >= 0 for stored in run.rows())


def test_b092_times_are_utc_wherever_it_runs(evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert evh("run", "--config", project.config).code == 0
    finally:
        monkeypatch.undo()
        time.tzset()
    record = project.run.record
    assert record is not None and record.created_at.endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(record.created_at)) < timedelta(minutes=5)
    stamp = datetime.strptime(project.run.path.name[-16:], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - stamp) < timedelta(minutes=5)


# What is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--config"),
        (["--config", "{c}", "--repeat", "0"], "whole number from 1"),
        (["--config", "{c}", "--repeat", "two"], "whole number from 1"),
        (["--config", "{c}", "--concurrency", "-1"], "whole number from 1"),
        (["--config", "{c}", "--concurrency", "1.5"], "whole number from 1"),
        (["--config", "{c}", "--limit", "0"], "whole number from 1"),
        (["--config", "{c}", "--limit", "9" * 400], "whole number from 1"),
        (["--config", "{c}", "--max-cost-usd", "-1"], "US dollars"),
        (["--config", "{c}", "--max-cost-usd", "nan"], "US dollars"),
        (["--config", "{c}", "--max-cost-usd", "much"], "US dollars"),
        (["--config", "{c}", "--fsync", "often"], "often"),
        (["--config", "{c}", "--run-id", "../x"], "run id"),
        (["--config", "{c}", "--run-id", ""], "is empty"),
        (["--config", "{c}", "--root", "nowhere"], "not a folder"),
        (["--config", "{c}", "--accept-failures"], "goes with --resume"),
        (["--config", "{c}", "--take-over"], "goes with --resume"),
        (["--config", "{c}", "--force"], "goes with --resume"),
        (["--config", "{c}", "--config", "{c}"], "--config"),
        (["--config", "{c}", "--no-such"], "--no-such"),
        (["--resume", "--limit", "3"], "cannot be changed by --resume"),
        (["--resume", "--repeat", "3"], "cannot be changed by --resume"),
        (["--resume", "--run-id", "x"], "cannot be changed by --resume"),
        (["--resume", "--dry-run"], "--dry-run is for a config"),
    ],
)
def test_wrong_usage_is_one_line_and_2(evh: Evh, project: RunProject, arguments: list[str], said: str) -> None:
    ran = evh("run", *(each.replace("{c}", str(project.config)) for each in arguments))
    assert ran.code == 2, ran
    assert ran.out == ""
    first, second = ran.err.splitlines()
    assert first.startswith("evh run: ") and said in first
    assert second == "Try `evh run --help`."
    assert not project.runs.exists()
    assert project.calls == []


@pytest.mark.parametrize("text", ["-1", "much", "inf"])
def test_a_cap_in_the_environment_that_makes_no_sense_is_refused(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("EVAL_MAX_COST_USD", text)
    ran = evh("run", "--config", project.config)
    assert ran.code == 2 and "EVAL_MAX_COST_USD" in ran.err
    assert project.calls == []


@pytest.mark.parametrize(("name", "text"), [("EVAL_MAX_RETRIES", "0"), ("EVAL_RETRY_MAX_DELAY", "soon")])
def test_settings_of_retries_that_make_no_sense_are_refused_before_there_is_a_run(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(name, text)
    ran = evh("run", "--config", project.config)
    assert ran.code == 2 and name in ran.err
    assert not project.runs.exists()


def test_what_cannot_be_measured_is_refused_before_there_is_a_run(evh: Evh, project: RunProject) -> None:
    cases: list[tuple[str, str, str]] = [
        ("adapter", "def call_system(text):\n    return text\n", "call_system"),
        ("adapter", "def score(output, reference):\n    return {}\n", "call_system"),
        ("adapter", "this is no Python", "adapter.py"),
        ("adapter", ADAPTER + "\ndef warmup(params):\n    raise RuntimeError('no model')\n", "nothing was run"),
        ("config", "config_id: arm\ndataset_id: small\nadaptor: x\n", "adaptor"),
        ("config", "config_id: arm\ndataset_id: other\nadapter: adapter.py\n", "other"),
        ("dataset", json.dumps({"dataset_id": "small", "version": "1.0", "created_at": "2026-10-04T08:15:30Z",
                                "items": []}), "items"),
    ]  # fmt: skip
    for what, text, said in cases:
        path: Path = getattr(project, what)
        before = path.read_text()
        path.write_text(text)
        ran = evh("run", "--config", project.config)
        assert ran.code in (1, 2), (what, ran)
        assert said in ran.err and "Traceback" not in ran.err, ran.err
        path.write_text(before)
    assert not project.runs.exists()
    assert project.calls == []


def test_e4_b007_an_item_that_stands_twice_is_refused(evh: Evh, project: RunProject) -> None:
    project.freeze(repeated="i1")
    ran = evh("run", "--config", project.config)
    assert ran.code == 1 and "i1" in ran.err
    assert not project.runs.exists()


def test_a_run_id_that_is_taken_is_refused(evh: Evh, project: RunProject) -> None:
    assert evh("run", "--config", project.config, "--run-id", "x").code == 0
    before = listing(project.runs)
    ran = evh("run", "--config", project.config, "--run-id", "x")
    assert ran.code == 1 and "is there already" in ran.err
    assert listing(project.runs) == before
    assert len(project.calls) == 4


def test_what_a_config_says_wrong_is_refused_with_1_and_nothing_is_made(evh: Evh, project: RunProject) -> None:
    ran = evh("run", "--config", "none.yaml")
    assert ran.code == 1 and "none.yaml" in ran.err and "Try" not in ran.err
    project.configure(usd_per_mtok_in=-1, usd_per_mtok_out=1)
    ran = evh("run", "--config", project.config)
    assert ran.code == 1 and "usd_per_mtok_in" in ran.err and project.calls == []
    assert not project.runs.exists()


def test_a_copy_that_is_missing_or_changed_is_refused_before_the_first_call(evh: Evh, project: RunProject) -> None:
    (copy,) = (project.root / "data" / "materialized" / "small").glob("*3*")
    copy.write_text("changed")
    ran = evh("run", "--config", project.config)
    assert ran.code == 1 and "i3" in ran.err and "changed" in ran.err
    copy.unlink()
    assert evh("run", "--config", project.config).code == 1
    assert project.calls == [] and not project.runs.exists()


def test_a_secret_in_an_adapter_that_fails_to_load_is_not_shown(
    evh: Evh, project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk-canary-0123456789")
    project.adapter.write_text("import os\nraise ValueError('bad key ' + os.environ['SERVICE_API_KEY'])\n")
    ran = evh("run", "--config", project.config)
    assert ran.code == 1 and "bad key ***" in ran.err and "canary" not in ran.err + ran.out


def test_what_an_adapter_prints_is_no_part_of_the_result(evh: Evh, project: RunProject) -> None:
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(
        "print('LOADING')\n" + text.replace("    told(text)\n", "    told(text)\n    print('CALLED')\n")
    )
    ran = evh("run", "--config", project.config, "--json")
    assert ran.code == 0 and ran.json["ok"] and "LOADING" in ran.err and "CALLED" in ran.err


def test_failures_of_every_item_are_accepted_by_one_resume(evh: Evh, project: RunProject) -> None:
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(text.replace("    told(text)\n", "    told(text)\n    raise ValueError('no')\n"))
    assert evh("run", "--config", project.config).code == 3
    ran = evh("run", "--resume", "--accept-failures", "--json")
    assert ran.code == 0, ran.out
    assert project.run.record is not None and project.run.record.n_errors == 4


def test_a_score_that_is_no_number_stops_the_run_even_when_it_is_to_keep_going(evh: Evh, project: RunProject) -> None:
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(text.replace('{"length": len(output)}', '{"length": float("nan")}'))
    ran = evh("run", "--config", project.config, "--keep-going")
    assert ran.code == 3 and len(project.calls) == 1 and "finite" in ran.out


def test_a_cap_counts_answers_whose_score_failed(evh: Evh, project: RunProject) -> None:
    text = project.adapter.read_text("utf-8")
    project.adapter.write_text(text.replace('{"length": len(output)}', "{}[1]"))
    ran = evh("run", "--config", project.config, "--keep-going", "--max-cost-usd", "0.5", "--json")
    assert ran.code == 3 and ran.json["runs"][0]["cost_usd"] == 0.5 and len(project.calls) == 2


def test_a_name_that_a_later_repeat_needs_is_refused_before_anything_is_paid(evh: Evh, project: RunProject) -> None:
    (project.runs / "x_r2").mkdir(parents=True)
    ran = evh("run", "--config", project.config, "--repeat", "2", "--run-id", "x")
    assert ran.code == 1 and "x_r2" in ran.err and project.calls == []
