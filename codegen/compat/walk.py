"""Two versions of the schemas side by side: every definition with its namesake, everything below, each pair once.

A difference inside a definition is told at that definition, once, wherever it is used. Where a reference leads to
another definition than it did, what differs is told at the reference.
"""

from __future__ import annotations

import json
from typing import Any

from .findings import READERS, RULE, SAFE, WRITERS, Finding
from .forms import Form, Objects, form_of, within_numbers, within_strings
from .objects import compare_annotations, compare_objects
from .rules import rules_of_versions
from .versions import Node, Version

__all__ = ["Walk", "compare"]

BOTH = frozenset({READERS, WRITERS})
REFUSED = "values of another type were valid and are refused now"
UNREADABLE = "a reader of the old schemas refuses documents that are valid now"
BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "minLength", "maxLength", "pattern", "enum", "const")


def compare(old: Version, new: Version) -> list[Finding]:
    """Every difference, by file and place."""
    walk = Walk(old, new)
    for name in {**old.definitions, **new.definitions}:
        before, after = old.definitions.get(name), new.definitions.get(name)
        if before is None and after is not None:
            walk.add(after, f"new type {name}", "nobody writes or reads it yet")
        elif after is None and before is not None:
            walk.type_gone(name, before)
        elif before is not None and after is not None:
            walk.describe(before, after)
            walk.compare(before, after)
    walk.retired()
    walk.found += rules_of_versions(old, new)
    return sorted(dict.fromkeys(walk.found))


class Walk:
    """One comparison: what was found, and which pairs were seen."""

    def __init__(self, old: Version, new: Version) -> None:
        self.old = old
        self.new = new
        self.found: list[Finding] = []
        self.seen: set[tuple[Node, Node, Node | None]] = set()

    def add(
        self,
        node: Node,
        what: str,
        why: str,
        breaks: frozenset[str] = SAFE,
        *,
        gone: bool = False,
        site: Node | None = None,
    ) -> None:
        if site is not None and site != node:
            what, node, gone = f"{what} (in {_name(node)})", site, False
        self.found.append(Finding(node.file, node.pointer, what, why, breaks, gone))

    def compare(self, old: Node, new: Node, site: Node | None = None) -> None:
        """Compare what two schemas admit; with `site`, tell every difference there."""
        before, after = self.old.target(old), self.new.target(new)
        count = len(self.found)
        if "$ref" in new.schema or "$ref" in old.schema:
            site = site or (None if _name(before) == _name(after) else new)
        if (before, after, site) in self.seen:
            return
        self.seen.add((before, after, site))
        self.forms(form_of(self.old, before), form_of(self.new, after), after, site)
        if old.schema.get("$ref") != new.schema.get("$ref") and len(self.found) == count:
            self.add(new, f"reference {_reference(old)} → {_reference(new)}", "it means the same", site=site)

    def forms(self, old: Form, new: Form, after: Node, site: Node | None) -> None:
        if old.anything or new.anything:
            if not new.anything:
                what = f"any value → {' or '.join(new.types())}"
                self.add(after, what, "other values were valid and are refused now", frozenset({WRITERS}), site=site)
            elif not old.anything:
                what = f"{' or '.join(old.types())} → any value"
                self.add(after, what, UNREADABLE, frozenset({READERS}), site=site)
            return
        self.types(old, new, after, site)
        if old.numbers is not None and new.numbers is not None:
            forth, back = within_numbers(old.numbers, new.numbers), within_numbers(new.numbers, old.numbers)
            self.scalars(*self.spot("numbers", old, new, after, site), forth, back)
        if old.strings is not None and new.strings is not None:
            forth, back = within_strings(old.strings, new.strings), within_strings(new.strings, old.strings)
            self.scalars(*self.spot("strings", old, new, after, site), forth, back)
        if old.array is not None and new.array is not None:
            _, node, spot = self.spot("array", old, new, after, site)
            if old.array.least != new.array.least:
                more = new.array.least > old.array.least
                why = "shorter arrays were valid and are refused now" if more else UNREADABLE
                breaks = frozenset({WRITERS if more else READERS})
                self.add(node, f"minItems {old.array.least} → {new.array.least}", why, breaks, site=spot)
            self.compare(old.array.items, new.array.items, spot)
        if old.objects is not None and new.objects is not None:
            self.objects(old.objects, new.objects, *self.spot("objects", old, new, after, site)[1:])

    def spot(self, part: str, old: Form, new: Form, after: Node, site: Node | None) -> tuple[Node, Node, Node | None]:
        """The two schemas that a part comes from, and where to tell differences when they are not namesakes."""
        before, now = old.origin[part], new.origin[part]
        return before, now, site or (None if _name(before) == _name(now) else after)

    def types(self, old: Form, new: Form, after: Node, site: Node | None) -> None:
        """JSON types that came or went; an integer that becomes a number is a matter of numbers."""
        before, now = old.types(), new.types()
        plain_old = {"number" if name == "integer" else name for name in before}
        plain_new = {"number" if name == "integer" else name for name in now}
        breaks = {WRITERS} if plain_old - plain_new else set()
        breaks |= {READERS} if plain_new - plain_old else set()
        if breaks:
            whys = [REFUSED] if WRITERS in breaks else []
            whys += [UNREADABLE] if READERS in breaks else []
            what = f"type {' or '.join(before)} → {' or '.join(now)}"
            self.add(after, what, "; ".join(whys), frozenset(breaks), site=site)

    def scalars(self, before: Node, after: Node, site: Node | None, forth: bool, back: bool) -> None:
        changed = [key for key in BOUNDS if _plain(before, key) != _plain(after, key)]
        if before.schema.get("type") != after.schema.get("type") and not (forth and back):
            changed.insert(0, "type")
        if not changed and forth and back:
            return
        what = ", ".join(f"{key} {_shown(before, key)} → {_shown(after, key)}" for key in changed) or "values"
        if forth and back:
            self.add(after, what, "the same values are valid", site=site)
        elif back:
            self.add(after, what, "narrower: values that were valid are refused now", frozenset({WRITERS}), site=site)
        elif forth:
            self.add(after, what, f"wider: {UNREADABLE}", frozenset({READERS}), site=site)
        else:
            self.add(after, what, "neither admits all that the other does, as far as can be told", BOTH, site=site)

    def objects(self, old: Objects, new: Objects, after: Node, site: Node | None) -> None:
        if len(old.variants) == len(new.variants) == 1:
            [one], [two] = old.variants.values(), new.variants.values()
            if _name(one) == _name(two):  # the same type: its tag is a member like others
                compare_objects(self, one, two, site)
                return
        if old.tag != new.tag:
            what = f"told apart by {_tag(old)} → {_tag(new)}"
            self.add(
                after,
                what,
                "objects of the old form are refused, and readers of it refuse the new one",
                BOTH,
                site=site,
            )
            return
        for value in old.variants.keys() - new.variants.keys():
            why = "objects with it were valid and are refused now (lenient readers keep them whole)"
            self.add(after, f"{old.tag} {json.dumps(value)} is gone", why, frozenset({WRITERS}), site=site)
        for value in new.variants.keys() - old.variants.keys():
            why = "a reader of the old schemas does not know such objects (lenient ones keep them whole)"
            self.add(after, f"{old.tag} {json.dumps(value)} is new", why, frozenset({READERS}), site=site)
        for value in old.variants.keys() & new.variants.keys():
            one, two = old.variants[value], new.variants[value]
            compare_objects(self, one, two, site or (None if _name(one) == _name(two) else after))

    def describe(self, old: Node, new: Node) -> None:
        """What stands beside the values: where a type is, what it says of itself."""
        if old.file != new.file:
            self.add(new, f"moved here from {old.file}", "references lead to the same type")
        compare_annotations(self, old, new)

    def type_gone(self, name: str, node: Node) -> None:
        if name in self.old.roots.values():
            why = "documents of this type have no schema any more, and its class is gone"
            self.add(node, f"type {name} is gone", why, BOTH, gone=True)
        else:
            why = "what refers to it is judged where it stands; names in Python and TypeScript follow"
            self.add(node, f"type {name} is gone", why, gone=True)

    def retired(self) -> None:
        """The list of retired members: advice of lenient readers, no part of what is valid."""
        before = {(entry["class"], entry["member"]): entry for entry in self.old.retired}
        after = {(entry["class"], entry["member"]): entry for entry in self.new.retired}
        root = Node({}, "retired.json", "")
        for key in sorted(before.keys() | after.keys()):
            member = ".".join(key)
            if key not in after:
                self.add(root, f"{member} is no longer listed", "a lenient reader keeps it as an unknown member")
            elif key not in before:
                self.add(root, f"{member} is retired", "a lenient reader drops it and says what to read instead")
            elif before[key] != after[key]:
                self.add(root, f"other words about {member}", "advice only")
        for name, member in sorted(after):
            node = self.new.definitions.get(name)
            if node is not None and member in node.schema.get("properties", {}):
                self.add(node, f"{member} is retired and declared", "it can't be both", frozenset({RULE}))


def _name(node: Node) -> str:
    """The name of a definition; a schema that is none has its place for a name."""
    if node.pointer == "":
        return str(node.schema["title"])
    parts = node.pointer.split("/")
    return parts[2] if parts[1:2] == ["$defs"] and len(parts) == 3 else f"{node.file}#{node.pointer}"


def _plain(node: Node, key: str) -> Any:
    value = node.schema.get(key)
    return sorted(value) if isinstance(value, list) else value


def _shown(node: Node, key: str) -> str:
    return json.dumps(node.schema[key], ensure_ascii=False) if key in node.schema else "none"


def _reference(node: Node) -> str:
    return str(node.schema.get("$ref", "inline"))


def _tag(objects: Objects) -> str:
    return objects.tag or "nothing"
