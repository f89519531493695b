"""One generic pass that makes a record fit the tables of a release, and puts what does not fit into the stash.

Promised: after `Shaper.object` has said yes, the release reads the object and writes every value that it knows again.
A member that a closed object does not name is moved to the stash; one that the release would silently drop stays in
its place and is copied there; a value that does not fit takes its nearest optional ancestor with it, so that a bad item
takes its array. Where that would cost the message graph or a whole trace, the nearest thing that the release does know
stands in (`agent_config.py`), and the true one is in the stash.
Policy: which rule goes by which name in the report. A record that cannot fit at all is named by `Shaper.unfit`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from evh.protocol.convert.scalars import SCALARS
from evh.protocol.convert.stash import Owner
from evh.protocol.convert.targets import Kind, Shape, Target
from evh.protocol.upgrade.step import Step, token

__all__ = ["Shaper"]

MISSING = object()
Rule = Callable[["Shaper", dict[str, Any], str], bool]


class Shaper:
    """Shapes one record for one release.

    `before` and `after` hold what no table says, by the name of a shape: a rule gets the shaper, the object and its
    pointer below the owner, and answers whether the object fits. `nearest` makes the stand-in for a value of a union.
    """

    def __init__(
        self,
        target: Target,
        owner: Owner,
        steps: list[Step],
        *,
        before: Mapping[str, Rule],
        after: Mapping[str, Rule],
        nearest: Mapping[str, Callable[[Any, Target], dict[str, Any]]],
        common: bool,
    ) -> None:
        self.target = target
        self.owner = owner
        self.steps = steps
        self.before = before
        self.after = after
        self.nearest = nearest
        self.common = common
        self.unfit = ""

    def object(self, value: dict[str, Any], name: str, path: str) -> bool:
        """Make `value`, which stands at `path`, fit the shape `name`; whether it does."""
        shape = self.target.shapes[name]
        early, late = self.before.get(name), self.after.get(name)
        if early is not None and not early(self, value, path):
            return False
        for member in list(value):
            if member not in shape.members:
                self._unknown(shape, value, member, path)
            elif not self._member(shape, value, member, path + token(member)):
                return False
        for member in (member for member, known in shape.members.items() if known.required and member not in value):
            fill = self.target.fills.get((name, member), MISSING)
            if fill is MISSING:
                self.unfit = path + token(member)
                return False
            value[member] = copy.copy(fill)
            self.owner.added.append(path + token(member))
            at = self.owner.pointer + path + token(member)
            self.steps.append(Step("required", "added", at, at, "the release requires it", fill))
        return late is None or late(self, value, path)

    def take(self, holder: dict[str, Any], member: str, path: str, rule: str, note: str) -> None:
        """Move a member of the object at `path` to the stash."""
        self._report(rule, "moved", path + token(member), holder.pop(member), note)

    def copy(self, holder: dict[str, Any], member: str, path: str, rule: str, note: str) -> None:
        """Leave a member of the object at `path` where it is, with a copy in the stash."""
        self._report(rule, "kept", path + token(member), holder[member], note)

    def replace(self, holder: Any, key: str | int, at: str, new: Any, rule: str, note: str) -> None:
        """Put something else at `at`, with the true value in the stash."""
        self._report(rule, "moved", at, holder[key], note)
        holder[key] = new
        there = self.owner.pointer + at
        self.steps.append(Step(rule, "added", there, there, "stands in for what the release does not read", new))

    def note(self, rule: str, action: str, path: str, to: str, note: str) -> None:
        """Report a step that needs no stash."""
        self.steps.append(Step(rule, action, self.owner.pointer + path, self.owner.pointer + to, note))

    def holds(self, scalar: str, value: Any) -> bool:
        """Whether a plain value fits a scalar of the tables."""
        return SCALARS[scalar](value)

    def _report(self, rule: str, action: str, path: str, value: Any, note: str) -> None:
        self.owner.keep(self.steps, Step(rule, action, path, None, note, value))

    def _unknown(self, shape: Shape, value: dict[str, Any], member: str, path: str) -> None:
        if shape.rest == "closed":
            self.take(value, member, path, "unknown", f"{self.target.name} refuses a row with it")
        elif shape.rest == "plain":
            self.copy(value, member, path, "unknown", f"{self.target.name} does not know it: a re-save drops it")
        elif value[member] is None:
            if shape.name != "SamplingOverrides" or self.target.name == "0.3.1":
                self.copy(value, member, path, "null", "a re-save drops the null")
        elif shape.none_text and value[member] == "None":
            self.take(value, member, path, "none-text", 'the release reads the text "None" as null')

    def _member(self, shape: Shape, value: dict[str, Any], member: str, at: str) -> bool:
        """Make a known member fit or put it away; False when the object cannot do without it."""
        known = shape.members[member]
        item = value[member]
        if item is None:
            fits = known.nullable
            if fits and shape.name == "SamplingOverrides" and self.target.name == "0.3.1":
                self.copy(value, member, at.rpartition("/")[0], "null", "says: back to the provider's own; dropped")
        elif shape.none_text and item == "None":
            fits = False
        else:
            fits = self._fits(value, member, known.kind, at)
        if fits:
            return True
        fill = self.target.fills.get((shape.name, member), MISSING)
        if fill is not MISSING:
            self.replace(value, member, at, copy.copy(fill), "value", "no value that the release reads")
        elif known.required:
            self.unfit = self.unfit or at
            return False
        else:
            self.take(value, member, at.rpartition("/")[0], "value", self._reason(at))
        self.unfit = ""
        return True

    def _reason(self, at: str) -> str:
        inner = f" (because of {self.owner.pointer}{self.unfit})" if self.unfit not in ("", at) else ""
        return f"{self.target.name} does not read this value as it is{inner}"

    def _fits(self, holder: Any, key: str | int, kind: Kind, at: str) -> bool:
        value = holder[key]
        if kind.name == "scalar":
            return self.holds(kind.word, value)
        if kind.name == "words":
            return isinstance(value, str) and value in kind.words
        if kind.name == "named":
            return self._named(holder, key, kind.word, at)
        if kind.name == "either" and isinstance(value, str):
            return True
        if kind.item is None:
            return False
        if kind.name == "map":
            return isinstance(value, dict) and self._entries(value, kind, at)
        inner = kind.item if kind.name == "list" else kind.item.item
        if not isinstance(value, list) or inner is None:
            return False
        if inner.name == "scalar":
            return self._plain_items(value, SCALARS[inner.word], at)
        return all(self._item(value, index, inner, at) for index in range(len(value)))

    def _plain_items(self, value: list[Any], fits: Callable[[Any], bool], at: str) -> bool:
        """Items without members: token streams go through here, so nothing is built for an item that fits."""
        if all(map(fits, value)):
            return True
        self.unfit = self.unfit or f"{at}/{next(index for index, item in enumerate(value) if not fits(item))}"
        return False

    def _item(self, value: list[Any], index: int, kind: Kind, at: str) -> bool:
        if self._fits(value, index, kind, f"{at}/{index}"):
            return True
        self.unfit = self.unfit or f"{at}/{index}"
        return False

    def _entries(self, value: dict[str, Any], kind: Kind, at: str) -> bool:
        """A map: an entry that does not fit goes alone."""
        for key in list(value):
            if value[key] is None and kind.word == "?":
                continue
            if value[key] is None or kind.item is None or not self._fits(value, key, kind.item, at + token(key)):
                self.take(value, key, at, "value", self._reason(at + token(key)))
                self.unfit = ""
        return True

    def _named(self, holder: Any, key: str | int, name: str, at: str) -> bool:
        value = holder[key]
        union = self.target.unions.get(name)
        if union is None:
            return isinstance(value, dict) and self.object(value, name, at)
        if isinstance(value, dict):
            tag = value.get(union.tag, union.absent)
            arm = union.arms.get(tag) if isinstance(tag, str) else None
            if arm is not None and self.object(value, arm, at):
                return True
        nearest = self.nearest.get(name)
        if nearest is None:
            return False
        self.unfit = ""
        self.replace(holder, key, at, nearest(value, self.target), "stand-in", f"{self.target.name} has no such kind")
        return self._named(holder, key, name, at)
