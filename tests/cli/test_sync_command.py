"""`evh sync`, `evh status`, `evh doctor` and `evh run --push`, against a platform on the loopback."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import Evh
from run_support import entered

from evh.platform import for_upload
from evh.protocol import models
from evh.store import open_run_dir
from tests.support.run_project import RunProject, listing
from tests.unit.live.upload.fake_platform import FakePlatform
from tests.unit.live.upload.uploaded_run import LiveRunOnDisk, syncing

EPISODES = '''
"""Answers with an episode; the item `stop` ends the run."""

from evh import Episode, TraceTask

PRIMARY_METRIC = "same"
METRIC_KINDS = {"same": "quality"}


def call_system(text, params):
    if text == "stop":
        raise ValueError("stopped")
    return Episode(id="of-" + text.replace(" ", "-"), task=TraceTask(type="t", data={"text": text}), traces=[], ok=True)


def score(output, reference):
    return {"same": 1.0}
'''


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakePlatform]:
    for name in [name for name in os.environ if name.startswith(("PRIME_", "EVH_MODE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    with FakePlatform() as made:
        monkeypatch.setenv("PRIME_API_KEY", made.key)
        monkeypatch.setenv("PRIME_API_BASE_URL", made.url)
        yield made


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LiveRunOnDisk:
    (tmp_path / "p").mkdir()
    monkeypatch.chdir(tmp_path / "p")
    monkeypatch.delenv("EVAL_RUNS_DIR", raising=False)
    (tmp_path / "p" / "data").mkdir()
    return LiveRunOnDisk(tmp_path / "p" / "data")


def test_a_run_is_sent_once_and_nothing_is_left(evh: Evh, platform: FakePlatform, live: LiveRunOnDisk) -> None:
    live.log(5)
    live.end()
    before = listing(live.directory)
    asked = evh("sync", "--dry-run")
    assert (asked.code, asked.err, platform.calls) == (0, "", [])
    assert (
        asked.out
        == f"data/runs/run1: 5 rows, {(live.directory / 'traces.jsonl').stat().st_size:,} bytes would go; 0 are there\n"
    )
    assert listing(live.directory) == before
    ran = evh("sync")
    assert (ran.code, ran.err) == (0, "")
    assert "5 rows sent, 5 of 5 are there" in ran.out and f"{platform.url}/runs/ev-1" in ran.out
    assert platform.lines == live.documents("ev-1")
    assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
    calls = len(platform.calls)
    assert evh("sync").out == "nothing to send\n"
    assert evh("sync", "run1").code == 0
    assert len(platform.calls) == calls
    assert evh("sync", "--json").json == {"ok": True, "dry_run": False, "runs": []}


def test_the_status_says_what_is_where(evh: Evh, platform: FakePlatform, live: LiveRunOnDisk) -> None:
    live.hold()
    live.log(4)
    platform.refuses = lambda line: "invalid_trace" if b'"id":"ep-1"' in line else None
    [about] = evh("status", "--json").json["runs"]
    assert {name: about[name] for name in ("mode", "rows", "sent", "pending", "refused", "lost")} == {
        "mode": "offline", "rows": 4, "sent": 0, "pending": 4, "refused": 0, "lost": 0,
    }  # fmt: skip
    ran = evh("sync")
    assert ran.code == 1, "a record is refused"
    assert "3 of 4 are there, 1 refused" in ran.out and "data/runs/run1/sync/refused.jsonl" in ran.out
    live.log(2)
    before = listing(live.directory)
    [about] = evh("status", "run1", "--json").json["runs"]
    assert {name: about[name] for name in ("state", "mode", "rows", "sent", "pending", "refused", "remote")} == {
        "state": "running", "mode": "online", "rows": 6, "sent": 3, "pending": 2, "refused": 1, "remote": "open",
    }  # fmt: skip
    shown = evh("status")
    assert shown.code == 0 and f"run1: {platform.url}/runs/ev-1" in shown.out
    assert listing(live.directory) == before
    platform.refuses = lambda line: None
    live.end()
    again = evh("sync", "--retry-refused")
    assert again.code == 0 and "6 of 6 are there" in again.out
    assert sorted(platform.lines) == sorted(live.documents("ev-1"))


def test_a_platform_that_is_not_there_is_exit_3_and_says_what_is_pending(
    evh: Evh, platform: FakePlatform, live: LiveRunOnDisk
) -> None:
    live.log(2)
    live.end()
    platform.breaks("POST", "/traces", reset=True, times=99)
    ran = evh("sync", "--wait", "0")
    assert ran.code == 3
    assert "2 pending" in ran.out and "no answer" not in ran.err
    platform.heals()
    assert evh("sync").code == 0
    assert platform.lines == live.documents("ev-1")


def test_a_key_that_is_not_taken_is_said(
    evh: Evh, platform: FakePlatform, live: LiveRunOnDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.log(2)
    live.end()
    monkeypatch.setenv("PRIME_API_KEY", "canary-of-a-key")
    ran = evh("sync")
    assert ran.code == 1 and "check PRIME_API_KEY" in ran.out and "canary" not in ran.out + ran.err
    monkeypatch.setenv("PRIME_RUNS_MODE", "disabled")
    ran = evh("sync")
    assert ran.code == 2 and "PRIME_RUNS_MODE=disabled" in ran.err
    assert evh("sync", "--dry-run").code == 0
    monkeypatch.delenv("PRIME_RUNS_MODE")
    monkeypatch.delenv("PRIME_API_KEY")
    monkeypatch.setenv("PRIME_API_BASE_URL", "https://example.invalid")
    ran = evh("sync")
    assert ran.code == 2 and "API key" in ran.err


def test_a_run_is_watched_until_it_is_over(evh: Evh, platform: FakePlatform, live: LiveRunOnDisk) -> None:
    live.log(3)
    live.end("failed", error="it broke")
    ran = evh("sync", "--watch", "run1")
    assert ran.code == 0
    assert platform.lines == live.documents("ev-1")
    assert platform.evaluations["ev-1"]["error_message"] == "it broke"
    assert evh("sync", "--watch", "--dry-run").code == 2


def test_a_measured_run_is_pushed_only_when_asked(
    evh: Evh, platform: FakePlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = entered(RunProject(tmp_path / "p", 4, adapter=EPISODES), monkeypatch)
    assert evh("run", "--config", project.config, "--run-id", "quiet").code == 0
    assert evh("sync").out == "nothing to send\n"
    assert platform.calls == []
    ran = evh("run", "--config", project.config, "--run-id", "loud", "--push", "--json")
    assert ran.code == 0, ran.err
    [run] = ran.json["runs"]
    assert run["upload"] == {"url": f"{platform.url}/runs/ev-1", "pending": 0, "refused": 0, "error": None}
    found = open_run_dir(project.runs / "loud")
    assert platform.lines == [for_upload(each, models.EvalRunInfo(id="ev-1")) for each in found.episodes()]
    assert all(json.loads(line)["run"]["id"] == "ev-1" for line in platform.lines)
    evaluation = platform.evaluations["ev-1"]
    assert (evaluation["status"], evaluation["metrics"]["same"]) == ("COMPLETED", 1.0)
    assert (evaluation["name"], platform.environments) == ("loud", ["small"])
    assert evh("sync").out == "nothing to send\n"


def test_a_pushed_run_that_stops_stays_open_and_goes_on_in_the_same_evaluation(
    evh: Evh, platform: FakePlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = {"i0": "one", "i1": "stop", "i2": "three"}
    project = entered(RunProject(tmp_path / "p", items, adapter=EPISODES), monkeypatch)
    assert evh("run", "--config", project.config, "--run-id", "r", "--push", "--keep-going").code == 3
    assert platform.evaluations["ev-1"]["status"] == "RUNNING"
    assert len(platform.lines) == 2
    project.adapter.write_text(EPISODES.replace('text == "stop"', "False"))
    assert evh("run", "--resume", "r", "--push", "--force").code == 0
    assert list(platform.evaluations) == ["ev-1"]
    assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
    assert len(platform.lines) == len(set(platform.lines)) == 3


def test_a_push_that_cannot_be_changes_no_exit_code(
    evh: Evh, platform: FakePlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = entered(RunProject(tmp_path / "p", 2, adapter=EPISODES), monkeypatch)
    platform.breaks("POST", "/environmentshub", status=404, times=9)
    ran = evh("run", "--config", project.config, "--run-id", "a", "--push")
    assert ran.code == 0 and "the run stays on this disk" in ran.err and "404" in ran.err
    platform.heals()
    monkeypatch.setenv("PRIME_RUNS_MODE", "disabled")
    ran = evh("run", "--config", project.config, "--run-id", "b", "--push")
    assert ran.code == 0 and "PRIME_RUNS_MODE=disabled" in ran.err
    monkeypatch.delenv("PRIME_RUNS_MODE")
    assert platform.lines == []
    assert evh("sync", "a", "b").code == 0
    assert len(platform.lines) == 4


def test_the_doctor_says_what_is_wrong(evh: Evh, platform: FakePlatform, live: LiveRunOnDisk) -> None:
    before = listing(live.directory.parent)
    ran = evh("doctor", "--json")
    found = {each["name"]: each for each in ran.json["findings"]}
    assert ran.code == 0
    assert found["api_key"]["said"] == "set, from PRIME_API_KEY"
    assert platform.key not in ran.out + evh("doctor").out
    assert found["traces service"]["good"] and "zstd" in found["traces service"]["said"]
    assert all(found[name]["good"] for name in ("platform", "clock", "room", "locks", "sync"))
    assert listing(live.directory.parent) == before
    platform.breaks("GET", "/evaluations", status=401, code="unauthenticated", times=9)
    ran = evh("doctor")
    assert ran.code == 1 and "PRIME_API_KEY" in ran.out


def test_what_an_upload_leaves_in_the_run_is_checked_like_the_rest(
    evh: Evh, platform: FakePlatform, live: LiveRunOnDisk
) -> None:
    live.log(3)
    live.end()
    platform.refuses = lambda line: "invalid_trace" if b'"id":"ep-1"' in line else None
    evh("sync")
    ran = evh("check", "data/runs/run1/sync", "--json")
    assert ran.code == 0, ran.out


def test_a_run_that_another_process_uploads_is_left_to_it(
    evh: Evh, platform: FakePlatform, live: LiveRunOnDisk
) -> None:
    live.log(2)
    live.end()
    with syncing(live, platform):
        ran = evh("sync")
    assert ran.code == 3
    assert "is being uploaded by" in ran.out and "2 pending" in ran.out
    assert evh("sync").code == 0
