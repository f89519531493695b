"""Our own reader as a program of the conformance protocol: `python -m evh.testing.reader` (docs/conformance.md).

Promise: an answer to every request, in all modes and layers; what is no request is told on standard error and ends the
program with 1. Nothing of the vectors is known here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

from evh import errors
from evh.errors import DecodeError, EvhError, Notice, RecordError, SchemaError
from evh.protocol import codec, jsontext, models, upgraded, verify
from evh.protocol.tables import CLASSES, UNIONS

__all__ = ["HELLO", "answer", "main"]

Answer = dict[str, Any]
HELLO: Answer = {
    "evh_conformance": 1,
    "name": "evh (Python)",
    "modes": ["strict", "lenient", "canonical", "upgrade"],
    "layers": ["json", "schema", "semantic"],
    "types": [*CLASSES, *UNIONS],
}
UPGRADED = ("Episode", "Trace")


def answer(request: dict[str, Any]) -> Answer:
    """What the reader says to a request."""
    data = request["input"].encode() if "input" in request else base64.b64decode(request["input_base64"])
    return {"id": request["id"], **_MODES[request["mode"]](data, request["type"])}


def _strict(data: bytes, name: str) -> Answer:
    """The layers in order; the first that finds something decides."""
    try:
        faults = jsontext.check_text(data)
    except DecodeError:
        return _refused("json", "", "not-json")
    if faults:
        pointer, keyword = min((fault.pointer, fault.kind) for fault in faults)
        return _refused("json", pointer, keyword)
    try:
        record = codec.decode_strict(data, _class(name))
    except DecodeError as error:
        return _refused("json", error.pointer or "", "not-json")
    except SchemaError as error:
        return _refused("schema", error.violations[0].pointer, error.violations[0].keyword)
    except RecordError as error:  # the one rule that reading itself holds
        return _refused("semantic", error.pointer, "derived-depth")
    found = sorted((each.pointer, each.keyword) for each in verify.verify(record))
    return _refused("semantic", *found[0]) if found else {"verdict": "accepted"}


def _lenient(data: bytes, name: str) -> Answer:
    notices: list[Notice] = []
    try:
        record = codec.decode(data, _class(name), notices=notices)
    except DecodeError:
        return {"verdict": "refused", "pointer": "", "keyword": "not-json"}
    except SchemaError as error:
        return {"verdict": "refused", "pointer": error.violations[0].pointer, "keyword": error.violations[0].keyword}
    except RecordError as error:
        return {"verdict": "refused", "pointer": error.pointer, "keyword": "derived-depth"}
    said = {"verdict": "accepted", "notices": [[each.kind, each.pointer] for each in notices]}
    try:
        return said | {"written": codec.encode(record).decode()}
    except errors.NotWritable as error:
        return said | {"written": None, "why": str(error)}


def _canonical(data: bytes, name: str) -> Answer:
    try:
        text = jsontext.canonical(jsontext.parse(data)[0])
    except EvhError:
        return {"verdict": "refused"}
    return {"verdict": "accepted", "sha256": hashlib.sha256(text).hexdigest()}


def _upgrade(data: bytes, name: str) -> Answer:
    if name not in UPGRADED:
        return {"verdict": "unsupported"}
    try:
        up = upgraded.upgrade(data, _class(name))
        text = jsontext.canonical(jsontext.parse(codec.encode(up.record))[0])
    except EvhError:
        return {"verdict": "refused"}
    return {"verdict": "accepted", "steps": len(up.steps), "sha256": hashlib.sha256(text).hexdigest()}


_MODES: dict[str, Callable[[bytes, str], Answer]] = {
    "strict": _strict,
    "lenient": _lenient,
    "canonical": _canonical,
    "upgrade": _upgrade,
}


def _refused(layer: str, pointer: str, keyword: str) -> Answer:
    return {"verdict": "refused", "layer": layer, "pointer": pointer, "keyword": keyword}


def _class(name: str) -> Any:
    return getattr(models, name)


def main() -> int:
    """Answer the requests on standard input until it ends."""
    _say(HELLO)
    for line in sys.stdin.buffer:
        try:
            said = answer(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            sys.stderr.write(f"no request that this reader knows: {errors.cut(line)} ({error})\n")
            return 1
        _say(said)
    return 0


def _say(message: Answer) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
