"""Reading a run: whoever wrote it, however it ended, without touching it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from made_runs import MANIFEST, RECORD, make_run

from evh.errors import DecodeError, EvhError, SchemaError, SourceError
from evh.store import Lease, list_runs, open_run_dir
from evh.store.layout import output_name
from evh.store.rows import count_rows

ROWS = [{"item_id": "a", "score": 1}, {"item_id": "b", "score": 0, "_extra": {"k": 3}}]


def everything(path: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in path.rglob("*") if each.is_file()}


def test_a_finished_run_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    before = everything(path)
    run = open_run_dir(str(path))
    assert (run.run_id, run.state) == ("arm_r1", "finished")
    assert run.record is not None
    assert run.record.n_items == 2
    assert [stored.row.item_id for stored in run.rows()] == ["a", "b"]
    assert run.count().scores() == {"k": 3.0, "score": 0.5}
    assert (list(run.errors()), run.attempts(), run.has_episodes, run.notices) == ([], [], False, [])
    assert everything(path) == before


def test_states(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS, finished=False)
    run = open_run_dir(path)
    assert run.state == "unfinished"
    lease = Lease(path)
    assert run.state == "running"
    lease.release()
    (path / "lease.json").write_text("{}")
    assert run.state == "stale"
    (path / "end.json").write_text("{}")
    assert run.state == "ended"
    (path / "metrics.json").write_text(json.dumps(RECORD))
    assert run.state == "finished"


@pytest.mark.parametrize("name", ["nothing", "file", "empty", "bad\0name", "x" * 300])
def test_what_is_no_run_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError) as told:
        open_run_dir(tmp_path / name)
    assert str(tmp_path) in str(told.value.source)


def test_b001_an_index_under_a_records_name_is_told_as_what_it_is_not(tmp_path: Path) -> None:
    make_run(tmp_path, "good_r1", ROWS)
    bad = make_run(tmp_path, "index", ROWS)
    (bad / "metrics.json").write_text(json.dumps({"a.json": {"score": 1}, "b.json": {"score": 2}}))
    with pytest.raises(SourceError, match=r"metrics\.json: not a run record: missing build, config_id,.*run_id"):
        _ = open_run_dir(bad).record
    listing = list_runs(tmp_path)
    assert [run.path.name for run in listing.finished] == ["good_r1"]
    assert "not a run record" in listing.skipped[0].why


@pytest.mark.parametrize("data", [b"[]", b"3", b'"x"', b"null"])
def test_a_record_that_is_no_object_is_told(tmp_path: Path, data: bytes) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    (path / "metrics.json").write_bytes(data)
    with pytest.raises(SourceError, match="not a run record: it is"):
        _ = open_run_dir(path).record


@pytest.mark.parametrize("data", [b"", b"{", b"\x00\xff\xfe", b"\0" * 100, b"{}" * 2, b"[" * 100_000])
def test_b065_garbage_is_an_error_with_the_files_name(tmp_path: Path, data: bytes) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    for name in ("metrics.json", "run.json"):
        (path / name).write_bytes(data)
    run = open_run_dir(path)
    for read, name in ((lambda: run.record, "metrics.json"), (lambda: run.manifest, "run.json")):
        with pytest.raises(EvhError) as told:
            read()
        assert told.value.source == str(path / name)


def test_b065_garbage_among_rows_is_an_error_with_file_and_line(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    with (path / "predictions.jsonl").open("ab") as file:
        file.write(os.urandom(20).replace(b"\n", b"") + b"\xff\n" + b'{"item_id":"c"}\n')
    with pytest.raises(EvhError) as told:
        list(open_run_dir(path).rows())
    assert (told.value.source, told.value.line) == (str(path / "predictions.jsonl"), 3)


def test_e64_a_member_that_stands_twice_in_a_record_is_refused(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    text = (path / "metrics.json").read_text()
    (path / "metrics.json").write_text(text.replace('"scores": {}', '"scores": {"a": 1, "a": 2}'))
    with pytest.raises(DecodeError, match=r"/scores/a: .*remove one of them"):
        _ = open_run_dir(path).record


def test_e10_a_nan_literal_in_a_record_is_told_with_its_place(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS, warmup_ms=float("nan"))
    run = open_run_dir(path)
    assert run.record is not None
    assert run.record.warmup_ms is None
    assert [(notice.kind, notice.pointer) for notice in run.notices] == [("non-finite", "/warmup_ms")]


def test_e51_a_record_of_a_newer_writer_loads(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS, newer={"x": 1}, metric_directions={"score": "higher"})
    run = open_run_dir(path)
    assert run.record is not None
    assert run.record.additional == {"newer": {"x": 1}}
    assert [notice.kind for notice in run.notices] == ["unknown"]


def test_a_derived_run_of_0_3_0_loads_as_a_measured_one(tmp_path: Path) -> None:
    path = make_run(tmp_path, "old", ROWS, manifest=False, rescored_from="x", rescored_at="2026-01-01T00:00:00Z")
    run = open_run_dir(path)
    assert run.record is not None
    assert run.record.derived is None


def test_e52_a_run_of_before_0_4_0_is_read_without_its_manifest(tmp_path: Path) -> None:
    run = open_run_dir(make_run(tmp_path, "old", ROWS, manifest=False))
    assert (run.manifest, run.run_id, run.state) == (None, "old", "finished")
    assert len(list(run.rows())) == 2


def test_e53_rows_without_a_record_are_an_unfinished_run(tmp_path: Path) -> None:
    path = make_run(tmp_path, "half", ROWS, finished=False, manifest=False)
    assert (open_run_dir(path).state, open_run_dir(path).run_id) == ("unfinished", "half")
    listing = list_runs(tmp_path)
    assert (len(listing.finished), len(listing.unfinished), listing.skipped) == (0, 1, [])


def test_a_manifest_alone_is_a_run_without_rows(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(MANIFEST))
    run = open_run_dir(tmp_path)
    assert (list(run.rows()), run.count().n_items) == ([], 0)


def test_a_link_in_the_place_of_a_record_is_not_followed(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    (path / "metrics.json").rename(tmp_path / "elsewhere.json")
    (path / "metrics.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(SourceError, match="links are not followed"):
        _ = open_run_dir(path).record


def test_torn_notes_of_errors_and_launches_are_told(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    (path / "errors.jsonl").write_text('{"item_id":"a","attempt":1,"at":"2026-10-04T08:15:30Z","type":"E","mess')
    (path / "attempts.jsonl").write_text('{"attempt":1}\n{"attempt":2}\n')
    run = open_run_dir(path)
    assert list(run.errors()) == []
    assert [notice.kind for notice in run.notices] == ["torn"]
    with pytest.raises(EvhError, match="not a valid Attempt") as told:
        run.attempts()
    assert (told.value.source, told.value.line) == (str(path / "attempts.jsonl"), 1)


def test_a_row_has_the_members_that_every_row_of_a_reader_has(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    first, second = open_run_dir(path).rows()
    assert (first.value, first.item_id, first.line, first.offset, first.notices) == (first.row, "a", 1, 0, ())
    assert (second.item_id, second.line) == ("b", 2)
    assert (path / "predictions.jsonl").read_bytes()[second.offset :].startswith(b'{"_extra": {"k": 3}')


@pytest.mark.parametrize("folder", [False, True])
def test_a_run_without_episodes_has_none_to_read(tmp_path: Path, folder: bool) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    if folder:
        (path / "traces").mkdir()
    run = open_run_dir(path)
    assert list(run.episodes()) == []
    assert (run.episodes().read, run.has_episodes) == (0, False)


def test_outputs_of_older_harnesses_are_read_under_the_names_they_had(tmp_path: Path) -> None:
    run = open_run_dir(make_run(tmp_path, "old", ROWS, manifest=False))
    outputs = run.path / "outputs"
    outputs.mkdir()
    for name in ("Case A.txt", "q:1.txt", "Both.txt"):
        (outputs / name).write_text(name)
    (outputs / output_name("Both")).write_text("ours")
    assert run.output("Case A") == "Case A.txt"
    assert run.output("q:1") == "q:1.txt"
    assert run.output("Both") == "ours"
    assert run.output_path("None such").name == output_name("None such")
    with pytest.raises(SourceError, match="is missing"):
        run.output("None such")


def test_e38_e41_a_name_by_hand_is_one_plain_file_of_the_folder(tmp_path: Path) -> None:
    run = open_run_dir(make_run(tmp_path, "old", ROWS, manifest=False))
    outputs = run.path / "outputs"
    outputs.mkdir()
    (run.path / "up.txt").write_text("outside")
    (outputs / "Sub").mkdir()
    (outputs / "Sub" / "x.txt").write_text("below")
    (outputs / "Link.txt").symlink_to(run.path / "up.txt")
    (outputs / "Folder.txt").mkdir()
    for item_id in ("../up", "Sub/x", "Link", "Folder", "x" * 300, "\ud800"):
        assert run.output_path(item_id).name == output_name(item_id)
        with pytest.raises(SourceError, match="is missing"):
            run.output(item_id)
    (outputs / output_name("Odd")).write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="is no UTF-8"):
        run.output("Odd")


def test_a_record_that_counts_other_rows_is_told(tmp_path: Path) -> None:
    run = open_run_dir(make_run(tmp_path, "arm_r1", ROWS, n_items=3))
    assert run.count().n_items == 2
    (notice,) = run.notices
    assert (notice.kind, notice.pointer, notice.value) == ("count", "/n_items", 3)
    assert "says n_items 3, predictions.jsonl has 2 rows" in notice.message


def test_counting_the_rows_of_a_run_does_not_hide_the_record_that_it_gets_later(tmp_path: Path) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS, finished=False)
    run = open_run_dir(path)
    run.count()
    (path / "metrics.json").write_text(json.dumps(RECORD))
    assert run.record is not None


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("2026-10-04T10:15:30+02:00", "2026-10-04T08:15:30Z"),
        ("2026-10-04T00:15:30.250-08:00", "2026-10-04T08:15:30.250000Z"),
    ],
)
def test_e22_a_time_with_an_offset_is_read_in_utc_and_told(tmp_path: Path, said: str, read: str) -> None:
    inner = {"kind": "rescore", "from": "x", "at": said, "with": {"adapter": "a", "sha256": "0" * 64, "scorer": {}}}
    derived = inner | {"at": "2026-10-04T08:15:30Z", "source": inner}
    times = {"source_created_at": said, "created_at": said, "derived": derived}
    path = make_run(tmp_path, "arm_r1", ROWS, **times, warmup_ms=1.0, resume=None)
    (path / "run.json").write_text(json.dumps(MANIFEST | {"started_at": said}))
    run = open_run_dir(path)
    assert run.record is not None and run.manifest is not None
    assert (run.record.created_at, run.record.source_created_at, run.manifest.started_at) == (read, read, read)
    assert sorted((notice.kind, notice.pointer, notice.value) for notice in run.notices) == [
        ("time", "/created_at", said), ("time", "/derived/source/at", said), ("time", "/source_created_at", said),
        ("time", "/started_at", said),
    ]  # fmt: skip
    assert json.loads((path / "metrics.json").read_text())["created_at"] == said


@pytest.mark.parametrize("said", ["2026-10-04T08:15:30", "yesterday", "2026-02-30T08:15:30+02:00", 5])
def test_e22_a_time_without_a_zone_is_refused(tmp_path: Path, said: object) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS, created_at=said)
    with pytest.raises(SchemaError, match="/created_at"):
        _ = open_run_dir(path).record


@pytest.mark.parametrize("end", ["", "torn"])
def test_rows_are_counted_exactly_while_the_file_is_small(tmp_path: Path, end: str) -> None:
    path = make_run(tmp_path, "arm_r1", ROWS)
    with (path / "predictions.jsonl").open("a") as file:
        file.write(end)
    assert count_rows(path) == (2, True)
    (path / "predictions.jsonl").unlink()
    assert count_rows(path) == (0, True)


def test_b022_of_a_large_file_the_head_is_read_and_the_rows_are_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_run(tmp_path, "arm_r1", [{"item_id": f"i{number:06}", "score": 1} for number in range(1000)])
    monkeypatch.setattr("evh.store.rows.COUNT_LIMIT", 10_000)
    monkeypatch.setattr("evh.store.rows.COUNT_PIECE", 100)
    assert count_rows(path) == (1000, False)
    with (path / "predictions.jsonl").open("r+b") as file:
        file.seek(200)
        file.write(b"\0" * 20_000)  # if it is read, the number changes
    assert count_rows(path) == (1000, False)
