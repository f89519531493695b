"""Masking: no secret in what comes out, nothing else changed, and never slow."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import cut
from evh.protocol.jsontext import dumps
from evh.store.masking import MASK, PUBLIC_HEADERS, SECRET_TABLES, Masker, tables_in

CANARY = "sk-canary-0123456789"
WORDS = st.text(max_size=12) | st.sampled_from([CANARY, f"Bearer {CANARY}", f"a{CANARY}b", "headers", "env"])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_no_canary_is_left_and_masking_again_changes_nothing(document: Any) -> None:
    before = copy.deepcopy(document)
    masker = Masker([CANARY])
    masked = masker.value(document)
    assert document == before
    assert CANARY not in json.dumps(masked)
    assert masker.value(masked) == masked


@given(DOCUMENTS, st.sampled_from(sorted(SECRET_TABLES)), st.text(min_size=1))
def test_b070_every_value_of_a_table_is_masked_whatever_its_key(document: Any, table: str, key: str) -> None:
    whole = {"here": [{table: {key: CANARY, "n": 5, "deep": {"x": [CANARY, None]}}}], "there": document, "said": CANARY}
    masker = Masker()
    masker.learn(whole)
    masked = masker.value(whole)
    assert CANARY not in json.dumps(masked)
    if key not in ("n", "deep"):
        assert masked["here"][0][table] == {key: MASK, "n": MASK, "deep": {"x": [MASK, None]}}
    assert masked["said"] == MASK
    assert Masker().value(whole)["said"] == CANARY  # what nobody taught is masked by its place alone
    assert Masker().value(whole)["here"] == masked["here"] or CANARY in key


def test_b046_what_stands_behind_a_scheme_counts_too() -> None:
    masker = Masker()
    masker.learn({"Headers": {"Authorization": f"  Bearer {CANARY} "}})
    assert masker.text(f"curl -H '{CANARY}'") == "curl -H '***'"


def test_without_secrets_a_document_comes_out_equal() -> None:
    document = {"env": "production", "headers": None, "a": [1, 1.5, True, None, "text"], "envs": {"x": "y"}}
    assert Masker().value(document) == document
    assert Masker(["short"]).text("in short") == "in short"


def test_of_two_secrets_the_whole_goes_before_its_part() -> None:
    for order in (["12345678", "1234567890"], ["1234567890", "12345678"]):
        assert Masker(order).text("1234567890") == MASK


def test_numbers_in_a_table_are_masked_where_they_are_text() -> None:
    masker = Masker()
    masker.learn({"env": {"PIN": 1234567890, "ON": True}})
    assert masker.text("pin 1234567890, True") == "pin ***, True"


def test_numbers_in_a_table_are_masked_where_they_are_numbers_too() -> None:
    masker = Masker().knowing({"env": {"PIN": 1234567890, "PORT": 8080, "RATE": 0.123456789}})
    document = {"a": [1234567890, 1234567890.0, 8080, 0.123456789], "ok": True, "12345678901": 12345678901}
    assert masker.value(document) == {"a": [MASK, MASK, 8080, MASK], "ok": True, "***1": 12345678901}
    assert masker.texts_only().value(document)["a"] == document["a"]


def test_what_a_document_taught_counts_for_that_document_alone() -> None:
    masker = Masker([CANARY])
    knowing = masker.knowing({"headers": {"X-Id": "request-0001"}, "n": {"env": {"PIN": 1234567890}}})
    assert knowing.value(["request-0001", CANARY, 1234567890]) == [MASK] * 3
    assert masker.value(["request-0001", CANARY, 1234567890]) == ["request-0001", MASK, 1234567890]
    nothing = masker.knowing({"no": "table"})
    nothing.add(["something else"])
    assert masker.text("something else") == "something else"


@pytest.mark.parametrize("name", ["Content-Type", "content-encoding", "DATE", "Server", "x-frame-options"])
def test_public_headers_are_masked_in_their_table_and_not_looked_for(name: str) -> None:
    value = "application/json"
    for table in ({name: value}, {name: [value]}, [[name, value]], [(name, value)]):
        meta = {"headers": table, "said": value}
        masked = Masker().knowing(meta).value(meta)
        assert value not in json.dumps(masked["headers"])
        assert masked["said"] == value
    assert name.lower() in PUBLIC_HEADERS


def test_an_environment_has_no_public_headers() -> None:
    meta = {"env": {"HOST": "db.internal.example"}, "said": "db.internal.example"}
    assert Masker().knowing(meta).value(meta) == {"env": {"HOST": MASK}, "said": MASK}


@pytest.mark.parametrize(
    ("values", "text", "masked"),
    [
        (["abcdefgh12", "gh12345678"], "<abcdefgh12345678>", "<***>"),
        (["abcdabcdabcd"], "<abcdabcdabcdabcd>", "<***>"),
        (["abcdabcdabcdabcd"], "<" + "abcd" * 9 + "ab>", "<***ab>"),
        (["xyz12345xyz"], "<xyz12345xyz12345xyz>", "<***>"),
        (["12345678"], "12345678 12345678", "*** ***"),
        (["aaaaaaaa"], "<" + "a" * 100 + ">", "<***>"),
    ],
)
def test_secrets_that_overlap_are_masked_as_one(values: list[str], text: str, masked: str) -> None:
    for order in (values, values[::-1]):
        assert Masker(order).text(text) == masked


@given(st.lists(st.text("ab", min_size=8, max_size=12), min_size=1, max_size=3), st.text("ab", max_size=60))
def test_every_character_of_every_secret_is_masked_and_no_other(values: list[str], text: str) -> None:
    covered = [False] * len(text)
    for value in values:
        for at in range(len(text) - len(value) + 1):
            if text[at : at + len(value)] == value:
                covered[at : at + len(value)] = [True] * len(value)
    expected = ""
    for char, hidden in zip(text, covered, strict=True):
        expected += char if not hidden else "" if expected.endswith(MASK) else MASK
    assert Masker(values).text(text) == expected


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_what_a_message_that_was_cut_leaves_of_a_secret_is_masked(quote: str) -> None:
    masker = Masker([CANARY, "sk-canary-9999999999"])
    for length in (8, 12, len(CANARY) - 1):
        assert masker.text(f"found {quote}{CANARY[:length]}{quote}… here") == f"found {quote}***{quote}… here"
    assert masker.text(f"{CANARY[:7]}… {CANARY[:12]} x…") == f"{CANARY[:7]}… {CANARY[:12]} x…"
    long = f"the key is {'k' * 30} {CANARY}"
    assert CANARY[:8] in cut(long)
    assert masker.text(cut(long)) == f"'the key is {'k' * 30} ***'…"
    assert masker.touches(dumps(cut(long)))


def test_of_names_that_become_the_same_each_member_is_kept() -> None:
    masker = Masker(["secret-01", "secret-02"])
    document = {"secret-01": 1, "secret-02": 2, "traces": 3, "***-2": 4}
    assert masker.value(document) == {"***": 1, "***-2": 2, "traces": 3, "***-2-2": 4}
    assert masker.names({"secret-01": "secret-01"}) == {"***": "secret-01"}


def test_a_name_that_the_schemas_declare_is_no_secret() -> None:
    assert Masker(["output_words", "is_timeout"]).value({"is_timeout": 1, "output_words": "is_timeout"}) == {
        "is_timeout": 1, "output_words": MASK,
    }  # fmt: skip


def test_tables_are_found_in_a_text_without_parsing_it() -> None:
    assert list(tables_in('{"headers":"text","a":"\\"headers\\":{","n":1}')) == []
    assert list(tables_in('{"env":{"id":"x"},"a":{"env":{},"headers":[],"payments":{"a":1}}}')) == [("env", 7)]
    assert [name for name, _ in tables_in('{"a":[{"extra_headers":[1],"Headers":{"env":{"x":1}}}]}')] == [
        "extra_headers", "Headers", "env",
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(SECRET_TABLES))
def test_every_name_of_a_table_is_found_in_a_text(name: str) -> None:
    for spelled in (name, name.upper(), name.title()):
        for start in (f'{{"{spelled}":', f'{{"{"long" * 9}":1,"{spelled}":'):
            for table in ('{"a":1}', '["a"]'):
                assert list(tables_in(f"{start}{table}}}")) == [(spelled, len(start))]


@pytest.mark.parametrize("filler", ["x", "sk-canary-012345678", "\U0001f600", "…"])
def test_twenty_megabytes_take_the_time_of_a_copy(filler: str) -> None:
    text = filler * (20_000_000 // len(filler))
    masker = Masker([CANARY, f"Bearer {CANARY}", "x" * 16])
    begun = time.perf_counter()
    assert masker.text(text + CANARY).endswith(MASK)
    assert time.perf_counter() - begun < 5


def test_a_text_full_of_what_was_cut_is_masked_in_one_pass() -> None:
    begun = time.perf_counter()
    assert Masker([CANARY]).text("sk-canary…" * 200_000) == "***…" * 200_000
    assert time.perf_counter() - begun < 5
