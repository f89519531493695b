"""What the tests of the upgrade share: the strict schema's verdict, the corpus, the fixtures."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from evh.protocol.upgrade import Step, upgrade_document
from tests.support.leaves import leaves_accounted

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
BASE = "https://schema.invalid/"


@pytest.fixture(scope="session")
def violations() -> Callable[[Any], list[str]]:
    """Every break of the strict episode schema, as text."""
    documents = {path.name: json.loads(path.read_text("utf-8")) for path in (ROOT / "schema" / "v1").glob("*.json")}
    registry = jsonschema_rs.Registry([(BASE + name, {**doc, "$id": BASE + name}) for name, doc in documents.items()])
    validators = {
        name: jsonschema_rs.Draft202012Validator({"$ref": f"{BASE}{name}.json"}, registry=registry)
        for name in ("episode", "trace")
    }

    def check(document: Any) -> list[str]:
        validator = validators["episode" if "traces" in document or "agent" not in document else "trace"]
        return [f"{list(error.instance_path)}: {error.message[:200]}" for error in validator.iter_errors(document)]

    return check


def upgraded(source: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """The upgrade of a row that itself stays as it is, with every leaf accounted for and nothing left to do."""
    result, steps = upgrade_document(copy.deepcopy(source))
    leaves_accounted(source, result, steps)
    again, more = upgrade_document(copy.deepcopy(result))
    assert more == []
    assert json.dumps(again) == json.dumps(result)
    return result, steps


def rows(path: Path) -> list[dict[str, Any]]:
    """The whole JSON rows of a file; a torn line is none."""
    found = []
    for line in path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
