"""What a resume makes of the rows it finds: those that stand are kept, those that can't be trusted are refused."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from test_measured_rows import gone_on, measured

from evh.errors import EvhError, RecordError, SourceError, UsageError
from evh.harness.launch import measure, resume
from evh.harness.project import Project
from evh.store.clock import instant
from tests.support.run_project import RunProject, listing

Rows = Callable[[list[bytes]], bytes]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunProject:
    """A run of four items that was stopped when three of them had rows."""
    project = RunProject(tmp_path / "p", 4)
    monkeypatch.setenv("CALLS", project.environ["CALLS"])
    assert measured(project, max_cost_usd=0.75).stop == "cap"
    return project


def rows_file(project: RunProject) -> Path:
    return project.run.path / "predictions.jsonl"


def without_extra(row: bytes) -> bytes:
    plain = json.loads(row)
    del plain["_extra"]
    return json.dumps(plain).encode() + b"\n"


REFUSED: list[tuple[str, Rows, str]] = [
    ("e6 a second row", lambda rows: b"".join([*rows, rows[0].replace(b'"size":6', b'"size":7')]), "lines 1 and 4"),
    ("e6 the same row twice", lambda rows: b"".join([*rows, rows[0]]), "lines 1 and 4"),
    (
        "e7 rows of an older version",
        lambda rows: b"".join(map(without_extra, rows)),
        ":1: the row has no `_extra`",
    ),
    (
        "e8 some rows of one",
        lambda rows: rows[0] + without_extra(rows[1]) + rows[2],
        ":2: the row has no `_extra`",
    ),
    ("b077 a broken row in the middle", lambda rows: rows[0] + rows[1][:50] + b"\n" + rows[2], ":2: "),
    ("e66 a list", lambda rows: rows[0] + b"[]\n" + rows[1], ":2: "),
    ("e66 a number", lambda rows: rows[0] + b"3\n" + rows[1], ":2: "),
    (
        "another dataset's item",
        lambda rows: rows[0].replace(b"i0", b"zz") + rows[1],
        "the item 'zz' is not among the 4 items",
    ),
    ("no id", lambda rows: rows[0].replace(b'"item_id":"i0",', b"") + rows[1], ":1: "),
]


@pytest.mark.parametrize(("change", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_rows_that_nobody_can_go_on_from_are_refused_with_their_line(
    project: RunProject, change: Rows, said: str
) -> None:
    path = rows_file(project)
    path.write_bytes(change(path.read_bytes().splitlines(keepends=True)))
    before = listing(project.run.path)
    with pytest.raises(EvhError) as caught:
        gone_on(project)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert listing(project.run.path) == before
    assert len(project.calls) == 3


def test_e65_e66_a_mark_line_ends_of_windows_and_blank_lines_are_tolerated(project: RunProject) -> None:
    path = rows_file(project)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    before = path.read_bytes()
    assert gone_on(project).record is not None
    assert path.read_bytes().startswith(before)
    assert len(project.calls) == 4
    assert project.run.count().n_items == 4


def test_b037_characters_that_some_splitters_take_for_line_ends_end_no_row(project: RunProject) -> None:
    path = rows_file(project)
    odd = "a\u2028b\x85c\x1cd".encode()
    rows = path.read_bytes().replace(
        b'"_extra"', b'"_meta":{"raw":"' + odd.replace(b"\x1c", b"\\u001c") + b'"},"_extra"'
    )
    path.write_bytes(rows)
    assert gone_on(project).record is not None
    assert path.read_bytes().startswith(rows)
    assert len(project.calls) == 4


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_e33_b052_b095_a_torn_row_is_set_aside_and_its_item_measured_anew(project: RunProject, cut: int) -> None:
    path = rows_file(project)
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(rows[0] + rows[1] + rows[2][:cut])
    finished = gone_on(project)
    assert finished.record is not None
    assert finished.record.n_items == 4
    assert path.read_bytes().startswith(rows[0] + rows[1])
    assert path.with_name("predictions.jsonl.torn-1").read_bytes() == rows[2][:cut]
    assert sorted(project.calls) == ["text 0", "text 1", "text 2", "text 2", "text 3"]


def test_e64_a_manifest_with_a_member_twice_is_refused(project: RunProject) -> None:
    path = project.run.path / "run.json"
    path.write_text(path.read_text().replace('"run_id":', '"dataset_id": "small", "run_id":', 1))
    with pytest.raises(EvhError, match="dataset_id"):
        resume(Project(project.root), project.run.path, environ=project.environ)


@pytest.mark.parametrize("odd", ["link", "folder", "fifo"])
def test_e41_what_is_no_plain_file_among_the_outputs_is_neither_read_nor_written(
    project: RunProject, tmp_path: Path, odd: str
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("TEXT 0")
    for item_id in ("i0", "i3"):
        place = project.run.path / "outputs" / f"{item_id}.txt"
        place.unlink(missing_ok=True)
        if odd == "link":
            place.symlink_to(outside)
        elif odd == "folder":
            place.mkdir()
        else:
            os.mkfifo(place)
    with pytest.raises(EvhError, match="is a link, folder or device where an item's output belongs"):
        gone_on(project)
    assert outside.read_text() == "TEXT 0"
    assert project.run.record is None
    assert not (project.run.path / "lease.json").exists()
    for item_id in ("i0", "i3"):
        place = project.run.path / "outputs" / f"{item_id}.txt"
        place.rmdir() if odd == "folder" else place.unlink()
    assert gone_on(project).record is not None
    assert sorted(project.calls) == ["text 0", "text 0", "text 1", "text 2", "text 3"]


def test_an_output_without_a_row_is_paid_again_and_overwritten(project: RunProject) -> None:
    (project.run.path / "outputs" / "i3.txt").write_text("of a launch that was killed")
    assert gone_on(project).record is not None
    assert project.run.output("i3") == "TEXT 3"


def test_rows_that_accept_a_failure_are_done(project: RunProject) -> None:
    path = rows_file(project)
    path.write_bytes(path.read_bytes() + b'{"item_id":"i3","_extra":{},"_error":"ValueError: no"}\n')
    finished = gone_on(project)
    assert finished.record is not None
    assert finished.record.n_errors == 1
    assert len(project.calls) == 3


def test_e52_e53_what_is_no_stopped_run_is_told(project: RunProject, tmp_path: Path) -> None:
    old = project.runs / "old"
    old.mkdir()
    (old / "metrics.json").write_bytes(b'{"run_id": "old"}')
    for named, kind, said in (
        (old, SourceError, "run.json"),
        (tmp_path / "none", SourceError, "no such run"),
        ("none", SourceError, "no such run"),
    ):
        with pytest.raises(kind, match=said):
            resume(Project(project.root), named, environ=project.environ)
    rows = project.runs / "rows"
    rows.mkdir()
    (rows / "predictions.jsonl").write_bytes(b'{"item_id":"i0","_extra":{}}\n')
    with pytest.raises(SourceError, match=r"its run\.json is missing"):
        resume(Project(project.root), rows, environ=project.environ)
    assert listing(old) == {"metrics.json": b'{"run_id": "old"}'}
    assert listing(rows) == {"predictions.jsonl": b'{"item_id":"i0","_extra":{}}\n'}
    assert len(project.calls) == 3


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (
            {"imported": {"from": "x", "at": "2026-10-04T08:15:30Z", "sha256": "0" * 64, "tool": "t", "lossy": []}},
            "import",
        ),
        ({"kind": "live"}, "of the kind 'live'"),
        ({"fingerprint": None}, "fingerprint"),
    ],
)
def test_runs_that_this_harness_did_not_measure_are_refused(
    project: RunProject, members: dict[str, object], said: str
) -> None:
    path = project.run.path / "run.json"
    document = {**json.loads(path.read_bytes()), **members}
    path.write_text(json.dumps({name: value for name, value in document.items() if value is not None}))
    with pytest.raises(RecordError, match=said):
        resume(Project(project.root), project.run.path, environ=project.environ)
    assert resume(Project(project.root), environ=project.environ) == []


def test_several_that_could_be_meant_are_named(project: RunProject) -> None:
    measured(project, max_cost_usd=0.25)
    with pytest.raises(UsageError, match="2 runs can be resumed"):
        resume(Project(project.root), environ=project.environ)


def test_an_interrupt_when_all_rows_are_there_leaves_them_and_no_record(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("evh.harness.run_attempt.run_record", interrupted)
        finished = gone_on(project)
    assert (finished.record, finished.stop, finished.done) == (None, "interrupted", 4)
    assert not (project.run.path / "lease.json").exists()
    assert gone_on(project).record is not None
    assert len(project.calls) == 4


def test_a_run_that_somebody_took_over_stops_and_writes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = """
import os, pathlib, threading


def call_system(text, params):
    if text == "text 1":
        (lease,) = pathlib.Path(os.environ["RUNS"]).glob("*/lease.json")
        beats = [each for each in threading.enumerate() if each.name.startswith("lease ")]
        while any(each.is_alive() for each in beats):
            lease.unlink(missing_ok=True)
            beats[0].join(0.05)
    return text
"""
    monkeypatch.setattr("evh.store.lease.BEAT_SECONDS", 0.001)
    project = RunProject(tmp_path / "p", 4, adapter=adapter)
    monkeypatch.setenv("RUNS", str(project.runs))
    finished = measured(project)
    assert finished.stop == "taken-over"
    assert finished.fault is not None
    assert "nothing more is written to it here" in finished.fault
    assert [stored.row.item_id for stored in project.run.rows()] == ["i0"]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-10-04T08:15:30Z", "2026-10-04T08:15:30+00:00"),
        ("2026-10-04T10:15:30+02:00", "2026-10-04T08:15:30+00:00"),
        ("2026-10-04T08:15:30.123456789Z", "2026-10-04T08:15:30.123456+00:00"),
        ("2026-10-04T08:15:30", None),
        ("2026-10-04T08:15:60Z", None),
        ("12026-10-04T08:15:30Z", None),
        ("yesterday", None),
    ],
)
def test_e22_e70_one_parser_reads_all_times(text: str, same: str | None) -> None:
    if same is None:
        with pytest.raises(RecordError):
            instant(text)
    else:
        assert instant(text).isoformat() == same


def test_repeats_that_were_never_begun_are_made_by_a_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between two repeats leaves a finished run and no other: what was asked for is still owed."""
    project = RunProject(tmp_path / "p", 3)
    monkeypatch.setenv("CALLS", project.environ["CALLS"])
    here = Project(project.root)
    measure(here, project.config, repeats=3, run_id="arm")
    for name in ("arm_r2", "arm_r3"):
        shutil.rmtree(here.runs / name)
    calls = len(project.calls)
    finished = resume(here)
    assert [each.directory.name for each in finished] == ["arm_r2", "arm_r3"]
    assert all(each.record is not None for each in finished) and len(project.calls) == calls + 6
    assert resume(here) == []


def test_an_interrupt_in_the_warm_up_of_a_resume_is_a_stop_that_can_go_on(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("evh.harness.setup.Setup.warm_up", interrupted)
        finished = gone_on(project)
    assert (finished.record, finished.stop, finished.done) == (None, "interrupted", 3)
    assert gone_on(project).record is not None
