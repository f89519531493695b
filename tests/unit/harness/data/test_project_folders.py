"""Projects: folders decided once, paths that may be published, reads that stay below a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import SourceError, UsageError
from evh.harness.project import Project, is_plain_path, make_folders, read_inside, remove_folder


def test_folders_lie_below_data_and_only_runs_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Project.at(tmp_path, {})
    assert plain.runs == tmp_path / "data" / "runs"
    assert Project.at(tmp_path, {"EVAL_RUNS_DIR": ""}).runs == plain.runs
    monkeypatch.chdir(tmp_path)
    moved = Project.at(None, {"EVAL_RUNS_DIR": "elsewhere/runs", "HOME": "/home/x"})
    monkeypatch.chdir("/")
    assert moved.runs == tmp_path / "elsewhere" / "runs"
    assert (moved.datasets, moved.configs) == (tmp_path / "data" / "datasets", tmp_path / "data" / "configs")
    assert Project.at(tmp_path, {"EVAL_RUNS_DIR": "~/runs", "HOME": "/home/x"}).runs == Path("/home/x/runs")
    assert not (tmp_path / "data").exists()


def test_a_root_that_is_no_folder_and_a_home_that_is_not_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        Project.at(tmp_path / "missing", {})
    with pytest.raises(UsageError, match="home folder"):
        Project.at(tmp_path, {"EVAL_RUNS_DIR": "~no_such_user_here/runs"})


@pytest.mark.parametrize(
    ("root", "path", "shown"),
    [
        ("/srv/project", "/srv/project/data/runs/x", "data/runs/x"),
        ("/srv/project", "/srv/project", "."),
        ("/srv/project", "/srv/project/home/data/x", "home/data/x"),
        ("/srv/project", "/srv/other/x", "../other/x"),
        ("/srv/project", "/home/ann/other/x.py", "x.py"),
        ("/srv/project", "/root/x.py", "x.py"),
        ("/srv/project", "/var/home/ann/x.py", "x.py"),
        ("/home/ann/project", "/home/ann/other/x.py", "../other/x.py"),
        ("/home/ann/project", "/home/bob/other/x.py", "x.py"),
        ("/home/ann/project", "/srv/x.py", "../../../srv/x.py"),
    ],
)
def test_portable_paths_are_relative_and_name_no_home_folder(root: str, path: str, shown: str) -> None:
    assert Project(Path(root)).portable(path) == shown


@pytest.mark.parametrize("name", ["results.json", "out/rows.JSONL", "a.csv", "a.yaml", "a.tar.gz", "notes.md", "x.zst"])
def test_b035_a_file_name_is_never_made_a_folder_of_runs(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=rf"EVAL_RUNS_DIR is '{name}'.*a file's name"):
        Project.at(tmp_path, {"EVAL_RUNS_DIR": name})
    (tmp_path / name).mkdir(parents=True)
    assert Project.at(tmp_path, {"EVAL_RUNS_DIR": name}).runs == tmp_path / name


def test_b035_a_file_in_the_place_of_the_runs_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("k")
    with pytest.raises(UsageError, match=r"EVAL_RUNS_DIR is .*a file is there") as told:
        Project.at(tmp_path, {"EVAL_RUNS_DIR": str(tmp_path / "kept")})
    assert told.value.source == str(tmp_path / "kept")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "runs").write_text("r")
    with pytest.raises(SourceError, match="a file is there") as refused:
        Project.at(tmp_path, {})
    assert refused.value.source == str(tmp_path / "data" / "runs")


HOSTILE = ["", ".", "..", "../x", "/abs", "a/../../b", "a//b", "a/./b", "a\\b", "a\0b", "a/", "\udc80"]


@pytest.mark.parametrize("path", HOSTILE)
def test_e38_paths_that_lead_out_reach_no_system_call(tmp_path: Path, path: str) -> None:
    assert not is_plain_path(path)
    with pytest.raises(SourceError, match="leads out"):
        read_inside(tmp_path, path)


@given(st.text(alphabet=st.sampled_from("a./\\\0é:~"), max_size=12))
def test_what_is_read_lies_below_the_folder_whatever_the_name(path: str) -> None:
    folder = Path("/a/folder")
    if is_plain_path(path):
        assert Path(os.path.normpath(folder / path)).is_relative_to(folder)


def test_e41_links_folders_and_pipes_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret").write_text("s")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "out").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    for path in ("link", "out/secret", "pipe", "sub"):
        with pytest.raises(SourceError, match=r"not followed|not a regular file"):
            read_inside(folder, path)
    with pytest.raises(FileNotFoundError):
        read_inside(folder, "missing")


def test_folders_are_not_made_through_a_link(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "x").symlink_to(tmp_path)
    with pytest.raises(Exception, match="link or file"):
        make_folders(base, ["x", "y"])
    assert not (tmp_path / "y").exists()


def test_removing_a_folder_leaves_what_its_links_name(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("k")
    gone = tmp_path / "gone"
    (gone / "sub").mkdir(parents=True)
    (gone / "sub" / "link").symlink_to(tmp_path / "kept")
    remove_folder(gone)
    remove_folder(gone)
    assert not gone.exists() and (tmp_path / "kept" / "file").read_text() == "k"


def test_removing_a_link_to_a_folder_removes_the_link_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("k")
    (tmp_path / "gone").symlink_to(tmp_path / "kept")
    remove_folder(tmp_path / "gone")
    assert not (tmp_path / "gone").is_symlink() and (tmp_path / "kept" / "file").read_text() == "k"
