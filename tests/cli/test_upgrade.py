"""`evh upgrade`: the source untouched, every row accounted for, targets whole or absent."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from cli_support import DATA, REAL, Evh

import evh as library

ROW_FILES = sorted(path for path in REAL.rglob("*.jsonl") if path.stat().st_size)


@pytest.mark.parametrize("source", ROW_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_whole_row_is_upgraded_to_a_strict_one(evh: Evh, source: Path, tmp_path: Path) -> None:
    before = source.read_bytes()
    target = tmp_path / "out.jsonl"
    ran = evh("upgrade", source, "-o", target, "--json")
    assert source.read_bytes() == before
    [file] = ran.json["files"]
    written = target.read_bytes().splitlines(keepends=True)
    assert len(written) == file["records"] == file["rows"] - file["refused"]
    for line in written:
        library.decode_strict(line)
    torn = source.name == "torn-mid-utf8.jsonl" or source.parent.name == "v0.4.0-torn"
    assert ran.code == (1 if torn else 0) and file["refused"] == (1 if torn else 0)
    again = tmp_path / "again.jsonl"
    assert evh("upgrade", target, "-o", again).code == 0
    assert again.read_bytes() == target.read_bytes()


def test_refused_rows_are_kept_as_they_are_beside_the_target(evh: Evh, torn: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    ran = evh("upgrade", torn, "-o", target)
    assert ran.code == 1
    assert "line 18  torn row: the text ends inside a string" in ran.out
    kept = (tmp_path / "out.jsonl.refused.jsonl").read_bytes()
    assert kept == torn.read_bytes().rpartition(b"\n")[2] + b"\n"


def test_a_repeated_upgrade_forgets_what_was_refused_before(evh: Evh, torn: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    evh("upgrade", torn, "-o", target)
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(torn.read_bytes().rpartition(b"\n")[0] + b"\n")
    assert evh("upgrade", whole, "-o", target, "--overwrite").code == 0
    assert not (tmp_path / "out.jsonl.refused.jsonl").exists()


def test_a_dry_run_writes_nothing_and_says_the_same(evh: Evh, old: Path, tmp_path: Path) -> None:
    dry = evh("upgrade", old, "-o", tmp_path / "out.jsonl", "--dry-run", "--json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.jsonl"]
    wet = evh("upgrade", old, "-o", tmp_path / "out.jsonl", "--json")
    assert dry.json.pop("dry_run") is True
    assert {**dry.json, "dry_run": False} == wet.json
    assert evh("upgrade", old, "--dry-run").code == 0


def test_steps_are_listed_and_cover_each_record(evh: Evh, old: Path, tmp_path: Path) -> None:
    report = evh("upgrade", old, "-o", tmp_path / "out.jsonl", "--json").json
    steps = report["steps"]
    assert {step["line"] for step in steps} == set(range(1, 12))
    assert {step["rule"] for step in steps} == {"S15", "S16", "schema"}
    assert set(steps[0]) == {"file", "line", "rule", "action", "pointer", "to", "note", "value"}
    listed = evh("upgrade", old, "--dry-run", "--steps").out
    assert listed.count("S16 moved /traces/0/run → /run") == 11


def test_rows_of_today_are_copied_byte_by_byte(evh: Evh, tmp_path: Path) -> None:
    source = REAL / "v0.3.1-eval" / "traces.jsonl"
    ran = evh("upgrade", source, "-o", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == source.read_bytes()
    assert "11 rows, 11 of today's shape already" in ran.out


def test_members_that_a_duplicate_hides_are_in_the_report(evh: Evh, tmp_path: Path) -> None:
    ran = evh("upgrade", REAL / "hazards" / "duplicate-keys.jsonl", "-o", tmp_path / "out.jsonl", "--json")
    hidden = [step for step in ran.json["steps"] if step["rule"] == "duplicate-key"]
    assert [step["pointer"] for step in hidden] == ["/ok", "/id"] and all(step["value"] for step in hidden)


def test_a_folder_becomes_a_folder_with_its_rows(evh: Evh, tmp_path: Path) -> None:
    source = tmp_path / "run"
    shutil.copytree(REAL / "v0.3.0-eval-trace-run", source)
    (source / "traces").mkdir()
    (source / "traces" / "w1.jsonl.gz").write_bytes(gzip.compress((REAL / "v0.3.1-eval" / "traces.jsonl").read_bytes()))
    ran = evh("upgrade", source, "-o", tmp_path / "new")
    assert ran.code == 0 and "config.toml" in ran.out
    made = sorted(str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*") if path.is_file())
    assert made == ["traces.jsonl", "traces/w1.jsonl.gz"]
    packed = gzip.decompress((tmp_path / "new" / "traces" / "w1.jsonl.gz").read_bytes())
    assert packed == (REAL / "v0.3.1-eval" / "traces.jsonl").read_bytes()
    refused = evh("upgrade", source, "-o", tmp_path / "new")
    assert refused.code == 1 and "not empty" in refused.err
    assert evh("upgrade", source, "-o", tmp_path / "new", "--overwrite").code == 0


def test_a_folder_of_chunks_can_go_to_standard_output_as_one(evh: Evh, tmp_path: Path) -> None:
    lines = (REAL / "v0.3.1-eval" / "traces.jsonl").read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines[:3]):
        (tmp_path / f"{at}.jsonl").write_bytes(line)
    ran = evh("upgrade", tmp_path, "-o", "-")
    assert ran.code == 0 and ran.out.encode() == b"".join(lines[:3])
    assert "3 rows" in ran.err


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_targets_are_packed(evh: Evh, old: Path, tmp_path: Path, suffix: str) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / f"b.jsonl{suffix}"
    evh("upgrade", old, "-o", plain)
    assert evh("upgrade", old, "-o", packed).code == 0
    assert packed.stat().st_size < plain.stat().st_size / 2
    assert [each.id for each in library.read_episodes(packed)] == [each.id for each in library.read_episodes(plain)]


def test_rows_go_through_messagepack_and_back(evh: Evh, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    assert evh("upgrade", REAL / "v0.4.0-branches" / "traces.jsonl", "-o", source).code == 0
    assert evh("upgrade", source, "-o", tmp_path / "rows.msgpacks").code == 0
    assert evh("upgrade", tmp_path / "rows.msgpacks", "-o", tmp_path / "back.jsonl").code == 0
    first, second = (list(library.read_episodes(each, "strict")) for each in (source, tmp_path / "back.jsonl"))
    assert first == second


def test_a_number_that_messagepack_cannot_hold_is_a_refusal(evh: Evh, tmp_path: Path) -> None:
    ran = evh("upgrade", REAL / "v0.3.1-eval" / "traces.jsonl", "-o", tmp_path / "rows.msgpacks", "--json")
    [file] = ran.json["files"]
    assert ran.code == 1 and file["records"] == 10 and [row["line"] for row in file["refused_rows"]] == [9]


def test_tensors_left_out_of_json_are_reported(evh: Evh, tmp_path: Path) -> None:
    ran = evh("upgrade", REAL / "v0.4.0-built" / "tensors.msgpack", "-o", tmp_path / "out.jsonl", "--json")
    assert ran.code == 0
    assert "wire-only" in {step["rule"] for step in ran.json["steps"]}


def test_neighbouring_traces_of_one_episode_become_one(evh: Evh, tmp_path: Path) -> None:
    row = json.loads((REAL / "v0.2.0-eval-trace-rows" / "traces.jsonl").read_text().splitlines()[0])
    rows = []
    for index, episode in enumerate(["one", "one", "two", None]):
        made = {**row, "id": f"trace-{index}", "info": {"env_name": "e"} | ({"episode_id": episode} if episode else {})}
        rows.append(json.dumps(made))
    source = tmp_path / "rows.jsonl"
    source.write_text("\n".join(rows) + "\n")
    ran = evh("upgrade", source, "-o", tmp_path / "out.jsonl")
    assert "4 rows → 3 records" in ran.out
    made = list(library.read_episodes(tmp_path / "out.jsonl", "strict"))
    assert [len(each.traces) for each in made] == [2, 1, 1]
    assert made == list(library.read_episodes(source))


def test_first_generation_rows_use_the_metadata_beside_them(evh: Evh, tmp_path: Path) -> None:
    shutil.copytree(DATA / "upgrade" / "v0", tmp_path / "v0")
    assert evh("upgrade", tmp_path / "v0" / "results.jsonl", "-o", tmp_path / "out.jsonl").code == 0
    [*made] = library.read_episodes(tmp_path / "out.jsonl", "strict")
    assert {each.env.id for each in made} == {"org/arithmetic"}


def test_other_records_are_upgraded_as_what_they_are(evh: Evh, tmp_path: Path) -> None:
    (tmp_path / "predictions.jsonl").write_text('{"item_id": "a", "score": 1}\n{"item_id": "b", "score": 0}\n')
    ran = evh("upgrade", tmp_path / "predictions.jsonl", "-o", tmp_path / "out.jsonl", "--json")
    assert ran.code == 0 and ran.json["files"][0]["type"] == "PredictionRow"
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "predictions.jsonl").read_bytes()


def test_the_source_is_never_the_target(evh: Evh, old: Path, tmp_path: Path) -> None:
    before = old.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(old)
    os.link(old, tmp_path / "hard.jsonl")
    for target in ("old.jsonl", "link.jsonl", "hard.jsonl", "./sub/../old.jsonl"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        ran = evh("upgrade", old, "-o", f"{tmp_path}/{target}", "--overwrite")
        assert ran.code == 1 and "is the source itself" in ran.err, target
    assert evh("upgrade", tmp_path, "-o", tmp_path / "inside").code == 1
    assert evh("upgrade", tmp_path / "sub", "-o", tmp_path).code == 1
    assert old.read_bytes() == before


def test_an_existing_target_needs_overwrite(evh: Evh, old: Path, tmp_path: Path) -> None:
    target = tmp_path / "there.jsonl"
    target.write_text("precious\n")
    refused = evh("upgrade", old, "-o", target)
    assert refused.code == 1 and "--overwrite" in refused.err and target.read_text() == "precious\n"
    assert evh("upgrade", old, "-o", target, "--overwrite").code == 0
    assert len(target.read_bytes().splitlines()) == 11


def test_a_folder_is_not_written_into_the_name_of_a_file(evh: Evh, tmp_path: Path) -> None:
    source = REAL / "v0.3.0-eval-trace-run"
    for name in ("results.json", "out.jsonl", "out.jsonl.gz"):
        ran = evh("upgrade", source, "-o", tmp_path / name)
        assert ran.code == 1 and "is the name of a file" in ran.err
    ran = evh("upgrade", source / "traces.jsonl", "-o", tmp_path)
    assert ran.code == 1 and "name the file to write" in ran.err
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_no_target_and_no_temporary_file(
    evh: Evh, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evh.cli._files.os.fsync", full)
    for name in ("out.jsonl", "out.jsonl.gz", "out.jsonl.zst"):
        ran = evh("upgrade", old, "-o", tmp_path / name)
        assert ran.code == 1 and "No space left on device" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["old.jsonl"]


def test_standard_input_to_standard_output(evh: Evh, old: Path, tmp_path: Path) -> None:
    evh("upgrade", old, "-o", tmp_path / "out.jsonl")
    ran = evh("upgrade", "-", "-o", "-", stdin=old.read_bytes())
    assert ran.code == 0 and ran.out == (tmp_path / "out.jsonl").read_text()
    assert "<stdin> → <stdout>" in ran.err
    report = evh("upgrade", "-", "-o", "-", "--json", stdin=old.read_bytes())
    assert json.loads(report.err)["ok"] and report.out == ran.out


def test_one_document_over_several_lines_on_standard_input_is_a_row(evh: Evh, old: Path) -> None:
    record = json.loads(old.read_text().splitlines()[0])
    ran = evh("upgrade", "-", "-o", "-", stdin=json.dumps(record, indent=2).encode())
    assert ran.code == 0 and ran.out.count("\n") == 1
    assert ran.out.encode().rstrip(b"\n") == library.encode(library.upgrade(json.dumps(record)).record)


def test_messagepack_in_a_folder_is_upgraded(evh: Evh, tmp_path: Path) -> None:
    ran = evh("upgrade", REAL / "v0.4.0-built", "-o", tmp_path / "new", "--json")
    names = {Path(file["target"]).name for file in ran.json["files"]}
    assert {"built.msgpacks", "tensors.msgpack"} <= names
    assert (tmp_path / "new" / "tensors.msgpack").read_bytes()[:1] != b"{"


def test_standard_output_has_one_name(evh: Evh, old: Path) -> None:
    ran = evh("upgrade", old, "-o", "/dev/stdout")
    assert ran.code == 1 and "say -o -" in ran.err
