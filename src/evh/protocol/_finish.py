"""Completes the generated structs: stream descriptors, what is minted on construction, which plain dicts get
wrapped."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from evh._version import __version__
from evh.protocol._open import PLAIN, OpenMember, OpenObject
from evh.protocol._streams import install_streams
from evh.protocol.tables import CLASSES, ClassTable

SCHEMA_VERSION = "1.0"

Make = Callable[[Any], Any]


def finish(names: dict[str, Any]) -> None:
    """Complete every class of the models package, given its names."""
    minted = _minted(names)
    for name, table in CLASSES.items():
        cls = names[name]
        if not table.closed:
            continue
        plan: dict[str, Make] = {}
        for wire, member in table.members.items():
            python = _attribute(cls, wire)
            if member.kind[0] == "open":
                plan[python] = _unwrap
                setattr(cls, PLAIN + python, cls.__dict__[python])
                setattr(cls, python, OpenMember(names[member.kind[1]], cls.__dict__[python]))
            elif member.kind[0] == "array" and member.kind[1][0] == "open":
                plan[python] = partial(_wrap_all, names[member.kind[1][1]])
        cls.construction_plan = plan
        cls.record_name = name
        cls.minting_plan = minted.get(name, {})
        marked = {mark: _marked(cls, table, mark) for mark in ("omit-empty", "wire")}
        cls.omitted_when_empty, cls.left_out_of_json = marked["omit-empty"], marked["wire"]
        install_streams(cls, _streams(table))


def _marked(cls: Any, table: ClassTable, mark: str) -> frozenset[str]:
    return frozenset(_attribute(cls, wire) for wire, member in table.members.items() if mark in member.marks)


def _attribute(cls: Any, wire: str) -> str:
    return str(dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True)).get(wire, wire))


def _streams(table: ClassTable) -> dict[str, str]:
    """Stream name to what its items are: int, bool, float, optional floats, optional map of floats."""
    streams: dict[str, str] = {}
    for wire, member in table.members.items():
        if "stream" in member.marks:
            if member.kind[0] == "map":
                streams[wire] = "map"
            elif member.nullable:
                streams[wire] = "optional"
            else:
                streams[wire] = {"integer": "int", "scalar": "bool", "number": "float"}[member.kind[1][0]]
    return streams


def _minted(names: dict[str, Any]) -> dict[str, dict[str, Callable[[], Any]]]:
    version = f"evh-{__version__}"
    return {
        "Episode": {"schema": lambda: f"evh:{SCHEMA_VERSION}:episode", "id": _new_id},
        "Trace": {
            "id": _new_id,
            "verifiers": lambda: names["VersionInfo"](version=version),
            "timing": lambda: names["Timing"](start=time.time()),
        },
        "Timing": {"start": time.time},
        "MessageNode": {
            "timestamp": time.time,
            **dict.fromkeys(("token_ids", "mask", "is_content", "logprobs"), list),
        },
        "RunManifest": {"schema": lambda: f"evh:{SCHEMA_VERSION}:run_manifest"},
    }


def _new_id() -> str:
    return uuid.uuid4().hex


def _unwrap(given: Any) -> Any:
    return given.plain() if isinstance(given, OpenObject) else given


def _wrap_all(cls: type[OpenObject], given: Any) -> Any:
    if not isinstance(given, list | tuple):
        return given
    return [cls.over(each) if type(each) is dict else each for each in given]
