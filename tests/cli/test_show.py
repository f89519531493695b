"""`evh show`: the table, the sums, one episode, and what is said when it cannot be found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_support import REAL, Evh

import evh as library

EVAL = REAL / "v0.4.0-eval" / "traces.jsonl"
BRANCHES = REAL / "v0.4.0-branches" / "traces.jsonl"


def test_the_table_has_a_row_an_episode_and_sums(evh: Evh) -> None:
    ran = evh("show", EVAL)
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0].split() == ["#", "id", "task", "ok", "reward", "in", "out", "turns", "errors", "traces", "run"]
    assert lines[4].split()[-9:] == ["length", "✓", "0.25", "8", "16", "1", "0", "1", "disabled-fd0848e7d14445ab"]
    assert lines[20] == "18 episodes, 14 ok (78 %)"
    assert lines[21] == "mean reward 0.625 over 14 scored, 4 unscored; tokens 192 in, 212 out; 4 errors"


def test_the_data_are_those_of_the_records(evh: Evh) -> None:
    shown = evh("show", EVAL, "--json").json
    records = list(library.read_episodes(EVAL))
    assert shown["ok"] and not shown["bad_rows"]
    for entry, record in zip(shown["episodes"], records, strict=True):
        assert (entry["id"], entry["ok"], entry["reward"]) == (record.id, record.ok, record.traces[0].reward)
        assert (entry["input_tokens"], entry["output_tokens"]) == (record.num_input_tokens, record.num_output_tokens)
        assert (entry["turns"], entry["traces"], entry["run"]) == (record.num_turns, 1, record.run.id)
    assert shown["summary"]["unscored"] == 4 and shown["summary"]["runs"] == 1


def test_unscored_is_a_dash_and_not_zero(evh: Evh) -> None:
    first = evh("show", EVAL).out.splitlines()[1].split()
    assert first[4:6] == ["✗", "–"]
    assert evh("show", EVAL, "--json").json["episodes"][0]["reward"] is None


def test_bad_rows_are_named_at_the_end_and_exit_with_1(evh: Evh, torn: Path) -> None:
    ran = evh("show", torn)
    assert ran.code == 1 and "17 episodes" in ran.out
    assert "1 row could not be read:" in ran.out and f"{torn}:18: torn" in ran.out
    data = evh("show", torn, "--json")
    assert data.code == 1 and data.json["summary"]["bad_rows"] == 1 and data.json["bad_rows"][0]["line"] == 18


def test_limit_shows_fewer_and_sums_all(evh: Evh) -> None:
    ran = evh("show", EVAL, "--limit", "3")
    assert "… 15 more: --limit 0 shows all" in ran.out and "18 episodes" in ran.out
    data = evh("show", EVAL, "-n", "3", "--json").json
    assert len(data["episodes"]) == 3 and data["summary"]["episodes"] == 18


def test_a_folder_of_runs_is_read_file_by_file(evh: Evh) -> None:
    data = evh("show", REAL, "--json")
    assert data.code == 1 and data.json["summary"]["episodes"] == 188 and data.json["summary"]["bad_rows"] == 2


@pytest.mark.parametrize("wanted", ["642074e700e144c1b8f30bdf6678f3df", "642074", "#2"])
def test_one_episode_is_found_by_id_beginning_or_number(evh: Evh, wanted: str) -> None:
    ran = evh("show", BRANCHES, wanted)
    assert ran.code == 0
    assert ran.out.startswith("✓ episode 642074e700e144c1b8f30bdf6678f3df  #2  ok\n")
    for text in (
        "rewards    correct 1 × 0.75, short 1 × 0.25  = 1",
        "usage      92 prompt (+ 32 cached), 84 completion, cost 0.0008, 7 calls",
        "user       [[case:plain]] What is six times seven?",
        "3 other branches",
    ):
        assert text in ran.out


def test_a_trace_leads_to_its_episode(evh: Evh) -> None:
    source = REAL / "v0.4.0-two-seat" / "traces.jsonl"
    episode = next(each for each in library.read_episodes(source) if len(each.traces) > 1)
    ran = evh("show", source, episode.traces[1].id)
    assert ran.code == 0 and f"episode {episode.id}" in ran.out
    assert f"trace 2 of 3 {episode.traces[1].id}  (the one you asked for)" in ran.out


def test_the_whole_record_is_the_data(evh: Evh) -> None:
    shown = evh("show", BRANCHES, "642074", "--json").json
    assert shown == next(each for each in library.read_episodes(BRANCHES) if each.id.startswith("642074")).to_record()


def test_messages_are_cut_to_a_line_unless_full(evh: Evh, tmp_path: Path) -> None:
    row = json.loads(BRANCHES.read_text().splitlines()[1])
    row["traces"][0]["nodes"][0]["message"]["content"] = "first line\n" + "word " * 100 + "\x1b[31mred"
    for node in row["traces"][0]["nodes"]:
        if node["message"]["role"] == "user":
            node["message"]["content"] = [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "data:x"}},
            ]
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    short = evh("show", path, "#1").out
    assert "\x1b" not in short and "see [image]" in short
    assert max(len(line) for line in short.splitlines()) <= 120
    full = evh("show", path, "#1", "--full").out
    assert "\x1b" not in full and "\\x1b[31mred" in full


def test_episodes_without_traces_and_with_broken_graphs_are_shown(evh: Evh, tmp_path: Path) -> None:
    row = json.loads(BRANCHES.read_text().splitlines()[1])
    row["traces"][0]["nodes"][1]["parent"] = 1
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert evh("show", path).code == 0
    ran = evh("show", path, "#1")
    assert ran.code == 0 and "the conversation cannot be followed" in ran.out
    empty = evh("show", REAL / "v0.4.0-two-seat", "#1")
    assert empty.code == 0 and "no traces" in empty.out


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("zzz", "no episode or trace has an id"),
        ("#99", "there is no episode #99: there are 4"),
    ],
)
def test_an_id_that_is_none_or_several_is_refused_with_what_there_is(evh: Evh, wanted: str, said: str) -> None:
    ran = evh("show", BRANCHES, wanted)
    assert ran.code == 1 and said in ran.err and not ran.out
    data = evh("show", BRANCHES, wanted, "--json")
    assert data.code == 1 and said in data.json["error"]["message"]


def test_ambiguous_ids_list_candidates(evh: Evh, tmp_path: Path) -> None:
    row = json.loads(BRANCHES.read_text().splitlines()[0])
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps({**row, "id": f"abc{index}"}) + "\n" for index in range(3)))
    ran = evh("show", path, "abc")
    assert ran.code == 1 and all(f"#{index + 1}  abc{index}" in ran.err for index in range(3))
    assert evh("show", path, "abc1").code == 0


def test_standard_input_is_shown(evh: Evh) -> None:
    assert "4 episodes" in evh("show", "-", stdin=BRANCHES.read_bytes()).out


def test_documents_before_a_cut_are_shown(evh: Evh, tmp_path: Path) -> None:
    source = REAL / "v0.4.0-built" / "built.msgpacks"
    whole = evh("show", source, "--json").json["summary"]["episodes"]
    (tmp_path / "cut.msgpacks").write_bytes(source.read_bytes()[:-100])
    ran = evh("show", tmp_path / "cut.msgpacks", "--json")
    assert ran.code == 1 and ran.json["summary"]["episodes"] == whole - 1 and len(ran.json["bad_rows"]) == 1


def test_one_document_over_several_lines_is_shown_and_goes_on_to_check(evh: Evh, tmp_path: Path) -> None:
    document = evh("show", BRANCHES, "#2", "--json").out
    assert document.count("\n") > 100
    (tmp_path / "one.json").write_text(document)
    for ran in (evh("show", tmp_path / "one.json"), evh("show", "-", stdin=document.encode())):
        assert ran.code == 0 and "1 episode, 1 ok" in ran.out and "642074e700e144c1b8f30bdf6678f3df" in ran.out
    checked = evh("check", "-", "--mode", "strict", stdin=document.encode())
    assert checked.code == 0 and "1 row (Episode)\n" in checked.out
    row = BRANCHES.read_bytes().splitlines()[0]
    mixed = evh("show", "-", "--json", stdin=document.encode() + b"\n" + row + b"\n\noops\n")
    assert mixed.json["summary"]["episodes"] == 2
    assert [each["line"] for each in mixed.json["bad_rows"]] == [document.count("\n") + 4]


def test_rows_in_a_file_of_another_name_are_shown(evh: Evh, tmp_path: Path) -> None:
    shutil.copyfile(BRANCHES, tmp_path / "rows.json")
    assert "4 episodes" in evh("show", tmp_path / "rows.json").out
    (tmp_path / "bad.json").write_text('{\n  "id": "a",\n  oops\n}\n')
    ran = evh("show", tmp_path / "bad.json")
    assert ran.code == 1 and "1 row could not be read" in ran.out


def test_rows_of_several_files_name_their_file(evh: Evh, tmp_path: Path) -> None:
    rows = BRANCHES.read_text().splitlines(keepends=True)
    for name, count in (("one", 2), ("two", 1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "traces.jsonl").write_text("".join(rows[:count]))
    shown = evh("show", tmp_path)
    assert shown.out.splitlines()[0].endswith("file")
    assert [line.split()[-1] for line in shown.out.splitlines()[1:4]] == [
        "one/traces.jsonl", "one/traces.jsonl", "two/traces.jsonl",
    ]  # fmt: skip
    assert [each["file"] for each in evh("show", tmp_path, "--json").json["episodes"]][2] == "two/traces.jsonl"
    assert "file" not in evh("show", tmp_path / "one").out.splitlines()[0]
    wanted = json.loads(rows[0])["id"]
    ran = evh("show", tmp_path, wanted)
    assert ran.code == 1 and "is the id of more than one row: give the number of one, as #N" in ran.err
    assert f"#1  {wanted}  one/traces.jsonl\n  #3  {wanted}  two/traces.jsonl" in ran.err
    assert "  file       two/traces.jsonl\n" in evh("show", tmp_path, "#3").out


def test_messagepack_in_a_folder_is_shown(evh: Evh, tmp_path: Path) -> None:
    shutil.copyfile(BRANCHES, tmp_path / "traces.jsonl")
    shutil.copyfile(REAL / "v0.4.0-built" / "tensors.msgpack", tmp_path / "more.msgpack")
    files = [each["file"] for each in evh("show", tmp_path, "--json").json["episodes"]]
    assert files == ["traces.jsonl"] * 4 + ["more.msgpack"]


def test_one_row_that_cannot_be_read_is_one(evh: Evh, torn: Path) -> None:
    ran = evh("show", torn, "#99")
    assert "(1 row could not be read: `evh check` names it)" in ran.err
