"""Hypothesis strategies made from the schemas: any type of the contract, valid by construction.

Promise: every document of `documents` passes the schema of its type; with `coherent=True` `verify` finds nothing
either. Every keyword that the schemas' profile allows is honoured, every member, variant and enum value turns up, and
a keyword that is not known here is a `UsageError`, never ignored. Numbers stay within what every JSON reader holds
exactly.
Policy: how large and how deep documents get, and which values are likely.
When it breaks: property tests lose their meaning in silence, so a test holds every type against the reference
validator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from evh.errors import UsageError
from evh.protocol.codec import decode
from evh.protocol.engine import json_schema
from evh.protocol.tables import FILES, ROOTS
from evh.testing.coherence import make_coherent
from evh.testing.mutations import mangle, mutate

__all__ = ["DEPTH", "document_types", "documents", "json_values", "mangled", "mutated", "records", "sample"]

T = TypeVar("T")

DEPTH = 7
"""How many references deep a document goes: an episode down to the URL of an image is six."""

SAFE = 2**53 - 1
IGNORED_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
STREAM_LENGTH = 5
KNOWN_KEYWORDS = frozenset(
    [
        "$id",
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "additionalProperties",
        "required",
        "properties",
        "items",
        "oneOf",
        "anyOf",
        "const",
        "enum",
        "default",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
    ]
)
TEXTS = (
    "",
    "x",
    "eval",
    "1",
    "null",
    "*",
    "a/b~c",
    "Grüße",
    "日本語",
    "\u2028",
    "\x00",
    "{}",
    "😀",
    "é",
    "line\nline",
    " ",
)

_text: SearchStrategy[str] = st.one_of(st.sampled_from(TEXTS), st.text(max_size=8))
_floats: SearchStrategy[float] = st.floats(allow_nan=False, allow_infinity=False)
_scalars: SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.integers(-SAFE, SAFE), _floats, _text
)


def json_values(*, max_leaves: int = 4) -> SearchStrategy[Any]:
    """Any JSON value: small trees of objects and arrays, finite floats, integers within ±(2^53−1), whole text."""
    return st.recursive(
        _scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_text, inner, max_size=2)),
        max_leaves=max_leaves,
    )


_json_values = json_values()
_HEXADECIMAL = re.compile(r"\^\[0-9a-f\]\{([0-9]+)\}\$")
_instants: SearchStrategy[str] = st.builds(
    lambda moment, fraction: moment.replace(microsecond=0).isoformat() + fraction + "Z",
    st.datetimes(),
    st.sampled_from(("", ".0", ".5", ".123456", ".999999999")),
)


def document_types() -> list[str]:
    """The names of all types that `documents` knows, sorted: roots, definitions and unions."""
    return sorted({*ROOTS, *FILES})


def documents(
    kind: Any, *, max_depth: int = DEPTH, coherent: bool = False, wire: bool = False, computed: bool = True
) -> SearchStrategy[Any]:
    """JSON documents of a type, valid by construction: new dicts that a test may change.

    `kind` is a name (`"Episode"`, `"MessageNode"`, the union `"Message"`) or a class of `evh`. `max_depth` bounds how
    many references deep a document goes; below it stand only required members. `coherent` also follows the rules
    between members that `verify` knows. `wire` adds the members of the MessagePack wire, whose tensors hold bytes:
    such a document is MessagePack, not JSON. Without `computed` the members that other writers compute are left out,
    and a document is exactly what is written back.
    Raises `UsageError` for a type that there is not.
    """
    name = _name_of(kind)
    strategy = _plan(name, wire, computed).root(max_depth)
    return strategy.map(lambda document: make_coherent(name, document)) if coherent else strategy


def records(kind: Any, *, max_depth: int = DEPTH, coherent: bool = False) -> SearchStrategy[Any]:
    """Records of a type, as `decode` gives them: token streams are still raw text.

    Raises `UsageError` for a type that there is not.
    """
    cls = _class_of(kind)
    found = documents(kind, max_depth=max_depth, coherent=coherent)
    return found.map(lambda document: decode(json.dumps(document), cls))


def mutated(valid: SearchStrategy[T], *, changes: int = 4) -> SearchStrategy[Any]:
    """Documents of another strategy with up to `changes` changes: members dropped, added, renamed, retyped, put to
    their bounds, swapped, nested. Most break their schema, some do not. Shrinks towards few changes."""
    return st.builds(_mutated, valid, st.randoms(use_true_random=False), st.integers(1, changes))


def mangled(valid: SearchStrategy[Any], *, changes: int = 2) -> SearchStrategy[bytes]:
    """JSON text of another strategy's documents, gone wrong as bytes: flipped, cut, nested deeply, with huge numbers,
    duplicate keys, NaN, lone surrogates, graph cycles."""
    texts = valid.map(lambda document: json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return st.builds(_mangled, texts, st.randoms(use_true_random=False), st.integers(1, changes))


def sample(strategy: SearchStrategy[T], count: int, *, seed: int) -> list[T]:
    """At most `count` values of a strategy, the same ones for the same seed: for drivers that are no Hypothesis
    tests."""
    return _sample(strategy, count, seed) if count > 0 else []


def _sample(strategy: SearchStrategy[T], count: int, number: int) -> list[T]:
    found: list[T] = []

    @seed(number)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=IGNORED_CHECKS,
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found


def _mutated(document: Any, random: Any, changes: int) -> Any:
    return mutate(document, random, changes, swell=False)


def _mangled(data: bytes, random: Any, changes: int) -> bytes:
    for _ in range(changes):
        data = mangle(data, random)
    return data


def _name_of(kind: Any) -> str:
    if isinstance(kind, str):
        if kind not in FILES and kind not in ROOTS:
            raise UsageError(f"no type is named {kind!r}: there are {', '.join(document_types())}")
        return kind
    from evh.protocol._explain import type_name

    return type_name(kind)


def _class_of(kind: Any) -> Any:
    from evh.protocol import models

    name = _name_of(kind)
    cls = getattr(models, name, None)
    if cls is None:
        raise UsageError(f"{name} is no record: it has no class")
    return cls


@cache
def _plan(name: str, wire: bool, computed: bool) -> _Plan:
    address = ROOTS.get(name) or f"{FILES[name]}#{name}"
    return _Plan(json_schema(address, bundle=True), wire=wire, computed=computed)


class _Plan:
    """The strategies of one self-contained schema, each reference at each depth made once, when it is drawn from."""

    def __init__(self, schema: dict[str, Any], *, wire: bool, computed: bool) -> None:
        self.schema = schema
        self.left_out = {mark for mark, kept in (("x-wire", wire), ("x-computed", computed)) if not kept}
        self.wire = wire
        self.made: dict[tuple[str, int], SearchStrategy[Any]] = {}

    def root(self, depth: int) -> SearchStrategy[Any]:
        # A root that only refers to a definition is that definition, no step to it.
        return self.referred("#", max(depth, 0) + ("$ref" in self.schema))

    def referred(self, reference: str, depth: int) -> SearchStrategy[Any]:
        key = reference, max(depth, 0)
        if key not in self.made:
            self.made[key] = st.deferred(lambda: self.target(*key))
        return self.made[key]

    def target(self, reference: str, depth: int) -> SearchStrategy[Any]:
        name = reference.removeprefix("#").removeprefix("/$defs/")
        if name == "Tensor" and self.wire:
            return _tensors()
        schema = self.schema["$defs"][name] if name else {key: v for key, v in self.schema.items() if key != "$defs"}
        return self.of(schema, depth)

    def of(self, schema: dict[str, Any], depth: int) -> SearchStrategy[Any]:
        strange = {key for key in schema if key not in KNOWN_KEYWORDS and not key.startswith("x-")}
        if strange:
            raise UsageError(f"no strategy follows the keyword {min(strange)!r}")
        if "$ref" in schema:
            return self.referred(schema["$ref"], depth - 1)
        if "oneOf" in schema or "anyOf" in schema:
            branches: list[dict[str, Any]] = schema.get("oneOf") or schema["anyOf"]
            if depth <= 0 and {"type": "null"} in branches:
                return st.none()
            return st.one_of([self.of(branch, depth) for branch in branches])
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        kinds = schema.get("type")
        if kinds is None:
            return _json_values
        return st.one_of([self.typed(kind, schema, depth) for kind in ([kinds] if isinstance(kinds, str) else kinds)])

    def typed(self, kind: str, schema: dict[str, Any], depth: int) -> SearchStrategy[Any]:
        makers: dict[str, Callable[[], SearchStrategy[Any]]] = {
            "null": st.none,
            "boolean": st.booleans,
            "integer": lambda: _integers(schema),
            "number": lambda: _numbers(schema),
            "string": lambda: _strings(schema),
            "array": lambda: self.arrays(schema, depth),
            "object": lambda: self.objects(schema, depth),
        }
        return makers[kind]()

    def arrays(self, schema: dict[str, Any], depth: int) -> SearchStrategy[list[Any]]:
        least: int = schema.get("minItems", 0)
        most = STREAM_LENGTH if "x-stream" in schema else max(least, min(3, depth))
        return st.lists(self.of(schema["items"], depth), min_size=least, max_size=most)

    def objects(self, schema: dict[str, Any], depth: int) -> SearchStrategy[dict[str, Any]]:
        kept = {
            name: member
            for name, member in schema.get("properties", {}).items()
            if not any(mark in member for mark in self.left_out)
        }
        required = {name: self.of(kept[name], depth) for name in schema.get("required", ())}
        optional = {} if depth <= 0 else {n: self.of(member, depth) for n, member in kept.items() if n not in required}
        extra = schema["additionalProperties"]
        others = None if extra is False or depth <= 0 else self.of(extra, depth)
        if not required and not optional:
            return st.just({}).map(dict) if others is None else st.dictionaries(_text, others, max_size=3)
        taken = frozenset(schema.get("properties", {}))
        return _objects(required, optional, others, taken)


@st.composite
def _objects(
    draw: st.DrawFn,
    required: dict[str, SearchStrategy[Any]],
    optional: dict[str, SearchStrategy[Any]],
    others: SearchStrategy[Any] | None,
    taken: frozenset[str],
) -> dict[str, Any]:
    made = {name: draw(strategy) for name, strategy in required.items()}
    if optional:
        # Now and then everything at once: what lies deep is hardly ever reached by chance.
        everything = draw(st.sampled_from((False, False, False, True)))
        some = list(optional) if everything else draw(st.lists(st.sampled_from(list(optional)), unique=True))
        for name in some:
            made[name] = draw(optional[name])
    if others is not None:
        names = _text.filter(lambda name: name not in taken)
        made |= draw(st.dictionaries(names, others, max_size=2))
    return made


def _integers(schema: dict[str, Any]) -> SearchStrategy[int]:
    least, most = schema["minimum"], schema["maximum"]
    usual = st.integers(max(least, -3), min(most, 9)) if max(least, -3) <= min(most, 9) else st.just(least)
    return st.one_of(usual, st.integers(least, most), st.sampled_from((least, most)))


def _numbers(schema: dict[str, Any]) -> SearchStrategy[int | float]:
    above = schema.get("exclusiveMinimum")
    least, most = schema.get("minimum", above), schema.get("maximum")
    whole = st.integers(-SAFE if least is None else -(-least // 1), SAFE if most is None else most // 1)
    part = st.floats(
        least, most, allow_nan=False, allow_infinity=False, exclude_min=above is not None, allow_subnormal=True
    )
    usual = [0.0, 1.0, -1.5, 0.25, 1735689600.123, 5e-324, 1.7976931348623157e308, -0.0]
    fitting = [value for value in usual if _fits(value, least, most, above)]
    strategies: list[SearchStrategy[Any]] = [
        whole if above is None else whole.filter(lambda value: value > above),
        part,
    ]
    return st.one_of([*strategies, st.sampled_from(fitting)] if fitting else strategies)


def _fits(value: float, least: float | None, most: float | None, above: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most) and (above is None or value > above)


def _strings(schema: dict[str, Any]) -> SearchStrategy[str]:
    least: int = schema.get("minLength", 0)
    most: int | None = schema.get("maxLength")
    pattern: str | None = schema.get("pattern")

    def fits(text: str) -> bool:
        return len(text) >= least and (most is None or len(text) <= most)

    if pattern is None:
        return _text.filter(fits) if least or most is not None else _text
    if (digits := _HEXADECIMAL.fullmatch(pattern)) is not None:
        count = int(digits[1])
        return st.integers(0, 16**count - 1).map(lambda number: f"{number:0{count}x}")
    if schema.get("format") == "date-time":
        valid = re.compile(pattern)
        return _instants.filter(lambda text: valid.search(text) is not None and fits(text))
    # The profile's patterns are anchored: what stands between the anchors, matched whole, is what they mean.
    core = pattern.removeprefix("^").removesuffix("$").removesuffix(r"(?!\n)")
    return st.from_regex(rf"(?:{core})\Z", fullmatch=True).filter(fits)


@st.composite
def _tensors(draw: st.DrawFn) -> dict[str, Any]:
    kind: Literal["uint8", "int32"] = draw(st.sampled_from(["uint8", "int32"]))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    count = 1 if kind == "uint8" else 4
    for size in shape:
        count *= size
    return {"__nd__": True, "dtype": kind, "shape": shape, "data": draw(st.binary(min_size=count, max_size=count))}
