"""The open objects: `models/_open.py` (wrappers with typed access), `models/_slots.py` (what structs hold of them) and
`models/_known.py` (what a strict read checks)."""

from __future__ import annotations

from .hints import known_hint, reaches, read_hint
from .shapes import Contract, Member, Shape

OPEN_HEAD = '''"""Open objects of the contract: typed access to the members that the schema names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from evh.protocol._open import OpenObject

'''

SLOTS_HEAD = '''"""What a struct's slot holds for an open object: the plain dict; reading the member wraps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.protocol.models import _open

'''

KNOWN_HEAD = '''"""The members that the schema names in open objects, as a strict reader and a writer check them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from evh.protocol._base import ABSENT

'''

KNOWN_TAIL = '''

def checker(name: str) -> Callable[[dict[str, Any]], None]:
    """A function that checks the known members of an open object; msgspec.ValidationError says what does not fit."""
    known = globals()["Known" + name]
    extra = EXTRA.get(name)
    if extra is None:
        return partial(msgspec.convert, type=known)
    names = frozenset(known.__struct_encode_fields__)

    def check(value: dict[str, Any]) -> None:
        msgspec.convert(value, known)
        msgspec.convert({key: each for key, each in value.items() if key not in names}, extra)

    return check
'''


def open_module(contract: Contract) -> str:
    shapes = [shape for shape in contract.shapes.values() if not shape.closed]
    names = sorted(shape.name for shape in shapes)
    parts = [OPEN_HEAD, f"__all__ = {names!r}\n"]
    parts += [_wrapper(contract, shape) for shape in shapes]
    return "".join(parts)


def _wrapper(contract: Contract, shape: Shape) -> str:
    known = {member.python: member.name for member in shape.members}
    checked = shape.extra != {}
    lines = [
        f"\n\nclass {shape.name}(OpenObject):",
        f'    """{_doc(shape.description)}"""',
        "",
        "    __slots__ = ()",
        "",
    ]
    lines += [f"    known: ClassVar[Mapping[str, str]] = {known!r}", f"    known_type: ClassVar[str] = {shape.name!r}"]
    if checked:
        lines.append("    checked: ClassVar[bool] = True")
    for member in shape.members:
        hint = read_hint(member)
        lines += [
            "",
            "    @property",
            f"    def {member.python}(self) -> {hint}:",
            f'        """{_doc(member.description)}"""',
        ]
        lines += [f"        value: {hint} = self._typed({member.name!r}, {_check(member)})", "        return value"]
        lines += ["", f"    @{member.python}.setter", f"    def {member.python}(self, value: {hint}) -> None:"]
        lines += [f"        self[{member.name!r}] = value"]
    return "\n".join(lines) + "\n"


def _check(member: Member) -> str:
    """The run-time type that a typed read converts to; None where the value is handed out as it is."""
    if member.kind.what == "open":
        return member.kind.name
    if reaches(member.kind, {"class", "union", "any"}):
        return "None"
    hint = read_hint(member).removesuffix(" | None")
    return hint if "Any" not in hint else {"dict[str, Any]": "dict"}.get(hint, "None")


def slots_module(contract: Contract) -> str:
    names = [shape.name for shape in contract.shapes.values() if not shape.closed]
    lines = [f"    {name}Slot = _open.{name}" for name in names]
    return (
        SLOTS_HEAD
        + "\n".join(lines)
        + "\nelse:\n    "
        + " = ".join(f"{name}Slot" for name in names)
        + " = dict[str, Any]\n"
    )


def known_module(contract: Contract) -> str:
    shapes = [shape for shape in contract.shapes.values() if not shape.closed]
    parts = [KNOWN_HEAD]
    for shape in shapes:
        lines = [f"\n\nclass Known{shape.name}(msgspec.Struct, kw_only=True, gc=False):"]
        for member in shape.members:
            schema = {key: value for key, value in member.schema.items() if key != "default"}
            hint = known_hint(contract, schema)
            default = "" if member.required else ", default=ABSENT"
            lines.append(f"    {member.python}: {hint} = msgspec.field(name={member.name!r}{default})")
        parts.append("\n".join(lines) + "\n")
    extras = {shape.name: known_hint(contract, shape.extra) for shape in shapes if shape.extra}
    text = ", ".join(f'"{name}": dict[str, {hint}]' for name, hint in extras.items())
    parts.append(f"\n\nEXTRA: dict[str, Any] = {{{text}}}\n")
    parts.append(KNOWN_TAIL)
    return "".join(parts)


def _doc(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
