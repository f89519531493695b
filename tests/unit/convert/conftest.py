"""What the tests of the conversion share: rows with every member, and a round of all that every conversion promises."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from evh.protocol.convert import convert_document, restore_document
from evh.protocol.upgrade import Step
from tests.support.leaves import leaves_accounted
from tests.unit.convert.converted_rows import made

Doc = dict[str, Any]
Convert = Callable[..., tuple[Doc, list[Step]]]


@pytest.fixture
def newer() -> Doc:
    """A row with every member that 0.4.0 has."""
    return made(newer=True)


@pytest.fixture
def older() -> Doc:
    """A row with every member that 0.3.1 has."""
    return made(newer=False)


@pytest.fixture
def convert() -> Convert:
    """Convert a row, holding the conversion to what it promises for every row."""

    def checked(source: Doc, target: str) -> tuple[Doc, list[Step]]:
        before = copy.deepcopy(source)
        result, steps = convert_document(source, target)
        assert repr(source) == repr(before), "the argument was changed"
        leaves_accounted(source, result, steps)
        assert convert_document(result, target)[0] == result, "converting again changed something"
        back, restoring = restore_document(result)
        leaves_accounted(result, back, restoring)
        if not any(step.rule in ("non-finite", "counts") for step in steps):
            assert back == source, "put back, it is not the source"
        return result, steps

    return checked
