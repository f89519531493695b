"""Masking: no secret in what comes out, nothing else changed, and never slow."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.store.masking import MASK, SECRET_TABLES, Masker, mask_tables

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
    assert mask_tables(whole)["said"] == CANARY
    assert mask_tables(whole)["here"] == masked["here"]


def test_b046_what_stands_behind_a_scheme_counts_too() -> None:
    masker = Masker()
    masker.learn({"Headers": {"Authorization": f"  Bearer {CANARY} "}})
    assert masker.text(f"curl -H '{CANARY}'") == "curl -H '***'"


def test_without_secrets_a_document_comes_out_equal() -> None:
    document = {"env": "production", "headers": None, "a": [1, 1.5, True, None, "text"], "envs": {"x": "y"}}
    assert Masker().value(document) == document
    assert not Masker(["short"]).active


def test_of_two_secrets_the_whole_goes_before_its_part() -> None:
    for order in (["12345678", "1234567890"], ["1234567890", "12345678"]):
        assert Masker(order).text("1234567890") == MASK


def test_numbers_in_a_table_are_masked_where_they_are_text() -> None:
    masker = Masker()
    masker.learn({"env": {"PIN": 1234567890, "ON": True}})
    assert masker.text("pin 1234567890, True") == "pin ***, True"


@pytest.mark.parametrize("filler", ["x", "sk-canary-012345678", "\U0001f600"])
def test_twenty_megabytes_take_the_time_of_a_copy(filler: str) -> None:
    text = filler * (20_000_000 // len(filler))
    masker = Masker([CANARY, f"Bearer {CANARY}"])
    begun = time.perf_counter()
    assert masker.text(text + CANARY).endswith(MASK)
    assert time.perf_counter() - begun < 5
