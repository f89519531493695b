"""Real rows: those of 0.4.0 and 0.3.1 pass their own release untouched, and every row finds its way there and back."""

from __future__ import annotations

import json

import msgspec
import pytest

from evh.errors import DecodeError
from evh.protocol.convert import TARGETS, convert_document, restore_document
from evh.protocol.jsontext import parse
from evh.protocol.upgrade import upgrade_document
from tests.support.leaves import leaves_accounted
from tests.unit.convert.converted_rows import ROWS, counts_of, lines, without_counts

NEW_FOLDERS = [path.name for path in sorted(ROWS.glob("v0.4.0*"))]


@pytest.mark.parametrize("folder", NEW_FOLDERS)
def test_a_row_of_0_4_0_is_byte_equal_for_0_4_0(folder) -> None:
    for line in lines(folder):
        row = json.loads(line)
        result, steps = convert_document(row, "verifiers-0.4", counts_of(row))
        # The one difference of the two encoders: 1e308 against 1e+308.
        assert msgspec.json.encode(result) == line.replace(b"e+", b"e")
        assert steps == []


def test_a_row_of_0_3_1_is_byte_equal_for_0_3_1() -> None:
    for line in lines("v0.3.1-eval"):
        assert msgspec.json.encode(convert_document(json.loads(line), "verifiers-0.3.1")[0]) == line


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("folder", [path.name for path in sorted(ROWS.iterdir()) if path.is_dir()])
def test_every_real_row_goes_there_and_back(folder, target) -> None:
    for line in lines(folder):
        try:
            row = upgrade_document(parse(line)[0])[0]
        except DecodeError:
            continue  # a torn line is not a row
        result, steps = convert_document(row, target)
        leaves_accounted(row, result, steps)
        assert convert_document(result, target)[0] == result
        if not any(step.rule == "non-finite" for step in steps):
            assert without_counts(restore_document(result)[0]) == without_counts(row)
