"""Real rows: what verifiers 0.4.0 derives from them, and that no damage makes a property raise a foreign error."""

from __future__ import annotations

import copy
import importlib.util
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.errors import EvhError
from evh.protocol.behaviour import Branch, EpisodeBehaviour, TraceBehaviour
from evh.protocol.verify import verify

DATA = Path(__file__).parents[2] / "data"

_spec = importlib.util.spec_from_file_location("behaviour_facts", Path(__file__).parent / "facts.py")
assert _spec is not None and _spec.loader is not None
facts: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(facts)

ROWS = facts.rows(DATA / "verifiers")
GOLDEN = json.loads((DATA / "golden" / "behaviour-0.4.0.json").read_text(encoding="utf-8"))


def test_there_is_a_golden_row_for_each_real_row() -> None:
    assert len(ROWS) == len(GOLDEN) == 38


@pytest.mark.parametrize("index", range(len(GOLDEN)))
def test_derived_properties_equal_those_of_verifiers_0_4_0(read: Any, index: int) -> None:
    assert facts.episode_facts(read(ROWS[index][1])) == GOLDEN[index]


def properties(cls: type) -> list[str]:
    names = [name for name in dir(cls) if isinstance(getattr(cls, name), property) and not name.startswith("_")]
    assert names
    return [name for name in names if not (cls is TraceBehaviour and name == "run")]


def derive_everything(episode: Any) -> None:
    """Read every derived property; an `EvhError` is an answer too."""

    def tried(owner: Any, name: str) -> Any:
        try:
            return getattr(owner, name)
        except EvhError:
            return None

    for name in properties(EpisodeBehaviour):
        tried(episode, name)
    for trace in episode.traces:
        for name in properties(TraceBehaviour):
            tried(trace, name)
        for branch in tried(trace, "branches") or ():
            for name in properties(Branch):
                tried(branch, name)
            for name in ("echo", "w"):
                try:
                    branch.loss_weights(name)
                except EvhError:
                    continue
        for phase in ("boot", "setup", "agent", "finalize", "scoring"):
            tried(getattr(trace.timing, phase), "duration")
    for record in (episode, *episode.traces):
        try:
            record.to_record(float_decimals=3)
            record.model_dump()
        except EvhError:
            continue
    assert all(finding.keyword and isinstance(finding.pointer, str) for finding in verify(episode))


ODD: list[Any] = [
    None, True, 0, 1, 2, 3, -1, 10**9, 2**53 - 1, 10**30, 1e308, -1e308, 0.5, "", "x", "assistant", "\u2028", [],
    [None],     [1, "x"], [0.5] * 3, [True, False], {}, {"a": None}, {"echo": [1.0]}, 
    {"score": 1e308, "weight": 1e308}, {"role": "x"},
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A real row with a few values replaced."""
    document = json.loads(draw(st.sampled_from(ROWS))[1])
    for _ in range(draw(st.integers(1, 4))):
        owner: Any = document
        while True:
            keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(owner[key], dict | list) and draw(st.integers(0, 9)):
                owner = owner[key]
                continue
            owner[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            break
    return msgspec.json.encode(document).replace(b"1e308", draw(st.sampled_from([b"1e308", b"1e400"])))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(row=damaged())
def test_no_damage_that_a_lenient_reader_takes_makes_a_property_raise_a_foreign_error(read: Any, row: bytes) -> None:
    try:
        episode = read(row)
    except EvhError:
        return
    derive_everything(episode)


def test_every_derived_property_of_every_real_row(read: Any) -> None:
    for _, row in ROWS:
        derive_everything(read(row))
