"""Rows read back: whole ones only, split at LF only, and every oddity told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import EvhError, Notice, RecordError
from evh.store import open_run_dir
from evh.store.rows import read_metric_rows, read_predictions, scan_heads

GOOD = b'{"item_id":"a","score":1,"_extra":{"k":2},"_meta":{"provider":"p"}}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "predictions.jsonl"


def all_ways(path: Path) -> tuple[list[str], list[str], list[str]]:
    """The ids that each of the three readers finds; they agree, in what they tell as well."""
    told: list[list[Notice]] = [[], [], []]
    found = (
        [stored.row.item_id for stored in read_predictions(path, told[0])],
        [head.item_id for head, _ in scan_heads(path, told[1])],
        [row.item_id for row in read_metric_rows(path, told[2])],
    )
    assert found[0] == found[1] == found[2]
    torn = [[notice.message for notice in each if notice.kind == "torn"] for each in told]
    assert torn[0] == torn[1] == torn[2]
    return (found[0], torn[0], [notice.kind for notice in told[2]])


def refused(path: Path) -> list[EvhError]:
    errors = []
    for read in (read_predictions, scan_heads, read_metric_rows):
        with pytest.raises(EvhError) as told:
            for _ in read(path):
                pass
        errors.append(told.value)
    return errors


def test_rows_are_read_with_their_places(file: Path) -> None:
    file.write_bytes(GOOD + b'\n{"item_id":"b","_extra":{}}\n')
    stored = list(read_predictions(file))
    assert [(each.line, each.offset) for each in stored] == [(1, 0), (2, len(GOOD) + 1)]
    first, second = read_metric_rows(file)
    assert (first.metrics, first.provider, first.failed) == ({"k": 2, "score": 1}, "p", False)
    assert second.metrics == {}


@pytest.mark.parametrize("cut", range(1, len(GOOD)))
def test_a_torn_last_line_is_left_out_and_told_wherever_it_is_cut(file: Path, cut: int) -> None:
    file.write_bytes(GOOD + b"\n" + GOOD[:cut].replace(b'"a"', b'"b"'))
    ids, torn, _ = all_ways(file)
    assert ids == ["a"]
    assert torn == [f"{file}:2: a torn last line of {cut} bytes"]


def test_e34_a_whole_last_line_without_its_end_is_a_row(file: Path) -> None:
    file.write_bytes(GOOD)
    assert all_ways(file)[:2] == (["a"], [])


def test_a_tail_of_zeros_is_torn(file: Path) -> None:
    file.write_bytes(GOOD + b"\n" + b"\0" * 400)
    assert all_ways(file)[0] == ["a"]
    assert len(all_ways(file)[1]) == 1


def test_a_bad_line_in_front_of_others_is_refused_with_its_number(file: Path) -> None:
    for bad in (b'{"item_id":"b"', b"\0\0\0", b'{"item_id":3}', b'{"score":1}', b'{"item_id":""}', b"\xff{}"):
        file.write_bytes(GOOD + b"\n" + bad + b"\n" + GOOD.replace(b'"a"', b'"c"') + b"\n")
        for error in refused(file):
            assert (error.source, error.line) == (str(file), 2), bad


@pytest.mark.parametrize("bad", [b"[]", b"3", b"null", b'"text"'])
def test_e66_a_row_that_is_no_object_is_refused_and_blank_lines_are_not_rows(file: Path, bad: bytes) -> None:
    file.write_bytes(b"\n" + GOOD + b"\n  \n\n" + GOOD.replace(b'"a"', b'"b"') + b"\n")
    assert all_ways(file)[0] == ["a", "b"]
    file.write_bytes(b"\n" + GOOD + b"\n" + bad + b"\n")
    assert {error.line for error in refused(file)} == {3}


@pytest.mark.parametrize("same", [True, False])
def test_e6_a_second_row_of_an_item_is_refused_with_both_lines(file: Path, same: bool) -> None:
    file.write_bytes(GOOD + b'\n{"item_id":"b"}\n' + (GOOD if same else b'{"item_id":"a"}') + b"\n")
    with pytest.raises(RecordError, match=r"'a' has two rows, on lines 1 and 3") as told:
        list(read_metric_rows(file))
    assert (told.value.source, told.value.line) == (str(file), 3)


def test_e7_e8_rows_of_before_0_4_0_are_read_and_known_by_their_heads(file: Path) -> None:
    file.write_bytes(GOOD + b'\n{"item_id":"b","score":0}\n{"item_id":"c","_extra":{}}\n')
    assert [head.extra is None for head, _ in scan_heads(file)] == [False, True, False]
    assert len(list(read_predictions(file))) == 3


def test_e10_a_nan_of_an_old_row_is_told_and_not_averaged(file: Path) -> None:
    file.write_bytes(b'{"item_id":"a","score":NaN,"k":1}\n{"item_id":"b","score":1,"k":-Infinity}\n')
    (tmp := file.parent / "run.json").write_text("{}")
    assert tmp.exists()
    run = open_run_dir(file.parent)
    counted = run.count()
    assert counted.scores() == {"k": 1.0, "score": 1.0}
    assert counted.counts == {"k": 1, "score": 1}
    told = [notice.message for notice in run.notices]
    assert [f"{file}:1:" in message for message in told] == [True, False]
    assert f"{file}:2:" in told[1]


def test_e64_a_member_that_stands_twice_is_told(file: Path) -> None:
    file.write_bytes(b'{"item_id":"a","item_id":"b"}\n')
    notices = [notice.kind for stored in read_predictions(file) for notice in stored.notices]
    assert notices == [] or notices == ["duplicate-key"]


def test_e65_a_byte_order_mark_and_crlf_are_tolerated(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + GOOD + b"\r\n" + GOOD.replace(b'"a"', b'"b"') + b"\r\n")
    assert all_ways(file)[0] == ["a", "b"]
    kinds = {notice.kind for stored in read_predictions(file) for notice in stored.notices}
    assert kinds == {"bom", "crlf"}


def test_e39_rows_split_at_line_feeds_only(file: Path) -> None:
    odd = "a\u2028b\u2029c\u0085d"
    file.write_text(f'{{"item_id":"{odd}","score":1}}\n{{"item_id":"b\\u2028","score":1}}\n', "utf-8")
    assert all_ways(file)[0] == [odd, "b\u2028"]


def test_a_failure_that_was_accepted_is_counted_as_one(file: Path) -> None:
    file.write_bytes(GOOD + b'\n{"item_id":"b","_extra":{},"_error":"E: no"}\n')
    assert [row.failed for row in read_metric_rows(file)] == [False, True]
    assert [head.error is not None for head, _ in scan_heads(file)] == [False, True]
