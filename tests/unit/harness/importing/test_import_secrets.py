"""Secrets in the rows of an import, and how much is kept of what is odd about a source."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evh.harness.importing import import_run
from evh.harness.importing.found import Notices
from evh.harness.project import Project
from evh.store import open_run_dir
from evh.store.masking import Masker

Make = Callable[..., Any]


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_secrets_of_a_row_are_masked_in_all_that_is_made_of_it(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a", "b"])
    canary = "sk-canary-0123456789"
    table = {"headers": {"Authorization": f"Bearer {canary}"}}
    rows = (
        {"id": "a", "output": f"my key is {canary}", "s": 1, "request": table, "note": canary, canary: 2},
        {"id": "b", "error": f"401 for {canary}", "request": table},
    )
    made = bring_in(write(tmp_path / "r.jsonl", *rows))
    held = b"".join(file.read_bytes() for file in made.directory.rglob("*") if file.is_file())
    assert canary.encode() not in held
    assert open_run_dir(made.directory).output("a") == "my key is ***"


def test_what_one_row_teaches_counts_for_that_row_alone(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a", "b"])
    rows = (
        {"id": "a", "output": "x", "request": {"headers": {"X-Request": "request-0001"}}},
        {"id": "b", "output": "see request-0001", "request": {"headers": {"X-Request": "request-0002"}}},
    )
    both = bring_in(write(tmp_path / "both.jsonl", *rows))
    alone = bring_in(write(tmp_path / "one.jsonl", rows[1]), partial=True)
    assert [open_run_dir(made.directory).output("b") for made in (both, alone)] == ["see request-0001"] * 2


def test_secrets_of_the_run_are_masked_in_every_row(freeze: Make, project: Project, tmp_path: Path) -> None:
    freeze(["a", "b"])
    canaries = "sk-canary-0123456789", "hf-canary-0123456789"
    path = write(tmp_path / "r.jsonl", *({"id": name, "output": " ".join(canaries)} for name in "ab"))
    made = import_run(
        project, path, "qa", "arm",
        params={"headers": {"Authorization": f"Bearer {canaries[0]}"}}, environ={"HF_TOKEN": canaries[1]},
    )  # fmt: skip
    assert [open_run_dir(made.directory).output(name) for name in "ab"] == ["*** ***"] * 2


def test_b020_secrets_and_notices_of_many_rows_take_linear_time(
    freeze: Make, bring_in: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row is masked by what it taught itself, so no row's masker knows more texts than its own."""
    known: list[int] = []
    text = Masker.text

    def counted(self: Masker, value: str) -> str:
        known.append(len(self._values))
        return text(self, value)

    monkeypatch.setattr(Masker, "text", counted)
    ids = [f"i{each}" for each in range(150)]
    freeze(ids)
    rows = [{"id": name, "output": "x", "headers": {"X-Request": f"request-{name:>08}"}} for name in ids]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\r\n" for row in rows), "utf-8")
    assert bring_in(path).n_items == 150
    assert max(known) == 1


def test_notices_are_kept_once_each_up_to_a_hundred() -> None:
    notices = Notices()
    for number in range(250):
        notices.add(f"line {number}")
        notices.add(f"line {min(number, 99)}")
    assert notices.told() == [*(f"line {number}" for number in range(100)), "150 more notices like these"]
