"""What the reference validator says of a document, and the line of a vector file that states it.

Promise: the verdict of the schema layer is that of `jsonschema` over the files in `schema/v1`, the canonical bytes are
those of the `rfc8785` library. Nothing that the generator makes is asked, so that vectors can be made with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rfc8785

from evh.protocol.engine import Schemas

from ..shapes import Contract
from .lenient import Fault, Lenient, escaped
from .samples import Samples

SAFE = 2**53 - 1
LONGEST_TEXT = 1000
"""A text of more characters is told by what it repeats."""
Vector = dict[str, Any]


class Judging:
    """Vectors of the types of one contract."""

    def __init__(self, contract: Contract, folder: Path, samples: Samples) -> None:
        self.contract = contract
        self._schemas = Schemas(folder)
        self._roots = {title: stem for stem, title in contract.roots().items()}
        self._lenient = Lenient(samples, self.faults)

    def faults(self, name: str, document: Any) -> list[Fault]:
        """Every violation of a type's schema, in order; empty for a valid document."""
        stem = self._roots.get(name)
        address = stem if stem is not None else f"{self.contract.definitions[name][0].removesuffix('.json')}#{name}"
        return [(each.pointer, each.keyword) for each in self._schemas.reference_violations(address, document)]

    def vector(self, name: str, kind: str, document: Any) -> Vector:
        """The vector of a JSON value."""
        big = sorted(pointer for pointer, value in _leaves(document) if _is_big(value))
        given = {"text": compact(document)} if big else shortened(document)
        made: Vector = {"name": name, "type": kind, **given, "json": verdict([(big[0], "big-integer")] if big else [])}
        faults = self.faults(kind, document)
        made["schema"] = verdict(faults)
        lenient = self._lenient.reading(kind, document)
        if lenient is not None:
            made["lenient"] = lenient
        if not faults and not big:
            made["sha256"] = digest(document)
        return made


def shortened(document: Any) -> Vector:
    """A document as a vector holds it: a very long text is left empty there, with `fill` to say what it is."""
    for pointer, value in _leaves(document):
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            name = pointer.removeprefix("/")
            assert "/" not in name and value == value[0] * len(value), f"{pointer}: no such text is expected"
            fill = {"pointer": pointer, "text": value[0], "times": len(value)}
            return {"document": {**document, name: ""}, "fill": fill}
    return {"document": document}


def verdict(faults: list[Fault]) -> Any:
    return {"pointer": faults[0][0], "keyword": faults[0][1]} if faults else "ok"


def digest(document: Any) -> str:
    """The sha256 of the canonical bytes of a value."""
    return hashlib.sha256(rfc8785.dumps(document)).hexdigest()


def compact(value: Any) -> str:
    """JSON on one line, ASCII only, so that no tool splits or changes it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _is_big(value: Any) -> bool:
    return type(value) is int and abs(value) > SAFE


def _leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{where}/{escaped(key)}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _leaves(each, f"{where}/{index}")
    else:
        yield where, value
