"""Two object types side by side: members, what must be there, what is left out, what else is admitted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .findings import READERS, SAFE, WRITERS
from .versions import Node

if TYPE_CHECKING:
    from .walk import Walk

__all__ = ["compare_annotations", "compare_objects"]

BOTH = frozenset({READERS, WRITERS})
NOT_WRITTEN = ("x-wire", "x-computed")
"""Annotations under which our writers leave a member out of JSON."""
UNDECLARED = "it was admitted before, as any other member of this object"


def compare_objects(walk: Walk, old: Node, new: Node, site: Node | None) -> None:
    """Compare two object schemas, maps included."""
    before, after = old.schema.get("properties", {}), new.schema.get("properties", {})
    needed_before, needed_after = set(old.schema.get("required", ())), set(new.schema.get("required", ()))
    for name in {**before, **after}:
        if name in before and name in after:
            one, two = old.below("properties", name), new.below("properties", name)
            walk.compare(one, two, site)
            _absence(walk, one, two, name in needed_before, name in needed_after, site)
            compare_annotations(walk, one, two, site)
        elif name in after:
            _added(walk, old, new.below("properties", name), name in needed_after, site)
        else:
            _removed(walk, old.below("properties", name), new, name in needed_before, site)
    _others(walk, old, new, site)
    if list(before) != list(after) and set(before) == set(after):
        walk.add(new, "members in another order", "order means nothing", site=site)


def _added(walk: Walk, old: Node, member: Node, needed: bool, site: Node | None) -> None:
    others = old.schema["additionalProperties"]
    if others is False:
        if needed:
            why = "documents without it were valid and are refused now"
            walk.add(member, "new required member", why, frozenset({WRITERS}), site=site)
        else:
            walk.add(member, "new optional member", "readers keep members that they do not know", site=site)
        return
    count = len(walk.found)
    walk.compare(old.below("additionalProperties"), member, site or member)
    if needed:
        why = "documents without it were valid and are refused now"
        walk.add(member, "new required member", why, frozenset({WRITERS}), site=site)
    if len(walk.found) == count:
        walk.add(member, "new optional member", UNDECLARED, site=site)


def _removed(walk: Walk, member: Node, new: Node, needed: bool, site: Node | None) -> None:
    others = new.schema["additionalProperties"]
    what = "required member is gone" if needed else "optional member is gone"
    breaks: frozenset[str] = frozenset({READERS}) if needed else SAFE
    whys = ["readers of the old schemas refuse documents without it"] if needed else []
    if others is False:
        breaks |= {WRITERS}
        whys.insert(0, "documents that have it were valid and are refused now")
        if not any(entry["member"] == member.pointer.rsplit("/", 1)[-1] for entry in walk.new.retired):
            whys.append("retired.json gives no advice for it")
    else:
        whys.append("it is admitted like any other member now")
        walk.compare(member, new.below("additionalProperties"), site or new.below("additionalProperties"))
    walk.add(member, what, "; ".join(whys), breaks, gone=True, site=site)


def _others(walk: Walk, old: Node, new: Node, site: Node | None) -> None:
    """Members that the object does not name."""
    before, after = old.schema["additionalProperties"], new.schema["additionalProperties"]
    if before is False and after is not False:
        why = "other members are admitted; readers keep members that they do not know"
        walk.add(new, "closed object → open", why, site=site)
    elif before is not False and after is False:
        why = "documents with other members were valid and are refused now"
        walk.add(new, "open object → closed", why, frozenset({WRITERS}), site=site)
    elif before is not False:
        walk.compare(old.below("additionalProperties"), new.below("additionalProperties"), site)


def _absence(walk: Walk, old: Node, new: Node, was_needed: bool, is_needed: bool, site: Node | None) -> None:
    if is_needed and not was_needed:
        why = "documents without it were valid and are refused now"
        walk.add(new, "optional → required", why, frozenset({WRITERS}), site=site)
    elif was_needed and not is_needed:
        why = "readers of the old schemas refuse documents without it"
        walk.add(new, "required → optional", why, frozenset({READERS}), site=site)
    elif not is_needed:
        before, after = _when_absent(walk, old, is_old=True), _when_absent(walk, new, is_old=False)
        if before != after:
            what = f"when left out: {json.dumps(before)} → {json.dumps(after)}"
            walk.add(new, what, "a document that leaves it out means something else than it did", BOTH, site=site)


def _when_absent(walk: Walk, node: Node, *, is_old: bool) -> Any:
    """What an optional member counts as when it is left out."""
    if "default" in node.schema:
        return node.schema["default"]
    target = (walk.old if is_old else walk.new).target(node).schema
    types = target.get("type", [])
    types = [types] if isinstance(types, str) else types
    if "anyOf" in target or "null" in types:
        return None
    return [] if "array" in types else {} if "object" in types else None


def compare_annotations(walk: Walk, old: Node, new: Node, site: Node | None = None) -> None:
    """What is said beside the values: descriptions, and the annotations of the profile."""
    for key in sorted(old.schema.keys() | new.schema.keys()):
        before, after = old.schema.get(key), new.schema.get(key)
        if before == after or key == "x-since":
            continue
        if key in NOT_WRITTEN and not before:
            why = "writers here leave it out of JSON from now on"
            walk.add(new, f"{key} is new", why, frozenset({READERS}), site=site)
        elif key.startswith("x-") or key in ("description", "title", "format"):
            walk.add(new, f"{key} changed", "no matter of what is valid", site=site)
