"""`evh check`: each fault named with line and reason, good rows counted, exit codes."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from cli_support import DATA, REAL, Evh

FINDINGS = {
    "duplicate-keys.jsonl": {"duplicate-key"},
    "nan.jsonl": {"non-finite"},
    "torn-mid-utf8.jsonl": {"torn"},
}
NOTICES = {"bom.jsonl": {"bom"}, "crlf.jsonl": {"crlf"}, "blank-lines.jsonl": {"blank", "no-final-newline"}}


@pytest.mark.parametrize("mode", ["upgrade", "lenient"])
@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_hazards_that_are_findings_exit_with_1_and_say_the_line(evh: Evh, name: str, mode: str) -> None:
    ran = evh("check", REAL / "hazards" / name, "--mode", mode, "--json")
    [file] = ran.json["files"]
    assert ran.code == 1 and not ran.json["ok"] and not file["ok"]
    # In today's shape the row also lacks its task: only what the hazard is about counts here.
    assert FINDINGS[name] <= {each["keyword"] for each in file["findings"]}
    assert all(each["line"] == 1 and each["message"] for each in file["findings"])


@pytest.mark.parametrize("name", sorted(NOTICES))
def test_hazards_that_are_notices_exit_with_0(evh: Evh, name: str) -> None:
    ran = evh("check", REAL / "hazards" / name, "--json")
    [file] = ran.json["files"]
    assert ran.code == 0 and file["ok"] and not file["findings"]
    assert {each["kind"] for each in file["notices"]} == NOTICES[name]
    assert file["rows"] == file["good_rows"] == 2


def test_a_torn_row_is_named_and_the_rows_before_it_are_counted(evh: Evh, torn: Path) -> None:
    ran = evh("check", torn)
    assert ran.code == 1
    assert "18 rows (Episode), 16 good" in ran.out
    assert "line 18  torn row: the text ends inside a string" in ran.out
    assert "hold no whole record  [torn]" in ran.out


def test_old_shapes_are_no_findings_in_the_default_mode_and_are_named(evh: Evh, old: Path) -> None:
    ran = evh("check", old, "--json")
    [file] = ran.json["files"]
    assert file["older_rows"] == 11 and file["shapes"] == {"S15": 11, "S16": 11}
    assert {each["keyword"] for each in file["findings"]} == {"big-integer"}


def test_computed_members_of_0_4_0_are_nothing(evh: Evh) -> None:
    for mode in ("upgrade", "lenient", "strict"):
        ran = evh("check", REAL / "v0.4.0-branches", "--mode", mode, "--json")
        [file] = ran.json["files"]
        assert ran.code == 0 and not file["notices"] and not file["older_rows"], mode


def test_modes_differ_on_retired_and_unknown_members(evh: Evh, tmp_path: Path) -> None:
    row = json.loads((REAL / "v0.4.0-branches" / "traces.jsonl").read_text().splitlines()[0])
    row["traces"][0]["run"] = {"type": "eval", "id": "r"}
    row["novel"] = {"deep": [1]}
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    lenient = evh("check", path, "--mode", "lenient", "--json")
    assert lenient.code == 0
    kinds = {(each["kind"], each["pointer"]) for each in lenient.json["files"][0]["notices"]}
    assert kinds == {("retired", "/traces/0/run"), ("unknown", "/novel")}
    strict = evh("check", path, "--mode", "strict", "--json")
    assert strict.code == 1
    assert {(each["keyword"], each["pointer"]) for each in strict.json["files"][0]["findings"]} == {
        ("additionalProperties", "/traces/0/run"), ("additionalProperties", "/novel"),
    }  # fmt: skip
    upgraded = evh("check", path, "--json")
    assert upgraded.code == 0
    assert {each["kind"] for each in upgraded.json["files"][0]["notices"]} == {"unknown"}


def test_lone_surrogates_are_findings_only_for_strict_readers(evh: Evh) -> None:
    path = REAL / "v0.4.0-built" / "surrogate.to_record.jsonl"
    for mode, code in (("upgrade", 0), ("lenient", 0), ("strict", 1)):
        ran = evh("check", path, "--mode", mode, "--json")
        [file] = ran.json["files"]
        assert ran.code == code, mode
        told = file["notices"] if code == 0 else file["findings"]
        assert [each.get("kind", each.get("keyword")) for each in told] == ["surrogate"]


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ('{"id": "a"', "torn"),
        ('{"id": "a",}\n', "not-json"),
        ("[1, 2]\n", "type"),
        ("nonsense\n", "not-json"),
        ('{"id": 9007199254740993, "task": {}, "traces": []}\n', "big-integer"),
        ('{"id": "a", "traces": [], "info": ' + "[" * 140 + "]" * 140 + "}\n", "depth"),
        ('{"id": "a", "traces": [], "x": ' + "[" * 30000 + "]" * 30000 + "}\n", "not-json"),
        ('{"id": "a", "traces": [], "x": ' + "1" * 6000 + "}\n", "not-json"),
        ('{"id": "a", "traces": [], "x": -1e999}\n', "non-finite"),
        ('{"id": "a", "traces": [{"nodes": 7}]}\n', "type"),
        ("\x00\x00\x00\n", "not-json"),
    ],
)
def test_made_faults_are_findings_with_a_keyword(evh: Evh, tmp_path: Path, text: str, keyword: str) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(text)
    ran = evh("check", path, "--json")
    assert ran.code == 1
    assert keyword in {each["keyword"] for each in ran.json["files"][0]["findings"]}


def test_the_message_graph_is_checked(evh: Evh, tmp_path: Path) -> None:
    row = json.loads((REAL / "v0.4.0-branches" / "traces.jsonl").read_text().splitlines()[1])
    row["traces"][0]["nodes"][1]["parent"] = 99
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    [file] = evh("check", path, "--json").json["files"]
    assert [(each["pointer"], each["keyword"]) for each in file["findings"]] == [
        ("/traces/0/nodes/1/parent", "parent-range")
    ]


def test_a_bare_trace_is_pointed_into_as_it_stands(evh: Evh, tmp_path: Path) -> None:
    row = json.loads((REAL / "v0.2.0-eval-trace-rows" / "traces.jsonl").read_text().splitlines()[1])
    row["nodes"][-1]["parent"] = 77
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    [file] = evh("check", path, "--json").json["files"]
    assert f"/nodes/{len(row['nodes']) - 1}/parent" in {each["pointer"] for each in file["findings"]}


def test_an_index_that_is_no_run_record_is_refused_by_path_and_members(evh: Evh, tmp_path: Path, old: Path) -> None:
    shutil.copyfile(REAL / "v0.4.0-branches" / "traces.jsonl", tmp_path / "traces.jsonl")
    (tmp_path / "metrics.json").write_text('{\n  "a.json": {"score": 1},\n  "b.json": {"score": 0}\n}\n')
    ran = evh("check", tmp_path)
    assert ran.code == 1
    assert "metrics.json  1 record (RunRecord), 0 good, 1 finding" in ran.out
    assert "not a run record: missing run_id, " in ran.out
    assert "traces.jsonl  4 rows (Episode)\n" in ran.out


def test_a_document_of_several_lines_is_one_record(evh: Evh, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{\n  "run_id": "x",\n  oops\n}\n')
    [file] = evh("check", path, "--json").json["files"]
    assert file["rows"] == 1 and file["type"] == "RunManifest"
    assert [(each["line"], each["keyword"]) for each in file["findings"]] == [(3, "not-json")]


def test_the_type_comes_from_name_then_content_then_option(evh: Evh, tmp_path: Path) -> None:
    episode = (REAL / "v0.4.0-branches" / "traces.jsonl").read_text().splitlines()[0]
    (tmp_path / "other.jsonl").write_text(episode + "\n")
    (tmp_path / "predictions.jsonl").write_text('{"item_id": "a"}\n')
    (tmp_path / "said.jsonl").write_text('{"schema": "evh:1.0:run_manifest", "run_id": "a"}\n')
    (tmp_path / "reward.jsonl").write_text('{"score": 1}\n')
    types = {Path(file["file"]).name: file["type"] for file in evh("check", tmp_path, "--json").json["files"]}
    assert types == {
        "other.jsonl": "Episode",
        "predictions.jsonl": "PredictionRow",
        "said.jsonl": "RunManifest",
        "reward.jsonl": None,
    }
    assert evh("check", tmp_path / "reward.jsonl").code == 1
    assert evh("check", tmp_path / "reward.jsonl", "--type", "reward").code == 0
    ran = evh("check", tmp_path / "predictions.jsonl", "--type", "Reward", "--json")
    assert [each["kind"] for each in ran.json["files"][0]["notices"] if each["kind"] == "type"] == ["type"]


def test_max_errors_shows_fewer_and_counts_all(evh: Evh, torn: Path) -> None:
    ran = evh("check", torn, "--max-errors", "2")
    assert ran.out.count("[big-integer]") + ran.out.count("[torn]") == 2
    assert "… 5 more findings not shown" in ran.out and "7 findings" in ran.out
    [file] = evh("check", torn, "--max-errors", "0", "--json").json["files"]
    assert len(file["findings"]) == file["findings_total"] == 7


def test_github_annotations_are_one_line_each(evh: Evh, torn: Path) -> None:
    ran = evh("check", torn, "--format", "github")
    lines = ran.out.splitlines()
    assert ran.code == 1 and len(lines) == 7
    assert all(line.startswith("::error file=") for line in lines)
    assert any(",line=18,title=evh%3A torn::" in line for line in lines)
    crlf = evh("check", REAL / "hazards" / "crlf.jsonl", "--format", "github")
    assert crlf.code == 0 and crlf.out.startswith("::warning file=")


def test_packed_files_and_standard_input_are_read(evh: Evh, tmp_path: Path) -> None:
    rows = (REAL / "v0.4.0-branches" / "traces.jsonl").read_bytes()
    (tmp_path / "traces.jsonl.gz").write_bytes(gzip.compress(rows))
    packed = evh("check", tmp_path / "traces.jsonl.gz")
    assert packed.code == 0 and "4 rows (Episode)" in packed.out
    piped = evh("check", "-", stdin=rows)
    assert piped.code == 0 and "<stdin>  4 rows (Episode)" in piped.out


def test_rows_before_a_cut_in_a_packed_file_are_read(evh: Evh, tmp_path: Path, old: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(old.read_bytes())[:2000])
    [file] = evh("check", tmp_path / "cut.jsonl.gz", "--json").json["files"]
    assert file["good_rows"] > 0
    assert [each["keyword"] for each in file["findings"]] == ["torn", "source"]


def test_messagepack_is_checked_and_a_cut_document_is_torn(evh: Evh, tmp_path: Path) -> None:
    source = REAL / "v0.4.0-built" / "built.msgpacks"
    whole = evh("check", source, "--json").json["files"][0]
    assert whole["rows"] >= 7 and not [each for each in whole["findings"] if each["keyword"] == "torn"]
    (tmp_path / "cut.msgpacks").write_bytes(source.read_bytes()[:-100])
    cut = evh("check", tmp_path / "cut.msgpacks", "--json").json["files"][0]
    assert cut["rows"] == whole["rows"]
    assert [each["line"] for each in cut["findings"] if each["keyword"] == "torn"] == [whole["rows"]]


def test_an_empty_file_is_a_notice_and_an_empty_folder_a_failure(evh: Evh, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    ran = evh("check", tmp_path / "sub")
    assert ran.code == 1 and "nothing to check" in ran.err
    (tmp_path / "traces.jsonl").write_bytes(b"")
    ran = evh("check", tmp_path)
    assert ran.code == 0 and "the file is empty" in ran.out


def test_one_missing_path_does_not_hide_the_others(evh: Evh, tmp_path: Path, old: Path) -> None:
    ran = evh("check", tmp_path / "nowhere", REAL / "v0.4.0-branches")
    assert ran.code == 1 and "no such file or folder" in ran.out and "4 rows (Episode)" in ran.out


def test_first_generation_rows_are_checked_with_their_metadata(evh: Evh) -> None:
    [file] = evh("check", DATA / "upgrade" / "v0", "--json").json["files"]
    assert file["type"] == "Episode" and file["shapes"].get("v0") == file["rows"]


def test_bare_traces_are_told_apart_where_shapes_matter(evh: Evh, tmp_path: Path) -> None:
    row = json.loads((REAL / "v0.4.0-branches" / "traces.jsonl").read_text().splitlines()[0])
    (tmp_path / "rows.jsonl").write_text(json.dumps(row["traces"][0]) + "\n")
    for mode, kind, older in (("upgrade", "Episode", 1), ("lenient", "Trace", 0), ("strict", "Trace", 0)):
        ran = evh("check", tmp_path / "rows.jsonl", "--mode", mode, "--json")
        [file] = ran.json["files"]
        assert (ran.code, file["type"], file["older_rows"]) == (0, kind, older), mode
    assert evh("check", tmp_path / "rows.jsonl", "--type", "Trace", "--mode", "strict").code == 0


def test_files_of_refused_rows_are_left_out_of_folders(evh: Evh, torn: Path, tmp_path: Path) -> None:
    evh("upgrade", torn, "-o", tmp_path / "new" / "traces.jsonl")
    (tmp_path / "new").mkdir()
    evh("upgrade", torn, "-o", tmp_path / "new" / "traces.jsonl")
    files = evh("check", tmp_path / "new", "--json").json["files"]
    assert [Path(file["file"]).name for file in files] == ["traces.jsonl"]
    refused = tmp_path / "new" / "traces.jsonl.refused.jsonl"
    assert evh("check", refused).code == 1


def test_names_that_look_like_options_follow_two_dashes(
    evh: Evh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(REAL / "v0.4.0-branches" / "traces.jsonl", tmp_path / "--json")
    monkeypatch.chdir(tmp_path)
    assert "4 rows (Episode)" in evh("check", "--mode", "strict", "--", "--json").out


def test_blank_lines_and_the_byte_order_mark_are_named_where_they_are(evh: Evh, tmp_path: Path) -> None:
    row = (REAL / "v0.4.0-branches" / "traces.jsonl").read_bytes().splitlines()[0]
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\n\n" + row + b"\n\n \n" + row + b"\n\n\n")
    [file] = evh("check", path, "--json").json["files"]
    assert [(each["kind"], each["line"]) for each in file["notices"]] == [
        ("bom", 1), ("blank", 1), ("blank", 4), ("blank", 7),
    ]  # fmt: skip
    lines = evh("check", path, "--format", "github").out.splitlines()
    assert len(lines) == 4 and not any("(root)" in line for line in lines)
    assert lines[2].startswith(f"::warning file={path},line=4,title=evh%3A blank::2 blank lines (4 to 5)")


def test_a_folder_is_checked_with_its_messagepack(evh: Evh) -> None:
    files = evh("check", REAL / "v0.4.0-built", "--json").json["files"]
    assert [Path(file["file"]).name for file in files] == [
        "built.jsonl", "built.msgpacks", "built.to_record.jsonl", "surrogate.to_record.jsonl", "tensors.msgpack",
    ]  # fmt: skip


def test_a_file_of_another_kind_is_told_in_a_few_lines(evh: Evh, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("# Notes\n\n" + "Not a row.\n" * 60)
    ran = evh("check", path)
    assert ran.code == 1 and ran.out.count("[not-json]") == 3 and ran.out.count("\n") == 7
    assert "… this does not look like rows of JSON: 58 more rows are alike\n" in ran.out
    assert evh("check", path, "--format", "github").out.count("[not-json]") == 3
    [file] = evh("check", path, "--max-errors", "0", "--json").json["files"]
    assert len(file["findings"]) == 61


def test_json_that_is_no_record_needs_a_type(evh: Evh, tmp_path: Path) -> None:
    path = tmp_path / "settings.jsonl"
    path.write_text('{"id": "x", "model": "m"}\n')
    ran = evh("check", path)
    assert ran.code == 1 and "no record that is known: name the type with --type  [type]" in ran.out
    ran = evh("check", path, "--type", "Reward", "--json")
    assert ran.json["files"][0]["type"] == "Reward"


def test_bare_traces_below_the_name_of_episodes_are_checked_as_traces_when_asked(evh: Evh, tmp_path: Path) -> None:
    row = json.loads((REAL / "v0.4.0-branches" / "traces.jsonl").read_text().splitlines()[0])
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row["traces"][0]) + "\n")
    ran = evh("check", path, "--mode", "lenient")
    assert ran.code == 1 and "give --type Trace, or `evh upgrade` it  [shape]" in ran.out
    for mode in ("upgrade", "lenient", "strict"):
        [file] = evh("check", path, "--mode", mode, "--type", "Trace", "--json").json["files"]
        assert (file["type"], file["ok"], file["notices"]) == ("Trace", True, []), mode
    path.write_text(json.dumps(row) + "\n")
    [file] = evh("check", path, "--type", "Trace", "--json").json["files"]
    assert file["type"] == "Episode" and [each["kind"] for each in file["notices"]] == ["type"]


def test_findings_speak_json_and_of_one_byte_and_cut_long_places(evh: Evh, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("null\n{\n")
    said = evh("check", path).out
    assert "expected an object, found null  [type]" in said and "its 1 byte holds no whole record" in said
    path.write_text('{"id": "a", "traces": [], "' + "k" * 300 + '": 9007199254740993}\n')
    lines = [line for line in evh("check", path).out.splitlines() if "[big-integer]" in line]
    assert len(lines) == 1 and "k… " in lines[0] and lines[0].count("k") < 125
    [file] = evh("check", path, "--json").json["files"]
    assert "/" + "k" * 300 in {each["pointer"] for each in file["findings"]}


def test_an_array_over_several_lines_on_standard_input_is_one_document_that_is_no_record(evh: Evh) -> None:
    [file] = evh("check", "-", "--json", stdin=b'[\n  {"a": 1},\n  {"b": 2}\n]\n').json["files"]
    assert file["rows"] == 1 and {each["keyword"] for each in file["findings"]} == {"type"}


@pytest.mark.parametrize(
    ("text", "rows", "torn_lines"),
    [
        (b"{\n", 1, [1]),
        (b'{"id": [\n%b\n', 2, [1]),
        (b'{\n"id": "x",\n%b\n%b\n', 4, [1]),
        (b"%b\n{\n%b\n", 3, []),
    ],
)
def test_rows_behind_a_torn_row_on_standard_input_are_read(
    evh: Evh, text: bytes, rows: int, torn_lines: list[int]
) -> None:
    row = (REAL / "v0.4.0-branches" / "traces.jsonl").read_bytes().splitlines()[0]
    [file] = evh("check", "-", "--json", stdin=text.replace(b"%b", row)).json["files"]
    assert file["rows"] == rows and file["good_rows"] == text.count(b"%b")
    assert not torn_lines or [each["line"] for each in file["findings"]][: len(torn_lines)] == torn_lines
