"""References: whole or not at all, gold before silver, never scored against nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.errors import EvhError, RecordError, SourceError, UsageError, WriteError
from evh.harness.dataset import Frozen, create_dataset
from evh.harness.project import Project
from evh.harness.references import author_references, create_references, load_references
from evh.protocol import models
from evh.protocol.codec import decode_strict
from evh.store.layout import output_name


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def frozen(project: Project, tmp_path: Path) -> Frozen:
    return create_dataset(
        project, filled(tmp_path / "q", {"q1.txt": "1", "q2.txt": "2", "deep/X.txt": "3"}), "d"
    ).dataset


def filled(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return filled(tmp_path / "answers", {"q1.md": "one", output_name("deep/X"): "three", "other.txt": "?"})


def test_files_are_matched_by_id_or_output_name_and_others_named(
    project: Project, frozen: Frozen, answers: Path
) -> None:
    made = create_references(project, frozen, "gold", answers)
    assert (made.reference_id, made.covered, made.unmatched) == ("gold/d", 2, ("other.txt",))
    found = load_references(project, frozen)
    assert found is not None and found.covered == 2 and found.tier == "gold" and found.reference_id == "gold/d"
    assert [found.text(item_id) for item_id in ("q1", "q2", "deep/X", "unknown")] == ["one", None, "three", None]
    assert [found.has(frozen.position[item_id]) for item_id in ("q1", "q2", "deep/X")] == [True, False, True]
    manifest = decode_strict((made.path / "manifest.json").read_bytes(), models.ReferenceManifest)
    assert (manifest.n_items, manifest.source, manifest.tier) == (2, "../answers", "gold")
    assert sorted(path.name for path in made.path.parent.iterdir()) == ["d"]


def test_gold_counts_before_silver_and_a_tier_may_be_asked_for(project: Project, frozen: Frozen) -> None:
    assert load_references(project, frozen) is None
    author_references(project, frozen, "silver", [("q1", "s")], model="m", authored_by="c", cost_usd=lambda: 0.5)
    silver = load_references(project, frozen)
    assert silver is not None and silver.text("q1") == "s" and load_references(project, frozen, "gold") is None
    author_references(project, frozen, "gold", [("q1", "g")])
    both = [load_references(project, frozen), load_references(project, frozen, "silver")]
    assert [each.text("q1") for each in both if each is not None] == ["g", "s"]


def test_the_digest_covers_every_file_in_name_order(project: Project, frozen: Frozen) -> None:
    folder = filled(project.references / "gold" / "d", {"q2.txt": "b", "q1.txt": "a", "Notes": "n"})
    found = load_references(project, frozen)
    assert found is not None
    assert found.sha256 == hashlib.sha256(b"Notes\0n\x1eq1.txt\0a\x1eq2.txt\0b\x1e").hexdigest()
    (folder / "q1.txt").write_text("changed")
    again = load_references(project, frozen)
    assert again is not None and again.sha256 != found.sha256


def test_what_exists_is_refused_without_force_and_replaced_with_it(
    project: Project, frozen: Frozen, answers: Path
) -> None:
    create_references(project, frozen, "gold", answers)
    with pytest.raises(SourceError, match="--force"):
        create_references(project, frozen, "gold", answers)
    (answers / "q1.md").write_text("new")
    create_references(project, frozen, "gold", answers, force=True)
    found = load_references(project, frozen)
    assert found is not None and found.text("q1") == "new"
    assert [path.name for path in (project.references / "gold").iterdir()] == ["d"]


def test_the_same_texts_again_leave_the_set_as_it_is(project: Project, frozen: Frozen, answers: Path) -> None:
    """Its digest is part of each run's fingerprint: putting the same back must not make another set."""
    create_references(project, frozen, "gold", answers)
    before = load_references(project, frozen)
    made = create_references(project, frozen, "gold", answers, force=True)
    after = load_references(project, frozen)
    assert before is not None and after is not None and made.covered == after.covered
    assert before.sha256 == after.sha256
    assert [path.name for path in (project.references / "gold").iterdir()] == ["d"]


def test_a_replacement_that_breaks_leaves_the_old_set(
    project: Project, frozen: Frozen, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evh.store import _os

    create_references(project, frozen, "gold", answers)
    real = _os.rename

    def broken(old: Any, new: Any) -> None:
        if Path(old).name.endswith(".partial"):
            raise OSError(5, "Input/output error")
        real(old, new)

    monkeypatch.setattr(_os, "rename", broken)
    (answers / "q1.md").write_text("other")
    with pytest.raises(WriteError, match="Input/output error"):
        create_references(project, frozen, "gold", answers, force=True)
    assert load_references(project, frozen) is not None
    assert [path.name for path in (project.references / "gold").iterdir()] == ["d"]


def test_a_kill_in_the_middle_of_a_replacement_is_told_and_put_back(
    project: Project, frozen: Frozen, answers: Path
) -> None:
    made = create_references(project, frozen, "gold", answers)
    aside = made.path.rename(made.path.with_name("d.replaced"))
    (made.path.with_name("d.partial")).mkdir()
    with pytest.raises(SourceError, match="interrupted"):
        load_references(project, frozen)
    with pytest.raises(SourceError, match="--force"):
        create_references(project, frozen, "gold", answers)
    assert load_references(project, frozen) is not None and not aside.exists()
    create_references(project, frozen, "gold", answers, force=True)
    assert [path.name for path in (project.references / "gold").iterdir()] == ["d"]


def test_answers_that_stop_half_way_leave_nothing(project: Project, frozen: Frozen) -> None:
    def answers() -> Iterator[tuple[str, str]]:
        yield "q1", "one"
        raise RuntimeError("the arm failed")

    with pytest.raises(RuntimeError):
        author_references(project, frozen, "silver", answers())
    assert list((project.references / "silver").iterdir()) == []


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "no reference for any item"),
        ([("nope", "x")], "no item 'nope'"),
        ([("q1", "x"), ("q1", "x")], "two references"),
        ([("q1", "\ud800")], "lone surrogate"),
    ],
)
def test_answers_that_fit_no_item_or_no_file_are_refused(
    project: Project, frozen: Frozen, answers: list[tuple[str, str]], said: str
) -> None:
    with pytest.raises(RecordError, match=said):
        author_references(project, frozen, "silver", answers)
    assert load_references(project, frozen) is None


def test_a_folder_that_fits_no_item_or_gives_one_item_two_files_is_refused(
    project: Project, frozen: Frozen, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match=r"none of the files .*'a.txt'.*first item is 'deep/X'"):
        create_references(project, frozen, "gold", filled(tmp_path / "none", {"a.txt": "x"}))
    twice = filled(tmp_path / "twice", {"deep/X.txt": "x", output_name("deep/X"): "x"})
    with pytest.raises(SourceError, match="both belong to item 'deep/X'"):
        create_references(project, frozen, "gold", twice)
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "q1.txt").write_bytes(b"\xff")
    with pytest.raises(SourceError, match="item 'q1' is not UTF-8"):
        create_references(project, frozen, "gold", tmp_path / "binary")
    with pytest.raises(UsageError, match="gold or silver"):
        create_references(project, frozen, "bronze", twice)  # type: ignore[arg-type]
    assert load_references(project, frozen) is None


def test_e31_a_set_that_fits_no_item_is_refused_at_load(project: Project, frozen: Frozen) -> None:
    filled(project.references / "gold" / "d", {"other.txt": "x"})
    with pytest.raises(SourceError, match="none of the 3 items"):
        load_references(project, frozen)


def test_a_hand_made_set_is_taken_and_two_files_for_an_item_are_not(project: Project, tmp_path: Path) -> None:
    frozen = create_dataset(project, filled(tmp_path / "q", {"Q1.txt": "1"}), "d").dataset
    folder = filled(project.references / "gold" / "d", {"Q1.txt": "by hand"})
    found = load_references(project, frozen)
    assert found is not None and found.text("Q1") == "by hand"
    filled(folder, {output_name("Q1"): "ours"})
    with pytest.raises(SourceError, match="two references"):
        load_references(project, frozen)


def test_e41_links_and_folders_among_references_are_not_read(project: Project, frozen: Frozen, tmp_path: Path) -> None:
    folder = filled(project.references / "gold" / "d", {"q1.txt": "1"})
    (folder / "q2.txt").symlink_to(tmp_path)
    with pytest.raises(SourceError, match="link, folder or device"):
        load_references(project, frozen)
    (folder / "q2.txt").unlink()
    (folder / "deep").mkdir()
    with pytest.raises(SourceError, match="link, folder or device"):
        load_references(project, frozen)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"dataset_id": "other"}, "was the folder copied"),
        ({"tier": "silver"}, "was the folder copied"),
        ({"odd": 1}, "odd"),
    ],
)
def test_a_manifest_that_disagrees_is_refused(
    project: Project, frozen: Frozen, members: dict[str, Any], said: str
) -> None:
    made = author_references(project, frozen, "gold", [("q1", "x")])
    path = made.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | members))
    with pytest.raises(EvhError, match=said):
        load_references(project, frozen)
