"""Breaks that were meant: lines in a list of changes, each with the place and the reason.

    - Break for readers: `trace.json#/$defs/Reward/properties/score`: a score may be null now, as 0.5 writes it.
    - Break for readers and writers: `run_info.json#/$defs/WorkInfo`: …
    - Break for importers: `evh.Trace.reward`: …

A line goes on in the lines below it that are indented. It covers its place and everything below, for those whom it
names. Only lines count that the version compared with did not have: an old reason excuses no new break. A line that
covers nothing is refused too, for the list would tell of a break that there is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .findings import RULE, Finding

__all__ = ["Acknowledgement", "acknowledgements", "covered", "idle", "unacknowledged"]

LINE = re.compile(r"^- Break for ([a-z ]+): `([^`\n]+)`: (\S.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)


class Acknowledgement(NamedTuple):
    audience: frozenset[str]
    place: str
    reason: str

    def covers(self, place: str) -> bool:
        """Whether a place is this one or below it."""
        return place == self.place or place.startswith((f"{self.place}/", f"{self.place}.", f"{self.place}("))


def acknowledgements(changes: str, *, before: str = "") -> list[Acknowledgement]:
    """The lines of a list of changes that the list `before` does not have."""
    old = {match[0] for match in LINE.finditer(before)}
    return [
        Acknowledgement(frozenset(match[1].split(" and ")), match[2], " ".join(match[3].split()))
        for match in LINE.finditer(changes)
        if match[0] not in old
    ]


def covered(place: str, breaks: frozenset[str], lines: Iterable[Acknowledgement]) -> bool:
    """Whether everybody whom a break concerns was told."""
    told: set[str] = set()
    for line in lines:
        if line.covers(place):
            told |= line.audience
    return breaks <= told


def unacknowledged(findings: Iterable[Finding], lines: Iterable[Acknowledgement]) -> list[Finding]:
    """The breaks that nobody answered for, and every breach of a rule."""
    lines = list(lines)
    return [
        each
        for each in findings
        if each.breaks and (RULE in each.breaks or not covered(each.place, each.breaks, lines))
    ]


def idle(findings: Iterable[Finding], lines: Iterable[Acknowledgement]) -> list[Acknowledgement]:
    """The lines that cover no break."""
    breaks = [each for each in findings if each.breaks]
    return [line for line in lines if not any(line.covers(each.place) for each in breaks)]
