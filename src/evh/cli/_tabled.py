"""A table in the form that was asked for: for a screen, as Markdown, as CSV.

Promise: the three have the same rows and columns. Numbers are rounded on the screen and in Markdown, and whole in CSV.
What a cell of Markdown or a spreadsheet could take for markup or a formula is escaped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from evh.cli._terminal import Screen

__all__ = ["Value", "print_csv", "print_markdown", "print_notices", "print_table", "shown"]

Value: TypeAlias = str | int | float | bool | None
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def shown(value: Value) -> str:
    """A value as people read it; nothing for none."""
    from evh.cli._terminal import number, printable

    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return printable(value) if isinstance(value, str) else number(value, digits=4)


def print_table(screen: Screen, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Value]]) -> None:
    """For people; each column is its heading and whether it may be cut."""
    from evh.cli._terminal import Column, table

    rights = [all(not isinstance(row[at], str) for row in rows) for at in range(len(columns))]
    made = [Column(title, right, least=12 if cut else 0) for (title, cut), right in zip(columns, rights, strict=True)]
    table(screen, made, [[shown(value) for value in row] for row in rows])


def print_markdown(columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Value]]) -> None:
    """A table that GitHub and others render."""
    lines = [[title for title, _ in columns], ["---"] * len(columns)]
    lines += [[shown(value) for value in row] for row in rows]
    for line in lines:
        print(f"| {' | '.join(cell.replace('|', chr(92) + '|').replace('<', '&lt;') for cell in line)} |")


def print_csv(columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Value]]) -> None:
    """Comma-separated, with a line of headings; numbers unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([title for title, _ in columns])
    for row in rows:
        writer.writerow(
            [f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value for value in row]
        )
    print(text.getvalue(), end="")


def print_notices(screen: Screen, notices: Sequence[str]) -> None:
    """What to beware of, a line each, each once."""
    from evh.cli._terminal import printable

    for each in dict.fromkeys(notices):
        screen.line(("note: ", "yellow"), printable(each))
