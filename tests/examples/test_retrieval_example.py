"""The retrieval example: its loader, its arms, and a small evaluation with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from example_modules import EXAMPLES, example_modules

import evh
from evh.harness.dataset import create_dataset
from evh.harness.launch import measure
from evh.harness.project import Project
from evh.harness.references import create_references
from evh.harness.reparse import reparse_runs
from evh.harness.reply_parser import load_parser

prepare, rankers = example_modules("retrieval", "prepare", "rankers")
CORPUS = {"a": "salt in bread", "b": "bread, bread and more bread", "c": "tea"}


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "retrieval" / "beir", tmp_path / "beir"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    shutil.copytree(EXAMPLES / "retrieval", root, ignore=shutil.ignore_patterns("__pycache__", "prepared"))
    prepare.prepare(root / "beir", root / "prepared")
    found = Project(root)
    frozen = create_dataset(found, root / "prepared" / "queries", "kitchen").dataset
    create_references(found, frozen, "gold", root / "prepared" / "references")
    return found


def test_the_same_folder_gives_the_same_bytes(beir: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert prepare.prepare(beir, tmp_path / name) == 12
    assert everything(tmp_path / "one") == everything(tmp_path / "two")
    made = json.loads((tmp_path / "one" / "references" / "q03.txt").read_text())
    assert made == [{"doc_id": id_, "score": grade} for id_, grade in [("gluten", 2), ("yeast", 2), ("soda", 1)]]


def test_only_judged_queries_and_relevant_documents_are_taken(beir: Path, tmp_path: Path) -> None:
    with (beir / "queries.jsonl").open("a") as file:
        file.write('{"_id": "train-1", "text": "of another split"}\n{"_id": "q99", "text": "judged, nothing found"}\n')
    with (beir / "qrels" / "test.tsv").open("a") as file:
        file.write("q99\tmint\t0\nq12\tmint\t0\n")
    assert prepare.prepare(beir, tmp_path / "out") == 12
    assert "mint" not in (tmp_path / "out" / "references" / "q12.txt").read_text()


def test_a_folder_is_replaced_only_when_asked(beir: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    prepare.prepare(beir, out)
    (out / "mine.txt").write_text("kept")
    with pytest.raises(ValueError, match="--force"):
        prepare.prepare(beir, out)
    assert (out / "mine.txt").exists()
    prepare.prepare(beir, out, force=True)
    assert not (out / "mine.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beir", "out"]


@pytest.mark.parametrize(
    ("file", "spoil", "said"),
    [
        ("corpus.jsonl", lambda text: text + '{"_id": "x"\n', "corpus.jsonl:43: is not JSON"),
        ("corpus.jsonl", lambda text: text + '{"_id": "mint", "text": ""}\n', "corpus.jsonl:43: the id mint .* twice"),
        ("corpus.jsonl", lambda text: text.replace('"mint"', '"mi"'), None),
        ("corpus.jsonl", lambda text: text.replace('"stale"', '"fresh"'), "stale, judged for q04"),
        ("queries.jsonl", lambda text: text.replace('"q12"', '"../q12"'), r"queries.jsonl:12: the id '../q12'"),
        ("queries.jsonl", lambda text: text.replace('"q12"', '"q13"'), "judged query q12 is not in"),
        ("qrels/test.tsv", lambda text: text.replace("query-id", "query"), "test.tsv:1: expected the header"),
        ("qrels/test.tsv", lambda text: text + "q12\tmint\n", "expected a query, a document"),
        ("qrels/test.tsv", lambda text: text + "q12\tpineapple\t1\n", "pineapple is judged twice"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(
    beir: Path, tmp_path: Path, file: str, spoil: Callable[[str], str], said: str | None
) -> None:
    path = beir / file
    path.write_text(spoil(path.read_text("utf-8")), "utf-8")
    if said is None:
        assert prepare.prepare(beir, tmp_path / "out") == 12
        return
    with pytest.raises(ValueError, match=said):
        prepare.prepare(beir, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_did_and_what_is_missing(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", str(EXAMPLES / "retrieval" / "prepare.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = run("--out", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (0, "out: 12 queries with references, and the corpus\n")
    failed = run("--beir", str(tmp_path / "nowhere"), "--out", str(tmp_path / "other"))
    assert failed.returncode == 1 and "nowhere" in failed.stderr and "Traceback" not in failed.stderr


def test_bm25_weighs_words_and_overlap_does_not() -> None:
    bm25 = rankers.bm25(CORPUS, k1=1.5, b=0.75)
    overlap = rankers.overlap(CORPUS)
    assert bm25("salt or bread")[0] == "a"
    assert bm25("bread") == ["b", "a"] and overlap("bread") == ["a", "b"]


def test_equal_scores_stand_in_the_order_of_the_ids_and_strangers_are_left_out() -> None:
    ranker = rankers.bm25({"z": "tea", "a": "tea", "m": "salt"}, k1=1.5, b=0.75)
    assert ranker("tea") == ["a", "z"]
    assert ranker("quinoa") == [] and ranker("") == []
    assert rankers.overlap(CORPUS)("quinoa") == []


def test_two_arms_are_measured_and_told_apart(project: Project) -> None:
    for config in ("bm25", "overlap"):
        (finished,) = measure(project, project.configs / f"{config}.yaml", environ={})
        assert finished.record is not None and finished.record.primary_metric == "ndcg_10"
        assert finished.record.warmup_ms is not None
        assert finished.record.scores["unknown_ids"] == finished.record.scores["duplicate_ids"] == 0
    bm25, overlap = (evh.read_arm(project.runs, "kitchen", config).value("ndcg_10") for config in ("bm25", "overlap"))
    assert bm25 is not None and overlap is not None
    assert bm25.n == 12 and bm25.mean > overlap.mean > 0.5


def test_the_record_names_the_corpus_the_library_and_the_scorer(project: Project) -> None:
    (finished,) = measure(project, project.configs / "bm25.yaml", environ={}, limit=1)
    assert finished.record is not None and finished.record.fingerprint is not None
    said = evh.encode(finished.record).decode()
    assert '"bm25s 0.' in said and '"documents":42' in said and "prepared" not in said


def test_an_arm_without_its_corpus_or_with_an_odd_param_begins_nothing(project: Project) -> None:
    config = project.configs / "bm25.yaml"
    config.write_text(config.read_text().replace("k1: 1.5", "k2: 1.5"))
    with pytest.raises(evh.errors.EvhError, match="bm25 takes the params"):
        measure(project, config, environ={})
    shutil.rmtree(project.root / "prepared")
    with pytest.raises(evh.errors.EvhError, match=r"prepare\.py"):
        measure(project, project.configs / "overlap.yaml", environ={})
    assert not project.runs.exists()


def test_a_parsers_bug_is_repaired_from_the_stored_replies(project: Project) -> None:
    (measured,) = measure(project, project.configs / "rerank.yaml", environ={})
    measure(project, project.configs / "bm25.yaml", environ={})
    assert measured.record is not None
    before = everything(project.runs)
    done = reparse_runs(project, load_parser("reparsing.py", root=project.root), dataset_id="kitchen")
    assert everything(project.runs) == before
    assert [(path.name.partition("_")[0], "raw replies" in why) for path, why in done.skipped] == [("bm25", True)]
    (again,) = done.runs
    record = again.record
    assert again.changed >= 4
    assert record.scores["ndcg_10"] > measured.record.scores["ndcg_10"] + 0.05
    assert record.scores["llm_named_unknown"] == 1 / 12 and measured.record.scores["llm_named_unknown"] == 0
    assert record.scores["llm_parsed"] == 11 / 12, "prose states no order"
    assert record.derived is not None and record.derived.kind == "reparse"
    assert record.derived.with_.parser == "reparsing.py" and record.reference_tier == "gold"
    for stored in evh.open_run_dir(again.directory).rows():
        row = stored.value.plain()
        assert row["_extra"] == {name: row[name] for name in ("llm_parsed", "llm_named_unknown")}
        assert evh.open_run_dir(again.directory).output(row["item_id"]).split()
