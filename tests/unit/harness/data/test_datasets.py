"""Datasets: frozen once, read strictly, copies that are what was frozen or are refused."""

from __future__ import annotations

import hashlib
import json
import os
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import DecodeError, EvhError, RecordError, SchemaError, SourceError, UsageError
from evh.harness import _sources
from evh.harness.dataset import check_materialized, create_dataset, load_dataset, source_text
from evh.harness.project import Project
from evh.protocol import models
from evh.protocol.codec import decode_strict


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return filled(tmp_path / "sources", {"q1.txt": "one", "q2.txt": "two", "q10.txt": "ten", "deep/x.md": "x"})


def filled(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def written(project: Project, items: list[dict[str, Any]], **members: Any) -> None:
    """A dataset file that somebody else wrote."""
    document = {"dataset_id": "d", "version": "1.0", "created_at": "2026-01-01T00:00:00Z", "items": items} | members
    put(project, json.dumps(document, indent=2))


def put(project: Project, text: str | bytes) -> None:
    project.datasets.mkdir(parents=True, exist_ok=True)
    (project.datasets / "d.json").write_bytes(text.encode() if isinstance(text, str) else text)


# --- freezing --------------------------------------------------------------------------------------------------------


def test_freezing_gives_a_valid_dataset_in_natural_order_with_copies(project: Project, folder: Path) -> None:
    made = create_dataset(project, folder, "d", description="some")
    frozen = made.dataset
    assert frozen.item_ids == ["deep/x", "q1", "q2", "q10"] and made.is_new and made.restored == 4
    assert list(frozen.digests) == [digest(text) for text in ("x", "one", "two", "ten")]
    assert frozen.paths[:] == ["deep/x.md", "q1.txt", "q2.txt", "q10.txt"] and frozen.position["q10"] == 3
    assert [source_text(project, frozen, at) for at in range(4)] == ["x", "one", "two", "ten"]
    document = decode_strict(made.path.read_bytes(), models.Dataset)
    assert document.source_dir == "../sources" and document.description == "some"
    joined = "".join(item + sha for item, sha in zip(frozen.item_ids, frozen.digests, strict=True))
    assert frozen.items_sha256 == digest(joined)
    assert not list(check_materialized(project, frozen))


def test_the_same_items_again_change_nothing(project: Project, folder: Path) -> None:
    first = create_dataset(project, folder, "d")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in project.data.rglob("*") if path.is_file()}
    again = create_dataset(project, folder, "d")
    assert not again.is_new and again.restored == 0 and again.dataset.created_at == first.dataset.created_at
    assert before == {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in project.data.rglob("*") if path.is_file()
    }


def test_missing_and_changed_copies_are_restored(project: Project, folder: Path) -> None:
    made = create_dataset(project, folder, "d")
    (made.materialized / "q1.txt").unlink()
    (made.materialized / "q2.txt").write_text("spoilt")
    assert {fault.item_id for fault in check_materialized(project, made.dataset)} == {"q1", "q2"}
    assert create_dataset(project, folder, "d").restored == 2
    assert not list(check_materialized(project, made.dataset))


def test_other_items_under_a_name_that_is_taken_are_refused(project: Project, folder: Path) -> None:
    path = create_dataset(project, folder, "d").path
    before = path.read_bytes()
    filled(folder, {"q1.txt": "changed", "new.txt": "n"})
    (folder / "q2.txt").unlink()
    with pytest.raises(SourceError, match=r"1 added \('new'\); 1 gone \('q2'\); 1 changed \('q1'\).*new --id"):
        create_dataset(project, folder, "d")
    assert path.read_bytes() == before


def test_a_new_description_is_the_only_thing_that_may_change(project: Project, folder: Path) -> None:
    first = create_dataset(project, folder, "d", description="old").dataset
    second = create_dataset(project, folder, "d", description="new").dataset
    assert (second.description, second.created_at) == ("new", first.created_at)
    assert second.items_sha256 == first.items_sha256


def test_the_dataset_file_is_written_after_all_copies(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evh.store import _os

    names: list[str] = []
    real = _os.replace
    monkeypatch.setattr(_os, "replace", lambda old, new: (names.append(Path(new).name), real(old, new)))
    create_dataset(project, folder, "d")
    assert names[-1] == "d.json" and len(names) == 5


def test_a_full_disk_leaves_no_dataset_and_freezing_again_completes_it(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evh.store import _os

    def full(descriptor: int, data: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_os, "write", full)
        with pytest.raises(EvhError, match="No space left"):
            create_dataset(project, folder, "d")
    assert not (project.datasets / "d.json").exists()
    assert create_dataset(project, folder, "d").is_new


@given(
    st.dictionaries(
        st.text(alphabet=st.sampled_from("aAéE\u0301.~:1 "), min_size=1, max_size=6).filter(
            lambda name: not name.startswith(".") and _sources.id_of(name)
        ),
        st.text(alphabet="xy", max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_freezing_twice_is_freezing_once_and_every_text_comes_back(files: dict[str, str]) -> None:
    import tempfile

    ids = {_sources.id_of(name) for name in files}
    with tempfile.TemporaryDirectory() as where:
        project = Project(Path(where, "project"))
        folder = filled(Path(where, "sources"), files)
        if len(ids) < len(files):
            with pytest.raises(SourceError, match="would both be the item"):
                create_dataset(project, folder, "d")
            return
        made = create_dataset(project, folder, "d")
        content = made.path.read_bytes()
        assert not create_dataset(project, folder, "d").is_new and made.path.read_bytes() == content
        texts = {made.dataset.item_ids[at]: source_text(project, made.dataset, at) for at in range(len(made.dataset))}
        assert texts == {_sources.id_of(name): text for name, text in files.items()}


def test_e1_nothing_to_freeze_is_refused(project: Project, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    with pytest.raises(UsageError, match="not a folder"):
        create_dataset(project, empty, "d")
    empty.mkdir()
    (empty / ".hidden").write_text("x")
    with pytest.raises(SourceError, match="holds no files \\(1 hidden"):
        create_dataset(project, empty, "d")
    with pytest.raises(UsageError, match="matches none"):
        create_dataset(project, filled(empty, {"a.txt": ""}), "d", glob=["*.md"])
    assert not project.data.exists()


def test_e4_two_files_with_one_id_are_refused_naming_both(project: Project, folder: Path) -> None:
    filled(folder, {"q1.md": "other"})
    with pytest.raises(SourceError, match=r"'q1.md' and 'q1.txt' would both be the item 'q1'"):
        create_dataset(project, folder, "d")
    assert create_dataset(project, folder, "d", glob=["*.txt", "deep/**"]).dataset.position.keys() == {
        "deep/x", "q1", "q2", "q10",
    }  # fmt: skip


def test_e5_ids_that_fold_together_are_items_of_their_own_with_copies_apart() -> None:
    paths = ["A1.txt", "a1.txt", "é.txt", "e\u0301.txt", "Dir/x", "dir/y", "dir2", "DIR2/z", "con.txt", "a:b", "q.txt"]
    copies = _sources._copies(paths)
    folded = {_sources._folded(copy) for copy in copies.values()}
    assert len(folded) == len(paths)
    assert copies["q.txt"] == "q.txt" and copies["DIR2/z"] == "DIR2/z"
    assert all("/" not in copies[path] for path in ("Dir/x", "dir/y"))
    assert all("~" in copies[path] for path in ("a1.txt", "dir2", "é.txt", "e\u0301.txt", "con.txt", "a:b"))


@pytest.mark.parametrize(
    ("path", "item_id"),
    [("a.txt", "a"), ("a.tar.gz", "a.tar"), ("a", "a"), ("d.x/a", "d.x/a"), ("a.", "a."), ("d/.a", "d/.a")],
)
def test_an_id_is_the_path_without_its_last_suffix(path: str, item_id: str) -> None:
    assert _sources.id_of(path) == item_id


def test_order_is_natural_and_total() -> None:
    paths = ["b", "a10", "a9", "a09", "a1/x", "a1", "A2", "a1000000000000000000000000"]
    assert sorted(paths, key=_sources.natural) == [
        "A2", "a1", "a1/x", "a09", "a9", "a10", "a1000000000000000000000000", "b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "glob", "matches"),
    [
        ("d/a.txt", "*.txt", True), ("d/a.txt", "d/*.txt", True), ("a.txt", "d/*.txt", False),
        ("d/e/a.txt", "d/*.txt", False), ("d/e/a.txt", "d/**/*.txt", True), ("d/a.txt", "d/**/*.txt", True),
        ("d/e/f/a", "**/f/*", True), ("A.TXT", "*.txt", False), ("d/a", "./d/a", True),
    ],
)  # fmt: skip
def test_patterns_match_names_or_paths_and_see_case(path: str, glob: str, matches: bool) -> None:
    assert _sources._matches(path, glob) is matches


def test_links_are_taken_only_when_they_stay_below_the_folder(project: Project, folder: Path, tmp_path: Path) -> None:
    (folder / "also.txt").symlink_to(folder / "q1.txt")
    made = create_dataset(project, folder, "d")
    assert source_text(project, made.dataset, made.dataset.position["also"]) == "one"
    assert not (made.materialized / "also.txt").is_symlink()
    (tmp_path / "outside").write_text("secret")
    (folder / "bad.txt").symlink_to(tmp_path / "outside")
    with pytest.raises(SourceError, match="leaves the folder"):
        create_dataset(project, folder, "other")
    (folder / "bad.txt").unlink()
    (folder / "loop").symlink_to(folder)
    with pytest.raises(SourceError, match="link to a folder"):
        create_dataset(project, folder, "other")


def test_pipes_and_names_that_are_no_text_are_refused_by_name(project: Project, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        create_dataset(project, folder, "d")
    (folder / "pipe").unlink()
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.txt"))).write_text("x")
    with pytest.raises(SourceError, match=r"udcff.*is not UTF-8"):
        create_dataset(project, folder, "d")


def test_a_folder_that_holds_the_project_or_the_copies_is_refused(project: Project, folder: Path) -> None:
    made = create_dataset(project, folder, "d")
    for wrong in (project.root, project.data, made.materialized, project.materialized):
        with pytest.raises(UsageError, match=r"own data folder|copies belong"):
            create_dataset(project, wrong, "d")


@pytest.mark.parametrize("name", ["", "../x", "A", "a-b", "a" * 251, "a\n", "é"])
def test_names_that_no_dataset_can_have_are_refused(project: Project, folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a dataset"):
        create_dataset(project, folder, name)
    with pytest.raises(UsageError, match="cannot name a dataset"):
        load_dataset(project, name)


# --- loading ---------------------------------------------------------------------------------------------------------

SHA = digest("x")


def test_a_dataset_that_is_not_there_is_told_with_the_command_that_makes_one(project: Project) -> None:
    with pytest.raises(SourceError, match="evh dataset create DIR --id d"):
        load_dataset(project, "d")


def test_e4_ids_that_stand_twice_are_refused_at_load(project: Project) -> None:
    item = {"item_id": "a", "source_sha256": SHA}
    written(project, [item, {"item_id": "b", "source_sha256": SHA}, item])
    with pytest.raises(RecordError, match="items 0 and 2 have one id, 'a'"):
        load_dataset(project, "d")


@pytest.mark.parametrize(
    "text",
    [
        '{"dataset_id": "d", "dataset_id": "d", "version": "1", "created_at": "2026-01-01T00:00:00Z", "items": [I]}',
        '{"dataset_id": "d", "items": [I], "version": "1", "created_at": "2026-01-01T00:00:00Z", "items": [I]}',
        '{"dataset_id": "d", "version": "1", "created_at": "2026-01-01T00:00:00Z", "items": [J]}',
    ],
)
def test_e64_members_that_stand_twice_are_refused(project: Project, text: str) -> None:
    item = f'{{"item_id": "a", "source_sha256": "{SHA}"}}'
    put(project, text.replace("I", item).replace("J", item.replace("{", '{"item_id": "b", ')))
    with pytest.raises(RecordError, match="stands more than once"):
        load_dataset(project, "d")


@pytest.mark.parametrize(
    ("items", "members", "said"),
    [
        ([], {}, "/items"),
        ([{"item_id": "", "source_sha256": SHA}], {}, "/items/0/item_id"),
        (
            [{"item_id": "a", "source_sha256": SHA}, {"item_id": "b", "source_sha256": "x"}],
            {},
            "/items/1/source_sha256",
        ),
        ([{"item_id": "a", "source_sha256": SHA, "odd": 1}], {}, "odd"),
        ([{"item_id": "a", "source_sha256": SHA}], {"odd": 1}, "odd"),
        ([{"item_id": "a", "source_sha256": SHA}], {"created_at": "yesterday"}, "/created_at"),
        ([{"item_id": "a", "source_sha256": SHA}], {"dataset_id": "other"}, "holds the dataset 'other'"),
        ([{"item_id": "a\0b", "source_sha256": SHA}], {}, "holds a NUL"),
    ],
)
def test_a_damaged_dataset_is_refused_at_its_place(
    project: Project, items: list[dict[str, Any]], members: dict[str, Any], said: str
) -> None:
    written(project, items, **members)
    with pytest.raises((SchemaError, RecordError), match=said) as told:
        load_dataset(project, "d")
    assert told.value.source is not None and told.value.source.endswith("d.json")


@pytest.mark.parametrize("data", [b"", b"[]", b"7", b"{", b'{"items": 3}', b'{"items": [1]}', b"\xff", b"[" * 5000])
def test_what_is_no_dataset_is_an_error_of_ours(project: Project, data: bytes) -> None:
    put(project, data)
    with pytest.raises((SchemaError, DecodeError)):
        load_dataset(project, "d")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=1,
                unique=True, max_size=8))  # fmt: skip
def test_any_ids_come_back_in_order_with_their_digest(ids: list[str]) -> None:
    from evh.harness._frozen import decode_frozen

    document = {
        "items": [{"source_path": f"{item}.x", "item_id": item, "source_sha256": digest(item)} for item in ids],
        "version": "1", "dataset_id": "d", "created_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    frozen = decode_frozen(json.dumps(document).encode(), Path("d.json"))
    assert frozen.item_ids == ids and list(frozen.digests) == [digest(item) for item in ids]
    assert list(frozen.paths) == [f"{item}.x" for item in ids]
    assert frozen.items_sha256 == digest("".join(item + digest(item) for item in ids))


def test_b020_a_large_dataset_loads_quickly_and_small(project: Project) -> None:
    count = 50_000
    lines = ",\n".join(
        f'{{"item_id":"q{at:06}","source_sha256":"{SHA}","source_path":"q{at:06}.txt"}}' for at in range(count)
    )
    put(project, f'{{"dataset_id":"d","version":"1.0","created_at":"2026-01-01T00:00:00Z","items":[{lines}]}}')
    started = time.process_time()
    load_dataset(project, "d")
    assert time.process_time() - started < 2
    tracemalloc.start()
    try:
        frozen = load_dataset(project, "d")
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(frozen) == count and held < 11 << 20


# --- sources ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../secret", "link", "linked/secret", "a\\b"])
def test_e38_e41_hostile_source_paths_open_nothing(project: Project, tmp_path: Path, path: str) -> None:
    copies = project.materialized / "d"
    copies.mkdir(parents=True)
    (project.materialized / "secret").write_text("x")
    (copies / "link").symlink_to(project.materialized / "secret")
    (copies / "linked").symlink_to(project.materialized)
    written(project, [{"item_id": "a", "source_sha256": SHA, "source_path": path}])
    frozen = load_dataset(project, "d")
    with pytest.raises(SourceError, match=r"leads out|links are not followed"):
        source_text(project, frozen, 0)
    assert [fault.item_id for fault in check_materialized(project, frozen)] == ["a"]


@pytest.mark.parametrize("item_id", ["../secret", "/abs", "..", "a\\b"])
def test_e38_hostile_ids_are_no_paths(project: Project, item_id: str) -> None:
    (project.materialized / "d").mkdir(parents=True)
    (project.materialized / "secret.txt").write_text("x")
    written(project, [{"item_id": item_id, "source_sha256": SHA}])
    with pytest.raises(SourceError, match="not usable"):
        source_text(project, load_dataset(project, "d"), 0)


@pytest.mark.parametrize("name", ["a/b.txt", "a/b"])
def test_without_a_path_a_copy_is_named_like_its_item(project: Project, name: str) -> None:
    filled(project.materialized / "d", {name: "x"})
    written(project, [{"item_id": "a/b", "source_sha256": SHA}])
    assert source_text(project, load_dataset(project, "d"), 0) == "x"


def test_missing_changed_and_binary_copies_are_refused_with_a_hint(project: Project, tmp_path: Path) -> None:
    folder = filled(tmp_path / "my sources", {"a.txt": "x", "b.txt": "y"})
    (folder / "b.txt").write_bytes(b"\xff\xfe")
    made = create_dataset(project, folder, "d")
    assert made.not_text == ("b",)
    with pytest.raises(SourceError, match="item 'b': its source is not UTF-8"):
        source_text(project, made.dataset, 1)
    (made.materialized / "a.txt").write_text("z")
    with pytest.raises(SourceError, match=r"changed.*evh dataset create '../my sources' --id d"):
        source_text(project, made.dataset, 0)
    (made.materialized / "a.txt").unlink()
    with pytest.raises(SourceError, match=r"missing.*evh dataset create"):
        source_text(project, made.dataset, 0)
    for path in made.materialized.iterdir():
        path.unlink()
    made.materialized.rmdir()
    [fault] = check_materialized(project, made.dataset)
    assert fault.item_id == "" and "copies are missing" in fault.message
