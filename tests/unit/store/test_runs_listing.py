"""The runs of a folder: each once, in the order of names, whatever else lies there."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from made_runs import make_run

from evh.errors import SourceError
from evh.store import list_runs
from evh.store.runs import Skipped, find_runs

ROWS = [{"item_id": "a", "score": 1}]


def test_runs_are_listed_by_name_and_told_apart(tmp_path: Path) -> None:
    for name in ("b_r2", "a_r1", "c"):
        make_run(tmp_path, name, ROWS)
    make_run(tmp_path, "d", ROWS, finished=False)
    make_run(tmp_path, ".a.partial-0", ROWS)
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty").mkdir()
    listing = list_runs(tmp_path)
    assert [run.path.name for run in listing.finished] == ["a_r1", "b_r2", "c"]
    assert [run.path.name for run in listing.unfinished] == ["d"]
    assert listing.skipped == []


def test_b094_of_nine_hundred_runs_only_the_broken_one_is_told(tmp_path: Path) -> None:
    for number in range(900):
        make_run(tmp_path, f"run{number:03}", [])
    (tmp_path / "run500" / "metrics.json").write_text("{")
    (tmp_path / "run600" / "predictions.jsonl").unlink()
    listing = list_runs(tmp_path)
    assert len(listing.finished) == 899
    ((path, why),) = listing.skipped
    assert path.name == "run500"
    assert str(path / "metrics.json") in why


def test_links_are_followed_only_where_they_add_a_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs, "a", ROWS)
    make_run(runs / "nested", "b", ROWS)
    make_run(tmp_path / "outside", "c", ROWS)
    (runs / "again").symlink_to(runs / "a")
    (runs / "inner").symlink_to(runs / "nested" / "b")
    (runs / "inner2").symlink_to(runs / "nested" / "b")
    (runs / "outer").symlink_to(tmp_path / "outside" / "c")
    (runs / "loop").symlink_to(runs / "loop")
    (runs / "dangling").symlink_to(runs / "nothing")
    assert [run.path.name for run in find_runs(runs)] == ["a", "inner"]
    (tmp_path / "linked").symlink_to(runs)
    assert [run.path.name for run in find_runs(tmp_path / "linked")] == ["a", "inner"]


def test_a_link_that_is_not_followed_is_listed_with_its_reason(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs, "a", ROWS)
    make_run(tmp_path / "outside", "c", ROWS)
    (runs / "again").symlink_to(runs / "a")
    (runs / "outer").symlink_to(tmp_path / "outside" / "c")
    (runs / "loop").symlink_to(runs / "loop")
    (runs / "nowhere").symlink_to(runs / "nothing")
    (runs / ".hidden").symlink_to(tmp_path / "outside" / "c")
    listing = list_runs(runs)
    assert [run.path.name for run in listing.finished] == ["a"]
    assert {path.name: why.partition(":")[0] for path, why in listing.skipped} == {
        "outer": "is a link that leads out of the runs directory and is not followed",
        "loop": "is a link that leads nowhere",
        "nowhere": "is a link that leads nowhere",
    }
    left_out: list[Skipped] = []
    assert len(list(find_runs(runs, left_out))) == 1
    assert left_out == listing.skipped


def test_a_record_that_is_a_link_to_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "metrics.json").symlink_to(tmp_path / "gone")
    ((path, why),) = list_runs(tmp_path).skipped
    assert path == tmp_path / "a" and "links are not followed" in why


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_of_cycles_is_as_it_was(tmp_path: Path, on: bool) -> None:
    (tmp_path / "file").write_text("")
    (gc.enable if on else gc.disable)()
    try:
        list_runs(tmp_path)
        with pytest.raises(SourceError):
            list_runs(tmp_path / "file")
        assert gc.isenabled() == on
    finally:
        gc.enable()


def test_a_folder_that_is_not_there_has_no_runs_and_a_file_is_refused(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nothing") == ([], [], [])
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be listed"):
        list_runs(tmp_path / "file")
