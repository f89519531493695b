"""Failures that other harnesses are known for, each by its number, where no other test of the store has it."""

from __future__ import annotations

import inspect
import json
import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_runs import MANIFEST, make_run

import evh
from evh.errors import NotWritable, RecordError, SchemaError, SourceError
from evh.harness.dataset import create_dataset, load_dataset
from evh.harness.plan import plan_run
from evh.harness.project import Project
from evh.protocol import _views, models
from evh.rules import RULES, validate
from evh.store import _os, layout, list_runs, open_run_dir, read_arm
from evh.store.journal import Journal
from evh.store.projection import Projected
from evh.store.record import Declared
from evh.store.rows import read_metric_rows, read_predictions
from tests.faults.processes import start_python
from tests.unit.rules.whole_tree import Made

REAL = Path(__file__).parents[2] / "data" / "verifiers"
ROWS = [{"item_id": "a", "score": 1}, {"item_id": "b", "score": 0}]


# --- runs of every version -------------------------------------------------------------------------------------------


def old_run(folder: Path) -> Path:
    """A derived run as 0.3.0 left it: no `run.json`, rows without `_extra`, the derivation in members of its own."""
    path = make_run(
        folder, "old", ROWS, manifest=False,
        rescored_from="arm", rescored_at="2026-01-01T00:00:00Z", scores={"score": 0.5},
    )  # fmt: skip
    (path / layout.PREDICTIONS).write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def newer_run(folder: Path) -> Path:
    """A run of a later minor version, with a member that this one does not know in each of its files."""
    rows: list[dict[str, Any]] = [{**row, "_later": 1} for row in ROWS]
    path = make_run(folder, "newer", rows, later={"x": 1}, scores={"score": 0.5})
    manifest = MANIFEST | {"run_id": "newer", "schema": "evh:1.9:run_manifest", "harness_version": "9.9", "later": 1}
    (path / layout.MANIFEST).write_text(json.dumps(manifest))
    return path


@pytest.mark.parametrize("version", ["0.3.0", "0.4.0", "newer"])
def test_b002_records_of_every_version_are_read_alike(tmp_path: Path, version: str) -> None:
    made = {"0.3.0": old_run, "newer": newer_run}.get(version)
    path = make_run(tmp_path, "run", ROWS, scores={"score": 0.5}) if made is None else made(tmp_path)
    run = open_run_dir(path)
    assert run.record is not None
    assert run.record.scores == run.count().scores() == {"score": 0.5}
    assert [stored.row.item_id for stored in run.rows()] == ["a", "b"]
    assert read_arm(tmp_path, "d", "arm").values("score") == {"a": 1, "b": 0}


@pytest.mark.parametrize("folder", sorted(path.name for path in REAL.iterdir() if (path / "traces.jsonl").exists()))
def test_b002_episodes_of_every_version_are_read_and_what_fails_in_them_has_one_shape(
    tmp_path: Path, folder: str
) -> None:
    path = make_run(tmp_path, "run", [])
    text = (REAL / folder / "traces.jsonl").read_bytes()
    whole = text[: text.rfind(b"\n") + 1]  # two of them end in half a row
    (path / layout.TRACES).write_bytes(whole)
    episodes = list(open_run_dir(path).episodes())
    assert bool(episodes) == bool(whole)
    for error in (error for episode in episodes for trace in episode.traces for error in trace.errors):
        assert isinstance(error, models.Error) and isinstance(error.type, str) and isinstance(error.message, str)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_b004_both_ways_of_reading_rows_agree_on_what_is_no_number(tmp_path: Path, token: str) -> None:
    path = make_run(tmp_path, "run", []) / layout.PREDICTIONS
    path.write_text(
        f'{{"item_id": "a", "_extra": {{}}, "score": {token}}}\n{{"item_id": "b", "score": 1, "_extra": {{}}}}\n'
    )
    notices: list[Any] = []
    told: list[Any] = []
    quick = {row.item_id: row.metrics for row in read_metric_rows(path, notices)}
    full = {stored.item_id: stored for stored in read_predictions(path, told)}
    assert quick == {"a": {}, "b": {"score": 1}}
    assert full["a"].value.plain().get("score") is None
    assert [each.kind for each in notices] == ["non-finite"] == [each.kind for each in full["a"].notices]


def test_b004_a_record_with_an_infinity_is_told_by_every_reader(tmp_path: Path) -> None:
    path = make_run(tmp_path, "run", ROWS, warmup_ms=float("-inf"))
    run = open_run_dir(path)
    assert run.record is not None and run.record.warmup_ms is None
    assert [each.kind for each in run.notices] == ["non-finite"]
    assert [each.path.name for each in list_runs(tmp_path).finished] == ["run"]
    [outcome] = validate([path], {}, ["V1"])
    assert any(each.pointer == "/warmup_ms" for each in outcome.findings)


def test_b050_a_run_says_its_version_and_a_strict_reader_which_one_is_newer(tmp_path: Path) -> None:
    path = newer_run(tmp_path)
    run = open_run_dir(path)
    assert run.manifest is not None and run.manifest.harness_version == "9.9"
    assert [each.kind for each in run.notices] == ["unknown"]
    with pytest.raises(SchemaError, match="declares a newer schema"):
        evh.decode_strict((path / layout.MANIFEST).read_bytes(), models.RunManifest)


def test_b050_rows_of_before_0_4_0_are_refused_by_a_resume_and_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.txt").write_text(name)
    project = Project(tmp_path)
    create_dataset(project, tmp_path / "in", "d")
    path = old_run(tmp_path)
    before = (path / layout.PREDICTIONS).read_bytes()
    with pytest.raises(RecordError, match=r"before 0\.4\.0"):
        plan_run(path, load_dataset(project, "d"), 2)
    assert (path / layout.PREDICTIONS).read_bytes() == before


# --- how much is read and held ---------------------------------------------------------------------------------------


def test_b020_a_plan_and_every_rule_read_each_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    views = _views.iter_views

    def counted(*arguments: Any, **options: Any) -> Iterator[Any]:
        nonlocal read
        for line in views(*arguments, **options):
            read += 1
            yield line

    for module in ("evh.store.rows", "evh.rules.strictly", "evh.rules.committed"):
        monkeypatch.setattr(f"{module}.iter_views", counted)
    made = Made(tmp_path)
    path = made.run()
    read = 0
    plan = plan_run(path, load_dataset(made.project, "d"), 3)
    assert (plan.done, read) == (3, 3)
    counts = {}
    for rule in RULES:
        read = 0
        validate([tmp_path], {}, [rule.name])
        counts[rule.name] = read
    assert {name for name, rows in counts.items() if rows} >= {"V1", "V5", "R2", "R3", "R4"}
    assert set(counts.values()) == {0, 3}


def test_b023_what_an_append_holds_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_os, "fsync", lambda descriptor: None)
    row = b'{"item_id":"%06d","output":"' + b"x" * 400 + b'","_extra":{}}'
    peaks = []
    with Journal(tmp_path / "rows.jsonl", fsync="never") as journal:
        tracemalloc.start()
        try:
            for part in range(2):
                tracemalloc.reset_peak()
                for number in range(5000):
                    journal.append(row % (part * 5000 + number))
                    if number % 10 == 9:
                        journal.sync()
                peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert (tmp_path / "rows.jsonl").stat().st_size > 4_000_000
    assert max(peaks) < 400_000


CONTENDER = """
import sys
from pathlib import Path

from evh.errors import LockedError
from evh.store.run_writer import RunWriter

sys.stdin.readline()
try:
    writer = RunWriter(Path(sys.argv[1]))
except LockedError:
    print("refused", flush=True)
    raise SystemExit(0)
with writer:
    for number in range(5):
        writer.write_item(f"{sys.argv[2]}-{number}", "x", {"_extra": {}, "_meta": {"text": sys.argv[2] * 300_000}})
    print("wrote", flush=True)
    sys.stdin.readline()
"""


def test_b079_of_six_writers_one_writes_and_every_line_parses(tmp_path: Path) -> None:
    path = make_run(tmp_path, "run", [], finished=False)
    (path / layout.PREDICTIONS).unlink()
    children = [start_python("-c", CONTENDER, path, str(number)) for number in range(6)]
    try:
        for child in children:
            assert child.stdin is not None
            child.stdin.write(b"try\n")
            child.stdin.flush()
        said = [child.stdout.readline().strip() for child in children if child.stdout is not None]
        assert sorted(said) == [b"refused"] * 5 + [b"wrote"]
    finally:
        ended = [child.communicate(b"close\n", timeout=30) for child in children]
    assert [child.returncode for child in children] == [0] * 6, ended
    lines = (path / layout.PREDICTIONS).read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 5
    assert {len(row["_meta"]["text"]) for row in rows} == {300_000}
    assert len({row["item_id"].partition("-")[0] for row in rows}) == 1


# --- generated structs and numbers -----------------------------------------------------------------------------------

STRUCTS = [
    found
    for _, found in inspect.getmembers(models, inspect.isclass)
    if issubclass(found, msgspec.Struct) and found.__module__.startswith("evh.protocol.models")
]


def parameters(struct: type) -> list[inspect.Parameter]:
    return list(inspect.signature(struct).parameters.values())


def test_b083_structs_take_required_members_after_optional_ones() -> None:
    required = {struct: [field.required for field in msgspec.structs.fields(struct)] for struct in STRUCTS}
    mixed = [struct for struct, flags in required.items() if flags != sorted(flags, reverse=True)]
    assert len(STRUCTS) > 40 and mixed
    assert all(parameter.kind is parameter.KEYWORD_ONLY for each in mixed for parameter in parameters(each))
    record = models.RunRecord(
        n_items=1, scores={}, created_at="2026-01-01T00:00:00Z", build=models.Build(ref="x"), params={"k": 1},
        config_id="c", dataset_id="d", run_id="r",
    )  # fmt: skip
    assert evh.decode_strict(evh.encode(record), models.RunRecord) == record


def test_b085_defaults_are_not_shared() -> None:
    def record() -> models.RunRecord:
        return models.RunRecord(
            run_id="r", dataset_id="d", config_id="c", build=models.Build(ref="x"),
            created_at="2026-01-01T00:00:00Z", scores={}, n_items=0,
        )  # fmt: skip

    made: list[tuple[Any, Any]] = [
        (record(), record()),
        (Projected("a", ""), Projected("a", "")),
        (Declared(), Declared()),
    ]
    for one, other in made:
        shared = [
            name
            for name in one.__struct_fields__
            if isinstance(getattr(one, name), dict | list) and getattr(one, name) is getattr(other, name)
        ]
        assert shared == []
    first, second = record(), record()
    first.metric_kinds["m"] = "quality"
    assert second.metric_kinds == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_b086_what_is_no_number_is_refused_and_null_is_none(tmp_path: Path, value: float) -> None:
    with pytest.raises(NotWritable, match="/score"):
        evh.encode(models.PredictionRow.over({"item_id": "a", "_extra": {}, "score": value}))
    path = make_run(tmp_path, "run", [{"item_id": "a", "score": None}])
    counted = open_run_dir(path).count()
    assert (counted.n_items, counted.scores()) == (1, {})


def test_b089_one_model_is_read_leniently_by_tables_and_strictly_by_v1(tmp_path: Path) -> None:
    path = make_run(tmp_path, "run", ROWS, later={"x": 1}, scores={"score": 0.5})
    arm = read_arm(tmp_path, "d", "arm")
    assert arm.runs[0].record is not None
    assert arm.runs[0].record.additional == {"later": {"x": 1}}
    [outcome] = validate([path], {}, ["V1"])
    assert [each.pointer for each in outcome.findings if each.file.endswith(layout.RECORD)] == ["/later"]


def test_b091_repeats_are_averaged_by_item_and_a_second_row_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path, "arm_r1", [{"item_id": "a", "score": 1}, {"item_id": "b", "score": 0}])
    make_run(tmp_path, "arm_r2", [{"item_id": "a", "score": 0}, {"item_id": "b", "score": 0}])
    assert read_arm(tmp_path, "d", "arm").values("score") == {"a": 0.5, "b": 0.0}
    shutil.rmtree(tmp_path / "arm_r2")
    make_run(tmp_path, "arm_r2", [{"item_id": "a", "score": 1}, {"item_id": "a", "score": 0}])
    with pytest.raises(RecordError, match=r"lines 1 and 2|line 1") as told:
        read_arm(tmp_path, "d", "arm")
    assert told.value.line == 2


def test_e53_tables_leave_out_rows_without_a_record_and_count_them(tmp_path: Path) -> None:
    make_run(tmp_path, "arm_r1", [{"item_id": "a", "score": 1}])
    make_run(tmp_path, "arm_r2", [{"item_id": "a", "score": 0}], finished=False)
    make_run(tmp_path, "half", [{"item_id": "a", "score": 0}], finished=False, manifest=False)
    assert read_arm(tmp_path, "d", "arm").values("score") == {"a": 1}
    assert [run.path.name for run in list_runs(tmp_path).unfinished] == ["arm_r2", "half"]
    with pytest.raises(SourceError, match="1 finished, 2 unfinished, 0 unreadable"):
        read_arm(tmp_path, "d", "other")
