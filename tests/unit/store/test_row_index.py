"""`RowIndex`: single rows of a file, found without reading the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import RecordError, SourceError
from evh.store.row_index import RowIndex


def test_a_row_is_read_by_its_item(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(b'{"item_id":"a","score":1}\n\n{"item_id":"b","score":0.5}\n')
    index = RowIndex(path)
    assert index.items == ["a", "b"] and "a" in index and "c" not in index
    assert index.read("b").plain() == {"item_id": "b", "score": 0.5}
    assert (index.line("b"), index.offset("b")) == (3, 27)


def test_only_what_was_appended_is_read_again_and_only_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    index = RowIndex(path)
    assert len(index) == 0
    path.write_bytes(b'{"item_id":"a"}\n{"item_id":')
    assert index.refresh() == 1
    with path.open("ab") as file:
        file.write(b'"b"}\n')
    assert index.refresh() == 1 and index.refresh() == 0
    assert index.read("b").item_id == "b"


def test_a_second_row_of_an_item_is_refused_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(b'{"item_id":"a"}\n{"item_id":"a"}\n')
    with pytest.raises(RecordError, match="lines 1 and 2"):
        RowIndex(path)


def test_an_item_without_a_row_is_told(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(b'{"item_id":"a"}\n')
    with pytest.raises(SourceError, match="no row of the item 'b'"):
        RowIndex(path).read("b")
