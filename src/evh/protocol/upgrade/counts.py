"""S3: members that early rows computed and wrote, and that today are computed on reading.

Promise: a value is dropped only when the rest of the trace gives the same; what can't be computed, or comes out
otherwise, is kept aside. Policy: numbers agree when they differ by less than a billionth of the larger one, or, for
times, by less than a microsecond (epoch seconds have no more digits to give).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from evh.protocol.behaviour.trace import TRUNCATING
from evh.protocol.upgrade.detect import SPANS, is_number, items, members
from evh.protocol.upgrade.step import Record

__all__ = ["drop_durations", "drop_early_counts", "duration_of", "is_truncated", "same_number"]

DERIVED = "computed on reading"
ASIDE = "not what the rest of the trace gives"


def as_float(value: Any) -> float | None:
    """A JSON number as a float; None for anything else and for integers that no float can hold."""
    if not is_number(value):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def same_number(left: Any, right: Any, *, within: float = 0.0) -> bool:
    """Whether two JSON numbers agree, up to a billionth or the absolute difference given."""
    first, second = as_float(left), as_float(right)
    return first is not None and second is not None and math.isclose(first, second, rel_tol=1e-9, abs_tol=within)


def duration_of(span: dict[str, Any]) -> float | None:
    """How long a span took, in seconds: 0 when it has not ended; None when start or end is no number."""
    start, end = as_float(span.get("start", 0.0)), as_float(span.get("end", 0.0))
    if start is None or end is None:
        return None
    return max(0.0, end - start) if end else 0.0


def drop_durations(rec: Record) -> None:
    """S3 (9 to 17 Jun): spans wrote their `duration`. `model` and `harness` have nothing else, and keep theirs."""
    timing = members(rec.doc.get("timing"))
    for name in SPANS:
        span = timing.get(name)
        if isinstance(span, dict) and "duration" in span:
            value, at = span.pop("duration"), f"/timing/{name}/duration"
            timed = "start" in span and "end" in span
            if timed and same_number(value, duration_of(span), within=1e-6):
                rec.dropped("S3", at, value, DERIVED)
            else:
                rec.keep("S3", at, value, ASIDE)
    if "duration" in timing:
        rec.keep("S3", "/timing/duration", timing.pop("duration"), ASIDE)


def drop_early_counts(rec: Record) -> None:
    """S3 (9 to 17 Jun): `reward`, `branches`, `num_turns`, `num_branches`, `is_truncated`, `has_error`."""
    trace = rec.doc
    for name, derive in (
        ("reward", _reward),
        ("num_turns", _turns),
        ("num_branches", _branches),
        ("is_truncated", is_truncated),
        ("has_error", _has_error),
    ):
        if name in trace:
            value = trace.pop(name)
            known = derive(trace)
            same = value is known if isinstance(known, bool) else same_number(value, known)
            if same:
                rec.dropped("S3", "/" + name, value, DERIVED)
            else:
                rec.keep("S3", "/" + name, value, ASIDE)
    if "branches" in trace:
        value = trace.pop("branches")
        told = set(_leaves(trace))
        if all(leaf in told for leaf in _leaves(value)):
            rec.dropped("S3", "/branches", value, "every value in it stands in the rest of the trace")
        else:
            rec.keep("S3", "/branches", value, ASIDE)


def is_truncated(trace: dict[str, Any]) -> bool:
    """Whether a limit ended the trace: by its stop condition, or by why its last good call ended."""
    stop = trace.get("stop_condition")
    if isinstance(stop, str) and stop in TRUNCATING:
        return True
    good = [call for call in items(trace.get("calls")) if isinstance(call, dict) and call.get("error") is None]
    return bool(good) and good[-1].get("finish_reason") == "length"


def _reward(trace: dict[str, Any]) -> float | None:
    total = 0.0
    for reward in members(trace.get("rewards")).values():
        if reward is None:
            continue
        score = as_float(reward if is_number(reward) else members(reward).get("score"))
        weight = as_float(members(reward).get("weight", 1.0))
        if score is None or weight is None:
            return None
        total += score * weight
    return total


def _turns(trace: dict[str, Any]) -> int:
    return sum(1 for node in items(trace.get("nodes")) if members(node).get("sampled") is True)


def _branches(trace: dict[str, Any]) -> int:
    nodes = [members(node) for node in items(trace.get("nodes"))]
    parents = {node["parent"] for node in nodes if isinstance(node.get("parent"), int)}
    return len(nodes) - sum(1 for index in range(len(nodes)) if index in parents)


def _has_error(trace: dict[str, Any]) -> bool:
    ok = trace.get("ok")
    return not ok if isinstance(ok, bool) else bool(trace.get("errors"))


def _leaves(value: Any) -> Iterator[tuple[str, str]]:
    """The texts and numbers below a value with their types; true, false and null tell nothing apart."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            stack.extend(found.values())
        elif isinstance(found, list):
            stack.extend(found)
        elif found is not None and not isinstance(found, bool):
            yield type(found).__name__, str(found)
