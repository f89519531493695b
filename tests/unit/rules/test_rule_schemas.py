"""V1: each file matches its schema, strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evh
from evh.rules import Finding, Outcome
from evh.store import layout
from tests.unit.rules.whole_tree import Made, said

EPISODE = Path(__file__).parents[2] / "data" / "verifiers" / "v0.4.0-branches" / "traces.jsonl"


def one(outcome: Outcome) -> Finding:
    [finding] = outcome.findings
    return finding


def test_all_kinds_of_files_are_counted(made: Made) -> None:
    path = made.run()
    at = "2026-01-01T00:00:00Z"
    made.goal()
    baseline = {
        "baseline_id": "b", "dataset_id": "d", "promoted_from": "a_1", "promoted_at": at, "scores": {},
        "build": {"ref": "x"},
    }  # fmt: skip
    data = made.root / "data"
    made.write(data / "baselines" / "b.json", baseline)
    made.write(data / "baselines" / "superseded" / "b_2026-01-01T000000Z.json", baseline)
    manifest = {"dataset_id": "d", "tier": "gold", "created_at": at, "n_items": 1}
    made.write(data / "references" / "gold" / "d" / "manifest.json", manifest)
    lease = {"token": "t", "host": "h", "pid": 1, "acquired_at": at, "beat_at": at}
    made.write(path / layout.LEASE, lease)
    attempt = {"attempt": 1, "started_at": at, "harness_version": "1", "items_done": 0, "items_owed": 3}
    (path / layout.ATTEMPTS).write_text(json.dumps(attempt) + "\n")
    error = {"item_id": "q1", "attempt": 1, "at": at, "type": "E", "message": "m"}
    (path / layout.ERRORS).write_text(json.dumps(error) + "\n")
    strict = [evh.encode(evh.decode(line)) for line in EPISODE.read_bytes().splitlines()]
    (path / layout.TRACES).write_bytes(b"\n".join(strict) + b"\n")
    (path / "traces").mkdir()
    (path / "traces" / "w1.jsonl").write_bytes(strict[0] + b"\n")
    outcome = made.check("V1")
    assert said(outcome) == ""
    assert outcome.counts == {
        "datasets": 1, "items": 3, "configs": 1, "reference manifests": 1, "goals": 1, "baselines": 2,
        "run manifests": 1, "records": 1, "leases": 1, "rows": 3, "attempts": 1, "errors": 1,
        "episodes": len(strict) + 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", [layout.MANIFEST, layout.RECORD, layout.LEASE, layout.ATTEMPTS, layout.ERRORS, layout.TRACES]
)
def test_each_file_of_a_run_is_held_against_its_schema(made: Made, name: str) -> None:
    path = made.run()
    (path / name).write_text('{"nothing": "known"}\n')
    outcome = made.check("V1")
    assert outcome.status == "FAIL" and all(Path(each.file).name == name for each in outcome.findings)
    assert all(each.advice for each in outcome.findings)
    assert {each.line for each in outcome.findings} == {1 if name.endswith(".jsonl") else None}


@pytest.mark.parametrize("folder", ["datasets", "goals", "baselines", "references/gold/d"])
def test_each_file_of_a_project_is_held_against_its_schema(made: Made, folder: str) -> None:
    name = "manifest.json" if folder.startswith("ref") else "x.json"
    made.write(made.root / "data" / folder / name, {"nothing": "known"})
    outcome = made.check("V1")
    assert outcome.status == "FAIL" and {Path(each.file).name for each in outcome.findings} == {name}


def test_b088_an_undeclared_member_fails_while_readers_load_it(made: Made) -> None:
    path = made.run(primry_metric="score")
    finding = one(made.check("V1"))
    assert finding.pointer == "/primry_metric" and "correct its name" in finding.advice
    assert evh.open_run_dir(path).record is not None


@pytest.mark.parametrize(
    "member", ["rescored_from", "rescored_at", "rescored_with", "judge_label", "reparsed_from", "primary_metric_asc"]
)
def test_derived_fields_of_old_fail_with_the_advice_of_retired_members(made: Made, member: str) -> None:
    made.change(made.run() / layout.RECORD, **{member: "x"})
    finding = one(made.check("V1"))
    assert finding.pointer == f"/{member}" and "the member is retired: " in finding.advice


def test_e4_b007_two_items_of_one_id_in_a_dataset(made: Made) -> None:
    path = made.root / "data" / "datasets" / "d.json"
    items = json.loads(path.read_text())["items"]
    made.change(path, items=[*items, items[0]])
    assert "have one id, 'q1'" in said(made.check("V1"))


def test_e1_a_dataset_without_items(made: Made) -> None:
    made.change(made.root / "data" / "datasets" / "d.json", items=[])
    assert "/items" in said(made.check("V1"))


@pytest.mark.parametrize("extra", [{}, {"score": 0.25}])
def test_e6_a_second_row_of_an_item_names_both_lines(made: Made, extra: dict[str, Any]) -> None:
    path = made.run()
    first = json.loads((path / layout.PREDICTIONS).read_text().splitlines()[0])
    with (path / layout.PREDICTIONS).open("a") as file:
        file.write(json.dumps({**first, **extra}) + "\n")
    finding = one(made.check("V1"))
    assert finding.line == 4 and "on lines 1 and 4" in finding.message


def test_e7_rows_without_extra_are_older_which_is_a_note(made: Made) -> None:
    path = made.run()
    made.rows(path, [{"item_id": "q1", "score": 1.0}])
    outcome = made.check("V1")
    assert outcome.status == "ok" and "older than 0.4.0" in outcome.notes[0]


def test_e8_a_mixture_of_rows_with_and_without_extra_fails(made: Made) -> None:
    path = made.run()
    made.rows(path, [{"item_id": "q1", "_extra": {}}, {"item_id": "q2"}, {"item_id": "q3"}])
    finding = one(made.check("V1"))
    assert finding.line == 2 and "(line 1) and some do not (line 2)" in finding.message


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_e10_literals_that_are_no_numbers(made: Made, token: str) -> None:
    path = made.run()
    with (path / layout.PREDICTIONS).open("a") as file:
        file.write('{"item_id": "x", "score": TOKEN, "_extra": {}}\n'.replace("TOKEN", token))
    finding = one(made.check("V1"))
    assert finding.line == 4 and "/score" in finding.message + finding.pointer
    (path / layout.RECORD).write_text((path / layout.RECORD).read_text().replace("0.25", token, 1))
    assert made.check("V1").finding_count == 2


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00", "2026-01-01T00:00:00+02:00", "2026-02-30T00:00:00Z", "now"])
def test_e22_times_without_zone_or_that_are_none(made: Made, time: str) -> None:
    made.run(created_at=time)
    outcome = made.check("V1")
    assert {each.pointer for each in outcome.findings} == {"/created_at"}


def test_e64_a_member_that_stands_twice(made: Made) -> None:
    path = made.run()
    record = path / layout.RECORD
    record.write_text(record.read_text().replace("{", '{"run_id": "a_1",', 1))
    rows = path / layout.PREDICTIONS
    rows.write_text(rows.read_text().replace('{"item_id":"q2"', '{"score":0.5,"item_id":"q2"', 1))
    found = {(Path(each.file).name, each.line, each.pointer) for each in made.check("V1").findings}
    assert found == {(layout.RECORD, None, "/run_id"), (layout.PREDICTIONS, 2, "/score")}


def test_e47_integers_beyond_a_double_are_noted(made: Made) -> None:
    path = made.run()
    made.rows(path, [{"item_id": f"q{at}", "tokens_in": 2**60 + at, "_extra": {}} for at in range(3)])
    outcome = made.check("V1")
    assert outcome.status == "ok" and "readers that use doubles change: 3" in outcome.notes[0]


def test_e65_a_byte_order_mark_and_crlf_are_noted(made: Made) -> None:
    path = made.run()
    rows = (path / layout.PREDICTIONS).read_bytes()
    (path / layout.PREDICTIONS).write_bytes(b"\xef\xbb\xbf" + rows.replace(b"\n", b"\r\n"))
    outcome = made.check("V1")
    assert outcome.status == "ok" and len(outcome.notes) == 2


def test_e66_a_row_that_is_no_object(made: Made) -> None:
    path = made.run()
    with (path / layout.PREDICTIONS).open("a") as file:
        file.write("\n[]\n3\n")
    assert [each.line for each in made.check("V1").findings] == [5, 6]


@pytest.mark.parametrize("finished", [True, False])
def test_a_torn_end_is_a_finding_only_in_a_run_that_is_closed(made: Made, *, finished: bool) -> None:
    path = made.run(finished=finished)
    with (path / layout.PREDICTIONS).open("a") as file:
        file.write('{"item_id": "x", "sc')
    outcome = made.check("V1")
    assert outcome.status == ("FAIL" if finished else "ok")
    assert "torn" in (said(outcome) if finished else outcome.notes[0])


def test_nesting_beyond_what_readers_take(made: Made) -> None:
    path = made.run()
    with (path / layout.PREDICTIONS).open("a") as file:
        file.write('{"item_id": "x", "_extra": {}, "_meta": {"a": ' + "[" * 140 + "]" * 140 + "}}\n")
    assert "[depth]" in one(made.check("V1")).message


def test_the_message_graph_of_episodes_is_walked(made: Made) -> None:
    path = made.run()
    row = json.loads(evh.encode(evh.decode(EPISODE.read_bytes().splitlines()[1])))
    row["traces"][0]["nodes"][1]["parent"] = 99
    (path / layout.TRACES).write_text(json.dumps(row) + "\n")
    assert one(made.check("V1")).pointer == "/traces/0/nodes/1/parent"


@pytest.mark.parametrize(
    ("folder", "document"), [("goals", {"goal_id": "other"}), ("baselines", {"baseline_id": "other"})]
)
def test_ids_are_those_of_their_files(made: Made, folder: str, document: dict[str, str]) -> None:
    whole: dict[str, dict[str, Any]] = {
        "goals": {
            "statement": "s", "dataset_id": "d", "metric": "m", "direction": "lower",
            "cut_over": "2026-01-01T00:00:00Z",
        },
        "baselines": {
            "dataset_id": "d", "promoted_from": "r", "promoted_at": "2026-01-01T00:00:00Z", "scores": {},
            "build": {"ref": "x"},
        },
    }  # fmt: skip
    made.write(made.root / "data" / folder / "x.json", {**whole[folder], **document})
    assert "holds the" in one(made.check("V1")).message


def test_references_of_another_dataset_are_told(made: Made) -> None:
    manifest = {"dataset_id": "e", "tier": "gold", "created_at": "2026-01-01T00:00:00Z", "n_items": 1}
    made.write(made.root / "data" / "references" / "silver" / "d" / "manifest.json", manifest)
    assert "gold references of 'e'" in one(made.check("V1")).message


def test_a_config_with_an_unknown_member_or_a_secret_names_its_line(made: Made) -> None:
    config = made.root / "data" / "configs" / "a.yaml"
    config.write_text("config_id: a\ndataset_id: d\nparms: {}\n")
    finding = one(made.check("V1"))
    assert finding.line == 3 and "did you mean 'params'" in finding.message


def test_a_config_fails_when_there_is_no_yaml_library(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    assert "evh[run]" in one(made.check("V1")).message


def test_v1_runs_behind_links_that_lead_out_are_noted(made: Made, tmp_path: Path) -> None:
    made.run()
    outside = made.run("b_1", runs=tmp_path / "outside")
    (made.runs / "linked").symlink_to(outside)
    (made.runs / "again").symlink_to(made.runs / "a_1")
    outcome = made.check("V1")
    assert outcome.status == "ok" and outcome.counts["records"] == 1
    [note] = outcome.notes
    assert "linked: is a link that leads out of the runs directory" in note and "no rule looked at it" in note
