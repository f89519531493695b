"""What a released library cannot hold, kept where every release keeps it: the reserved key `evh` of a trace's `info`.

Promised: the place and the form. `info.evh.stash` maps a JSON Pointer, relative to the trace, to the value that stood
there; `info.evh.episode` does so for the episode, in its first trace, with pointers relative to the episode. A value
that plain JSON text cannot carry through a release (bytes, a lone surrogate, a very deep one) stands as text in
`stash_encoded` or `episode_encoded`. `stash_added` and `episode_added` list members that were put in and have to go.
`put_back` undoes it, outermost value first, so that a value taken from inside another one finds its place.
Policy: whoever holds `info.evh` without following this form is kept aside as a value like any other.
What cannot be put back, because its place is gone, stays in the stash and is reported.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from evh.protocol.upgrade.step import Step, token

__all__ = ["Owner", "encoded", "has_stash", "open_place", "put_back"]

BYTES, WRAPPED = "evh:bytes", "evh:object"
SECTIONS = frozenset(f"{key}{form}" for key in ("stash", "episode") for form in ("", "_encoded", "_added"))
MISSING = object()


class Owner:
    """An episode or a trace being shaped: where it stands, and what has been taken from it.

    `record` is its object, `pointer` its place in the row, `host` the trace whose `info` takes the stash (None for
    an episode without traces), `host_pointer` that trace's place, and `key` the reserved key.
    """

    def __init__(self, record: dict[str, Any], pointer: str, host: dict[str, Any] | None, host_pointer: str) -> None:
        self.record = record
        self.pointer = pointer
        self.host = host
        self.host_pointer = host_pointer
        self.key = "stash" if record is host else "episode"
        self.entries: dict[str, Any] = {}
        self.texts: dict[str, str] = {}
        self.added: list[str] = []

    def where(self, path: str) -> str | None:
        """Where in the result a value is that stood at `path` when it was reported: there, or inside a stash entry."""
        place, last = _parent(self.record, path)
        if _child(place, last) is not MISSING:
            return self.pointer + path
        outer = max((entry for entry in self.entries if path.startswith(entry + "/")), key=len, default=None)
        if outer is None or _has_bytes(self.entries[outer]):
            return None
        return self.place(outer, self.key) + path[len(outer) :]

    @property
    def holds_anything(self) -> bool:
        """Whether something was taken, so that a stash has to be written."""
        return bool(self.entries or self.texts or self.added)

    def keep(self, steps: list[Step], step: Step) -> None:
        """Put `step.value`, which stood at `step.pointer` below the record, into the stash, and report it.

        What has no place (an episode without traces) is reported as dropped; what the stash holds in another form, as
        repaired. Both carry the value.
        """
        to = self._put(step.pointer, step.value)
        rule, action, path, _, note, value = step
        if to is None:
            stays = "stays in the row, but a re-save loses it" if action == "kept" else "lost"
            action, note = "dropped", f"{note}; an episode without traces has no place for it: {stays}"
        elif "_encoded/" in to:
            action, note = "repaired", f"{note}; kept as encoded text"
        else:
            value = None
        steps.append(Step(rule, action, self.pointer + path, to, note, value))

    def keep_text(self, steps: list[Step], step: Step) -> None:
        """The same for a value that only encoded text can carry; what lies inside such a value is in its text."""
        if self.host is not None and self._whole(step.pointer) is None:
            self.texts[step.pointer] = encoded(step.value)
        self.keep(steps, step)

    def keep_silently(self, path: str, value: Any) -> None:
        """Put a value into the stash whose parts are reported one by one."""
        self._put(path, value)

    def _put(self, path: str, value: Any) -> str | None:
        """Where in the result the stash holds the value of `path`; the first value counts: it is the original."""
        if self.host is None:
            return None
        whole = self._whole(path)
        if whole is not None:
            return self.place(whole, self.key + "_encoded")
        value = self.entries.setdefault(path, value)
        return self.place(path, self.key + "_encoded" if _has_bytes(value) else self.key)

    def _whole(self, path: str) -> str | None:
        """The pointer of a text that holds the value of `path`, alone or among others."""
        return next((whole for whole in self.texts if path == whole or path.startswith(whole + "/")), None)

    def place(self, path: str, key: str) -> str:
        return f"{self.host_pointer}/info/evh/{key}{token(path)}"

    def sections(self) -> Iterator[tuple[str, Any]]:
        """The reserved keys to write, with their contents in a fixed order."""
        plain = {path: value for path, value in self.entries.items() if not _has_bytes(value)}
        texts = self.texts | {path: encoded(value) for path, value in self.entries.items() if path not in plain}
        if plain:
            yield self.key, {path: plain[path] for path in sorted(plain)}
        if texts:
            yield self.key + "_encoded", {path: texts[path] for path in sorted(texts)}
        if self.added:
            yield self.key + "_added", sorted(set(self.added))

    def write(self) -> None:
        """Write the stash into the host's `info`; nothing when nothing was taken."""
        if self.host is None or not self.holds_anything:
            return
        info = self.host.setdefault("info", {})
        ours = info.setdefault("evh", {})
        ours.update(self.sections())


def open_place(owner: Owner, steps: list[Step]) -> None:
    """Make `info.evh` of a trace an object of ours; what a stranger left there goes into the stash, which is last."""
    trace = owner.record
    info = trace.get("info")
    if not isinstance(info, dict):
        owner.added.append("/info")
        trace["info"] = {"evh": {}}
        return
    ours = info.get("evh", MISSING)
    if ours is MISSING:
        owner.added.append("/info/evh")
        info["evh"] = {}
    elif not isinstance(ours, dict) or _ill_formed(ours):
        owner.keep(steps, Step("reserved", "moved", "/info/evh", None, "the stash needs this place", ours))
        info["evh"] = {}


def put_back(record: dict[str, Any], host: dict[str, Any], key: str, pointer: str, host_pointer: str) -> list[Step]:
    """Put the section `key` (`stash` or `episode`) of the host's `info.evh` back into `record`; what was done."""
    return _PutBack(record, host, key, pointer, f"{host_pointer}/info/evh/").steps


class _PutBack:
    """One section on its way back: `values` by path, each with the reserved key that held it."""

    def __init__(self, record: dict[str, Any], host: dict[str, Any], key: str, pointer: str, place: str) -> None:
        self.record, self.pointer, self.place = record, pointer, place
        self.steps: list[Step] = []
        ours: dict[str, Any] = host["info"]["evh"]
        self.values: dict[str, tuple[Any, str]] = {path: (value, key) for path, value in ours.pop(key, {}).items()}
        self.values |= {path: (text, key + "_encoded") for path, text in ours.pop(key + "_encoded", {}).items()}
        added: list[str] = ours.pop(f"{key}_added", [])
        if added:
            self.steps.append(Step("stash", "dropped", f"{place}{key}_added", None, "says what has to go", added))
        # These two hold the stash itself, so that they come last; so does a whole record.
        own = ("/info/evh", "/info") if key == "stash" else ()
        late = [path for path in (*own, "") if path in self.values]
        inner = sorted(self.values.keys() - set(late), key=lambda path: (_depth(path), path))
        left = [path for path in inner if not self.put(path)]
        for path in sorted({path for path in added if path not in self.values and path not in own}, key=_depth):
            self.remove(path)
        if left:
            # The reserved place is still needed, so that what stood there before has to wait as well.
            for path in left + late:
                value, section = self.values[path]
                ours.setdefault(section, {})[path] = value
            return
        if not ours and "/info" in added and "/info" in own and host["info"].keys() == {"evh"}:
            del host["info"]
        elif not ours and own and not {"/info", "/info/evh"}.isdisjoint(added):
            del host["info"]["evh"]
        for path in late:
            self.put(path)

    def put(self, path: str) -> bool:
        """Set a value in its place and say so; False, also said, when that place is gone."""
        value, section = self.values[path]
        source = f"{self.place}{section}{token(path)}"
        text = section.endswith("_encoded")
        before = _set(self.record, path, decoded(value) if text else value)
        if before is None:
            self.steps.append(Step("stash", "kept", source, source, "its place is gone: it stays in the stash"))
            return False
        if before[0] is not MISSING and (text or before[0] != value):
            note = "what the release or the conversion put in its place"
            self.steps.append(Step("stash", "dropped", self.pointer + path, None, note, before[0]))
        if text:
            self.steps.append(Step("stash", "repaired", source, self.pointer + path, "read from its text", value))
        else:
            self.steps.append(Step("stash", "moved", source, self.pointer + path))
        return True

    def remove(self, path: str) -> None:
        """Take out what was put in for the release, from the record and from the value that was put back around it."""
        removed = _remove(self.record, path)
        if removed is MISSING:
            return
        around = [outer for outer in self.values if path.startswith(outer + "/")]
        places = [self.pointer + path]
        places += [f"{self.place}{self.values[outer][1]}{token(outer)}{path[len(outer) :]}" for outer in around]
        self.steps += [Step("stash", "dropped", at, None, "put in for the release", removed) for at in places]


def has_stash(trace: Any) -> bool:
    """Whether a trace carries a stash in the form above."""
    info = trace.get("info") if isinstance(trace, dict) else None
    ours = info.get("evh") if isinstance(info, dict) else None
    return isinstance(ours, dict) and not _ill_formed(ours) and any(_is_section(key) for key in ours)


def _parts(path: str) -> list[str]:
    """The unescaped parts of a JSON Pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def encoded(value: Any) -> str:
    """Any JSON value, bytes and lone surrogates included, as ASCII text."""
    return json.dumps(_pack(value), separators=(",", ":"))


def decoded(text: str) -> Any:
    """The value of `encoded` text."""
    return _unpack(json.loads(text))


def _pack(value: Any) -> Any:
    if isinstance(value, bytes):
        return {BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, list | tuple):
        return [_pack(item) for item in value]
    if isinstance(value, dict):
        packed = {key: _pack(item) for key, item in value.items()}
        return {WRAPPED: packed} if packed.keys() & {BYTES, WRAPPED} else packed
    return value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {BYTES}:
        return base64.b64decode(value[BYTES])
    if value.keys() == {WRAPPED}:
        value = value[WRAPPED]
    return {key: _unpack(item) for key, item in value.items()}


def _has_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_bytes, value.values()))
    if isinstance(value, list):
        return any(map(_has_bytes, value))
    return isinstance(value, bytes)


def _is_section(key: str) -> bool:
    return key in SECTIONS


def _ill_formed(ours: dict[str, Any]) -> bool:
    """Whether a reserved key holds something that is no stash of ours."""
    return any(_is_section(key) and not _well_formed(key, section) for key, section in ours.items())


def _well_formed(key: str, section: Any) -> bool:
    if key.endswith("_added"):
        return isinstance(section, list) and all(isinstance(path, str) and path[:1] == "/" for path in section)
    if not isinstance(section, dict) or not all(isinstance(path, str) and path[:1] in ("", "/") for path in section):
        return False
    return not key.endswith("_encoded") or all(map(_is_encoded, section.values()))


def _is_encoded(text: Any) -> bool:
    try:
        decoded(text)
    except (TypeError, ValueError, AttributeError):
        return False
    return True


def _depth(path: str) -> int:
    return path.count("/")


def _parent(record: dict[str, Any], path: str) -> tuple[Any, str]:
    *inner, last = _parts(path)
    place: Any = record
    for part in inner:
        place = _child(place, part)
    return place, last


def _child(place: Any, part: str) -> Any:
    if isinstance(place, dict):
        return place.get(part, MISSING)
    if isinstance(place, list) and part.isdecimal() and int(part) < len(place):
        return place[int(part)]
    return MISSING


def _set(record: dict[str, Any], path: str, value: Any) -> tuple[Any] | None:
    """Set the value at a pointer; what stood there, in a tuple, or None when there is no such place."""
    if not path:
        traces = {"traces": record["traces"]} if "traces" in record else {}
        before = {key: item for key, item in record.items() if key not in traces}
        record.clear()
        record.update(value | traces)
        return (before,)
    place, last = _parent(record, path)
    before = _child(place, last)
    if isinstance(place, dict):
        place[last] = value
    elif before is not MISSING:
        place[int(last)] = value
    else:
        return None
    return (before,)


def _remove(record: dict[str, Any], path: str) -> Any:
    place, last = _parent(record, path)
    return place.pop(last, MISSING) if isinstance(place, dict) else MISSING
