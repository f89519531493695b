"""Rescored runs: what is carried, what is new, what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from derived_support import EPISODES, OTHER, measured, other, scored

from evh.errors import EvhError
from evh.harness.project import Project
from evh.harness.rescore import choose_runs
from evh.protocol.codec import decode_strict
from evh.protocol.models import RunRecord
from evh.store.run_dir import RunDir, open_run_dir
from tests.support.run_project import ADAPTER, RunProject, listing

REFERENCES = {f"i{n}": f"TEXT {n}" for n in range(3)}


def rows(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "predictions.jsonl").read_bytes().splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> RunProject:
    return RunProject(tmp_path / "p", 3, references=REFERENCES)


@pytest.mark.parametrize("adapter", [ADAPTER, EPISODES], ids=["outputs", "episodes"])
def test_the_same_scorer_and_references_give_the_same_rows_and_sources_stay(tmp_path: Path, adapter: str) -> None:
    project = RunProject(tmp_path / "p", 3, references=REFERENCES, adapter=adapter)
    run = measured(project)
    before = listing(run.path)
    made = scored(project, run)
    assert listing(run.path) == before
    assert (made.directory / "predictions.jsonl").read_bytes() == (run.path / "predictions.jsonl").read_bytes()
    assert listing(made.directory / "outputs") == listing(run.path / "outputs")
    assert run.record is not None and made.record.scores == run.record.scores
    kept = {"predictions.jsonl", "outputs", "metrics.json"} | ({"traces.jsonl"} if adapter == EPISODES else set())
    assert {path.name for path in made.directory.iterdir()} == kept
    assert [path.name for path in made.directory.parent.iterdir()] == [run.path.name]
    decode_strict((made.directory / "metrics.json").read_bytes(), RunRecord)
    assert not any(
        path.samefile(run.path / path.relative_to(made.directory))
        for path in made.directory.rglob("*")
        if (run.path / path.relative_to(made.directory)).exists()
    )


def test_metrics_are_the_new_scorers_and_what_was_measured_is_carried(project: RunProject) -> None:
    run = measured(project)
    made = scored(project, run, adapter=other(project))
    for old, new in zip(rows(run.path), rows(made.directory), strict=True):
        assert "same" not in new and new["capitals"] == 4
        for name in ("latency_ms", "tokens_in", "tokens_out", "cost_usd", "_extra", "_output_sha256", "size"):
            assert new[name] == old[name]
    assert made.dropped == ["same"]
    record = made.record
    assert (record.primary_metric, record.adapter) == ("capitals", "data/configs/other.py")
    assert record.metric_descriptions == {"capitals": "letters that are capitals"}
    assert record.metric_directions == {"capitals": "higher"}


def test_b025_metrics_that_the_adapter_gained_are_there_and_described(project: RunProject) -> None:
    run = measured(project)
    more = ADAPTER.replace('{"same": float(output == reference)}', '{"same": 1.0, "d": 2.0}')
    project.adapter.write_text(more + 'METRIC_DESCRIPTIONS = {"d": "a new one"}\n', "utf-8")
    record = scored(project, run).record
    assert record.scores["d"] == 2.0 and record.metric_descriptions == {"d": "a new one"}


def test_b016_the_old_adapter_is_not_needed_when_another_is_named(project: RunProject) -> None:
    run = measured(project)
    path = other(project)
    project.adapter.unlink()
    made = scored(project, run, adapter=path)
    assert made.record.scores["capitals"] == 4
    with pytest.raises(EvhError, match="--adapter FILE"):
        scored(project, run, "elsewhere")


def test_b014_failures_of_the_source_are_repeated_and_carried(tmp_path: Path) -> None:
    failing = ADAPTER.replace(
        "    told(text)\n", '    told(text)\n    if text == "text 1":\n        raise ValueError("no")\n'
    )
    project = RunProject(tmp_path / "p", 3, adapter=failing, references=REFERENCES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.root)
    run = accepted(project)
    made = scored(project, run)
    assert made.record.n_errors == 1 and "1 of 3 failed" in made.notices[0]
    assert rows(made.directory) == rows(run.path)


def accepted(project: RunProject) -> RunDir:
    """A run whose failures were accepted."""
    assert project.process("run", "--config", project.config, "--keep-going").returncode == 3
    ended = project.process("run", "--resume", "--accept-failures")
    assert ended.returncode == 0, ended.stderr
    return project.run


def test_episodes_are_scored_as_a_whole(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", {"a": "one", "b": "three"}, adapter=EPISODES)
    run = measured(project)
    changed = EPISODES.replace("len(episode.traces)", "10 * len(episode.traces)")
    project.adapter.write_text(changed, "utf-8")
    made = scored(project, run)
    assert [(row["agents"], row["said"]) for row in rows(made.directory)] == [(20, 9), (20, 15)]
    assert [row["reward"] for row in rows(made.directory)] == [row["reward"] for row in rows(run.path)]
    assert (made.directory / "traces.jsonl").read_bytes() == (run.path / "traces.jsonl").read_bytes()
    again = scored(project, open_run_dir(made.directory), "runs-again")
    assert rows(again.directory) == rows(made.directory)


def test_an_episode_that_is_missing_is_refused(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 2, adapter=EPISODES)
    run = measured(project)
    traces = run.path / "traces.jsonl"
    traces.write_bytes(traces.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(EvhError, match=r"predictions.jsonl:2: item 'i1': its episode is missing"):
        scored(project, run)


@pytest.mark.parametrize("adapter", [ADAPTER, EPISODES, OTHER], ids=["outputs", "episodes", "async"])
def test_many_ranges_in_many_processes_give_the_rows_of_one(tmp_path: Path, adapter: str) -> None:
    items = {f"i{n}": f"text {n} " + "x" * 200 for n in range(700)}
    project = RunProject(tmp_path / "p", items, adapter=EPISODES if adapter == EPISODES else ADAPTER)
    run = measured(project, fsync="never")
    chosen = other(project, OTHER) if adapter == OTHER else None
    many = scored(project, run, workers=3, adapter=chosen)
    one = scored(project, run, "alone", workers=1, adapter=chosen)
    assert (many.directory / "predictions.jsonl").read_bytes() == (one.directory / "predictions.jsonl").read_bytes()
    assert many.record.scores == one.record.scores and many.record.n_items == 700
    counted = open_run_dir(many.directory).count()
    assert counted.scores() == many.record.scores and counted.counts == many.counts
    if adapter == EPISODES:
        assert (many.directory / "traces.jsonl").read_bytes() == (run.path / "traces.jsonl").read_bytes()


def test_rows_and_episodes_may_stand_in_different_orders(tmp_path: Path) -> None:
    items = {f"i{n}": f"text {n} " + "x" * 200 for n in range(400)}
    project = RunProject(tmp_path / "p", items, adapter=EPISODES)
    run = measured(project, fsync="never")
    traces = run.path / "traces.jsonl"
    traces.write_bytes(b"".join(reversed(traces.read_bytes().splitlines(keepends=True))))
    made = scored(project, run, workers=3)
    assert (made.directory / "predictions.jsonl").read_bytes() == (run.path / "predictions.jsonl").read_bytes()


@pytest.mark.parametrize("failed", [False, True], ids=["scored", "failed"])
@pytest.mark.parametrize("workers", [1, 3])
def test_two_rows_of_one_item_are_refused_with_both_lines(tmp_path: Path, failed: bool, workers: int) -> None:
    items = {f"i{n}": f"text {n} " + "x" * 300 for n in range(600)}
    project = RunProject(tmp_path / "p", items)
    run = measured(project, fsync="never")
    path = run.path / "predictions.jsonl"
    again = b'{"item_id":"i1","_extra":{},"_error":"E: no"}\n' if failed else path.read_bytes().splitlines(True)[1]
    path.write_bytes(path.read_bytes() + again)
    with pytest.raises(EvhError, match=r"predictions.jsonl:601: the item 'i1' has two rows, on lines 2 and 601"):
        scored(project, run, workers=workers)
    assert list((project.root / "data" / "runs-rescored").iterdir()) == []


def test_an_extra_that_would_hide_a_member_of_the_row_is_refused(tmp_path: Path) -> None:
    for adapter in (ADAPTER, EPISODES):
        project = RunProject(tmp_path / f"p{len(adapter)}", 1, adapter=adapter)
        run = measured(project)
        path = run.path / "predictions.jsonl"
        path.write_bytes(path.read_bytes().replace(b'"_extra":{', b'"_extra":{"item_id":1,'))
        with pytest.raises(EvhError, match="can't be called 'item_id'"):
            scored(project, run)


@pytest.mark.parametrize("number", ["float('nan')", "10 ** 400", "'1'", "None"])
def test_a_score_that_is_no_finite_number_is_refused_whenever_it_comes(project: RunProject, number: str) -> None:
    run = measured(project)
    text = f'def score(output, reference):\n    return {{"m": 1.0 if output != "TEXT 2" else {number}}}\n'
    with pytest.raises(EvhError, match=r"predictions.jsonl:3: .*'i2', metric 'm': expected a finite number"):
        scored(project, run, adapter=other(project, text))


def test_a_fault_in_a_worker_names_file_and_line_and_leaves_nothing(tmp_path: Path) -> None:
    items = {f"i{n}": f"text {n} " + "x" * 200 for n in range(700)}
    project = RunProject(tmp_path / "p", items)
    run = measured(project, fsync="never")
    faulty = 'def score(output, reference):\n    return {"n": 1 / (0 if output.startswith("TEXT 650 ") else 1)}\n'
    with pytest.raises(EvhError, match=r"score failed: ZeroDivisionError") as caught:
        scored(project, run, workers=2, adapter=other(project, faulty))
    assert (caught.value.source, caught.value.line) == ("data/configs/other.py", 2)
    assert list((project.root / "data" / "runs-rescored").iterdir()) == []


def test_a_metric_that_is_also_an_extra_is_refused(project: RunProject) -> None:
    run = measured(project)
    with pytest.raises(EvhError, match="'size'"):
        scored(project, run, adapter=other(project, 'def score(output, reference):\n    return {"size": 1}\n'))


def test_rows_without_extra_are_refused(project: RunProject) -> None:
    run = measured(project)
    path = run.path / "predictions.jsonl"
    path.write_bytes(path.read_bytes().replace(b',"_extra":{"size":6}', b"", 1))
    with pytest.raises(EvhError, match=r"predictions.jsonl:1: item 'i0': the row has no _extra"):
        scored(project, run)


@pytest.mark.parametrize(("change", "said"), [(None, "is missing"), (b"else", "is not what was measured")])
def test_outputs_that_are_missing_or_changed_are_refused(project: RunProject, change: bytes | None, said: str) -> None:
    run = measured(project)
    path = run.output_path("i1")
    path.unlink() if change is None else path.write_bytes(change)
    with pytest.raises(EvhError, match=said):
        scored(project, run)
    assert list((project.root / "data" / "runs-rescored").iterdir()) == []


def test_a_scorer_that_wants_the_source_text_gets_it_or_is_refused(project: RunProject) -> None:
    run = measured(project)
    wanting = 'def score(output, reference, source):\n    return {"n": len(source)}\n'
    assert scored(project, run, adapter=other(project, wanting)).record.scores["n"] == 6
    shutil.rmtree(project.root / "data" / "materialized")
    with pytest.raises(EvhError, match="its copy is missing"):
        scored(project, run, "elsewhere", adapter=other(project, wanting))


# References


def silver(project: RunProject, text: str = "TEXT 0") -> Path:
    folder = project.root / "data" / "references" / "silver" / "small"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "i0.txt").write_text(text, "utf-8")
    return folder


def test_e31_a_reference_set_that_is_missing_is_refused(project: RunProject) -> None:
    run = measured(project)
    shutil.rmtree(project.root / "data" / "references")
    with pytest.raises(EvhError, match="gold/small is missing here, and the run was scored against it"):
        scored(project, run)
    with pytest.raises(EvhError, match="silver/small is missing here"):
        scored(project, run, reference="silver")


def test_e28_e30_b100_other_references_keep_the_first_id(project: RunProject) -> None:
    run = measured(project)
    silver(project)
    made = scored(project, run, reference="silver/small")
    data = made.record.fingerprint.data if made.record.fingerprint else None
    assert data is not None and made.record.reference_tier == "silver"
    assert (data.reference_id, data.reference_id_at_measurement) == ("silver/small", "gold/small")
    assert not any("references changed" in each for each in made.notices)
    assert any("1 of 3 items have a reference" in each for each in made.notices)
    assert made.record.reference_coverage is not None and made.record.reference_coverage.items == 3
    back = scored(project, open_run_dir(made.directory), "runs-back", reference="gold")
    data = back.record.fingerprint.data if back.record.fingerprint else None
    assert data is not None and data.reference_id_at_measurement == "gold/small"
    assert data.references_sha256_at_measurement is None and back.notices == []
    (project.root / "data" / "references" / "gold" / "small" / "i0.txt").write_text("else", "utf-8")
    changed = scored(project, open_run_dir(made.directory), "runs-back-2", reference="gold")
    assert any("references changed" in each for each in changed.notices)
    with pytest.raises(EvhError, match="is there already"):
        scored(project, run, reference="gold")


def test_e29_the_same_set_with_another_file_is_flagged(project: RunProject) -> None:
    run = measured(project)
    (project.root / "data" / "references" / "gold" / "small" / "i0.txt").write_text("else", "utf-8")
    made = scored(project, run)
    assert run.record is not None and run.record.fingerprint is not None and made.record.fingerprint is not None
    first = run.record.fingerprint.data.references_sha256
    assert made.record.fingerprint.data.references_sha256_at_measurement == first
    assert any("references changed" in each for each in made.notices)
    assert made.record.scores["same"] == pytest.approx(2 / 3)


def test_a_set_that_came_later_is_told_and_not_taken(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 3)
    run = measured(project)
    silver(project)
    made = scored(project, run)
    assert made.record.reference_tier is None and "--reference silver" in made.notices[0]


# Records


def test_e51_members_of_newer_releases_are_not_copied(project: RunProject) -> None:
    run = measured(project)
    path = run.path / "metrics.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"invented": 1}), "utf-8")
    made = scored(project, open_run_dir(run.path))
    assert "invented" not in json.loads((made.directory / "metrics.json").read_bytes())


def test_e52_a_run_without_run_json_is_derived_from(project: RunProject) -> None:
    run = measured(project)
    for name in ("run.json", "attempts.jsonl"):
        (run.path / name).unlink()
    assert scored(project, open_run_dir(run.path)).record.n_items == 3


def test_e25_three_derivations_nest_and_each_names_its_source(project: RunProject) -> None:
    run = measured(project)
    for out in ("one", "two", "three"):
        made = scored(project, run, out)
        assert run.record is not None and made.record.source_created_at == run.record.created_at
        run = open_run_dir(made.directory)
    block = json.loads((run.path / "metrics.json").read_bytes())["derived"]
    assert [block["from"], block["source"]["from"], block["source"]["source"]["from"]] == [
        f"two/{run.path.name}", f"one/{run.path.name}", f"runs/{run.path.name}",
    ]  # fmt: skip
    assert "source" not in block["source"]["source"]


def test_runs_are_chosen_by_dataset_and_name_and_passed_over_with_a_reason(project: RunProject) -> None:
    run = measured(project)
    found = Project(project.root)
    assert [each.path for each in choose_runs(found, "small", "ar").runs] == [run.path]
    with pytest.raises(EvhError, match="no finished run of 'small' that match 'zz'"):
        choose_runs(found, "small", "zz")
    path = run.path / "metrics.json"
    record = json.loads(path.read_bytes())
    del record["adapter"]
    path.write_text(json.dumps(record), "utf-8")
    assert choose_runs(found, "small").passed_over[0][0] == run.path.name
    assert len(choose_runs(found, "small", needs_adapter=False).runs) == 1


def test_the_dataset_is_asked_only_where_it_says_something_to_a_score(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 2, adapter=EPISODES)
    run = measured(project)
    (project.root / "data" / "datasets" / "small.json").write_bytes(b"{")
    assert scored(project, run).record.reference_coverage is None
    wanting = 'def score(output, reference, source):\n    return {"n": len(source)}\n'
    with pytest.raises(EvhError, match=r"small\.json"):
        scored(project, run, "elsewhere", adapter=other(project, wanting))
    silver(project)
    with pytest.raises(EvhError, match=r"small\.json"):
        scored(project, run, "again")
