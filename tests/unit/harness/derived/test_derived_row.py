"""Rows read and written by the short way say what the codec says."""

from __future__ import annotations

from typing import Any

import pytest

from evh.errors import EvhError
from evh.harness.derived_row import read_row, row_line
from evh.protocol.codec import decode, encode
from evh.protocol.models import PredictionRow

FULL = (
    b'{"item_id":"a","m":1,"f":-0.0,"latency_ms":0.5,"cost_usd":1e-7,"tokens_in":3,"output_words":2,"_extra":{"ok":1.0},'
    b'"_meta":{"episode_id":"e","usage":{"cost":null,"deep":[1,[2.5,{}]]}},"_output_sha256":"' + b"0f" * 32 + b'"}'
)
TAKEN = [
    FULL,
    b'{"item_id":"a"}',
    b'{"item_id":"a","_extra":null}',
    b'{"item_id":"a","m":NaN,"_extra":{},"_meta":{"n":NaN}}',
    b'{"item_id":"a","m":1e400,"_extra":{}}',
    b'{"item_id":"a","m":1,"m":2,"_extra":{}}',
    b'{"item_id":"a","m":1152921504606846976,"_extra":{"n":36893488147419103232}}',
    b'{"item_id":"a","_extra":{},"_error":"E: \xe2\x80\xa8 \xc2\x85 \\u2029 \xc3\xa9 \\u0001"}',
    b'\xef\xbb\xbf{"item_id":"a","_extra":{}}',
]
REFUSED = [
    b"{",
    b"[]",
    b'{"_extra":{}}',
    b'{"item_id":"","_extra":{}}',
    b'{"item_id":1,"_extra":{}}',
    b'{"item_id":"a","m":true,"_extra":{}}',
    b'{"item_id":"a","m":null,"_extra":{}}',
    b'{"item_id":"a","_extra":{"x":"1"}}',
    b'{"item_id":"a","_extra":{},"latency_ms":-1}',
    b'{"item_id":"a","_extra":{},"_meta":[]}',
    b'{"item_id":"a","_extra":{},"_output_sha256":"' + b"0" * 64 + b'\\n"}',
    b'{"item_id":"a","_extra":{},"_other":{}}',
]


def verdict(read: Any, line: bytes) -> Any:
    try:
        return read(line)
    except EvhError as error:
        return type(error), str(error)


@pytest.mark.parametrize("line", [*TAKEN, *REFUSED])
def test_a_row_is_read_as_decode_reads_it(line: bytes) -> None:
    known = verdict(lambda data: decode(data, PredictionRow).plain(), line)
    assert verdict(read_row, line) == known
    assert isinstance(known, dict) == (line in TAKEN)


@pytest.mark.parametrize("line", TAKEN)
def test_a_row_is_written_as_encode_writes_it(line: bytes) -> None:
    row = read_row(line)
    assert row_line(row) == encode(PredictionRow.over(dict(row))) + b"\n"


def test_what_no_json_carries_is_refused_as_encode_refuses_it() -> None:
    row = read_row(rb'{"item_id":"a","_extra":{},"_meta":{"n":"\ud800"}}')
    known = verdict(lambda _: encode(PredictionRow.over(dict(row))) + b"\n", b"")
    assert verdict(lambda _: row_line(row), b"") == known
