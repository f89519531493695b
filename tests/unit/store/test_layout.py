"""From an item's id to the name of its file: safe, short, distinct everywhere, a function of the id alone."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evh.errors import UsageError
from evh.store.layout import output_name, safe_name

SURROGATES = st.text(st.characters(), min_size=1).filter(lambda text: "\x00" not in text)
IDS = SURROGATES | st.from_regex(r"[a-zA-Z0-9._~-]{1,110}", fullmatch=True) | st.sampled_from(["con", "a.", "..", "é"])
FORM = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,99}\.txt")
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


@given(st.lists(IDS, unique=True))
@example(["Logo", "logo", "LOGO"])
@example(["é", unicodedata.normalize("NFD", "é")])
@example(["a", "a" * 300, "é" * 128])
def test_names_are_safe_short_and_distinct_on_a_disk_that_folds(ids: list[str]) -> None:
    names = [output_name(item_id) for item_id in ids]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(ids)
    for name in names:
        assert FORM.fullmatch(name), name
        assert len(name) <= 104
        assert name.partition(".")[0].lower() not in DEVICES
    assert names == [output_name(item_id) for item_id in ids]


@pytest.mark.parametrize("item_id", ["a", "0", "item-1_b.c", "a" * 100, "q.1"])
def test_a_plain_id_is_its_own_name(item_id: str) -> None:
    assert output_name(item_id) == f"{item_id}.txt"


@pytest.mark.parametrize(
    ("item_id", "prefix"),
    [
        ("../../etc/x", "etcx"),
        ("/abs", "abs"),
        ("a/../../b", "ab"),
        ("a\\b", "ab"),
        (".", ""),
        ("..", ""),
        (".hidden", "hidden"),
        ("~", ""),
        ("a~" + "0" * 32, "a" + "0" * 32),
    ],
)
def test_e38_b064_an_id_never_becomes_a_path(item_id: str, prefix: str) -> None:
    assert re.fullmatch(rf"{prefix}~[0-9a-f]{{32}}\.txt", output_name(item_id))


@pytest.mark.parametrize("item_id", ["", "\x00", "a\x00b"])
def test_e38_an_id_that_names_nothing_is_refused(item_id: str) -> None:
    with pytest.raises(UsageError, match="not empty and holds no NUL"):
        output_name(item_id)


@pytest.mark.parametrize(
    "item_id", ["x" * 300, "é" * 128, "\U0001f600", "\u202eabc", "a\u2028b", "ok \udc00 tail", "a" * 101, "x\n"]
)
def test_e39_b026_long_and_odd_ids_get_hashed_names(item_id: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{0,40}~[0-9a-f]{32}\.txt", output_name(item_id))


@pytest.mark.parametrize("item_id", ["con", "nul.a", "com1", "lpt9.x.y", "a:b", "q:1", "x.", "x ", "CON"])
def test_e40_b112_windows_names_are_hashed_everywhere(item_id: str) -> None:
    name = output_name(item_id)
    assert "~" in name
    assert name.partition(".")[0].lower() not in DEVICES


def test_e5_b113_ids_that_differ_in_case_or_form_get_names_of_their_own() -> None:
    assert output_name("logo") == "logo.txt"
    assert output_name("Logo").startswith("Logo~")
    assert output_name("\u00e9") != output_name("e\u0301")


def test_the_rule_does_not_change() -> None:
    """Readers find files that earlier releases wrote: these names are for ever."""
    assert safe_name("A1") == "A1~16a36e86f6fed5d465ff332511a0ce1a"
    assert safe_name("ok \udc00 tail") == "oktail~ff5d8d0e8d3d6a0c2cf40fcce9cdf0eb"
