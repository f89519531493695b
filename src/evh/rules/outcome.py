"""What a rule found: `Finding`, and the `Outcome` that gathers them.

Promise: an outcome is `ok` only when something was checked and nothing was found; a rule that had nothing to look at
says `nothing to check`. Every finding is counted; of one file at most `most` are kept, so that a file in which each row
is wrong costs no more memory than one with a few such rows.
Policy: the words in which is told what was checked.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

__all__ = ["KEPT", "Finding", "Outcome", "Status"]

Status = Literal["FAIL", "ok", "nothing to check"]
KEPT = 1000
"""Findings kept of one file, and notes kept of one rule, unless the caller says otherwise."""


class Finding(NamedTuple):
    """Something that breaks a rule: the file as it is shown, the line (None: the file as a whole), a JSON Pointer into
    the document ("": all of it), what is wrong, and what to do about it."""

    file: str
    line: int | None
    pointer: str
    message: str
    advice: str


class Outcome:
    """What one rule checked and found. `finding_count` counts the findings that were not kept, too."""

    def __init__(self, rule: str, title: str, *, most: int = KEPT) -> None:
        self.rule = rule
        self.title = title
        self.findings: list[Finding] = []
        self.finding_count = 0
        self.notes: list[str] = []
        self._most = most
        self._checked: Counter[str] = Counter()
        self._in_file: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<Outcome {self.rule}: {self.status}, {self.what or 'nothing'} checked, {self.finding_count} found>"

    @property
    def checked(self) -> int:
        """How many things were looked at, of all kinds."""
        return self._checked.total()

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind were looked at, in the order in which they were met."""
        return dict(self._checked)

    @property
    def what(self) -> str:
        """What was looked at, in words: `2 records, 1,200 rows`."""
        return ", ".join(
            f"{number:,} {_singular(kind) if number == 1 else kind}" for kind, number in self._checked.items()
        )

    @property
    def files(self) -> dict[str, int]:
        """Files with findings, and how many each has, those that were not kept included."""
        return dict(self._in_file)

    @property
    def status(self) -> Status:
        if self.finding_count:
            return "FAIL"
        return "ok" if self.checked else "nothing to check"

    def looked(self, kind: str, number: int = 1) -> None:
        """Count things that were checked; `kind` is their name in the plural."""
        if number:
            self._checked[kind] += number

    def found(self, file: str, message: str, advice: str, *, line: int | None = None, pointer: str = "") -> None:
        """Count a finding, and keep it if there is room."""
        self.finding_count += 1
        self._in_file[file] += 1
        if self._in_file[file] <= self._most:
            self.findings.append(Finding(file, line, pointer, message, advice))

    def noted(self, note: str) -> None:
        """Keep what a reader should know and what breaks no rule."""
        if len(self.notes) < self._most and note not in self.notes[-20:]:
            self.notes.append(note)


def _singular(kind: str) -> str:
    if kind.endswith("ies"):
        return kind[:-3] + "y"
    return kind.removesuffix("s")
