"""`evh convert`: rows for a named release, the report of what it cost, and the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import REAL, Evh

import evh as library

TARGETS = ("verifiers-0.4", "verifiers-0.3.1", "common")


@pytest.mark.parametrize("name", ["v0.4.0-eval", "v0.4.0-branches", "v0.4.0-best-of-n", "v0.4.0-two-seat"])
def test_rows_that_suit_the_release_stay_byte_for_byte(evh: Evh, name: str, tmp_path: Path) -> None:
    source = REAL / name / "traces.jsonl"
    ran = evh("convert", source, "-o", tmp_path / "out.jsonl", "--for", "verifiers-0.4")
    assert ran.code == 0 and "needed nothing" in ran.out
    assert (tmp_path / "out.jsonl").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_the_command_writes_what_the_function_gives(evh: Evh, target: str, old: Path, tmp_path: Path) -> None:
    assert evh("convert", old, "-o", tmp_path / "out.jsonl", "--for", target).code == 0
    expected = [library.convert(line, target).data for line in old.read_bytes().splitlines()]
    assert (tmp_path / "out.jsonl").read_bytes().splitlines() == expected


def test_what_was_stashed_is_reported_by_member_and_put_back(evh: Evh, tmp_path: Path) -> None:
    source = REAL / "v0.4.0-eval" / "traces.jsonl"
    there, back = tmp_path / "there.jsonl", tmp_path / "back.jsonl"
    ran = evh("convert", source, "-o", there, "--for", "verifiers-0.3.1")
    assert ran.code == 0
    said = ran.out.partition("\n  stashed: 0.3.1 refuses a row with it\n")[2].partition("\n\n")[0]
    assert "    18  /traces/*/agent/config/network_notice" in said.splitlines()
    counts = evh("convert", source, "--for", "verifiers-0.3.1", "--dry-run", "--json").json["files"][0]["actions"]
    assert "members: " + ", ".join(f"{name} {counts[name]}" for name in ("stashed", "kept", "added")) in ran.out
    restored = evh("convert", "--restore", there, "-o", back)
    assert restored.code == 0 and "put back" in restored.out
    assert list(library.read_episodes(back)) == list(library.read_episodes(source))


def test_only_episodes_are_converted(evh: Evh, tmp_path: Path) -> None:
    (tmp_path / "predictions.jsonl").write_text('{"item_id": "a"}\n')
    ran = evh("convert", tmp_path / "predictions.jsonl", "-o", tmp_path / "x", "--for", "common")
    assert ran.code == 1 and "only episodes are converted" in ran.err


def test_a_torn_row_is_refused_and_the_others_are_written(evh: Evh, torn: Path, tmp_path: Path) -> None:
    for arguments in (["--for", "common"], ["--restore"]):
        ran = evh("convert", torn, "-o", tmp_path / "out.jsonl", "--overwrite", *arguments, "--json")
        [file] = ran.json["files"]
        assert ran.code == 1 and file["records"] == 17 and file["refused_rows"][0]["line"] == 18
        assert (tmp_path / "out.jsonl.refused.jsonl").exists()


def test_a_dry_run_and_the_report_as_data(evh: Evh, old: Path, tmp_path: Path) -> None:
    ran = evh("convert", old, "--for", "verifiers-0.4", "--dry-run", "--json")
    assert ran.code == 0 and ran.json["target"] == "verifiers-0.4" and ran.json["steps"]
    assert [path.name for path in tmp_path.iterdir()] == ["old.jsonl"]


@pytest.mark.parametrize(
    "arguments",
    [["--for", "verifiers-9"], [], ["--for", "common", "--restore"]],
)
def test_the_target_is_one_that_is_known(evh: Evh, old: Path, arguments: list[str]) -> None:
    ran = evh("convert", old, "-o", "x.jsonl", *arguments)
    assert ran.code == 2 and "verifiers-0.3.1" in ran.err and not ran.out


def test_standard_input_is_converted(evh: Evh, old: Path) -> None:
    ran = evh("convert", "-", "-o", "-", "--for", "common", stdin=old.read_bytes())
    assert ran.code == 0 and len([json.loads(line) for line in ran.out.rstrip("\n").split("\n")]) == 11
