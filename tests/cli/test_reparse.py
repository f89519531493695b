"""`evh reparse`: outputs rebuilt from stored raw replies, scored anew, with the originals as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Evh
from run_support import entered

from evh.store import open_run_dir
from tests.support.run_project import ADAPTER, RunProject, listing

RAW_ADAPTER = ADAPTER.replace(
    'extra={"size": len(text)}', 'extra={"size": len(text), "parsed": 0.0}, meta={"llm_raw": f"<{text}>", "model": "m"}'
)
PARSER = """
def reparse(row, output, params):
    row["_meta"]["model"] = "other"
    return row["_meta"]["llm_raw"].strip("<>") * params.get("times", 1), {"parsed": 1}


def same(row, output, params):
    return None
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evh: Evh) -> RunProject:
    """A finished run with raw replies, and a parser."""
    made = entered(RunProject(tmp_path / "p", 3, adapter=RAW_ADAPTER, references={"i0": "text 0"}), monkeypatch)
    assert evh("run", "--config", made.config, "--run-id", "arm-x").code == 0
    (made.root / "parser.py").write_text(PARSER, "utf-8")
    return made


def derived(project: RunProject, out: str = "runs-reparsed") -> Any:
    return open_run_dir(project.root / "data" / out / "arm-x")


def test_the_output_is_rebuilt_scored_and_beside_an_untouched_source(evh: Evh, project: RunProject) -> None:
    before, calls = listing(project.runs), list(project.calls)
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small")
    assert ran.code == 0 and "3 of 3 outputs changed" in ran.out and "same  1 over 1 of 3" in ran.out, ran
    assert listing(project.runs) == before and project.calls == calls
    run, source = derived(project), project.run
    record = run.record
    assert record.scores["same"] == 1 and source.record.scores["same"] == 0
    assert record.derived.kind == "reparse" and record.derived.with_.parser == "parser.py"
    assert record.derived.from_ == "runs/arm-x" and record.source_created_at == source.record.created_at
    assert (record.reference_coverage.items_with_reference, record.reference_coverage.items) == (1, 3)
    assert run.output("i0") == "text 0"
    rows = {each.item_id: each.value.plain() for each in run.rows()}
    for each in source.rows():
        old, new = each.value.plain(), rows[each.item_id]
        assert new["_extra"] == {"size": 6, "parsed": 1} and new["parsed"] == 1, "one value of a name, the new one"
        assert all(new[name] == old[name] for name in ("latency_ms", "cost_usd", "tokens_in", "_meta", "size"))
        assert new["_output_sha256"] != old["_output_sha256"]


def test_a_function_by_name_may_leave_the_output_and_then_nothing_changes(evh: Evh, project: RunProject) -> None:
    ran = evh("reparse", "--parser", "parser.py:same", "--dataset-id", "small", "--json")
    assert ran.code == 0 and ran.json["runs"][0]["changed"] == 0
    assert derived(project).record.scores == project.run.record.scores
    assert derived(project).record.derived.with_.parser == "parser.py:same"


def test_runs_without_raw_replies_are_passed_over_by_name(evh: Evh, project: RunProject) -> None:
    project.adapter.write_text(ADAPTER, "utf-8")
    assert evh("run", "--config", project.configure(config_id="plain"), "--run-id", "plain-x").code == 0
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small", "--match", "plain")
    assert ran.code == 1 and "passed over data/runs/plain-x: has no raw replies" in ran.out
    assert not (project.root / "data" / "runs-reparsed").exists()


def test_e14_e18_overlap_is_refused_and_a_run_that_is_there_needs_force(evh: Evh, project: RunProject) -> None:
    command = ["reparse", "--parser", "parser.py", "--dataset-id", "small"]
    for out in ("data/runs", "data/runs/inside", "data"):
        ran = evh(*command, "--out", out)
        assert ran.code == 1 and "originals are never touched" in ran.err
    assert evh(*command).code == 0
    taken = evh(*command)
    assert taken.code == 1 and "--force" in taken.err
    assert evh(*command, "--force").code == 0
    chained = evh(*command, "--runs", "data/runs-reparsed", "--out", "data/again")
    assert chained.code == 0
    assert derived(project, "again").record.derived.source.kind == "reparse"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def reparse(row): pass", "defines no reparse(row, output, params)"),
        ("RAW = 3\ndef reparse(row, output, params): pass", "RAW names the member"),
        ("def reparse(row, output, params):\n    return 1", "expected the output as text"),
        ("def reparse(row, output, params):\n    return {}[1]", "the parser failed on item 'i0': KeyError"),
        ("def reparse(row, output, params):\n    return 'x', {'cost_usd': 1}", "cost_usd"),
        ("def reparse(row, output, params):\n    return 'x', {'length': 1}", "same name"),
        ("def reparse(", "is not Python"),
    ],
)
def test_what_is_wrong_with_a_parser_is_told_and_nothing_is_left(
    evh: Evh, project: RunProject, text: str, said: str
) -> None:
    (project.root / "parser.py").write_text(text, "utf-8")
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small")
    assert ran.code == 1 and said in ran.err and "Traceback" not in ran.err
    out = project.root / "data" / "runs-reparsed"
    assert not out.exists() or not [path for path in out.iterdir() if path.is_dir()]


def test_e31_references_that_are_gone_are_refused(evh: Evh, project: RunProject) -> None:
    (project.root / "data" / "references").rename(project.root / "elsewhere")
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small")
    assert ran.code == 1 and "there are none here" in ran.err


def test_wrong_usage(evh: Evh, project: RunProject) -> None:
    assert evh("reparse", "--dataset-id", "small").code == 2
    assert evh("reparse", "--parser", "parser.py").code == 2
    assert evh("reparse", "--parser", "nowhere.py", "--dataset-id", "small").code == 1
    assert evh("reparse", "--parser", "parser.py", "--dataset-id", "other").code == 1


def test_an_output_that_is_not_what_its_row_says_is_refused(evh: Evh, project: RunProject) -> None:
    [path] = (project.run.path / "outputs").glob("*i2*")
    path.write_text("edited", "utf-8")
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small")
    assert ran.code == 1 and "was changed since it was written" in ran.err
    assert not list((project.root / "data" / "runs-reparsed").glob("arm-x"))


@pytest.mark.parametrize("what", ["taken", "deep", "adapter"])
def test_what_one_run_is_refused_for_stops_the_others_first(evh: Evh, project: RunProject, what: str) -> None:
    assert evh("run", "--config", project.config, "--run-id", "arm-z").code == 0
    out, path = project.root / "data" / "runs-reparsed", project.runs / "arm-z" / "metrics.json"
    record = json.loads(path.read_bytes())
    if what == "taken":
        (out / "arm-z").mkdir(parents=True)
        said = "is there already"
    elif what == "adapter":
        path.write_text(json.dumps(record | {"adapter": "nowhere.py"}), "utf-8")
        said = "nowhere.py"
    else:
        block: dict[str, Any] = {}
        for number in range(64):
            block = {
                "kind": "rescore", "from": f"d{number}/arm-z", "at": f"2026-10-04T08:0{number // 60}:{number % 60:02}Z",
                "with": {"adapter": "a.py", "sha256": "a" * 64}, **({"source": block} if block else {}),
            }  # fmt: skip
        more = {"derived": block, "source_created_at": "2026-10-04T08:00:00Z"}
        path.write_text(json.dumps(record | more), "utf-8")
        said = "derived 64 times over"
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small")
    assert ran.code == 1 and said in ran.err and not (out / "arm-x").exists()


def test_e29_references_that_changed_are_told(evh: Evh, project: RunProject) -> None:
    (project.root / "data" / "references" / "gold" / "small" / "i0.txt").write_text("edited", "utf-8")
    ran = evh("reparse", "--parser", "parser.py", "--dataset-id", "small")
    assert ran.code == 0 and "references changed: gold/small" in ran.out and "1 of 3 items have a reference" in ran.out
    data = derived(project).record.fingerprint.data
    assert data.references_sha256_at_measurement == project.run.record.fingerprint.data.references_sha256


def test_e28_e30_another_set_and_back_keeps_the_first(evh: Evh, project: RunProject) -> None:
    references = project.root / "data" / "references"
    silver = references / "silver" / "small"
    silver.mkdir(parents=True)
    (silver / "i0.txt").write_text("silver", "utf-8")
    (references / "gold").rename(references / "away")
    command = ("reparse", "--parser", "parser.py", "--dataset-id", "small")
    moved = evh(*command, "--out", "data/one")
    assert moved.code == 0 and "references changed" not in moved.out
    data = derived(project, "one").record.fingerprint.data
    assert (data.reference_id, data.reference_id_at_measurement) == ("silver/small", "gold/small")
    (references / "away").rename(references / "gold")
    back = evh(*command, "--runs", "data/one", "--out", "data/two")
    assert back.code == 0 and "references changed" not in back.out
    data = derived(project, "two").record.fingerprint.data
    assert (data.reference_id, data.references_sha256_at_measurement) == ("gold/small", None)
    (references / "gold" / "small" / "i0.txt").write_text("edited", "utf-8")
    assert "references changed" in evh(*command, "--runs", "data/one", "--out", "data/three").out


def test_a_run_of_0_3_0_is_parsed_as_a_measured_one(evh: Evh, project: RunProject) -> None:
    path = project.run.path / "metrics.json"
    old = {"rescored_from": "runs/x", "rescored_at": "2026-01-01T00:00:00Z", "rescored_with": "a.py"}
    path.write_text(json.dumps(json.loads(path.read_bytes()) | old), "utf-8")
    assert evh("reparse", "--parser", "parser.py", "--dataset-id", "small").code == 0
    text = (derived(project).path / "metrics.json").read_text("utf-8")
    assert "source" not in json.loads(text)["derived"] and "rescored" not in text
