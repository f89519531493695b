"""The rules of versions (`schema/PROFILE.md`): what a change must say about itself, break or not.

A new member of a type that was released says by `x-since` with which version it comes, one that is newer than the
version compared with and that the list of changes has a heading for. What a member says of its own age never changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from .findings import RULE, Finding
from .versions import VERSION, Node, Version

__all__ = ["rules_of_versions"]


def rules_of_versions(old: Version, new: Version) -> list[Finding]:
    """Every breach of these rules."""
    headings = set(VERSION.findall(new.changes))
    found: list[Finding] = []
    for name, node in new.definitions.items():
        before = old.definitions.get(name)
        members_before = before.schema.get("properties", {}) if before is not None else {}
        for member in node.schema.get("properties", {}):
            place = node.below("properties", member)
            since = place.schema.get("x-since")
            if member in members_before:
                if since != members_before[member].get("x-since"):
                    found.append(_breach(place, "x-since changed", "when a member came does not change"))
            elif before is not None and not any(entry["member"] == member for entry in old.retired):
                found += _new_member(place, since, old, headings)
    return found


def _new_member(place: Node, since: str | None, old: Version, headings: set[str]) -> Iterator[Finding]:
    if since is None:
        yield _breach(place, "new member without x-since", "say which version it comes with, and add a heading for it")
    elif old.number is not None and _order(since) <= _order(old.number):
        yield _breach(place, f"new member since {since}", f"{old.number} was released without it")
    elif headings and since not in headings:
        yield _breach(place, f"new member since {since}", f"the list of changes has no heading `## {since}`")


def _breach(place: Node, what: str, why: str) -> Finding:
    return Finding(place.file, place.pointer, what, why, frozenset({RULE}))


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
