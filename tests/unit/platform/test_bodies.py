"""Bodies of the wire: what the examples say is read, written back as it was, and built by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evh
from evh.errors import NotWritable, SchemaError
from evh.protocol import models
from evh.protocol.tables import FILES

EXAMPLES = Path(__file__).parents[3] / "schema" / "v1" / "examples"
BODIES = sorted(name for name, file in FILES.items() if file.startswith("platform_"))


def examples(verdict: str) -> list[Path]:
    found = [path for name in BODIES for path in sorted((EXAMPLES / verdict / name).glob("*.json"))]
    return [path for path in found if not path.name.endswith(".expect.json")]


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", examples("valid"), ids=label)
def test_a_body_is_written_back_as_it_was_read(path: Path) -> None:
    """Nulls as well: released clients demand that the members of a summary are there."""
    kind: Any = getattr(models, path.parent.name)
    document = json.loads(path.read_bytes())
    for read in (evh.decode, evh.decode_strict):
        assert json.loads(evh.encode(read(path.read_bytes(), kind))) == document
    assert json.loads(evh.encode(kind(**document))) == document


@pytest.mark.parametrize("path", examples("invalid"), ids=label)
def test_a_body_that_breaks_its_schema_is_refused_and_not_written(path: Path) -> None:
    kind: Any = getattr(models, path.parent.name)
    with pytest.raises(SchemaError):
        evh.decode_strict(path.read_bytes(), kind)
    document = json.loads(path.read_bytes())
    if isinstance(kind, type) and issubclass(kind, models.EvaluationCreate.__base__):  # type: ignore[arg-type]
        with pytest.raises(NotWritable):
            evh.encode(kind(**document))


def test_a_page_with_members_of_a_later_release_keeps_its_null() -> None:
    data = b'{"items":[],"next_cursor":null,"total":3}'
    page = evh.decode(data, models.TracePage)
    assert page.next_cursor is None
    assert json.loads(evh.encode(page)) == {"items": [], "next_cursor": None, "total": 3}


def test_nested_bodies_are_read_by_name() -> None:
    body = evh.decode(b'{"name":"run","environments":[{"id":"e","zzz":1}],"later":[]}', models.EvaluationCreate)
    assert (body.environments[0].id, body.environments[0].zzz, body.later, body.suite_id) == ("e", 1, [], None)
    found = evh.decode((EXAMPLES / "valid" / "SearchPage" / "first.json").read_bytes(), models.SearchPage)
    assert (found.items[0].field, found.coverage.examined_traces) == ("content", 9)  # type: ignore[union-attr]
