"""A finding: one difference between two versions, where it is, and whom it breaks."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["READERS", "RULE", "SAFE", "WRITERS", "Finding"]

READERS = "readers"
WRITERS = "writers"
RULE = "rule"
SAFE: frozenset[str] = frozenset()


class Finding(NamedTuple):
    """`file` and `pointer` lead to the place in the new schemas, or in the old ones when it is gone from the new
    (`gone`). `breaks` holds `readers`, `writers` or both, and is empty for a safe difference; `rule` alone is a
    breach of the rules of versions, which nothing excuses."""

    file: str
    pointer: str
    what: str
    why: str
    breaks: frozenset[str] = SAFE
    gone: bool = False

    @property
    def place(self) -> str:
        return f"{self.file}#{self.pointer}"

    @property
    def kind(self) -> str:
        """The class of the difference, in words."""
        if not self.breaks:
            return "safe"
        if self.breaks == {RULE}:
            return "against the rules of versions"
        return f"breaks {' and '.join(sorted(self.breaks))}"

    def data(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "pointer": self.pointer,
            "in": "old" if self.gone else "new",
            "class": self.kind,
            "breaks": sorted(self.breaks),
            "what": self.what,
            "why": self.why,
        }
