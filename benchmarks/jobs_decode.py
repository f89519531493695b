"""Jobs about one row at a time: decode, odd rows, strict, upgrade, encode."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from benchmarks import handwritten
from benchmarks.data import Data, as_030, size_of, with_retired_run, with_unknown
from benchmarks.report import Bar, Report, at_least, at_most
from benchmarks.timing import each, interleave

__all__ = ["decode", "encode", "odd", "strict", "upgrade"]

TEXT_SETS = ("e5", "e50", "e500")
STREAM_SETS = ("e50t", "e500t")
NAMES = {
    "e5": "5 KB",
    "e50": "50 KB",
    "e500": "500 KB",
    "e50t": "50 KB with streams",
    "e500t": "500 KB with streams",
}


def decode(data: Data, report: Report, rounds: int) -> None:
    """Lenient decode against msgspec into hand-written structs, verifiers' own, and plain parses."""
    import orjson
    from verifiers.v1.episode import WireEpisode

    import evh

    handwritten.check_shape()
    lazy = msgspec.json.Decoder(handwritten.LazyEpisode).decode
    eager = msgspec.json.Decoder(handwritten.Episode).decode
    against_hand = {"e5": at_least(0.85), "e50": at_least(0.92), "e50t": at_least(0.9), "e500t": at_least(0.9)}
    against_theirs = {"e5": at_least(7), "e50": at_least(4.5), "e50t": at_least(4.5), "e500t": at_least(4.5)}
    for name in TEXT_SETS + STREAM_SETS:
        for kind, rows in (("clean", data.clean(name)), ("raw", data.raw(name))):
            _same_record(rows[0], lazy)
            timings = interleave(
                {
                    "evh.decode": each(evh.decode, rows),
                    "msgspec, hand-written, streams lazy": each(lazy, rows),
                    "msgspec, hand-written": each(eager, rows),
                    "verifiers model_validate_json": each(WireEpisode.model_validate_json, rows),
                    "orjson to dict": each(orjson.loads, rows),
                },
                rounds,
            )
            title = f"decode: {kind} rows, {NAMES[name]}"
            report.table("decode", title, timings, size_of(rows))
            what = f"decode {NAMES[name]}, {kind}: speed against"
            bars = kind == "clean"  # the bars are about rows of ours
            # Without streams both hand-written forms hold the same: the faster one is the yardstick.
            hand = ["msgspec, hand-written, streams lazy", "msgspec, hand-written"]
            yardstick = hand[0] if name in STREAM_SETS else min(hand, key=timings.median)
            label = "hand-written, lazy" if yardstick == hand[0] else "hand-written"
            report.speed(
                "decode", f"{what} {label}", timings, "evh.decode", yardstick, against_hand.get(name) if bars else None
            )
            theirs = "verifiers model_validate_json"
            report.speed(
                "decode", f"{what} verifiers", timings, "evh.decode", theirs, against_theirs.get(name) if bars else None
            )
            report.speed("decode", f"{what} orjson to dict", timings, "evh.decode", "orjson to dict")


def odd(data: Data, report: Report, rounds: int) -> None:
    """A retired `run` on each trace, and one unknown member, wherever it stands, against the clean row."""
    import evh

    clean = data.clean("e5")
    variants = {"a retired run on the trace": [with_retired_run(row) for row in clean]}
    for place in ("episode", "trace", "node"):
        variants[f"one unknown member on the {place}"] = [with_unknown(place)(row) for row in clean]
    candidates = {"clean": each(evh.decode, clean)}
    for name, rows in variants.items():
        noticed: list[Any] = []
        evh.decode(rows[0], notices=noticed)
        if len(noticed) != 1:
            raise SystemExit(f"benchmarks: {name}: expected one notice, got {noticed}")
        candidates[name] = each(evh.decode, rows)
        candidates[f"{name}, with notices"] = each(_with_notices(evh.decode), rows)
    timings = interleave(candidates, rounds)
    report.table("odd", "decode: rows of 6 KB with one odd member", timings, size_of(clean))
    for name in variants:
        bar = at_most(1.3) if "retired" in name else at_most(4)
        report.cost("odd", f"{name}: CPU against the clean row", timings, name, "clean", bar)
        report.cost("odd", f"{name}, with notices", timings, f"{name}, with notices", "clean")


def _with_notices(read: Callable[..., Any]) -> Callable[[bytes], Any]:
    return lambda row: read(row, notices=[])


def strict(data: Data, report: Report, rounds: int) -> None:
    """`decode_strict` against `decode`, and against JSON Schema validators."""
    import jsonschema
    import jsonschema_rs
    import orjson

    import evh

    schema = evh.json_schema("episode", bundle=True)
    python = jsonschema.Draft202012Validator(schema)
    rust = jsonschema_rs.Draft202012Validator(schema)
    bare = msgspec.json.Decoder(handwritten.Episode).decode
    for name in TEXT_SETS + STREAM_SETS:
        rows = data.clean(name)
        timings = interleave(
            {
                "evh.decode_strict": each(evh.decode_strict, rows),
                "evh.decode": each(evh.decode, rows),
                "orjson + jsonschema-rs": each(lambda row: rust.is_valid(orjson.loads(row)), rows),
            },
            rounds,
        )
        report.table("strict", f"strict: clean rows, {NAMES[name]}", timings, size_of(rows))
        bar = at_most(3) if name in STREAM_SETS else at_most(1.3)
        what = f"strict {NAMES[name]}:"
        report.cost("strict", f"{what} CPU against lenient", timings, "evh.decode_strict", "evh.decode", bar)
        theirs = "orjson + jsonschema-rs"
        report.speed("strict", f"{what} speed against {theirs}", timings, "evh.decode_strict", theirs)

        few = rows[: max(1, round(60_000 / size_of(rows)))]
        documents = [json.loads(row) for row in few]
        _refuses_bad(documents[0], python.is_valid, rust.is_valid)
        timings = interleave(
            {
                "evh.decode_strict": each(evh.decode_strict, few, repeat=40),
                "jsonschema (Python), parsed before": each(python.is_valid, documents),
                "msgspec, hand-written, no strict check": each(bare, few, repeat=40),
            },
            max(3, rounds // 4),
        )
        report.table("strict", f"validate: clean rows, {NAMES[name]}", timings, size_of(few))
        theirs = "jsonschema (Python), parsed before"
        what = f"{what} speed against jsonschema (Python)"
        # At 500 KB most of the time goes into text, which JSON Schema does not look at: bare msgspec is the ceiling.
        ahead = None if name == "e500" else at_least(80)
        report.speed("strict", what, timings, "evh.decode_strict", theirs, ahead)


def _refuses_bad(document: dict[str, Any], *validators: Callable[[Any], bool]) -> None:
    """A validator that takes everything is fast: make sure that these do look."""
    bad = {**document, "ok": "yes"}
    if not all(valid(document) and not valid(bad) for valid in validators):
        raise SystemExit("benchmarks: a validator takes a bad row or refuses a good one")


def upgrade(data: Data, report: Report, rounds: int) -> None:
    """Rows of release 0.3.0, and rows of today, to today's record."""
    import evh

    for name in ("e5", "e50", "e50t"):
        clean, raw = data.clean(name), data.raw(name)
        old = [as_030(row) for row in raw]
        if not evh.upgrade(old[0]).steps or evh.upgrade(clean[0]).steps:
            raise SystemExit("benchmarks: an old row was upgraded without a step, or a row of today with one")
        timings = interleave(
            {
                "evh.upgrade, rows of 0.3.0": each(evh.upgrade, old),
                "evh.upgrade, rows of 0.4.0": each(evh.upgrade, raw),
                "evh.upgrade, rows of ours": each(evh.upgrade, clean),
                "evh.decode, rows of ours": each(evh.decode, clean),
                "json.loads, rows of 0.3.0": each(json.loads, old),
            },
            max(3, rounds // 2),
        )
        report.table("upgrade", f"upgrade: {NAMES[name]}", timings, size_of(raw))
        for age in ("0.3.0", "0.4.0", "ours"):
            what = f"upgrade {NAMES[name]}, rows of {age}: CPU against decode of a row of ours"
            report.cost("upgrade", what, timings, f"evh.upgrade, rows of {age}", "evh.decode, rows of ours")
        what = f"upgrade {NAMES[name]}, rows of 0.3.0: CPU against a bare json.loads"
        report.cost("upgrade", what, timings, "evh.upgrade, rows of 0.3.0", "json.loads, rows of 0.3.0")


def encode(data: Data, report: Report, rounds: int) -> None:
    """`encode`, which only ever writes what is valid, against a bare msgspec encode of the same episodes."""
    import evh

    bare = msgspec.json.Encoder(enc_hook=lambda view: view.plain()).encode  # open objects are views of plain dicts
    lazy = msgspec.json.Decoder(handwritten.LazyEpisode).decode
    bars: dict[str, Bar] = {"e5": at_most(3.6), "e50": at_most(2.7)}
    for name in TEXT_SETS + STREAM_SETS:
        rows = data.clean(name)
        records = [evh.decode(row) for row in rows]
        for row, record in zip(rows, records, strict=True):
            if evh.encode(record) != row:
                raise SystemExit("benchmarks: a clean row is not written as it was read")
        candidates = {
            "evh.encode": each(evh.encode, records),
            "msgspec, the same structs": each(bare, records),
            "msgspec, hand-written": each(bare, [lazy(row) for row in rows]),
        }
        if name in STREAM_SETS:
            touched = [evh.decode(row) for row in rows]
            for episode in touched:
                for trace in episode.traces:
                    for node in trace.nodes:
                        node.token_ids, node.mask, node.is_content, node.logprobs  # noqa: B018 - reading makes lists
            candidates["evh.encode, streams read before"] = each(evh.encode, touched)
            candidates["msgspec, the same, streams read before"] = each(bare, touched)
        timings = interleave(candidates, rounds)
        report.table("encode", f"encode: {NAMES[name]}", timings, size_of(rows))
        quickest = min(["msgspec, the same structs", "msgspec, hand-written"], key=timings.median)
        what = f"encode {NAMES[name]}, validity included: CPU against {quickest}"
        report.cost("encode", what, timings, "evh.encode", quickest, bars.get(name))
        if name in STREAM_SETS:
            what = f"encode {NAMES[name]}, streams untouched: CPU against streams read before"
            report.cost("encode", what, timings, "evh.encode", "evh.encode, streams read before")


def _same_record(row: bytes, read: Callable[[bytes], Any]) -> None:
    """The hand-written structs must keep every member of the row, or they would win by leaving things out."""
    kept = msgspec.json.decode(msgspec.json.encode(read(row)))
    lost = _lost(msgspec.json.decode(row), kept)
    if lost:
        raise SystemExit(f"benchmarks/handwritten.py loses {lost}")


def _lost(value: Any, kept: Any, at: str = "") -> str:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name.startswith("num_") and name.endswith("_tokens"):
                continue  # computed by others, kept by nobody
            if name not in kept:
                return f"{at}/{name}"
            if lost := _lost(inner, kept[name], f"{at}/{name}"):
                return lost
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if lost := _lost(inner, kept[index], f"{at}/{index}"):
                return lost
    elif value != kept:
        return at
    return ""
