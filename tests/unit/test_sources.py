"""Rows out of every kind of source: exact places, nothing dropped in silence, faults after the rows before them."""

from __future__ import annotations

import gzip
import io
import os
import struct
import sys
import tracemalloc
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import assume, given
from hypothesis import strategies as st

from evh.errors import DecodeError, SourceError, UsageError
from evh.protocol import sources
from evh.protocol.sources import Line, find_files, iter_lines, split_msgpack

ROWS = [b'{"a":1}', '{"é":"\u0085\u2028\u2029\x0b\x0c\x1c"}'.encode(), b'{"b":' + b"[1]" * 3 + b"}"]
TEXT = b"\n".join(ROWS) + b"\n"


def datas(src: Any, **options: Any) -> list[bytes]:
    return [line.data for line in iter_lines(src, **options)]


def read_until_error(src: Any) -> tuple[list[Line], SourceError]:
    lines: list[Line] = []
    with pytest.raises(SourceError) as caught:
        lines.extend(iter_lines(src))  # extend keeps what came before the error
    return lines, caught.value


@pytest.fixture(params=[1, 3, 7, 1 << 18])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sources, "BLOCK", request.param)
    return int(request.param)


@pytest.mark.usefixtures("block")
def test_rows_are_split_at_lf_only_and_know_their_place(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_bytes(TEXT)
    lines = list(iter_lines(file))
    assert [line.data for line in lines] == ROWS
    assert [line.line for line in lines] == [1, 2, 3]
    assert {line.source for line in lines} == {str(file)}
    assert all(TEXT[line.offset : line.offset + len(line.data)] == line.data for line in lines)
    assert not any(line.torn or line.notices for line in lines)


@pytest.mark.usefixtures("block")
def test_bom_crlf_and_blank_lines_are_dropped_and_told() -> None:
    text = b"\xef\xbb\xbf{}\r\n\n \t\r\n\n[1]\n\r\n[2]\r"
    lines = list(iter_lines(text))
    assert [(line.data, line.line, line.torn) for line in lines] == [
        (b"{}", 1, False),
        (b"[1]", 5, False),
        (b"[2]", 7, True),
    ]
    assert [[notice.kind for notice in line.notices] for line in lines] == [
        ["bom", "crlf"],
        ["blank"],
        ["blank", "crlf"],
    ]
    assert [notice.value for line in lines for notice in line.notices if notice.kind == "blank"] == [3, 1]
    assert all(text[line.offset : line.offset + len(line.data)] == line.data for line in lines)


@pytest.mark.parametrize(
    ("text", "kinds", "line"),
    [
        (b"{}\n\n \n", ["blank"], 3),
        (b"\xef\xbb\xbf", ["bom"], 1),
        (b"\n\n\n", ["blank"], 3),
        (b"{}\n   ", ["blank"], 2),
    ],
)
def test_notices_after_the_last_row_go_to_on_rest(text: bytes, kinds: list[str], line: int) -> None:
    rest: list[Line] = []
    assert all(row.data == b"{}" for row in iter_lines(text, on_rest=rest.append))
    assert [notice.kind for notice in rest[0].notices] == kinds
    assert (len(rest), rest[0].line, rest[0].data, rest[0].offset) == (1, line, b"", len(text))


def test_no_source_has_rows_of_its_own() -> None:
    assert datas(b"") == []
    assert datas(io.BytesIO()) == []


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"\n", b"\r", b" ", b"{}", b"\xef\xbb\xbf", b"\0"])).map(b"".join)
)
def test_any_bytes_are_accounted_for(text: bytes) -> None:
    assume(text[:2] != b"\x1f\x8b" and text[:4] != b"\x28\xb5\x2f\xfd" and text[1:4] != b"\x2a\x4d\x18")
    rest: list[Line] = []
    lines = [*iter_lines(io.BytesIO(text), on_rest=rest.append)]
    body = text.removeprefix(b"\xef\xbb\xbf")
    expected = [row.removesuffix(b"\r") for row in body.split(b"\n") if row and not row.isspace()]
    assert [line.data for line in lines] == expected
    assert all(text[line.offset : line.offset + len(line.data)] == line.data for line in lines)
    assert all(line.line == text.count(b"\n", 0, line.offset) + 1 for line in lines)
    assert [line.torn for line in lines[:-1]] == [False] * len(lines[:-1])
    told = [notice for line in [*lines, *rest] for notice in line.notices]
    blanks = [row for row in body.split(b"\n")[:-1] if not row or row.isspace()]
    tail = body.split(b"\n")[-1]
    assert sum(n.value for n in told if n.kind == "blank") == len(blanks) + bool(tail and tail.isspace())
    assert any(n.kind == "bom" for n in told) == (body != text)


def text_file(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")


class OnlyRead:
    """The least that a file object can be."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int) -> bytearray:
        return bytearray(self._file.read(size))


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, io.BytesIO, text_file, OnlyRead])
@pytest.mark.usefixtures("block")
def test_every_kind_of_object_gives_the_same_rows(wrap: Any) -> None:
    assert datas(wrap(TEXT)) == ROWS


def test_strided_memory_is_read_in_its_order() -> None:
    assert datas(memoryview(b"{x}x\nx[x]x\nx")[::2]) == [b"{}", b"[]"]


def test_text_with_lone_surrogates_keeps_them_as_escapes_or_as_the_bytes_they_were() -> None:
    assert datas(io.StringIO('{"a":"\ud83d"}\n')) == [b'{"a":"\\ud83d"}']
    smuggled = io.TextIOWrapper(io.BytesIO(b'{"a":"\xff\xed"}\n'), encoding="utf-8", errors="surrogateescape")
    assert datas(smuggled) == [b'{"a":"\xff\xed"}']


def test_a_text_file_in_another_encoding_is_refused_in_words() -> None:
    lines, error = read_until_error(io.TextIOWrapper(io.BytesIO(b"{}\n\xff\n"), encoding="utf-8"))
    assert lines == []
    assert "binary mode" in str(error)


def test_standard_input_is_read_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", text_file(gzip.compress(TEXT)))
    assert [(line.data, line.source) for line in iter_lines("-")] == [(row, "<stdin>") for row in ROWS]
    monkeypatch.setattr(sys, "stdin", io.StringIO("{}\n"))
    assert datas("-") == [b"{}"]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="no standard input"):
        iter_lines("-")


def test_rows_of_a_pipe_come_as_they_are_written() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        sink.write(b'{"a":1}\n{"b"')
        lines = iter_lines(source)
        assert next(lines).data == b'{"a":1}'
        sink.write(b":2}\n")
        assert next(lines).data == b'{"b":2}'


def test_a_label_replaces_the_name_in_rows_and_errors(tmp_path: Path) -> None:
    assert next(iter_lines(b"{}\n", label="upload")).source == "upload"
    with pytest.raises(SourceError, match=r"^upload: no such file"):
        next(iter_lines(tmp_path / "none", label="upload"))


@pytest.mark.parametrize("wrong", [None, 3, b"".decode, ["{}"], object()])
def test_what_is_no_source_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(UsageError):
        iter_lines(wrong)


@pytest.mark.parametrize("path", ["none.jsonl", "a\0b", '{"id":"' + "x" * 5000 + '"}'])
def test_a_path_that_opens_nothing_is_a_source_error(path: str) -> None:
    with pytest.raises(SourceError):
        next(iter_lines(path))


def test_a_file_object_that_fails_is_a_source_error() -> None:
    class Failing(io.RawIOBase):
        reads = 0

        def read(self, size: int = -1) -> bytes:
            self.reads += 1
            if self.reads > 1:
                raise OSError(5, "Input/output error")
            return b"{}\n[1"

    lines, error = read_until_error(Failing())
    assert [(line.data, line.torn) for line in lines] == [(b"{}", False), (b"[1", True)]
    assert "Input/output error" in str(error)
    closed = io.BytesIO()
    closed.close()
    assert read_until_error(closed)[0] == []


def seekable_zstd(data: bytes) -> bytes:
    """Several frames and a skippable one with a seek table, as sealed chunks are."""
    packer = zstandard.ZstdCompressor(write_checksum=True)
    size = max(9, len(data) // 50)
    frames = [packer.compress(data[at : at + size]) for at in range(0, len(data), size)]
    return b"".join(frames) + struct.pack("<II", 0x184D2A5E, 9) + bytes(9)


def streamed_zstd(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    return packer.compress(data) + packer.flush()


PACKERS = [
    pytest.param(gzip.compress, ".gz", id="gzip"),
    pytest.param(lambda data: gzip.compress(data[:8]) + gzip.compress(data[8:]) + bytes(7), ".gz", id="members"),
    pytest.param(zstandard.ZstdCompressor().compress, ".zst", id="zstd"),
    pytest.param(streamed_zstd, ".zst", id="zstd-stream"),
    pytest.param(seekable_zstd, ".zst", id="zstd-seekable"),
    pytest.param(lambda data: struct.pack("<II", 0x184D2A50, 3) + b"xyz" + streamed_zstd(data), ".zst", id="skippable"),
]


@pytest.mark.parametrize(("pack", "suffix"), PACKERS)
@pytest.mark.usefixtures("block")
def test_compressed_rows_are_told_by_their_first_bytes(tmp_path: Path, pack: Any, suffix: str) -> None:
    packed = pack(TEXT)
    for name in ("rows.jsonl" + suffix, "rows.jsonl"):
        (tmp_path / name).write_bytes(packed)
        lines = list(iter_lines(tmp_path / name))
        assert [line.data for line in lines] == ROWS
        assert [TEXT.index(row) for row in ROWS] == [line.offset for line in lines]
    assert datas(io.BytesIO(packed)) == datas(packed) == ROWS


LONG = b"".join(b'{"n":%d,"text":"%s"}\n' % (n, sha256(b"%d" % n).hexdigest().encode()) for n in range(8000))


@pytest.mark.parametrize(("pack", "suffix"), PACKERS)
def test_rows_before_a_cut_in_compressed_data_are_read_first(tmp_path: Path, pack: Any, suffix: str) -> None:
    packed = pack(LONG)
    file = tmp_path / ("rows.jsonl" + suffix)
    told = 0
    for cut in range(len(packed) // 4, len(packed) - 30, len(packed) // 9):
        file.write_bytes(packed[:cut])
        lines: list[Line] = []
        try:
            lines.extend(iter_lines(file))
        except SourceError as error:
            told += "cut short" in str(error)
        read = b"".join(line.data + (b"" if line.torn else b"\n") for line in lines)
        assert LONG.startswith(read)
        assert len(read) >= len(LONG) * cut // len(packed) - (1 << 17)  # a block of zstd is at most 128 KiB
        assert not any(line.torn for line in lines[:-1])
    assert told >= 5  # a cut between two frames cannot be told from the end


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor(write_checksum=True).compress, seekable_zstd])
def test_rows_before_a_fault_in_compressed_data_are_read_first(pack: Any) -> None:
    packed = bytearray(pack(LONG))
    for at in range(len(packed) * 3 // 4, len(packed) * 3 // 4 + 4):
        packed[at] ^= 0xFF
    lines, _ = read_until_error(bytes(packed))
    read = b"".join(line.data + b"\n" for line in lines)
    intact = max(0, len(LONG) // 2 - (1 << 17))
    assert read[:intact] == LONG[:intact]


def test_all_that_a_broken_gzip_stream_still_holds_is_read(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LONG))
    packed[-8] ^= 0xFF  # the checksum alone is wrong
    (tmp_path / "rows.gz").write_bytes(packed)
    lines, error = read_until_error(tmp_path / "rows.gz")
    assert [line.data for line in lines] == LONG.splitlines()
    assert "broken gzip" in str(error)


@pytest.mark.parametrize(("name", "content"), [("a.gz", TEXT), ("a.gz", b""), ("a.zst", TEXT), ("a.zst", b"\x28\xb5")])
def test_a_name_that_promises_compression_is_held_to_it(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match="is named as a"):
        list(iter_lines(tmp_path / name))


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"]))
def test_noise_gives_rows_or_a_source_error_never_another(noise: bytes, magic: bytes) -> None:
    try:
        list(iter_lines(magic + noise))
    except SourceError:
        assert magic or noise[:2] == b"\x1f\x8b" or noise[:4] == b"\x28\xb5\x2f\xfd" or noise[1:4] == b"\x2a\x4d\x18"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_memory_is_bounded_by_the_longest_row(tmp_path: Path, pack: Any) -> None:
    file = tmp_path / "rows"
    file.write_bytes(pack((b"x" * 4095 + b"\n") * 10_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in iter_lines(file)) == 10_000
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


# Folders


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        data = b'"%s"\n' % name.encode()
        packed = gzip.compress(data) if name.endswith(".gz") else streamed_zstd(data) if name.endswith(".zst") else data
        file.write_bytes(packed)
    return folder


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (["traces.jsonl", "predictions.jsonl", "metrics.json"], ["traces.jsonl"]),
        (["results.jsonl", "metadata.json"], ["results.jsonl"]),
        (["traces.jsonl.gz"], ["traces.jsonl.gz"]),
        (
            ["traces/b.jsonl", "traces/a.jsonl", "traces/.x.jsonl", "traces/a.index.jsonl"],
            ["traces/a.jsonl", "traces/b.jsonl"],
        ),
        (["traces.jsonl", "traces/w1.jsonl"], ["traces.jsonl", "traces/w1.jsonl"]),
        (["10.jsonl", "9.jsonl.zst", "1.jsonl.gz", "index.jsonl"], ["1.jsonl.gz", "9.jsonl.zst", "10.jsonl"]),
        (["chunk-2.jsonl", "chunk-10.jsonl", "chunk-1.jsonl.torn-1"], ["chunk-2.jsonl", "chunk-10.jsonl"]),
        (["000000.zst", "000001"], ["000000.zst", "000001"]),
        (["7.jsonl", "7.jsonl.zst", "7.jsonl.gz"], ["7.jsonl"]),
        (
            ["traces/stream/1.jsonl.zst", "traces/stream/2.jsonl", "traces/stream.index.jsonl"],
            ["traces/stream/1.jsonl.zst", "traces/stream/2.jsonl"],
        ),
    ],
)
def test_a_folder_gives_the_rows_of_its_files_in_order(tmp_path: Path, names: list[str], read: list[str]) -> None:
    lines = list(iter_lines(fill(tmp_path, *names)))
    assert [line.data.decode().strip('"') for line in lines] == read
    assert [line.source for line in lines] == [str(tmp_path / name) for name in read]
    assert [line.line for line in lines] == [1] * len(read)
    assert [line.source for line in iter_lines(tmp_path, label="run")] == [f"run/{name}" for name in read]


def test_a_chunk_that_is_sealed_while_the_folder_is_read_is_not_missed(tmp_path: Path) -> None:
    lines = iter_lines(fill(tmp_path, "1.jsonl", "2.jsonl"))
    assert next(lines).data == b'"1.jsonl"'
    (tmp_path / "2.jsonl").unlink()
    fill(tmp_path, "2.jsonl.zst")
    assert [line.data for line in lines] == [b'"2.jsonl.zst"']


def test_a_folder_without_rows_says_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"holds no rows: neither traces\.jsonl"):
        next(iter_lines(fill(tmp_path, "notes.txt", "crlf.jsonl")))


def test_find_files_lists_every_record_file_once_in_order(tmp_path: Path) -> None:
    tree = fill(
        tmp_path / "tree",
        *(
            "b/run10/traces.jsonl",
            "b/run2/traces.jsonl",
            "a/metrics.json",
            "a/run.json",
            "a/predictions.jsonl",
            "a/end.json",
        ),
        *(
            "a/attempts.jsonl",
            "a/traces/w1.jsonl",
            "a/outputs/1.jsonl",
            "c/1.jsonl.zst",
            "c/2.jsonl",
            "c/2.jsonl.gz",
            "c/3",
        ),
        *("c/stream.index.jsonl", ".hidden/traces.jsonl", "old/results.jsonl", "odd.jsonl"),
        *("d/rows.msgpacks", "d/one.msgpack", "d/.x.msgpack", "d/rows.msgpacks.refused.msgpacks"),
    )
    fill(tmp_path / "outside", "traces.jsonl")
    (tree / "link").symlink_to(tmp_path / "outside")
    (tree / "away.jsonl").symlink_to(tmp_path / "outside" / "traces.jsonl")
    (tree / "near.jsonl").symlink_to(tree / "odd.jsonl")
    (tree / "loop.jsonl").symlink_to(tree / "loop.jsonl")
    found = [file.relative_to(tree).as_posix() for file in find_files(tree)]
    assert found == [
        *("a/metrics.json", "a/predictions.jsonl", "a/run.json", "a/traces/w1.jsonl", "b/run2/traces.jsonl"),
        *("b/run10/traces.jsonl", "c/1.jsonl.zst", "c/2.jsonl", "d/one.msgpack", "d/rows.msgpacks"),
        *("near.jsonl", "odd.jsonl", "old/results.jsonl"),
    ]
    assert find_files(tree / "odd.jsonl") == [tree / "odd.jsonl"]
    with pytest.raises(SourceError, match="no such file"):
        find_files(tree / "none")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_what_may_not_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    def refuse(*_: Any, **__: Any) -> Iterator[Path]:
        raise error

    file = fill(tmp_path, "traces.jsonl") / "traces.jsonl"
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "iterdir", refuse)
    for source in (file, tmp_path):
        with pytest.raises(SourceError, match=r"(?i)permission denied|input/output error"):
            next(iter_lines(source))


# MessagePack

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.builds(msgspec.msgpack.Ext, st.integers(-128, 127), st.binary(max_size=20)),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=30,
)


@given(st.lists(VALUES, max_size=4), st.data())
def test_messagepack_documents_are_split_where_they_end(values: list[Any], data: st.DataObject) -> None:
    documents = [msgspec.msgpack.encode(value) for value in values]
    text = b"".join(documents)
    assert [bytes(view) for _, view in split_msgpack(bytearray(text))] == documents
    assert [text[offset : offset + len(view)] for offset, view in split_msgpack(text)] == documents
    cut = data.draw(st.integers(0, len(text)))
    found: list[bytes] = []
    try:
        for _, view in split_msgpack(text[:cut]):
            found.append(bytes(view))
    except DecodeError as error:
        assert error.offset == cut
    assert found == documents[: len(found)]
    assert sum(map(len, found)) == cut or b"".join(documents[: len(found) + 1])[:cut] == text[:cut]


@pytest.mark.parametrize("size", [0, 31, 32, 255, 256, 65535, 65536])
def test_every_length_form_of_messagepack_is_known(size: int) -> None:
    for value in (
        "x" * size,
        b"x" * size,
        [None] * size,
        {str(n): 1 for n in range(size)},
        msgspec.msgpack.Ext(1, b"x" * size),
    ):
        document = msgspec.msgpack.encode(value)
        assert [len(view) for _, view in split_msgpack(document * 2)] == [len(document)] * 2


@pytest.mark.parametrize(
    "text", [b"\xc1", b"\x91" * 100_000 + b"\xc0", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xda\x01"]
)
def test_messagepack_that_is_none_is_a_decode_error(text: bytes) -> None:
    with pytest.raises(DecodeError):
        list(split_msgpack(text))


@given(st.binary(max_size=100))
def test_messagepack_noise_gives_documents_or_a_decode_error(noise: bytes) -> None:
    try:
        assert b"".join(view for _, view in split_msgpack(noise)) == noise
    except DecodeError as error:
        assert error.offset is not None
