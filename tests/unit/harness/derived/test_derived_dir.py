"""Where derived runs may go, how they get there, and what a killed derivation leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from derived_support import measured, scored

from evh.errors import LockedError, SourceError, WriteError
from evh.harness.copying import copy_file, write_at
from evh.harness.derived_dir import DerivedDir, check_out, source_path
from evh.store.runs import list_runs
from tests.support.run_project import RunProject, listing


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "runs" / "a_1" / "outputs").mkdir(parents=True)
    return tmp_path / "data"


def refused(data: Path, out: Path, how: str, sources: tuple[Path, ...] = ()) -> None:
    with pytest.raises(SourceError, match=f"{how} .*originals are never touched"):
        check_out(out, data / "runs", sources)


def test_a_folder_beside_the_runs_is_taken_and_nothing_is_made_by_looking(data: Path) -> None:
    check_out(data / "runs-rescored" / "deep", data / "runs", [data / "runs" / "a_1"])
    assert [path.name for path in data.iterdir()] == ["runs"]


def test_e14_the_runs_directory_itself_is_refused(data: Path) -> None:
    refused(data, data / "runs", "is")


@pytest.mark.parametrize("inside", ["new", "a_1", "a_1/outputs", "new/deep"])
def test_e15_a_folder_in_the_runs_directory_or_in_a_source_is_refused(data: Path, inside: str) -> None:
    refused(data, data / "runs" / inside, "lies in")
    if inside.startswith("a_1"):
        with pytest.raises(SourceError):
            check_out(data / "runs" / inside, data / "elsewhere", [data / "runs" / "a_1"])


def test_e16_a_folder_that_holds_the_runs_directory_is_refused(data: Path) -> None:
    refused(data, data, "contains")
    refused(data, data.parent, "contains")


def test_e17_b098_the_runs_directory_under_another_name_is_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = data / "alias"
    alias.symlink_to("runs")
    monkeypatch.chdir(data)
    for out in (alias, data / "runs" / "a_1" / "..", Path("runs/"), Path("./nowhere/../runs"), Path("alias/.")):
        refused(data, out, "is")
    refused(data, alias / "new", "lies in")
    whole = data.parent / "whole"
    whole.symlink_to(data)
    refused(data, whole, "contains")
    check_out(data / "x", alias, ())
    with pytest.raises(SourceError):
        check_out(data / "runs", alias, ())


def test_the_folder_is_looked_at_again_right_before_the_run_takes_its_name(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 1)
    run = measured(project)
    record = run.record
    assert record is not None
    out = project.root / "data" / "out"
    with DerivedDir(out, "x", runs_dir=project.runs, sources=[run.path]) as made:
        before = listing(project.runs)
        out.rename(project.root / "data" / "moved")
        out.symlink_to(project.runs)
        made.path = project.root / "data" / "moved" / made.path.name
        made.outputs = made.path / "outputs"
        with pytest.raises(SourceError, match="originals are never touched"):
            made.finish(record)
    assert listing(project.runs) == before


def test_e18_a_run_of_that_name_is_refused_and_with_force_replaced_as_a_whole(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 2)
    run = measured(project)
    made = scored(project, run)
    before = listing(made.directory)
    with pytest.raises(WriteError, match="is there already: --force replaces it"):
        scored(project, run)
    assert listing(made.directory) == before
    (made.directory / "outputs" / "of-before.txt").write_text("x", "utf-8")
    scored(project, run, force=True)
    assert listing(made.directory).keys() == before.keys()
    assert [path.name for path in made.directory.parent.iterdir()] == [run.path.name]


def test_what_is_no_derived_run_is_not_replaced(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 1)
    run = measured(project)
    (project.root / "data" / "runs-rescored" / run.path.name).mkdir(parents=True)
    with pytest.raises(WriteError, match="is no derived run"):
        scored(project, run, force=True)


def test_e67_what_a_kill_left_is_passed_over_and_removed_by_the_next_derivation(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 2)
    run = measured(project)
    out = project.root / "data" / "runs-rescored"
    left = out / f".{run.path.name}.partial-0a1b2c3d"
    (left / "outputs").mkdir(parents=True)
    (left / "predictions.jsonl").write_bytes(b"{")
    assert list_runs(out) == ([], [], [])
    scored(project, run)
    assert [path.name for path in out.iterdir()] == [run.path.name]


def test_a_run_that_was_being_replaced_when_its_writer_died_gets_its_place_back(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 2)
    run = measured(project)
    made = scored(project, run)
    made.directory.rename(made.directory.with_name(f".{run.path.name}.partial-old"))
    with pytest.raises(WriteError, match="is there already"):
        scored(project, run)
    assert (made.directory / "metrics.json").is_file()


def test_two_derivations_of_one_run_at_a_time_are_refused(data: Path) -> None:
    with (
        DerivedDir(data / "out", "a_1", runs_dir=data / "runs", sources=[]),
        pytest.raises(LockedError),
        DerivedDir(data / "out", "a_1", runs_dir=data / "runs", sources=[]),
    ):
        pass
    assert list((data / "out").iterdir()) == []


def test_sources_are_named_from_the_folder_that_holds_the_output(data: Path) -> None:
    run = data / "runs" / "a_1"
    assert source_path(run, data / "runs-rescored") == "runs/a_1"
    assert source_path(run, data / "runs-judged" / "j") == "../runs/a_1"


def test_a_copy_is_no_link_and_links_are_not_followed(data: Path) -> None:
    (data / "a").write_bytes(b"x" * 3_000_000)
    copy_file(data / "a", data / "b", synced=True)
    assert (data / "b").read_bytes() == (data / "a").read_bytes() and not (data / "a").samefile(data / "b")
    (data / "link").symlink_to("a")
    with pytest.raises(Exception, match="links are not followed"):
        copy_file(data / "link", data / "c")


def test_episodes_that_were_changed_while_they_were_read_are_refused(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 1)
    run = measured(project)
    (run.path / "traces.jsonl").write_bytes(b"some rows")
    with DerivedDir(project.root / "data" / "out", "x", runs_dir=project.runs, sources=[run.path]) as made:
        target = made.start_traces(run)
        if target is not None:  # None where the file system clones
            write_at(target, 5, b"rows")
            write_at(target, 0, b"some ")
        made.sync_traces(run)
        assert (made.path / "traces.jsonl").read_bytes() == b"some rows"
        (run.path / "traces.jsonl").write_bytes(b"some rows more")
        with pytest.raises(SourceError, match="was changed while it was read"):
            made.sync_traces(run)
        with pytest.raises(WriteError, match="missing: cannot be written"):
            write_at(made.path / "missing", 0, b"")


def test_a_copy_does_not_change_with_its_source(tmp_path: Path) -> None:
    project = RunProject(tmp_path / "p", 1)
    run = measured(project)
    made = scored(project, run)
    before = listing(made.directory)
    with run.output_path("i0").open("r+b") as file:
        file.write(b"x")
    assert listing(made.directory) == before


@pytest.mark.parametrize("length", [10, 100_000, 1_500_000])
def test_rows_are_written_as_they_come_small_or_large(tmp_path: Path, length: int) -> None:
    project = RunProject(tmp_path / "p", 1)
    run = measured(project)
    lines = [b"a\n", b"b" * length + b"\n", b"c\n"] * 3
    with DerivedDir(project.root / "data" / "out", "x", runs_dir=project.runs, sources=[run.path]) as made:
        made.write_rows(lines)
        assert (made.path / "predictions.jsonl").read_bytes() == b"".join(lines)
