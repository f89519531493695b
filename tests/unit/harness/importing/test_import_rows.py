"""Imports of plain rows, JSON Lines and CSV: what members become, and everything that is refused."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.errors import EvhError, SourceError, UsageError
from evh.harness.adapters import Adapter, load_adapter
from evh.harness.importing import Imported, import_run
from evh.harness.project import Project
from evh.store import open_run_dir

Make = Callable[..., Any]


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def rows_of(made: Imported) -> dict[str, dict[str, Any]]:
    return {stored.row.item_id: dict(stored.row.plain()) for stored in open_run_dir(made.directory).rows()}


def is_untouched(project: Project) -> bool:
    return not project.runs.exists() or not any(project.runs.iterdir())


def test_members_of_a_row_become_metrics_extras_counts_and_meta(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a"])
    row = {
        "id": "a", "text": "two words", "score": 0.5, "right": True, "latency_ms": 7, "tokens_out": 2,
        "extra": {"truncated": 0}, "meta": {"provider": "p"}, "model": "m", "usage": {"cost": 1}, "nothing": None,
        "output_words": 99,
    }  # fmt: skip
    made = bring_in(write(tmp_path / "rows.jsonl", row))
    stored = rows_of(made)["a"]
    digest = stored.pop("_output_sha256")
    assert len(digest) == 64
    assert stored == {
        "item_id": "a", "score": 0.5, "right": 1.0, "latency_ms": 7, "tokens_out": 2, "output_words": 2,
        "truncated": 0, "_extra": {"truncated": 0}, "_meta": {"provider": "p", "model": "m", "usage": {"cost": 1}},
    }  # fmt: skip
    assert open_run_dir(made.directory).output("a") == "two words"
    assert made.record.scores["score"] == 0.5
    assert made.record.providers_seen == {"p": 1}
    assert made.record.warmup_ms is None
    assert made.lossy == []


def test_the_run_is_a_measured_one_that_says_it_was_imported(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path
) -> None:
    freeze(["a"])
    made = bring_in(write(project.root / "rows.jsonl", {"item_id": "a", "output": ""}), build_ref="v7")
    record, manifest = made.record, open_run_dir(made.directory).manifest
    assert record.derived is None
    assert record.imported is not None
    assert manifest is not None
    assert manifest.imported == record.imported
    assert record.imported.from_ == "rows.jsonl"
    assert record.build.ref == "v7"
    assert record.build.source == "--build-ref"
    assert made.directory.name == record.run_id == manifest.run_id
    assert open_run_dir(made.directory).state == "finished"
    assert [each.name for each in project.runs.iterdir()] == [record.run_id]
    assert not (made.directory / "lease.json").exists()


def test_numbers_that_cannot_be_metrics_stay_in_meta(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a"])
    made = bring_in(write(tmp_path / "r.jsonl", {"item_id": "a", "id": 5, "output": "x", "total_cost_usd": 3, "_z": 1}))
    assert rows_of(made)["a"]["_meta"] == {"id": 5, "total_cost_usd": 3, "_z": 1}


def test_a_member_without_a_place_is_named_in_lossy(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a"])
    row = {"item_id": "a", "output": "x", "meta": {"model": "one"}, "model": "two"}
    made = bring_in(write(tmp_path / "r.jsonl", row))
    assert made.lossy == ["/model"]
    assert made.record.imported is not None
    assert made.record.imported.lossy == ["/model"]


def test_a_failed_row_needs_no_output_and_is_counted(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a", "b"])
    made = bring_in(
        write(
            tmp_path / "r.jsonl",
            {"id": "a", "output": "x", "s": 1},
            {"id": "b", "error": {"type": "E", "message": "no"}},
        )
    )
    assert rows_of(made)["b"]["_error"] == "E: no"
    assert made.record.n_errors == 1
    assert made.record.n_items == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"id": "a", "output": "x"}\n{"id": "zz", "output": "x"}\n{"id": "yy", "output": ""}',
            r"2 of 3 rows.*'zz' \(line 2\)",
        ),
        ('{"id": "a", "output": "x"}\n\n{"id": "a", "output": "x"}', "r.jsonl:3: .*lines 1 and 3"),
        ('{"id": "a", "output": "x"}', "no row for 1 of the 2 items of qa: 'b'.*--partial"),
        ('{"id": "a", "output": "x"}\n{"id": "b"}', "r.jsonl:2: .*has no output"),
        ('{"id": "a", "output": "x"}\n{"id": "b", "output": 3}', "r.jsonl:2: /output: expected the output as text"),
        ('{"id": "a", "output": "x"}\n{"output": "y"}', "r.jsonl:2: .*names no item"),
        ('{"id": "a", "output": "x"}\n{"id": "", "output": "y"}', "r.jsonl:2: /id"),
        ('{"id": "a", "output": "x"}\n[1]', "r.jsonl:2: .*expected an object"),
        ('{"id": "a", "output": "x"}\n{"id": "b", "out', "r.jsonl:2: "),
        ('{"id": "a", "output": "x", "m": NaN}\n{"id": "b", "output": "x"}', "r.jsonl:1: /m"),
        ('{"id": "a", "id": "b", "output": "x"}', "r.jsonl:1: /id"),
        ('{"id": "a", "output": "x", "latency_ms": -1}', "r.jsonl:1: /latency_ms"),
        ('{"id": "a", "output": "x", "cost_usd": "3"}', "r.jsonl:1: .*cost_usd"),
        ('{"id": "a", "output": "x", "extra": {"m": 1}, "m": 2}', "r.jsonl:1: /m: .*same name"),
        ('{"id": "a", "output": "x", "_extra": {"m": "1"}}', "r.jsonl:1: /m: .*finite number"),
        ("\n\n", "holds no rows"),
        ("5", "holds no objects"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_with_file_and_line_and_leave_nothing(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path, text: str, said: str
) -> None:
    freeze(["a", "b"])
    path = tmp_path / "r.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(EvhError, match=said):
        bring_in(path)
    assert is_untouched(project)


def test_partial_imports_what_there_is_and_counts_what_is_owed(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a", "b", "c"])
    made = bring_in(write(tmp_path / "r.jsonl", {"id": "b", "output": "x"}), partial=True)
    assert (made.n_items, made.missing) == (1, 2)


def test_standard_input_is_read_like_a_file(
    freeze: Make, bring_in: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze(["a"])
    data = b'{"id": "a", "output": "x"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    made = bring_in("-")
    assert made.record.imported is not None
    assert made.record.imported.from_ == "-"
    assert rows_of(made).keys() == {"a"}


def test_the_digest_is_that_of_the_bytes_of_the_file(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    import hashlib

    freeze(["a"])
    path = write(tmp_path / "r.jsonl", {"id": "a", "output": "x"})
    imported = bring_in(path).record.imported
    assert imported is not None
    assert imported.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_e39_odd_ids_and_e5_ids_that_fold_alike_stay_apart(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["A", "a", "sub/x", "é"])
    made = bring_in(
        write(tmp_path / "r.jsonl", *({"id": each, "output": f"<{each}>"} for each in ("A", "a", "sub/x", "é")))
    )
    run = open_run_dir(made.directory)
    assert [run.output(each) for each in ("A", "a", "sub/x", "é")] == ["<A>", "<a>", "<sub/x>", "<é>"]


def test_e65_a_bom_and_crlf_are_taken_with_a_notice(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a"])
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "output": "x"}\r\n')
    assert len(bring_in(path).notices) == 2


def test_csv_reads_numbers_strictly_and_text_as_text(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["1", "2"])
    path = tmp_path / "t.csv"
    path.write_bytes(
        b"\xef\xbb\xbfitem_id,output,score,label,mixed,tokens_in\r\n"
        b'1,"a, ""quoted""\r\nreply",0.5,7x,1,3\r\n2,x,,y,n/a,4\r\n'
    )
    made = bring_in(path)
    rows = rows_of(made)
    assert open_run_dir(made.directory).output("1") == 'a, "quoted"\r\nreply'
    assert rows["1"]["score"] == 0.5
    assert "score" not in rows["2"]
    assert rows["1"]["tokens_in"] == 3
    assert rows["2"]["_meta"] == {"label": "y", "mixed": "n/a"}
    assert any("'mixed'" in notice and ":4:" in notice for notice in made.notices)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,output\na,x,y\n", "t.csv:2: has 3 cells"),
        ("id,output\na,x\na,x\n", "t.csv:3: .*lines 2 and 3"),
        ("id,score\na,1\n", "t.csv:1: the header names"),
        ("id,output,id\na,x,b\n", "t.csv:1: .*two columns"),
        ("id,output,\na,x,b\n", "t.csv:1: .*no name"),
        ("id,output\na,\n", "t.csv:2: .*has no output"),
        ("id,output,latency_ms\na,x,fast\n", "t.csv:2: .*expected a number"),
        ('id,output\na,"x\n', "t.csv:2: is no CSV"),
        ("id,output\na,\udcff\n", "not UTF-8"),
    ],
)
def test_a_bad_table_is_refused_with_file_and_line(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path, text: str, said: str
) -> None:
    freeze(["a"])
    (tmp_path / "t.csv").write_text(text, "utf-8", "surrogateescape")
    with pytest.raises(EvhError, match=said):
        bring_in(tmp_path / "t.csv")
    assert is_untouched(project)


def test_outputs_longer_than_the_reader_of_tables_likes(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    import csv

    freeze(["a"])
    before = csv.field_size_limit()
    (tmp_path / "t.csv").write_text(f"id,output\na,{'x' * 200_000}\n", "utf-8")
    assert len(open_run_dir(bring_in(tmp_path / "t.csv").directory).output("a")) == 200_000
    assert csv.field_size_limit() == before


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(order=st.permutations(range(5)))
def test_rows_in_any_order_give_the_same_record(freeze: Make, bring_in: Make, tmp_path: Path, order: list[int]) -> None:
    freeze(str(each) for each in range(5))
    rows = [{"id": str(each), "output": "x" * each, "m": each / 7, "cost_usd": 0.1 * each} for each in range(5)]
    first = bring_in(write(tmp_path / "one.jsonl", *rows)).record
    other = bring_in(write(tmp_path / "two.jsonl", *(rows[at] for at in order))).record
    assert first.scores == other.scores
    assert (first.n_items, first.fingerprint) == (other.n_items, other.fingerprint)


def test_e24_two_imports_in_one_second_get_two_names(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a"])
    path = write(tmp_path / "r.jsonl", {"id": "a", "output": "x"})
    made = [bring_in(path) for _ in range(3)]
    assert len({each.directory for each in made}) == 3
    assert all(each.directory.name == each.record.run_id for each in made)


def test_a_name_that_is_taken_is_refused(freeze: Make, bring_in: Make, tmp_path: Path) -> None:
    freeze(["a"])
    path = write(tmp_path / "r.jsonl", {"id": "a", "output": "x"})
    bring_in(path, run_id="mine")
    with pytest.raises(EvhError, match="is there already"):
        bring_in(path, run_id="mine")


@pytest.mark.parametrize("name", ["../up", "/abs", ".hidden", "a/b", "", "x\0"])
def test_a_hostile_run_id_is_refused(freeze: Make, bring_in: Make, project: Project, tmp_path: Path, name: str) -> None:
    freeze(["a"])
    with pytest.raises(UsageError):
        bring_in(write(tmp_path / "r.jsonl", {"id": "a", "output": "x"}), run_id=name)
    assert is_untouched(project)


def test_a_source_among_the_runs_is_refused(freeze: Make, bring_in: Make, project: Project, tmp_path: Path) -> None:
    freeze(["a"])
    made = bring_in(write(tmp_path / "r.jsonl", {"id": "a", "output": "x"}))
    for source in (made.directory, made.directory / "predictions.jsonl", project.runs, project.data):
        with pytest.raises(SourceError, match="runs directory"):
            bring_in(source)
    link = tmp_path / "link"
    link.symlink_to(made.directory)
    with pytest.raises(SourceError, match="runs directory"):
        bring_in(link)


def test_a_source_that_changes_meanwhile_makes_nothing(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path
) -> None:
    freeze(["a"])
    path = write(tmp_path / "r.jsonl", {"id": "a", "output": "x"})

    def change(stage: str, rows: int) -> None:
        if stage == "written":
            path.write_text(path.read_text("utf-8") + " ", "utf-8")

    with pytest.raises(EvhError, match="changed while it was imported"):
        bring_in(path, progress=change)
    assert is_untouched(project)


def test_an_interrupted_import_leaves_nothing(freeze: Make, bring_in: Make, project: Project, tmp_path: Path) -> None:
    freeze(["a"])

    def stop(stage: str, rows: int) -> None:
        if stage == "written":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bring_in(write(tmp_path / "r.jsonl", {"id": "a", "output": "x"}), progress=stop)
    assert is_untouched(project)


@pytest.mark.skipif(os.name == "nt", reason="fork")
def test_a_killed_import_leaves_a_hidden_folder_that_the_next_one_removes(
    freeze: Make, bring_in: Make, project: Project, tmp_path: Path
) -> None:
    freeze(["a"])
    path = write(tmp_path / "r.jsonl", {"id": "a", "output": "x"})

    import subprocess
    import sys

    code = (
        "import os, sys\nfrom pathlib import Path\nfrom evh.harness.importing import import_run\n"
        "from evh.harness.project import Project\n"
        "import_run(Project(Path(sys.argv[1])), sys.argv[2], 'qa', 'arm', environ={},"
        " progress=lambda stage, rows: stage == 'written' and os._exit(9))"
    )
    done = subprocess.run([sys.executable, "-c", code, project.root, path], check=False)
    assert done.returncode == 9
    left = [each.name for each in project.runs.iterdir()]
    assert len(left) == 1
    assert left[0].startswith(".")
    made = bring_in(path)
    assert [each.name for each in project.runs.iterdir()] == [made.directory.name]


# --- scoring ---------------------------------------------------------------------------------------------------------

SCORER = """
PRIMARY_METRIC = "right"
METRIC_KINDS = {"right": "quality"}

def score(output, reference, text):
    if reference is None:
        return None
    return {"right": output == reference, "asked": len(text)}
"""


@pytest.fixture
def scorer(project: Project) -> Adapter:
    (project.root / "scorer.py").write_text(SCORER, "utf-8")
    return load_adapter("scorer.py", config_dir=project.root, root=project.root)


def refer(project: Project, **texts: str) -> None:
    folder = project.references / "gold" / "qa"
    folder.mkdir(parents=True)
    for item_id, text in texts.items():
        (folder / f"{item_id}.txt").write_text(text, "utf-8")


def test_an_adapter_scores_against_the_references(
    freeze: Make, bring_in: Make, project: Project, scorer: Adapter, tmp_path: Path
) -> None:
    freeze(["a", "b"])
    refer(project, a="x")
    rows = ({"id": "b", "output": "y", "theirs": 5}, {"id": "a", "output": "x", "theirs": 6, "extra": {"cut": 1}})
    with scorer:
        record = (made := bring_in(write(tmp_path / "r.jsonl", *rows), adapter=scorer)).record
    assert rows_of(made)["a"]["right"] == 1.0
    assert "right" not in rows_of(made)["b"]
    assert record.scores == {"asked": 10.0, "right": 1.0, "cut": 1.0, "output_words": 1.0}
    assert (record.adapter, record.primary_metric, record.reference_tier) == ("scorer.py", "right", "gold")
    assert record.reference_coverage is not None
    assert (record.reference_coverage.items_with_reference, record.reference_coverage.items) == (1, 2)
    assert made.lossy == ["theirs"]


def test_without_references_the_metrics_of_the_source_stand(
    freeze: Make, bring_in: Make, scorer: Adapter, tmp_path: Path
) -> None:
    freeze(["a"])
    with scorer:
        made = bring_in(write(tmp_path / "r.jsonl", {"id": "a", "output": "y", "theirs": 5}), adapter=scorer)
    assert made.record.scores["theirs"] == 5
    assert made.record.reference_tier is None
    assert made.lossy == []


def test_a_fault_of_the_scorer_leaves_nothing(freeze: Make, bring_in: Make, project: Project, tmp_path: Path) -> None:
    freeze(["a"])
    (project.root / "bad.py").write_text("def score(output, reference):\n    return {'m': float('nan')}\n", "utf-8")
    with (
        load_adapter("bad.py", config_dir=project.root, root=project.root) as bad,
        pytest.raises(EvhError, match="'m'"),
    ):
        bring_in(write(tmp_path / "r.jsonl", {"id": "a", "output": "y"}), adapter=bad)
    assert is_untouched(project)


def test_an_unknown_kind_is_refused(freeze: Make, project: Project, tmp_path: Path) -> None:
    freeze(["a"])
    kind: Any = "xlsx"
    with pytest.raises(UsageError, match="run, episodes, jsonl, csv"):
        import_run(project, write(tmp_path / "r", {}), "qa", "arm", environ={}, kind=kind)
