"""The clock of a first-generation row, in today's spans.

Promise: times are epoch seconds and durations seconds; a sum that the spans give is dropped, any other is kept
aside. Policy: the oldest rows have durations in milliseconds only: generating is taken to begin at the start and
scoring to follow it. Time in the environment is what an agent's span calls `harness`.
"""

from __future__ import annotations

from typing import Any

from evh.protocol.upgrade.counts import as_float, duration_of, same_number
from evh.protocol.upgrade.detect import is_number, members
from evh.protocol.upgrade.step import Record, token

__all__ = ["place_timing"]

RULE = "v0"
SPANS = {"setup": "setup", "generation": "agent", "scoring": "scoring"}
SHARES = {"model": "model", "env": "harness"}
SINCE_EPOCH = 1e-6


def place_timing(rec: Record, rest: dict[str, Any]) -> dict[str, Any]:
    """Today's `timing` from the row's, which is taken out of `rest` when it is an object."""
    timing: dict[str, Any] = {"start": 0.0}
    written = rest.get("timing")
    if not isinstance(written, dict):
        return timing
    del rest["timing"]
    if not written:
        rec.dropped(RULE, "/timing", written, "says nothing")
        return timing
    left = dict(written)
    if is_number(left.get("start_time")):
        timing["start"] = left.pop("start_time")
        rec.moved(RULE, "/timing/start_time", "/timing/start")
    for name, to in SPANS.items():
        if isinstance(left.get(name), dict):
            timing[to] = _span(rec, f"/timing/{name}", f"/timing/{to}", left.pop(name))
    for name, to in SHARES.items():
        if isinstance(left.get(name), dict):
            _share(rec, name, to, left.pop(name), timing)
    _milliseconds(rec, left, timing)
    _sums(rec, written, left)
    for name, value in left.items():
        _leave(rec, "/timing" + token(name), value)
    order = ("start", "boot", "setup", "agent", "finalize", "scoring")
    return {name: timing[name] for name in order if name in timing}


def _leave(rec: Record, tail: str, value: Any) -> None:
    if value is None or value in ({}, []):
        rec.dropped(RULE, tail, value, "says nothing")
    else:
        rec.keep(RULE, tail, value, "a time that today's spans have no member for")


def _span(rec: Record, at: str, to: str, written: dict[str, Any]) -> dict[str, Any]:
    span = {name: written[name] for name in ("start", "end") if is_number(written.get(name))}
    if not written:
        rec.moved(RULE, at, to)
    for name, value in written.items():
        if name in span:
            rec.moved(RULE, f"{at}/{name}", f"{to}/{name}")
        elif name == "duration" and len(span) > 1 and same_number(value, duration_of(span), within=SINCE_EPOCH):
            rec.dropped(RULE, at + "/duration", value, "computed on reading")
        else:
            _leave(rec, at + token(name), value)
    return span


def _share(rec: Record, name: str, to: str, written: dict[str, Any], timing: dict[str, Any]) -> None:
    """A share of the agent's span: its sum; the single slices of the model are the times of its calls."""
    left = dict(written)
    at = f"/timing/{name}"
    if not written:
        _leave(rec, at, written)
    if is_number(left.get("duration")):
        timing.setdefault("agent", {})[to] = {"duration": left.pop("duration")}
        rec.moved(RULE, at + "/duration", f"/timing/agent/{to}/duration")
    slices = left.get("spans")
    calls = [index for index, call in enumerate(rec.doc["calls"]) if "node" in call]
    fits = name == "model" and isinstance(slices, list) and len(slices) == len(calls) and bool(calls)
    if fits and all(isinstance(span, dict) for span in left["spans"]):
        for place, (index, span) in enumerate(zip(calls, left.pop("spans"), strict=True)):
            at_span, to_span = f"{at}/spans/{place}", f"/calls/{index}/time"
            rec.doc["calls"][index]["time"] = _span(rec, at_span, to_span, span)
    for member, value in left.items():
        _leave(rec, at + token(member), value)


def _milliseconds(rec: Record, left: dict[str, Any], timing: dict[str, Any]) -> None:
    """The oldest rows: `generation_ms` and `scoring_ms`, one after the other from the start."""
    clock = as_float(timing["start"])
    for name, to in (("generation_ms", "agent"), ("scoring_ms", "scoring")):
        took = as_float(left.get(name))
        if took is None or clock is None or to in timing:
            continue
        end = clock + took / 1000.0
        timing[to] = {"start": clock, "end": end}
        rec.repaired(RULE, f"/timing/{name}", f"/timing/{to}", left.pop(name), "milliseconds, as a span in seconds")
        clock = end


def _sums(rec: Record, written: dict[str, Any], left: dict[str, Any]) -> None:
    """`total`, `overhead` and `total_ms`, dropped when they are the sums that their writers computed."""
    spans = {name: members(written.get(name)) for name in (*SPANS, *SHARES)}
    start, end = as_float(spans["generation"].get("start")), as_float(spans["scoring"].get("end"))
    total = None if start is None or end is None else end - start
    parts = [as_float(spans[name].get("duration")) for name in ("setup", "model", "env", "scoring")]
    known = [part for part in parts if part is not None]
    overhead = total - sum(known) if total is not None and len(known) == len(parts) else None
    ms = [as_float(written.get(name)) for name in ("generation_ms", "scoring_ms")]
    whole = [part for part in ms if part is not None]
    for name, value in (("total", total), ("overhead", overhead), ("total_ms", sum(whole) if len(whole) > 1 else None)):
        if value is not None and same_number(left.get(name), value, within=SINCE_EPOCH):
            rec.dropped(RULE, f"/timing/{name}", left.pop(name), "the sum of the others")
