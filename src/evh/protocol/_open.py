"""Open objects: a mapping with typed access to the members that the schema names, everything else simply there.

Promise: an open object is written as it was read, member for member, in its order. Reading does not check the members
it knows (`agent.config` belongs to another program and changes with its releases); a strict read and a writer do.
When it breaks: a known member of the wrong type is a `RecordError` when its attribute is read; `x["name"]` gives it as
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cache
from typing import Any, ClassVar

import msgspec

from evh.errors import RecordError, cut
from evh.protocol.behaviour.dump import DumpBehaviour

PLAIN = "_plain_"
"""Prefix of the attribute that gives an open member's slot as it is, without a view of it."""

__all__ = ["PLAIN", "OpenMember", "OpenObject", "known_check"]


class OpenObject(DumpBehaviour, MutableMapping[str, Any]):
    """The base of all open objects. `known` maps attribute to wire name for the members the schema names."""

    __slots__ = ("_members",)

    known: ClassVar[Mapping[str, str]] = {}
    known_type: ClassVar[str] = ""
    checked: ClassVar[bool] = False

    def __init__(self, members: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        object.__setattr__(self, "_members", dict(members or {}))
        for name, value in named.items():
            self._members[self.known.get(name, name)] = _plain(value)

    @classmethod
    def over(cls, members: dict[str, Any]) -> Any:
        """A view of a dict: changes through it are changes of the dict."""
        self = _new(cls)
        _set_members(self, members)
        return self

    @classmethod
    def read(cls, value: Any) -> Any:
        """Wrap what a document holds; ValueError, for msgspec to place, when it is no object."""
        if type(value) is not dict:
            raise ValueError("expected an object")
        if cls.checked:
            known_check(cls.known_type)(value)
        return cls.over(value)

    @classmethod
    def read_strict(cls, value: Any) -> Any:
        """The same, with the known members checked."""
        if type(value) is not dict:
            raise ValueError("expected an object")
        known_check(cls.known_type)(value)
        return cls.over(value)

    def _typed(self, name: str, hint: Any) -> Any:
        """A known member's value, checked; None when it is absent."""
        value = self._members.get(name)
        if value is None:
            return None
        if isinstance(hint, type) and issubclass(hint, OpenObject):
            if isinstance(value, hint):
                return value
            if type(value) is dict:
                return hint.over(value)
        elif hint is None:
            return value
        else:
            try:
                return msgspec.convert(value, hint, dec_hook=_read, strict=True)
            except (msgspec.ValidationError, ValueError, OverflowError, RecursionError):
                pass
        raise RecordError(f"{type(self).__name__}.{name} is {cut(value)}; read it as [{name!r}]", pointer=f"/{name}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_members":
            raise AttributeError(name)
        try:
            return self._members[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no member {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._members[self.known.get(name, name)] = _plain(value)

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._members[name] = _plain(value)

    def __delitem__(self, name: str) -> None:
        del self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OpenObject):
            return bool(self._members == other._members)
        return bool(self._members == other) if isinstance(other, dict) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._members!r})"

    def __copy__(self) -> OpenObject:
        return type(self)(self._members)

    def __deepcopy__(self, memo: dict[int, Any]) -> OpenObject:
        from copy import deepcopy

        return type(self)(deepcopy(self._members, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._members,))

    def plain(self) -> dict[str, Any]:
        """The members as a plain dict: the object's own, not a copy."""
        members: dict[str, Any] = self._members
        return members


_new = object.__new__
_set_members = OpenObject.__dict__["_members"].__set__


@cache
def known_check(name: str) -> Callable[[dict[str, Any]], None]:
    """The check of the known members of an open type; msgspec.ValidationError says what does not fit."""
    from evh.protocol.models._known import checker

    return checker(name)


class OpenMember:
    """The descriptor of a struct's open member: the slot holds the plain dict, reading gives a view of it."""

    __slots__ = ("kind", "slot")

    def __init__(self, kind: type[OpenObject], slot: Any) -> None:
        self.kind = kind
        self.slot = slot

    def __get__(self, record: Any, owner: Any = None) -> Any:
        if record is None:
            return self
        value = self.slot.__get__(record)
        return self.kind.over(value) if type(value) is dict else value

    def __set__(self, record: Any, value: Any) -> None:
        self.slot.__set__(record, _plain(value))


def _plain(value: Any) -> Any:
    """Open objects inside open objects are kept as plain dicts, so that one document has one form in memory."""
    return value._members if isinstance(value, OpenObject) else value


def _read(kind: Any, value: Any) -> Any:
    return kind.read(value)
