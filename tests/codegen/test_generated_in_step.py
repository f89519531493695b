"""`python -m codegen --check` passes on the tree as it is, and shows the difference when a generated file is not what
the schemas make."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from codegen import __main__ as codegen
from codegen.structs import GenerationError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    """Everything the schemas make, made once."""
    return codegen.generate(codegen.Contract(codegen.SCHEMAS))


@pytest.fixture
def tree(generated: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree that holds what was generated, in place of the repository."""
    monkeypatch.setattr(codegen, "REPOSITORY", tmp_path)
    assert codegen.write(generated) == 0
    return tmp_path


def test_the_tree_is_in_step_with_the_schemas(generated: dict[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert codegen.compare(generated) == 0, capsys.readouterr().err


def test_writing_again_changes_nothing(
    generated: dict[Path, str], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert codegen.write(generated) == 0
    assert codegen.compare(generated) == 0
    assert capsys.readouterr() == ("", "")


def test_an_edited_file_fails_with_its_difference(
    generated: dict[Path, str], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("src/evh/protocol/models/goal.py")
    text = (tree / path).read_text("utf-8")
    (tree / path).write_text(text.replace("forbid_unknown_fields=True", "forbid_unknown_fields=False", 1), "utf-8")
    assert codegen.compare(generated) == 1
    said = capsys.readouterr().err
    assert f"--- {path} (tree)" in said and f"+++ {path} (generated)" in said
    assert "forbid_unknown_fields=False" in said and "run `make generate`" in said


def test_a_missing_and_a_left_over_file_fail(
    generated: dict[Path, str], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "src/evh/protocol/models/goal.py").rename(tree / "src/evh/protocol/models/goals.py")
    assert codegen.compare(generated) == 1
    said = capsys.readouterr().err
    assert "models/goal.py" in said and "models/goals.py" in said
    assert codegen.write(generated) == 0
    assert not (tree / "src/evh/protocol/models/goals.py").exists()
    assert codegen.compare(generated) == 0


def test_generated_code_names_its_schema_and_its_digest(generated: dict[Path, str]) -> None:
    for path, text in generated.items():
        if path.suffix == ".py":
            assert text.startswith("# Generated from schema/v1 by `make generate` ("), path
            assert "sha256 " in text.splitlines()[0], path


def test_schemas_outside_the_profile_generate_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "v1"
    shutil.copytree(codegen.SCHEMAS, folder, ignore=shutil.ignore_patterns("examples"))
    goal = json.loads((folder / "goal.json").read_text("utf-8"))
    del goal["additionalProperties"]
    (folder / "goal.json").write_text(json.dumps(goal), "utf-8")
    monkeypatch.setattr(codegen, "SCHEMAS", folder)
    monkeypatch.setattr(codegen, "REPOSITORY", tmp_path)
    assert codegen.main([]) == 1
    assert "goal.json#: additionalProperties is written out" in capsys.readouterr().err
    assert not (tmp_path / "src").exists()


def test_a_warning_of_the_tool_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codegen import structs

    monkeypatch.setattr(structs, "FLAGS", [*structs.FLAGS, "--no-such-flag"])
    with pytest.raises(GenerationError, match="datamodel-code-generator"):
        structs.generate_structs(codegen.Contract(codegen.SCHEMAS), tmp_path)
