"""How a converted row may differ from what a release made of it, and a restored row from its source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

COMPUTED = frozenset({"num_input_tokens", "num_output_tokens", "num_total_tokens"})
ROUNDED = frozenset({"logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies"})
TASK_MEMBERS = frozenset(
    {"idx", "id", "name", "description", "prompt", "system_prompt", "image", "workdir", "agent_user"}
)
DECIMALS = 4


def token(part: object) -> str:
    return "/" + str(part).replace("~", "~0").replace("/", "~1")


def differences(sent: Any, resaved: Any, steps: Sequence[Any], *, rounded: bool) -> list[str]:
    """Leaves of a converted row that a re-save lost or changed without the report saying so."""
    said = {step.pointer for step in steps if step.action in ("kept", "dropped")}
    said |= {step.pointer for step in steps if step.action == "repaired" and step.rule in ("unknown", "null", "paths")}
    return [place for place, why in compared(sent, resaved, "", rounded) if why and not covered(place, said)]


def leaves_lost(source: Any, back: Any, steps: Sequence[Any], *, rounded: bool) -> list[str]:
    """Leaves of a source that are not back in the restored row, but for the losses that are owned up to."""
    said = {step.pointer for step in steps if step.action == "dropped" or step.rule == "non-finite"}
    lost = [place for place, why in compared(source, back, "", rounded) if why and not covered(place, said)]
    return lost + [place for place in stashes(back, "") if place not in set(stashes(source, ""))]


def covered(place: str, said: set[str]) -> bool:
    while place and place not in said:
        place = place.rpartition("/")[0]
    return place in said


def compared(one: Any, two: Any, place: str, rounded: bool) -> Iterator[tuple[str, bool]]:
    """Each leaf of `one` with whether `two` has something else in its place; a null in a record equals absence."""
    if isinstance(one, dict) and isinstance(two, dict):
        for name, value in one.items():
            at = place + token(name)
            if name in COMPUTED:
                continue
            if name not in two:
                yield at, value is not None or meant(at)
            elif rounded and name in ROUNDED and isinstance(value, list):
                same = isinstance(two[name], list) and [
                    round(x, DECIMALS) if isinstance(x, float) else x for x in value
                ]
                yield at, same != two[name] and two[name] != value
            else:
                yield from compared(value, two[name], at, rounded)
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for index, value in enumerate(one):
            yield from compared(value, two[index], f"{place}/{index}", rounded)
    else:
        yield place, not equal(one, two)


def meant(place: str) -> bool:
    """Nulls that say something: in free objects, in maps, and in a seat's own sampling."""
    *_, holder, name = place.split("/")
    if holder in ("timeout", "resources") or (holder == "data" and name in TASK_MEMBERS):
        return False
    free = ("/info/", "/data/", "/rewards/", "/metrics/", "/config/sampling/", "/harness/")
    return any(mark in place for mark in free) and not place.endswith("/harness/disabled_tools")


def equal(one: Any, two: Any) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, float) and isinstance(two, float) and math.isnan(one):
        return math.isnan(two)
    return bool(one == two)


def stashes(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "evh" and isinstance(item, dict):
                yield from (f"{place}/evh{token(key)}" for key in item)
            elif name in ("info", "traces"):
                yield from stashes(item, place + token(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from stashes(item, f"{place}/{index}")
