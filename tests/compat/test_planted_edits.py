"""200 edits of the real schemas: `compat` classes each as trying it out does (`oracle.py`), and names the place."""

from __future__ import annotations

from collections import Counter

import pytest

from codegen.compat import compare
from codegen.compat.findings import RULE
from codegen.compat.versions import Version
from tests.compat.edits import KINDS, planted, schemas
from tests.compat.oracle import breaks
from tests.conftest import PROFILE

COUNT = 200
STRIDE = 1 if PROFILE != "dev" else 8
"""`make test` takes every eighth, `make test-long` all of them."""


@pytest.mark.parametrize("number", range(0, COUNT, STRIDE))
def test_an_edit_is_classed_as_trying_it_out_does(number: int) -> None:
    edit = planted(number)
    old = schemas()
    found = compare(Version("old", old), Version("new", edit.files))
    classed = frozenset(who for each in found for who in each.breaks if who != RULE)
    said = "\n".join(f"{each.place}: {each.what} ({each.kind})" for each in found)
    assert classed == breaks(without_retired(old), without_retired(edit.files)), f"{edit.kind} in {edit.place}\n{said}"
    assert found, "every edit is a difference"


def without_retired(files: dict[str, object]) -> dict[str, object]:
    return {name: document for name, document in files.items() if name != "retired.json"}


def test_the_edits_are_of_every_kind_and_every_class() -> None:
    kinds = Counter(planted(number).kind for number in range(COUNT))
    assert len(kinds) >= len(KINDS) - 2 and min(kinds.values()) >= 3


def test_the_same_schemas_differ_in_nothing() -> None:
    assert compare(Version("old", schemas()), Version("new", schemas())) == []
