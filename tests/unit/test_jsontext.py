"""The JSON layer: any bytes give a value or a DecodeError, every oddity is named at its place, writing is strict."""

from __future__ import annotations

import enum
import json
import math
import struct
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evh.errors import DecodeError, RecordError, UsageError
from evh.protocol import jsontext
from evh.protocol.jsontext import NonFinite

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
TOKENS = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"d800", b'"a"', b'"a":', b"1", b"-", b".", b"e9"),
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"true", b"nul", b" ", b"\n", b"\0", b"\xef\xbb\xbf"),
    *(b"\xc3", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"9" * 30, b"\xff\xfe"),
)
PIECES = st.lists(st.sampled_from(TOKENS), max_size=14).map(b"".join)


def kinds(faults: list[jsontext.Fault]) -> list[tuple[str, str]]:
    return [(fault.kind, fault.pointer) for fault in faults]


@given(JSON)
def test_clean_text_has_its_value_and_no_fault(value: Any) -> None:
    text = json.dumps(value)
    for data in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        assert jsontext.parse(data) == (value, [])


@given(st.binary(max_size=60) | PIECES)
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"9" * 5000)
@example(b'"' + b"\\ud800" * 50)
def test_any_bytes_give_a_value_or_a_decode_error(data: bytes) -> None:
    outcomes = []
    for read in (jsontext.parse, jsontext.check_text):
        try:
            outcomes.append(bool(read(data)))
        except DecodeError as error:
            assert error.offset is None or 0 <= error.offset <= len(data)
            outcomes.append(None)
    assert (outcomes[0] is None) == (outcomes[1] is None)


@given(PIECES)
def test_the_quick_and_the_explaining_pass_read_the_same_value(data: bytes) -> None:
    try:
        value, faults = jsontext.parse(data)
    except DecodeError:
        return
    # A BOM sends the same text through the explaining pass.
    again = jsontext.parse(data if data.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + data)[0]
    assert repr(again) == repr(value)
    if not faults:
        assert jsontext.dumps(value) == jsontext.dumps(again)


def test_every_kind_of_fault_is_named_at_its_place() -> None:
    data = b'\xef\xbb\xbf{"a":NaN,"a":{"x":1,"x":[1e400,"\\ud800"]},"b/~":-Infinity,"\\udc00":9007199254740992}'
    assert kinds(jsontext.check_text(data)) == [
        ("bom", ""),
        ("duplicate-key", "/a"),
        ("surrogate", "/\udc00"),
        ("non-finite", "/a"),
        ("duplicate-key", "/a/x"),
        ("non-finite", "/a/x/0"),
        ("surrogate", "/a/x/1"),
        ("non-finite", "/b~1~0"),
        ("big-integer", "/\udc00"),
    ]
    value, faults = jsontext.parse(data)
    assert value == {
        "a": {"x": [NonFinite("1e400"), "\ud800"]},
        "b/~": NonFinite("-Infinity"),
        "\udc00": 9007199254740992,
    }
    assert [fault.value for fault in faults if fault.kind == "non-finite"] == ["NaN", "1e400", "-Infinity"]


def test_duplicate_keys_and_big_integers_alone_are_found_by_check_text() -> None:
    assert jsontext.parse(b'{"a":1,"a":2}') == ({"a": 2}, [])
    assert kinds(jsontext.check_text(b'[{"a":1,"a":2}]')) == [("duplicate-key", "/0/a")]
    assert kinds(jsontext.check_text(b"[9007199254740991,-9007199254740992]")) == [("big-integer", "/1")]
    assert jsontext.check_text(b'{"a":1,"b":[true,1.5,"\\ud83d\\ude00"]}') == []


def test_depth_is_noted_then_refused() -> None:
    def nested(depth: int) -> bytes:
        return b"[" * depth + b"]" * depth

    assert jsontext.parse(nested(jsontext.NOTED_DEPTH))[1] == []
    for find in (lambda data: jsontext.parse(data)[1], jsontext.check_text):
        (fault,) = find(nested(jsontext.NOTED_DEPTH + 1))
        assert (fault.kind, fault.value, fault.pointer) == ("depth", 129, "/0" * 128)
        assert [fault.kind for fault in find(nested(jsontext.MAX_DEPTH))] == ["depth"]
        with pytest.raises(DecodeError, match="nested too deeply") as caught:
            find(nested(jsontext.MAX_DEPTH + 1))
        assert caught.value.offset == jsontext.MAX_DEPTH
    assert jsontext.parse(b"[" + b"[]," * 2000 + b"[]]")[1] == []


@pytest.mark.parametrize(
    ("data", "words", "offset"),
    [
        (b"", "empty", 0),
        (b" \n", "empty", 0),
        (b"\0\0", "only NUL bytes", 0),
        (b'{"a":', "torn row: the text ends inside an object", 5),
        (b'{"a', "torn row: the text ends inside a string", 3),
        (b'{"a":"b\\', "torn row: the text ends inside a string", 8),
        (b'{"a":"b\\u12', "torn row: the text ends inside a string", 11),
        (b'["\xc3\xa9', "torn row: the text ends inside a string", 4),
        (b"[1", "torn row: the text ends inside an array", 2),
        (b"[1.", "torn row: the text ends inside a number", 3),
        (b"1e+", "torn row: the text ends inside a number", 3),
        (b"[-", "torn row: the text ends inside a number", 2),
        (b"[tr", "torn row: the text ends inside a literal", 3),
        (b'{"\xc3', "the text ends inside a character", 2),
        (b'{"a" 1,"b":"xyz', "unexpected '1'", 5),
        (b'"\n', "control character", 1),
        (b'"\\x"', "escape", 1),
        (b"{} {}", "trailing data after the document", 3),
        (b"[\0]", "a NUL byte", 1),
        (b"[1,]", "unexpected ']'", 3),
        (b'["\xff"]', "invalid UTF-8 at byte 2", 2),
        (b"\xff\xfe1\0", "UTF-16", 0),
        (b"\xef\xbb\xbf[1", "torn row: the text ends inside an array", 5),
        (b"\xef\xbb\xbf\xef\xbb\xbf1", "unexpected", 3),
        (b"[1," + b"9" * 4301 + b"]", "too many digits", 3),
    ],
)
def test_what_is_not_json_is_explained_with_its_byte(data: bytes, words: str, offset: int) -> None:
    with pytest.raises(DecodeError, match="^[^\n]*" + words.replace("'", ".")) as caught:
        jsontext.parse(data)
    assert caught.value.offset == offset


@given(JSON.map(lambda value: json.dumps([value, "é" * 3], ensure_ascii=False).encode()), st.data())
def test_a_row_torn_anywhere_is_called_torn(row: bytes, data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(row) - 1))
    with pytest.raises(DecodeError, match="torn row"):
        jsontext.parse(row[:end])


def test_what_is_no_text_is_a_usage_error() -> None:
    for read in (jsontext.parse, jsontext.check_text):
        with pytest.raises(UsageError):
            read(None)  # type: ignore[arg-type]


def test_nonfinite_is_an_opaque_value() -> None:
    assert NonFinite("NaN") == NonFinite("NaN") != NonFinite("1e400")
    assert len({NonFinite("NaN"), NonFinite("NaN"), "NaN"}) == 2
    assert repr(NonFinite("NaN")) == "NonFinite('NaN')"
    with pytest.raises(TypeError):
        msgspec.json.encode(NonFinite("NaN"))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5) | st.sampled_from(["\x85", "\u2028", "\u2029"])))
def test_escape_lines_changes_the_text_only(value: list[str]) -> None:
    data = msgspec.json.encode(value)
    escaped = jsontext.escape_lines(data)
    assert msgspec.json.decode(escaped) == value
    assert not {"\x85", "\u2028", "\u2029"} & set(escaped.decode())


@given(JSON)
def test_dumps_spells_like_msgspec(value: Any) -> None:
    assert jsontext.dumps(value) == msgspec.json.encode(value)


class Colour(str, enum.Enum):  # noqa: UP042 - its str() is its name, which must not be written
    RED = "r\ud800"


def test_dumps_escapes_lone_surrogates_and_keeps_all_else() -> None:
    value = {"z\udfff": ["ok \udc00 tail", {}, [], (1, 1.0, 1e-5, True, None)], "a": "é\u2028", "c": Colour.RED}
    data = jsontext.dumps(value)
    assert data == (
        '{"z\\udfff":["ok \\udc00 tail",{},[],[1,1.0,0.00001,true,null]],"a":"é\u2028","c":"r\\ud800"}'.encode()
    )
    back, faults = jsontext.parse(data)
    assert back["z\udfff"][0] == "ok \udc00 tail"
    assert {fault.kind for fault in faults} == {"surrogate"}


@given(st.recursive(st.text(st.characters(), max_size=4), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_dumps_takes_any_text(value: Any) -> None:
    assert jsontext.parse(jsontext.dumps(value))[0] == value


def test_raw_json_passes_through_dumps() -> None:
    assert jsontext.dumps([msgspec.Raw(b"[1, 2]"), "\ud800"]) == b'[[1, 2],"\\ud800"]'
    assert jsontext.dumps({"a": msgspec.Raw(b'"x"')}) == b'{"a":"x"}'


def cycle() -> list[Any]:
    ring: list[Any] = []
    ring += [ring, ring]
    return ring


@pytest.mark.parametrize("write", [jsontext.dumps, jsontext.canonical])
@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, math.nan]}, "/a/1"),
        ({"a/b": math.inf}, "/a~1b"),
        ([0, -math.inf], "/1"),
        ([NonFinite("1e400")], "/0"),
        ([{1: 2}], "/0/1"),
        ({"a": {1, 2}}, "/a"),
        ({"a": b"x"}, "/a"),
        ({"a": 10**4300}, "/a"),
        ([object()], "/0"),
        (cycle(), ""),
    ],
)
def test_writers_refuse_what_json_does_not_have(write: Any, value: Any, place: str) -> None:
    with pytest.raises(RecordError) as caught:
        write(value)
    assert caught.value.pointer == place


def test_what_the_writer_takes_the_reader_takes() -> None:
    value: Any = "\ud800"
    for _ in range(jsontext.MAX_DEPTH):
        value = [value]
    assert jsontext.parse(jsontext.dumps(value))[0] == value
    assert jsontext.parse(jsontext.dumps([10**4300 - 1]))[0] == [10**4300 - 1]
    with pytest.raises(RecordError, match="nested more than"):
        jsontext.dumps([value])


def test_find_nonfinite_names_the_first_place() -> None:
    assert jsontext.find_nonfinite({"a": [1, {"b/": math.inf}], "c": math.nan}) == "/a/1/b~1"
    assert jsontext.find_nonfinite({"c": (1.0, NonFinite("NaN"))}) == "/c/1"
    assert jsontext.find_nonfinite(math.nan) == ""
    assert jsontext.find_nonfinite([1, 1.5, "NaN", None, True, 10**400, {"a": []}]) is None
    with pytest.raises(RecordError):
        jsontext.find_nonfinite(cycle())


# The sample numbers of RFC 8785, appendix B: the bits of a double and its text.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_canonical_numbers_follow_the_rfc(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert jsontext.canonical(number) == text.encode()


def test_canonical_documents_follow_the_rfc() -> None:
    # RFC 8785, 3.2.2 and 3.2.3: literals, text, and the order of keys by UTF-16 code units.
    sample = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert (
        jsontext.canonical(sample)
        == (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ).encode()
    )
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = list(json.loads(jsontext.canonical(dict.fromkeys(keys))))
    assert order == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": 2**53}, "/a"),
        ([-(2**53)], "/0"),
        (["\ud800"], "/0"),
        ({"\ud800": 1}, "/\ud800"),
        ([msgspec.Raw(b"1")], "/0"),
    ],
)
def test_canonical_refuses_what_has_no_canonical_form(value: Any, place: str) -> None:
    with pytest.raises(RecordError) as caught:
        jsontext.canonical(value)
    assert caught.value.pointer == place


def test_canonical_never_runs_out_of_stack() -> None:
    value: Any = []
    for _ in range(jsontext.MAX_DEPTH - 1):
        value = [value]
    assert jsontext.canonical(value) == b"[" * jsontext.MAX_DEPTH + b"]" * jsontext.MAX_DEPTH
