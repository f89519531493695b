"""Everything a program can ask of a record: each derived property of each object below it, each dump."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from evh.errors import EvhError
from evh.protocol._open import OpenObject
from evh.protocol.behaviour.branch import Branch
from evh.protocol.behaviour.node import STREAMS

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("to_record", {}),
    ("to_record", {"float_decimals": 4}),
    ("model_dump", {}),
    ("model_dump", {"mode": "json", "exclude_none": True}),
)
MOST_ITEMS = 400
"""Of a very long list only the ends are looked at: the objects in it are alike."""


@cache
def properties(cls: type) -> tuple[str, ...]:
    """The public names of a class that compute something on reading."""
    names = []
    for name in dir(cls):
        member = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        if not name.startswith("_") and (isinstance(member, property) or name in STREAMS or name == "loss_weights"):
            names.append(name)
    return tuple(names)


def use(record: Any) -> None:
    """Ask everything; whatever is raised outside `evh.errors` comes out, except the AttributeError of `Trace.run`."""
    for name, arguments in CALLS:
        _ask(record, name, arguments)
    waiting: list[Any] = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, msgspec.Struct | OpenObject | Branch):
            for name in properties(type(value)):
                found = _ask(value, name, None)
                if name == "branches":
                    waiting += (found or [])[:3]
            if isinstance(value, Branch):
                _ask(value, "loss_weights", {"name": "policy"})
            if isinstance(value, msgspec.Struct):
                waiting += (_ask(value, name, None) for name in value.__struct_fields__)
        elif isinstance(value, list):
            waiting += value if len(value) <= MOST_ITEMS else [*value[: MOST_ITEMS // 2], *value[-MOST_ITEMS // 2 :]]
        elif isinstance(value, Mapping):
            waiting += [each for each in value.values() if isinstance(each, msgspec.Struct)]


def _ask(value: Any, name: str, arguments: dict[str, Any] | None) -> Any:
    try:
        if arguments is not None and not hasattr(value, name):
            return None
        found = getattr(value, name)
        return found if arguments is None else found(**arguments)
    except EvhError as error:
        if len(str(error)) > 20_000:
            raise AssertionError(f"{name}: a message of {len(str(error))} characters") from error
        return None
    except AttributeError as error:
        if name == "run" and "Episode.run" in str(error):
            return None
        raise
