"""`evh import-run`: the command from arguments to exit code, what it prints, and that it needs no extra."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import REAL, Evh

from evh.harness.dataset import create_dataset
from evh.harness.project import Project

ARGUMENTS = ("--dataset-id", "qa", "--config-id", "arm")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the items `a` and `b`, as the current folder."""
    monkeypatch.delenv("EVAL_RUNS_DIR", raising=False)
    monkeypatch.delenv("EVAL_BUILD_REF", raising=False)
    folder = tmp_path / "items"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(name, "utf-8")
    create_dataset(Project(tmp_path), folder, "qa")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(root: Path, *items: str) -> Path:
    path = root / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": each, "output": "x", "score": 0.5}) + "\n" for each in items), "utf-8")
    return path


def test_an_import_says_what_it_made(evh: Evh, root: Path) -> None:
    ran = evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS, "--run-id", "r1")
    assert ran.code == 0
    assert "data/runs/r1: 2 items imported (jsonl)" in ran.out
    assert ["score", "0.5"] in [line.split() for line in ran.out.splitlines()]
    assert (root / "data" / "runs" / "r1" / "metrics.json").is_file()


def test_json_says_the_same_as_data(evh: Evh, root: Path) -> None:
    ran = evh("import-run", "--from", rows(root, "a"), *ARGUMENTS, "--partial", "--json", "--build-ref", "v1")
    assert ran.code == 0
    about = ran.json
    assert about["ok"] is True
    assert (about["kind"], about["n_items"], about["missing"], about["lossy"]) == ("jsonl", 1, 1, [])
    record = json.loads((root / about["path"] / "metrics.json").read_bytes())
    assert record["scores"] == about["scores"]
    assert record["build"]["ref"] == "v1"


def test_e11_b013_the_summary_says_over_how_many_items_a_metric_is(evh: Evh, root: Path) -> None:
    folder = root / "more"
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.txt").write_text(name, "utf-8")
    create_dataset(Project(root), folder, "more")
    path = root / "rows.jsonl"
    path.write_text(
        '{"id": "a", "output": "x", "score": 1}\n{"id": "b", "output": "x", "score": 0.5}\n'
        '{"id": "c", "output": "x"}\n{"id": "d", "error": "E: no"}\n',
        "utf-8",
    )
    arguments = ("import-run", "--from", path, "--dataset-id", "more", "--config-id", "arm")
    ran = evh(*arguments)
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "score 0.75 over 2 of 4 items" in lines
    assert "1 item failed where it was measured" in lines
    assert "1 item is not scored" in lines
    about = evh(*arguments, "--json").json
    assert (about["counts"]["score"], about["n_items"], about["n_errors"], about["unscored"]) == (2, 4, 1, 1)


def test_the_config_of_the_arm_is_used_and_one_of_another_dataset_refused(evh: Evh, root: Path) -> None:
    configs = root / "data" / "configs"
    configs.mkdir()
    (configs / "scorer.py").write_text("def score(output, reference):\n    return {'n': len(output)}\n", "utf-8")
    config = configs / "arm.yaml"
    config.write_text("config_id: arm\ndataset_id: qa\nadapter: scorer.py\ngoal: g1\n", "utf-8")
    ran = evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS, "--json")
    record = json.loads((root / ran.json["path"] / "metrics.json").read_bytes())
    assert (record["adapter"], record["goal"], record["scores"]["n"]) == ("data/configs/scorer.py", "g1", 1.0)
    config.write_text("config_id: arm\ndataset_id: other\n", "utf-8")
    refused = evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS)
    assert refused.code == 1
    assert "data/configs/arm.yaml: the config 'arm' is of the dataset 'other', not 'qa'" in refused.err
    config.write_text("config_id: arm\ndataset_id: qa\nparms: {}\n", "utf-8")
    broken = evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS)
    assert broken.code == 1
    assert "arm.yaml:3: 'parms' is no member of a config" in broken.err


def test_b035_runs_are_not_kept_in_a_folder_with_a_files_name(
    evh: Evh, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_RUNS_DIR", "results.json")
    ran = evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS)
    assert ran.code == 2
    assert "EVAL_RUNS_DIR is 'results.json'" in ran.err
    assert not (root / "results.json").exists()


def test_standard_input_is_a_dash(evh: Evh, root: Path) -> None:
    data = b'{"id": "a", "output": "x"}\n{"id": "b", "output": "y"}\n'
    ran = evh("import-run", "--from", "-", *ARGUMENTS, "--json", stdin=data)
    assert ran.code == 0
    record = json.loads((root / ran.json["path"] / "metrics.json").read_bytes())
    assert record["imported"]["from"] == "-"


def test_what_is_refused_is_exit_1_with_file_and_line(evh: Evh, root: Path) -> None:
    ran = evh("import-run", "--from", rows(root, "a", "b", "a"), *ARGUMENTS)
    assert ran.code == 1
    assert "rows.jsonl:3" in ran.err
    assert "lines 1 and 3" in ran.err
    assert not (root / "data" / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "rows.jsonl", "--dataset-id", "qa"), "--config-id is missing"),
        (ARGUMENTS, "--from is missing"),
        (("--from", "rows.jsonl", *ARGUMENTS, "--kind", "jsnl"), "did you mean 'jsonl'"),
        (("--from", "rows.jsonl", *ARGUMENTS, "--root", "nowhere"), "is not a folder"),
        (("--from", "rows.jsonl", "--from", "rows.jsonl", *ARGUMENTS), "given twice"),
    ],
)
def test_wrong_usage_is_exit_2(evh: Evh, root: Path, arguments: tuple[str, ...], said: str) -> None:
    rows(root, "a", "b")
    ran = evh("import-run", *arguments)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "rows.jsonl", "--adapter", "gone.py"), "no adapter file"),
        (("--from", "rows.jsonl", "--adapter", "empty.py"), "this one has neither"),
        (("--from", "data/runs/r1"), "lies in the runs directory data/runs"),
        (("--from", "data"), "holds the runs directory"),
    ],
)
def test_a_fault_of_a_file_is_exit_1(evh: Evh, root: Path, arguments: tuple[str, ...], said: str) -> None:
    (root / "empty.py").write_text("x = 1\n", "utf-8")
    assert evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS, "--run-id", "r1").code == 0
    ran = evh("import-run", *arguments, *ARGUMENTS)
    assert ran.code == 1
    assert said in ran.err


def test_a_source_that_is_not_there(evh: Evh, root: Path) -> None:
    ran = evh("import-run", "--from", "gone.jsonl", *ARGUMENTS)
    assert ran.code == 1
    assert "no such file or folder" in ran.err


def test_an_adapter_scores_what_is_imported(evh: Evh, root: Path) -> None:
    (root / "scorer.py").write_text("def score(output, reference):\n    return {'n': len(output)}\n", "utf-8")
    ran = evh("import-run", "--from", rows(root, "a", "b"), *ARGUMENTS, "--adapter", "scorer.py")
    assert ran.code == 0
    assert "did not fit: score" in ran.out


def test_episodes_are_told_as_such(evh: Evh, root: Path) -> None:
    folder = root / "tasks"
    folder.mkdir()
    for number in range(11):
        (folder / f"{number}.txt").write_text("x", "utf-8")
    create_dataset(Project(root), folder, "tasks")
    ran = evh(
        "import-run", "--from", REAL / "v0.3.0-eval-trace-run", "--dataset-id", "tasks", "--config-id", "m", "--partial"
    )
    assert ran.code == 0
    assert "out of 11 episodes imported (episodes)" in ran.out
    assert "did not fit: config.toml" in ran.out


def test_neither_httpx_nor_yaml_is_needed(root: Path) -> None:
    path = rows(root, "a", "b")
    code = (
        "import sys\nsys.modules['httpx'] = sys.modules['yaml'] = None\nfrom evh.cli import import_run as command\n"
        "sys.exit(command.run(command.parser().parse(sys.argv[1:])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--from", path, *ARGUMENTS], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
