"""What a vector asks of a reader, and whether an answer is right.

Promise: nothing is asked that a vector does not state or that the reader's layers do not reach. A strict answer
agrees when verdict, layer, pointer and keyword of the first fault do; a lenient one when the verdict and the notices
do, and, where the reader writes the document back, nothing of it is lost.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from evh.protocol.tables import CLASSES
from evh.testing.vectors import Vector, vector_bytes

__all__ = ["LAYERS", "MODES", "Question", "compare", "question"]

MODES = ("strict", "lenient", "canonical", "upgrade")
LAYERS = ("json", "schema", "semantic")
ALWAYS = "not-json"
"""The fault of the json layer that every reader must find, whatever layers it has."""
UNKEPT = frozenset(
    name for table in CLASSES.values() for name, member in table.members.items() if member.marks & {"computed", "wire"}
)
"""Members that a reader may leave out when it writes JSON."""

Wrong = tuple[str, str]
"""What was expected, and what was said."""


class Question(NamedTuple):
    """A mode to ask in, and the layer or mode that the answer counts for."""

    mode: str
    layer: str
    fault: dict[str, str] | None = None
    """What a strict reader must find first; None: nothing in the layers that the vector states."""


def question(vector: Vector, mode: str, layers: tuple[str, ...]) -> Question | None:
    """What to ask about a vector in a mode; None for nothing."""
    if mode == "strict":
        return _strict_question(vector, layers)
    states = {"lenient": "lenient", "canonical": "sha256", "upgrade": "upgrade"}[mode]
    return Question(mode, mode) if states in vector else None


def _strict_question(vector: Vector, layers: tuple[str, ...]) -> Question | None:
    reached = None
    for layer in LAYERS:
        said = vector.get(layer)
        if said == "ok" and layer in layers:
            reached = Question("strict", layer)
        elif isinstance(said, dict) and (layer in layers or said["keyword"] == ALWAYS):
            return Question("strict", layer, said)
        elif isinstance(said, dict) and layer == "json" and "schema" not in vector:
            return None  # what such a text means is not stated
    return reached


def compare(vector: Vector, asked: Question, answer: dict[str, Any], layers: tuple[str, ...]) -> Wrong | None:
    """Why an answer is wrong; None when it is right."""
    match asked.mode:
        case "strict":
            return _strict(vector, asked, answer, layers)
        case "lenient":
            return _lenient(vector, answer)
        case "canonical":
            expected = {"verdict": "accepted", "sha256": vector["sha256"]}
        case _:
            up = vector["upgrade"]
            expected = {"verdict": "refused"} if "refused" in up else {"verdict": "accepted", **up}
    return _differs(expected, answer)


def _differs(expected: dict[str, Any], answer: dict[str, Any]) -> Wrong | None:
    said = {key: answer.get(key) for key in expected}
    if said == expected:
        return None
    return _shown(expected), _shown({key: value for key, value in said.items() if key in answer})


def _strict(vector: Vector, asked: Question, answer: dict[str, Any], layers: tuple[str, ...]) -> Wrong | None:
    if asked.fault is not None:
        return _differs({"verdict": "refused", "layer": asked.layer, **asked.fault}, answer)
    beyond = {layer for layer in layers if layer not in vector}
    if answer.get("verdict") == "refused" and answer.get("layer") in beyond:
        return None
    if answer.get("verdict") == "accepted":
        return None
    said = {key: answer[key] for key in ("verdict", "layer", "pointer", "keyword") if key in answer}
    return _shown({"verdict": "accepted"}), _shown(said)


def _lenient(vector: Vector, answer: dict[str, Any]) -> Wrong | None:
    stated = vector["lenient"]
    if "refused" in stated:
        return _differs({"verdict": "refused", **stated["refused"]}, answer)
    expected = sorted(map(tuple, stated["notices"]))
    try:
        said = sorted((str(kind), str(pointer)) for kind, pointer in answer.get("notices", ()))
    except (TypeError, ValueError):
        said = [("no list of notices", "")]
    if answer.get("verdict") != "accepted" or said != expected:
        shown = {key: answer.get(key) for key in ("verdict", "notices", "pointer", "keyword") if key in answer}
        return _shown({"verdict": "accepted", "notices": expected}), _shown(shown)
    return _written(vector, answer, expected) if "written" in answer else None


def _written(vector: Vector, answer: dict[str, Any], notices: list[tuple[str, str]]) -> Wrong | None:
    if any(kind == "non-finite" for kind, _ in notices):
        return None
    try:
        written = json.loads(answer["written"])
    except (TypeError, ValueError):
        return "a document written back", _shown(answer["written"])
    gone = frozenset(pointer for kind, pointer in notices if kind == "retired")
    lost = _lost(json.loads(vector_bytes(vector).decode("utf-8-sig")), written, "", gone)
    return None if lost is None else (f"{lost} written back with its value", _shown(answer["written"]))


def _lost(given: Any, written: Any, pointer: str, gone: frozenset[str]) -> str | None:
    """The pointer of something that is not in what was written; None when everything is."""
    if isinstance(given, dict) and isinstance(written, dict):
        for key, value in given.items():
            at = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if at in gone or key in UNKEPT or value is None or (key not in written and value in ({}, [])):
                continue
            if key not in written:
                return at
            found = _lost(value, written[key], at, gone)
            if found is not None:
                return found
        return None
    if isinstance(given, list) and isinstance(written, list) and len(given) == len(written):
        pairs = enumerate(zip(given, written, strict=True))
        each_lost = (_lost(one, other, f"{pointer}/{index}", gone) for index, (one, other) in pairs)
        return next((each for each in each_lost if each is not None), None)
    same = given == written and isinstance(given, bool) == isinstance(written, bool)
    return None if same else pointer or "the document"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
