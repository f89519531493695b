"""Batches: every line once, whole, in order, within the limits; and the same ones each time."""

from __future__ import annotations

import gzip
import hashlib

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from evh.errors import DecodeError, UsageError
from evh.platform import HOSTED_LIMITS, Batch, Broken, Limits, Oversized, choose, compress, cut_batches
from evh.protocol.models import Capabilities

LINES = st.lists(
    st.sampled_from([b"a", b"bb" * 3, b"", b"  ", b"\r", b"long" * 9, b"x" * 19, b"\xff\x00"]), max_size=30
)
LIMITS = st.builds(
    Limits,
    target_bytes=st.integers(1, 80),
    upload_bytes=st.integers(1, 80),
    line_bytes=st.integers(1, 40),
    lines=st.integers(1, 5),
)


@given(lines=LINES, limits=LIMITS, tail=st.sampled_from([b"", b"torn"]), offset=st.integers(0, 1 << 40))
@example(lines=[b"long" * 9, b"a"], limits=Limits(10, 10, 40, 5), tail=b"", offset=3)
def test_every_line_is_in_one_batch_or_told_of(lines: list[bytes], limits: Limits, tail: bytes, offset: int) -> None:
    data = b"".join(line + b"\n" for line in lines) + tail
    found = list(cut_batches(data, limits, offset=offset))
    assert found == list(cut_batches(data, limits, offset=offset))
    at, sent, told = offset, [], []
    for each in found:
        assert each.start >= at and not data[at - offset : each.start - offset].strip(b"\n \r")
        text = data[each.start - offset : each.end - offset]
        assert text.endswith(b"\n")
        if isinstance(each, Batch):
            rows = [line for line in text.split(b"\n") if line.strip()]
            assert each.body == b"".join(row + b"\n" for row in rows)
            assert (each.rows, len(each.offsets)) == (len(rows), len(rows))
            for where, row in zip(each.offsets, rows, strict=True):
                assert data[where - offset :].startswith(row + b"\n")
            assert each.rows <= limits.lines and len(each.body) <= limits.upload_bytes
            assert len(each.body) <= limits.target_bytes or each.rows == 1
            assert all(len(row) <= limits.line_bytes for row in rows)
            assert each.digest == hashlib.sha256(each.body).hexdigest() and each.key == f"sha256:{each.digest}"
            sent += rows
        else:
            assert isinstance(each, Oversized) and each.size == len(text) - 1 > each.limit
            told.append(text[:-1])
        at = each.end
    assert not data[at - offset :].removesuffix(tail).strip(b"\n \r")
    wanted = [line for line in lines if line.strip()]
    assert sorted(sent + told) == sorted(wanted) and [line for line in wanted if line not in told] == sent


@given(lines=LINES, limits=LIMITS)
def test_a_cut_that_goes_on_where_a_batch_ended_gives_the_same_batches(lines: list[bytes], limits: Limits) -> None:
    data = b"".join(line + b"\n" for line in lines)
    whole = list(cut_batches(data, limits))
    for number, each in enumerate(whole):
        assert list(cut_batches(data[each.end :], limits, offset=each.end)) == whole[number + 1 :]


def test_what_is_sent_is_what_shape_makes_and_sizes_are_of_that() -> None:
    def shape(line: bytes) -> bytes:
        if line == b"bad":
            raise DecodeError("no row")
        return line * 3

    found = list(cut_batches(b"ab\nbad\nabcdef\nc\n", Limits(100, 100, 15, 9), shape=shape))
    assert [type(each) for each in found] == [Batch, Broken, Oversized, Batch]
    first, broken, oversized, last = found
    assert isinstance(first, Batch) and (first.start, first.end, first.body) == (0, 3, b"ababab\n")
    assert isinstance(broken, Broken) and (broken.start, broken.end, str(broken.error)) == (3, 7, "no row")
    assert oversized == Oversized(7, 14, 18, 15)
    assert isinstance(last, Batch) and (last.offsets, last.body) == ((14,), b"ccc\n")


def test_a_line_longer_than_the_target_goes_alone() -> None:
    found = list(cut_batches(b"a\n" + b"x" * 50 + b"\nb\n", Limits(target_bytes=10)))
    assert [(each.start, each.end) for each in found] == [(0, 2), (2, 53), (53, 55)]


def test_limits_are_those_of_the_service_where_it_says_them() -> None:
    said = Capabilities(server="evh-1", max_upload_bytes=1000, max_line_bytes=500)
    assert Limits.of(said) == Limits(1000, 1000, 500, HOSTED_LIMITS.lines)
    assert Limits.of(Capabilities(server="x"), target_bytes=7) == HOSTED_LIMITS._replace(target_bytes=7)
    with pytest.raises(UsageError):
        list(cut_batches(b"a\n", Limits(target_bytes=0)))


def test_a_repr_is_short() -> None:
    assert repr(next(cut_batches(b"x" * 1000 + b"\n"))) == "Batch(0-1001, 1 rows, 1001 bytes)"


@given(st.binary(max_size=3000))
def test_encodings_give_the_same_bytes_each_time_and_open_again(body: bytes) -> None:
    assert gzip.decompress(compress(body, "gzip")) == body
    assert zstandard.decompress(compress(body, "zstd"), max_output_size=3000) == body
    assert compress(body, "identity") == body
    assert compress(body, "gzip") == compress(body, "gzip") and compress(body, "zstd") == compress(body, "zstd")
    with pytest.raises(UsageError):
        compress(body, "br")  # type: ignore[arg-type]


def test_the_encoding_is_one_that_the_service_takes() -> None:
    assert (choose(["zstd", "gzip"]), choose(["gzip"]), choose([]), choose(None)) == ("zstd", "gzip", "gzip", "gzip")
