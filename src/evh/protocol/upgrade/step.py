"""What an upgrade did: `Step`, and the bookkeeping that makes it impossible to forget one.

Promise: every leaf of a source row is either in the result at the same pointer with the same value, or is covered by
a step whose pointer is that leaf's or an ancestor's (the longest such pointer counts). What has no place in today's
shape stands under `info.evh.kept` of the record it belongs to, keyed by its pointer in the source, relative to that
record. Policy: the wording of notes. When an `info` is not an object, or `info.evh` is somebody else's, what stood
there is kept aside as well, and reported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Record", "Step", "clone", "token"]


class Step(NamedTuple):
    """One thing that an upgrade did to a row.

    `rule` names the rule (`S16`, `v0`, …). `action` is one of

    * `moved`: the value stands elsewhere; `to` is its new pointer (a subtree moves as a whole);
    * `kept`: it has no place in today's shape and stands under `info.evh.kept`; `to` says where;
    * `repaired`: it changed its form; `to` is where the new form stands, `value` the original, `note` says how;
    * `dropped`: it is derivable, contentless or stands elsewhere already (`to`); `value` is the original;
    * `added`: a default or a made member that the source did not have.

    `pointer` is a JSON Pointer into the source row (for `added`: into the result), `to` one into the result.
    """

    rule: str
    action: str
    pointer: str
    to: str | None = None
    note: str = ""
    value: Any = None


def token(part: str | int) -> str:
    """One reference token of a JSON Pointer, escaped, with its slash."""
    return "/" + str(part).replace("~", "~0").replace("/", "~1")


def clone(value: Any) -> Any:
    """A copy of a parsed value that shares no object or array with it."""
    if isinstance(value, dict):
        return {name: clone(inner) for name, inner in value.items()}
    return [clone(inner) for inner in value] if isinstance(value, list) else value


class Record:
    """An episode or trace being upgraded: its object, where it stands in source and result, and what was done to it.

    `src` and `dst` are the pointers of the object in the source row and in the result; the methods take pointers
    relative to them ("tails"), so that a rule does not know how deep its record stands.
    """

    __slots__ = ("doc", "dst", "kept", "src", "steps")

    def __init__(self, doc: dict[str, Any], src: str, dst: str, steps: list[Step]) -> None:
        self.doc = doc
        self.src = src
        self.dst = dst
        self.steps = steps
        self.kept: dict[str, Any] = {}

    def moved(self, rule: str, tail: str, to: str, note: str = "") -> None:
        """The value at `tail` now stands at `to`."""
        self.steps.append(Step(rule, "moved", self.src + tail, self.dst + to, note))

    def repaired(self, rule: str, tail: str, to: str, value: Any, note: str) -> None:
        """The value at `tail` has a new form, at `to`; `value` is the original."""
        self.steps.append(Step(rule, "repaired", self.src + tail, self.dst + to, note, value))

    def dropped(self, rule: str, tail: str, value: Any, note: str, to: str | None = None) -> None:
        """The value at `tail` is gone: derivable, without content, or already at `to`."""
        target = None if to is None else self.dst + to
        self.steps.append(Step(rule, "dropped", self.src + tail, target, note, value))

    def added(self, rule: str, to: str, value: Any, note: str) -> None:
        """The result has a member at `to` that the source did not have."""
        self.steps.append(Step(rule, "added", self.dst + to, self.dst + to, note, value))

    def keep(self, rule: str, tail: str, value: Any, note: str) -> None:
        """The value at `tail` has no place: it is kept aside when the record is sealed."""
        self.kept[tail] = value
        self.steps.append(Step(rule, "kept", self.src + tail, self._kept_at(tail), note, value))

    def seal(self) -> None:
        """Put what was kept aside into the record's `info`."""
        if not self.kept:
            return
        kept = dict(self.kept)
        info = self.doc.get("info")
        if not isinstance(info, dict):
            if info is not None:
                self._displace(kept, "/info", info)
            elif "info" in self.doc:
                self.dropped("info", "/info", None, "a null says nothing")
            info = self.doc["info"] = {}
        ours = info.get("evh")
        if not isinstance(ours, dict):
            if "evh" in info:
                self._displace(kept, "/info/evh", ours)
            ours = info["evh"] = {}
        earlier = ours.get("kept")
        if isinstance(earlier, dict) and not earlier.keys() & kept.keys():
            earlier.update(kept)
            return
        if "kept" in ours:
            self._displace(kept, "/info/evh/kept", earlier)
        ours["kept"] = kept

    def _displace(self, kept: dict[str, Any], tail: str, value: Any) -> None:
        kept[tail] = value
        note = "the reserved place was in use: what stood there is kept with the rest"
        self.steps.append(Step("info", "kept", self.src + tail, self._kept_at(tail), note, value))

    def _kept_at(self, tail: str) -> str:
        return f"{self.dst}/info/evh/kept{token(tail)}"
