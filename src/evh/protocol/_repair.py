"""The last part of an upgrade: what no historical shape explains is kept aside until the schema takes the document.

Promise: nothing is thrown away. A member that today's schema does not know, a value that does not fit, a NaN literal:
each stands under `info.evh.kept` of the trace it came from (else of the episode), keyed by its pointer there, and is
reported.
When it breaks: when a required value does not fit and nothing optional is around it, the document is left as it is and
the strict read that follows says why.
"""

from __future__ import annotations

from typing import Any

from evh.errors import Violation, cut
from evh.protocol._explain import root_of
from evh.protocol._fit import Taken, split_pointer, take_out
from evh.protocol.jsontext import NonFinite
from evh.protocol.upgrade.step import Step, clone, token

__all__ = ["repair"]

MAX_ROUNDS = 64


def repair(document: dict[str, Any], root: str) -> list[Step]:
    """Make a document of the root type fit its schema, in place; the steps taken."""
    keeper = _Keeper(document, root)
    keeper.take("non-finite", list(_nonfinite_pointers(document)))
    keeper.clean_names(document, "")
    address = root_of(root)
    seen: set[str] = set()
    for _ in range(MAX_ROUNDS):
        violations = [each for each in address.violations(document) if str(each) not in seen]
        for violation in violations:
            seen.add(str(violation))
            if violation.keyword == "surrogate":
                keeper.escape(violation.pointer)
            elif not keeper.replace(violation):
                keeper.take(violation.keyword, [violation.pointer], violation.message)
        if not violations:
            break
    keeper.seal()
    return keeper.steps


def _nonfinite_pointers(document: Any) -> list[str]:
    found: list[str] = []
    stack: list[tuple[Any, str]] = [(document, "")]
    while stack:
        value, where = stack.pop()
        if isinstance(value, NonFinite):
            found.append(where)
        elif isinstance(value, dict):
            stack += [(each, where + token(key)) for key, each in value.items()]
        elif isinstance(value, list):
            stack += [(each, where + token(index)) for index, each in enumerate(value)]
    return sorted(found)


class _Keeper:
    """What was taken out of a document, by the record whose `info` will hold it."""

    def __init__(self, document: dict[str, Any], root: str) -> None:
        self.document = document
        self.root = root
        self.steps: list[Step] = []
        self.kept: dict[str, dict[str, Any]] = {}

    def take(self, rule: str, pointers: list[str], why: str = "") -> None:
        """Take the values out; those that cannot go stay, for the strict read to name."""
        for where in pointers:
            taken = take_out(self.document, self.root, [where])
            for each in taken or ():
                self.keep(rule, each, why)

    def keep(self, rule: str, taken: Taken, why: str) -> None:
        owner, inner = self._owner(taken.pointer)
        value = _spelled(taken.value)
        self.kept.setdefault(owner, {})[inner] = value
        left = "kept under info.evh, null in its place" if taken.null else "kept under info.evh"
        note = f"{why + '; ' if why else ''}{left}"
        self.steps.append(Step(rule, "kept", taken.pointer, f"{owner}/info/evh/kept{token(inner)}", note, value))

    def replace(self, violation: Violation) -> bool:
        """Give a message or content part of an unknown kind the nearest known form, the original kept whole."""
        parts = split_pointer(violation.pointer)
        if violation.keyword not in ("oneOf", "anyOf") or len(parts) < 2:
            return False
        try:
            container, key = self._slot(parts)
        except (LookupError, TypeError, ValueError):
            return False
        original = container[key]
        if not isinstance(original, dict):
            return False
        if parts[-1] == "message":
            container[key] = _as_message(original)
        elif len(parts) > 2 and parts[-2] == "content":
            kind = original.get("type")
            container[key] = {"type": "text", "text": f"[{kind} part]" if isinstance(kind, str) else "[part]"}
        else:
            return False
        self.keep("unknown-tag", Taken(violation.pointer, original, null=False), violation.message)
        self.steps[-1] = self.steps[-1]._replace(note=f"{violation.message}; the nearest known form stands there now")
        return True

    def escape(self, where: str) -> None:
        """Replace lone surrogates, which no strict reader takes, by U+FFFD; the original is kept as its code points."""
        try:
            container, key = self._slot(split_pointer(where))
        except (LookupError, TypeError, ValueError):
            return
        original = container[key]
        if isinstance(original, str):
            container[key] = _clean(original)
            self.keep("surrogate", Taken(where, _spelled(original), null=False), "lone surrogates")
            self.steps[-1] = self.steps[-1]._replace(note="lone surrogates: U+FFFD stands for each; kept escaped")

    def clean_names(self, value: Any, where: str) -> None:
        """Give members whose name holds a lone surrogate a name that text can hold; the value stays, the name is
        kept."""
        stack = [(value, where)]
        while stack:
            item, place = stack.pop()
            if isinstance(item, list):
                stack += [(each, place + token(index)) for index, each in enumerate(item)]
            elif isinstance(item, dict):
                for name in [name for name in item if not name.isascii() and _clean(name) != name]:
                    clean = _clean(name)
                    while clean in item:
                        clean += "\ufffd"
                    item[clean] = item.pop(name)
                    spelled = place + token(_spelled(name))
                    self.keep("surrogate", Taken(spelled, _spelled(name), null=False), "a name with lone surrogates")
                    self.steps[-1] = self.steps[-1]._replace(note=f"the member is named {cut(clean)} now")
                stack += [(each, place + token(name)) for name, each in item.items()]

    def seal(self) -> None:
        """Put what was kept under `info.evh.kept` of its owner."""
        for owner, values in self._by_standing_owner().items():
            record = self._at(split_pointer(owner))
            info = record.setdefault("info", {})
            ours = info.setdefault("evh", {})
            if not isinstance(ours, dict):
                ours = info["evh"] = {"kept": {"/info/evh": ours}}
            kept = ours.setdefault("kept", {})
            if not isinstance(kept, dict):
                kept = ours["kept"] = {"/info/evh/kept": kept}
            for inner, value in values.items():
                name, count = inner, 2
                while name in kept and kept[name] != value:
                    name, count = f"{inner}#{count}", count + 1
                kept[name] = clone(value)
                if name != inner:
                    self._rename(f"{owner}/info/evh/kept", inner, name)

    def _by_standing_owner(self) -> dict[str, dict[str, Any]]:
        """What was kept, with the episode standing in for traces that were taken out themselves."""
        standing: dict[str, dict[str, Any]] = {}
        for owner, values in self.kept.items():
            if owner and not self._stands(owner):
                standing.setdefault("", {}).update({owner + inner: value for inner, value in values.items()})
                lost = f"{owner}/info/evh/kept"
                self.steps = [
                    self._moved_up(step, owner) if (step.to or "").startswith(lost) else step for step in self.steps
                ]
            else:
                standing.setdefault(owner, {}).update(values)
        return standing

    def _rename(self, place: str, inner: str, name: str) -> None:
        """An earlier upgrade kept another value under the same pointer: say where this one is."""
        old, new = place + token(inner), place + token(name)
        self.steps = [step._replace(to=new) if step.to == old else step for step in self.steps]

    def _stands(self, owner: str) -> bool:
        try:
            return isinstance(self._at(split_pointer(owner)), dict)
        except (KeyError, IndexError, TypeError, ValueError):
            return False

    def _moved_up(self, step: Step, owner: str) -> Step:
        inner = split_pointer((step.to or "").removeprefix(f"{owner}/info/evh/kept"))[0]
        return step._replace(to=f"/info/evh/kept{token(owner + inner)}")

    def _owner(self, where: str) -> tuple[str, str]:
        """Pointer of the record whose `info` keeps a value, and the value's pointer below it."""
        parts = split_pointer(where)
        if self.root == "Episode" and len(parts) > 2 and parts[0] == "traces":
            owner = f"/traces/{parts[1]}"
            return owner, where[len(owner) :]
        return "", where

    def _slot(self, parts: list[str]) -> tuple[Any, Any]:
        """The container of a value and the value's key in it; a LookupError or the like when it is gone."""
        container = self._at(parts[:-1])
        key: Any = int(parts[-1]) if isinstance(container, list) else parts[-1]
        container[key]
        return container, key

    def _at(self, parts: list[str]) -> Any:
        value: Any = self.document
        for part in parts:
            value = value[int(part)] if isinstance(value, list) else value[part]
        return value


def _spelled(value: Any) -> Any:
    """A value as strict JSON holds it: NaN literals as their text, lone surrogates as `\\\\udXXX` escapes."""
    if isinstance(value, NonFinite):
        return value.token
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_spelled(key): _spelled(each) for key, each in value.items()}
    return [_spelled(each) for each in value] if isinstance(value, list) else value


def _clean(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)


def _as_message(original: dict[str, Any]) -> dict[str, Any]:
    role = "system" if original.get("role") == "developer" else "user"
    content = original.get("content")
    return {"role": role, "content": content if isinstance(content, str | list) else ""}
