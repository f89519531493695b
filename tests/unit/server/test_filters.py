"""Filters: what fits, what is refused, and that SQL and Python give one meaning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_support import batch_key, body, episode, principal, taken, trace

from evh.server.catalog import Catalog
from evh.server.faults import ServerFault
from evh.server.filters import EPISODES, TRACES, And, Compare, Filter, Not, Or, check, everything, fingerprint, matches
from evh.server.records import Principal
from evh.server.text import HEAD_TEXT_LIMIT, head_text, instant, rfc3339, to_bytes, to_text


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (Compare("nothing", "eq", "x"), "there is no field"),
        (Compare("run_id", "lt", "x"), "is compared by eq, in, ne"),
        (Compare("run_id", "eq", 1), "with a text"),
        (Compare("ok", "eq", 1), "no field"),
        (Compare("has_error", "eq", 1), "with a flag"),
        (Compare("step", "eq", True), "with a integer"),
        (Compare("step", "eq", 2**63), "with a integer"),
        (Compare("reward", "gt", float("nan")), "with a number"),
        (Compare("reward", "gt", 2**60), "with a number"),
        (Compare("run_id", "in", ["a"]), "takes at most"),
        (Compare("run_id", "in", tuple("a" * 201)), "takes at most"),
        (Compare("context.x", "ne", "a"), "equality only"),
        (Compare("context.x", "eq", 1), "equality only"),
        (And((Or((Not(Compare("nothing", "eq", "x")),)),)), "there is no field"),
        (And((everything,) * 300), "at most 200 parts"),
        ("run_id = 1", "is no filter"),
    ],
)
def test_what_does_not_fit_is_invalid_filter(tree: Any, said: str) -> None:
    with pytest.raises(ServerFault, match=said) as caught:
        check(tree, TRACES)
    assert (caught.value.status, caught.value.code) == (400, "invalid_filter")


def test_a_filter_nested_too_deep_is_refused() -> None:
    tree: Filter = everything
    for _ in range(30):
        tree = Not(tree)
    with pytest.raises(ServerFault, match="20 levels deep"):
        check(tree, TRACES)


def test_a_fingerprint_tells_filters_apart() -> None:
    trees = [everything, Or(), Not(everything), Compare("step", "eq", 1), Compare("step", "ne", 1)]
    assert len({fingerprint(tree) for tree in trees}) == len(trees)
    assert fingerprint(everything, "a") != fingerprint(everything, "b")
    assert fingerprint(Compare("run_id", "eq", "\ud800")) == fingerprint(Compare("run_id", "eq", "\ud800"))


@given(st.text(st.characters(), max_size=400) | st.text(st.characters(), min_size=150, max_size=300))
def test_text_survives_as_bytes_and_long_text_stays_equal_to_itself(text: str) -> None:
    assert to_text(to_bytes(text)) == text
    held = head_text(text)
    assert len(to_bytes(held)) <= HEAD_TEXT_LIMIT and head_text(held) == held
    assert (held == text) == (len(to_bytes(text)) <= HEAD_TEXT_LIMIT)
    assert head_text(text + "x" * 600) != head_text(text + "x" * 599 + "y")


@given(st.integers(0, 253_402_300_799 * 10**6))
def test_instants_are_written_and_read_alike(value: int) -> None:
    assert instant(rfc3339(value)) == value


def test_instants_without_an_offset_are_utc() -> None:
    assert instant("2026-01-01T00:00:00") == instant("2026-01-01T01:00:00+01:00") == 1_767_225_600_000_000


LONG = "ü" * 400
TEXTS = ["r1", "r2", "", "a\0b", "\ud800", LONG]
EPISODE_VALUES: dict[str, Any] = {
    "text": st.sampled_from(TEXTS), "integer": st.integers(-2, 5) | st.just(1_700_000_000_000_000),
    "number": st.sampled_from([-1, 0.0, 0.5, 1]), "flag": st.booleans(),
}  # fmt: skip


def trees(fields: Any) -> st.SearchStrategy[Filter]:
    def leaf(name: str, kind: str) -> st.SearchStrategy[Filter]:
        ops = {"text": ["eq", "ne"], "flag": ["eq", "ne"]}.get(kind, ["eq", "ne", "lt", "le", "gt", "ge"])
        one: st.SearchStrategy[Filter] = st.builds(Compare, st.just(name), st.sampled_from(ops), EPISODE_VALUES[kind])
        if kind in ("flag", "number"):
            return one
        return one | st.builds(
            Compare, st.just(name), st.just("in"), st.lists(EPISODE_VALUES[kind], max_size=3).map(tuple)
        )

    context: st.SearchStrategy[Filter] = st.builds(
        Compare, st.sampled_from(["context.k", "context.a\0"]), st.just("eq"), st.sampled_from(TEXTS)
    )
    leaves = st.one_of(*(leaf(name, kind) for name, kind in fields.items()), context)

    def grow(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        several = st.lists(inner, max_size=3).map(tuple)
        return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, inner)

    return st.recursive(leaves, grow, max_leaves=6)


@pytest.fixture(scope="module")
def filled(make_sqlite: Any) -> Any:
    made = Catalog(make_sqlite())
    yield fill(made)
    made.close()


@pytest.fixture(scope="module")
def filled_postgres(make_postgres: Any) -> Any:
    made = Catalog(make_postgres())
    yield fill(made)
    made.close()


def fill(catalog: Catalog) -> tuple[Catalog, Principal]:
    who = principal(catalog, "one")
    for index, text in enumerate(TEXTS):
        short = text[:50]
        train = {"type": "train", "id": short or "r0", "work": {"type": "train", "step": index}}
        scored = trace(f"t{index}", rewards={"r": {"score": index / 2}}, ok=bool(index % 2))
        bare = trace(f"u{index}", rewards={}, agent={"config": {}, "name": text}, calls=[])
        data = body(
            episode(f"e{index}", short or None, traces=[scored, bare], group={"id": text}, env={"id": short}),
            episode(f"f{index}", run=train, traces=[], ok=False, is_timeout=True),
        )
        lines, places = taken(data, now=index)
        context = {"k": text} if index % 2 else {"a\0": text, "k": "r1"}
        catalog.uploads.commit(who, batch_key(data), lines, places, context, len(data))
    other = body(episode("e0", "r1"))
    catalog.uploads.commit(principal(catalog, "two"), batch_key(other), *taken(other), {"k": "r1"}, len(other))
    return catalog, who


def agree(filled: tuple[Catalog, Principal], tree: Filter) -> None:
    catalog, who = filled
    for fields, listing in ((EPISODES, catalog.heads.episodes), (TRACES, catalog.heads.traces)):
        try:
            check(tree, fields)
        except ServerFault:
            continue
        everyone = listing(who, limit=100).items
        expected = [head for head in everyone if matches(tree, head)]
        assert listing(who, tree, limit=100).items == expected


@given(trees(EPISODES) | trees(TRACES))
def test_sql_and_python_agree_on_sqlite(filled: tuple[Catalog, Principal], tree: Filter) -> None:
    agree(filled, tree)


@given(trees(EPISODES) | trees(TRACES))
def test_sql_and_python_agree_on_postgres(filled_postgres: tuple[Catalog, Principal], tree: Filter) -> None:
    agree(filled_postgres, tree)
