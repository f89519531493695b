"""`leaves_accounted`: the proof that an upgrade or a conversion lost nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

MISSING = object()


class StepLike(Protocol):
    """What a step has to say: see `evh.protocol.upgrade.Step`."""

    @property
    def action(self) -> str: ...
    @property
    def pointer(self) -> str: ...
    @property
    def to(self) -> str | None: ...
    @property
    def note(self) -> str: ...
    @property
    def value(self) -> Any: ...


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar and every empty object or array below a value, with its JSON Pointer."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, pointer + "/" + name.replace("~", "~0").replace("/", "~1"))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{pointer}/{index}")
    else:
        yield pointer, value


def at(document: Any, pointer: str) -> Any:
    """The value at a JSON Pointer, or MISSING."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name, MISSING)
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            return MISSING
    return document


def same(left: Any, right: Any) -> bool:
    """Equal in type and value: 1, 1.0 and true differ, -0.0 and 0.0 too, NaN equals itself."""
    return type(left) is type(right) and (left is right or repr(left) == repr(right))


def stands(document: Any, pointer: str, leaf: Any) -> bool:
    """Whether a leaf stands at a pointer; an empty object or array may have gained members, which loses nothing."""
    found = at(document, pointer)
    if isinstance(leaf, dict | list):
        return type(found) is type(leaf)
    return same(found, leaf)


def unaccounted(source: Any, result: Any, steps: Iterable[StepLike]) -> list[str]:
    """The pointers of source leaves that are neither in the result nor covered by a step that tells the truth.

    The steps with the longest pointer that reaches a leaf decide: `moved` and `kept` must show the same value in the
    result, `dropped` must carry the original or say where it stands, `repaired` must carry the original or say how.
    """
    by_pointer: dict[str, list[StepLike]] = {}
    for step in steps:
        if step.action != "added":
            by_pointer.setdefault(step.pointer, []).append(step)
    return [pointer for pointer, leaf in leaves(source) if not _covered(pointer, leaf, result, by_pointer)]


def _covered(pointer: str, leaf: Any, result: Any, by_pointer: dict[str, list[StepLike]]) -> bool:
    ancestor = pointer
    while ancestor not in by_pointer:
        if not ancestor:
            return stands(result, pointer, leaf)
        ancestor = ancestor.rpartition("/")[0]
    rest = pointer[len(ancestor) :]
    return any(_tells(step, rest, leaf, result) for step in by_pointer[ancestor])


def _tells(step: StepLike, rest: str, leaf: Any, result: Any) -> bool:
    if step.action in ("moved", "kept"):
        return step.to is not None and stands(result, step.to + rest, leaf)
    carried = same(at(step.value, rest), leaf)
    if step.action == "repaired":
        return step.to is not None and at(result, step.to) is not MISSING and bool(step.note) and carried
    if step.action == "dropped":
        shown = step.to is None or stands(result, step.to + rest, leaf)
        return carried and bool(step.note) and shown
    return False


def leaves_accounted(source: Any, result: Any, steps: Iterable[StepLike]) -> None:
    """Fail, naming every leaf of the source that the result and the steps do not account for."""
    lost = unaccounted(source, result, list(steps))
    assert not lost, f"{len(lost)} leaves lost: {lost[:20]}"
