"""What programs import stays importable: the surface against that of the last release, by griffe; and what is said when
it does not."""

from __future__ import annotations

import pytest

from codegen.compat.acknowledged import Acknowledgement, acknowledgements
from scripts.surface import Break, breaks, check, released, stubs

OLD = """\
def decode(data, type=object, *, format='json', notices=None): ...
class Trace:
    id: str
    ok: bool = ...
    reward: float | None = ...
    def record_reward(self, name, score, /, weight=1.0): ...
    @classmethod
    def of(cls, trace): ...
LIMIT: int = 3
"""


def planted(old: str, new: str) -> list[Break]:
    assert old in OLD
    return breaks({"evh": OLD}, {"evh": OLD.replace(old, new)})


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("def decode(data, type=object", "def decoded(data, type=object", "evh.decode"),
        (", notices=None", "", "evh.decode(notices)"),
        (", notices=None", ", notices", "evh.decode(notices)"),
        ("format='json'", "format='msgpack'", "evh.decode(format)"),
        ("(data, type=object, *", "(data, *, type=object", "evh.decode(type)"),
        ("(data, type", "(data, limit, type", "evh.decode(limit)"),
        ("    reward: float | None = ...\n", "", "evh.Trace.reward"),
        ("    ok: bool = ...", "    ok: bool", "evh.Trace.ok"),
        ("    def record_reward", "    def record", "evh.Trace.record_reward"),
        (", weight=1.0", "", "evh.Trace.record_reward(weight)"),
        ("class Trace", "class Record", "evh.Trace"),
        ("LIMIT: int = 3\n", "", "evh.LIMIT"),
    ],
)
def test_a_planted_break_is_found(old: str, new: str, name: str) -> None:
    assert name in {each.name for each in planted(old, new)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", notices=None", ", notices=None, strict=False"),
        ("    id: str\n", "    id: str\n    brand_new: str | None = ...\n"),
        ("    id: str\n", "    id: str = ...\n"),
        ("LIMIT: int = 3\n", "LIMIT: int = 3\nOTHER: int = 4\n"),
        ("reward: float | None", "reward: int | float | None"),
    ],
)
def test_what_adds_or_allows_more_is_no_break(old: str, new: str) -> None:
    assert planted(old, new) == []


def test_a_package_that_is_gone_is_a_break() -> None:
    assert [each.name for each in breaks({"evh": OLD, "evh.gone": "X: int"}, {"evh": OLD})] == ["evh.gone"]


def test_a_break_is_answered_by_a_line_and_an_idle_line_is_refused() -> None:
    new = {"evh": OLD.replace("    reward: float | None = ...\n", "")}
    [todo] = check({"evh": OLD}, new, [])
    assert todo.startswith("evh.Trace.reward")
    lines = acknowledgements("- Break for importers: `evh.Trace.reward`: read rewards.\n")
    assert check({"evh": OLD}, new, lines) == []
    assert check({"evh": OLD}, {"evh": OLD}, lines) == [
        "CHANGELOG.md: a break is acknowledged at evh.Trace.reward, and there is none"
    ]
    others = [Acknowledgement(frozenset({"readers"}), "evh.Trace.reward", "x")]
    assert check({"evh": OLD}, new, others) == [todo], "readers are not importers"


def test_the_surface_of_the_tree_holds_every_public_package() -> None:
    made = stubs()
    assert {"evh", "evh.errors", "evh.store", "evh.testing", "evh.protocol.models", "evh.stats"} <= made.keys()
    assert "def decode(" in made["evh"] and "class Episode:" in made["evh"]
    assert "    traces: list[Trace] = ..." in made["evh"] and "    def record_run(" in made["evh"]
    assert ": object\n" not in made["evh"].partition("class ")[0], "every name is resolved"
    _, old = released()
    assert old.keys() <= made.keys()
