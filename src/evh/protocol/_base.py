"""What every generated struct stands on: the base class, its slots for what a release does not know, its factories.

Promise: a struct made by a decoder holds what the document said and nothing else; ids, times and versions are minted
only when a program makes a record (`RecordMeta`), never on reading. A member that a newer writer added is kept in
`additional` and written back; a retired member is noticed; a member that others compute is accepted and never kept.
Policy: how the slots signal to the codec (`SlowPath`, `seen_retired`) may change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from evh.errors import UsageError
from evh.protocol._tensor import Tensor, WireObject
from evh.protocol.behaviour.dump import DumpBehaviour

__all__ = [
    "ABSENT",
    "MINTED",
    "ArmValue",
    "BoolStream",
    "ComputedSlot",
    "FloatStream",
    "IntStream",
    "Model",
    "OptionalFloatStream",
    "OptionalFloatStreams",
    "Overflow",
    "OverflowSlot",
    "RecordMeta",
    "RetiredSlot",
    "SlowPath",
    "Tensor",
    "UnknownArm",
    "WireObjectSlot",
    "always",
    "new_dict",
    "new_list",
    "seen_retired",
]


T = TypeVar("T")


class SlowPath(Exception):
    """Raised by a hook when the native codec cannot go on; the codec catches it and takes the explaining path."""


class _Seen(threading.local):
    def __init__(self) -> None:
        self.retired: list[Any] = []
        self.computed = False


seen_retired = _Seen()
"""Set by the slots of retired and computed members while this thread decodes; the codec clears and reads it."""


def always(value: T) -> Callable[[], T]:
    """A factory for a scalar default that is written even when nothing changed it.

    msgspec leaves out a member that *is* its default; one that came from a factory of ours is never left out.
    """
    return lambda: value


def new_list() -> list[Any]:
    return []


def new_dict() -> dict[str, Any]:
    return {}


ABSENT: Any = msgspec.UNSET
"""The default of members whose absence is kept apart from every value."""

MINTED: Any = msgspec.field()
"""Marks a member that documents must have and that programs may leave out, because `RecordMeta` makes it."""


class RecordMeta(msgspec.StructMeta):
    """Calls of a record's class by a program, never by a decoder: mints what is missing, wraps open objects.

    CPython may call a class past its metaclass from a place that has called built-in classes many times before (a loop
    over factories, say). A required member is then missed loudly, with a TypeError, never minted wrongly.
    """

    if not TYPE_CHECKING:  # so that checkers see the constructor that the fields declare

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            for name, adapt in cls.construction_plan.items():
                if name in kwargs:
                    kwargs[name] = adapt(kwargs[name])
            for name, mint in cls.minting_plan.items():
                if name not in kwargs:
                    kwargs[name] = mint()
            config = cls.__struct_config__
            if config.tag_field is not None and config.tag_field in kwargs and config.tag != "*":
                given = kwargs.pop(config.tag_field)
                if given != config.tag:
                    raise UsageError(f"{cls.__name__}.{config.tag_field} is always {config.tag!r}, not {given!r}")
            return super().__call__(*args, **kwargs)


class Model(DumpBehaviour, msgspec.Struct, metaclass=RecordMeta):
    """The base of all records. Equality compares members; records are not hashable."""

    construction_plan: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """What is done to a member that a program passes."""
    minting_plan: ClassVar[Mapping[str, Callable[[], Any]]] = {}
    """What is made when a program passes no value; an explicit None is a value."""


class Overflow(Mapping[str, Any]):
    """Members that this release does not know, as a newer writer wrote them; written back with the object."""

    __slots__ = ("members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.members = dict(members)

    def __getitem__(self, name: str) -> Any:
        return self.members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.members!r})"

    @classmethod
    def read(cls, value: Any) -> Overflow:
        """A document that really has a member named `*` is for the explaining path."""
        raise SlowPath

    read_strict = read


class ArmValue(Overflow):
    """The whole object of an unknown variant of a union."""

    __slots__ = ()


class UnknownArm:
    """A variant of a union that this release does not know. `value` is the object; its members are also attributes."""

    __slots__ = ()

    if TYPE_CHECKING:
        value: ArmValue

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "value":
            raise AttributeError(name)
        try:
            return self.value[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no member {name!r}") from None


class _AnyInstance(type):
    """Lets a hook answer UNSET where the annotation names a class, which keeps the member out of the struct."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class RetiredMember(metaclass=_AnyInstance):
    """The slot of a member that the schema has retired: its presence is noticed, its value is not kept."""

    @classmethod
    def read(cls, value: Any) -> Any:
        seen_retired.retired.append(value)
        return msgspec.UNSET

    @classmethod
    def read_strict(cls, value: Any) -> Any:
        raise ValueError("a retired member")


class ComputedMember(metaclass=_AnyInstance):
    """The slot of a member that other writers compute: accepted, never kept."""

    @classmethod
    def read(cls, value: Any) -> Any:
        return msgspec.UNSET

    @classmethod
    def read_strict(cls, value: Any) -> Any:
        if value is not None and (type(value) is not int or not -(2**53) < value < 2**53):
            raise ValueError("expected an integer within ±(2^53−1) or null")
        seen_retired.computed = True
        return msgspec.UNSET


if TYPE_CHECKING:
    IntStream = list[int]
    BoolStream = list[bool]
    FloatStream = list[int | float]
    OptionalFloatStream = list[int | float] | None
    OptionalFloatStreams = dict[str, list[int | float]] | None
    OverflowSlot = Overflow | None
    RetiredSlot = Any
    ComputedSlot = Any
    WireObjectSlot = WireObject | None
else:
    IntStream = BoolStream = FloatStream = OptionalFloatStream = OptionalFloatStreams = msgspec.Raw | msgspec.UnsetType
    OverflowSlot = Overflow
    RetiredSlot = RetiredMember
    ComputedSlot = ComputedMember
    WireObjectSlot = WireObject | None
