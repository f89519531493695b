"""A table in the form that was asked for: for a screen, as Markdown, as CSV.

Promise: the three have the same rows and columns. A terminal too narrow for all columns shows them in blocks, one below
the other, each with the names of the rows. Numbers are rounded on the screen and in Markdown, and whole in CSV.
What a cell of Markdown or a spreadsheet could take for markup or a formula is escaped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from evh.cli._terminal import Column, Screen

__all__ = ["Value", "known", "print_csv", "print_markdown", "print_notices", "print_table", "shown"]

Value: TypeAlias = str | int | float | bool | None
NAME = 12
"""Cells that a column which may be cut keeps at least."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def shown(value: Value) -> str:
    """A value as people read it; nothing for none."""
    from evh.cli._terminal import number, printable

    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return printable(value) if isinstance(value, str) else number(value, digits=4)


def known(
    columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Value]], name: str
) -> tuple[list[tuple[str, bool]], list[list[Value]]]:
    """A table without the column of a name when no row has a value there."""
    at = [title for title, _ in columns].index(name)
    gone = {at} if all(row[at] is None for row in rows) else set[int]()
    kept = [each for each in range(len(columns)) if each not in gone]
    return [columns[each] for each in kept], [[row[each] for each in kept] for row in rows]


def print_table(screen: Screen, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Value]]) -> None:
    """For people; each column is its heading and whether it may be cut."""
    from evh.cli._terminal import Column, table

    rights = [all(not isinstance(row[at], str) for row in rows) for at in range(len(columns))]
    made = [Column(title, right, least=NAME if cut else 0) for (title, cut), right in zip(columns, rights, strict=True)]
    cells = [[shown(value) for value in row] for row in rows]
    blocks = _blocks(screen, made, cells) if screen.terminal else [list(range(len(made)))]
    for number, block in enumerate(blocks):
        if number:
            screen.line()
        table(screen, [made[at] for at in block], [[row[at] for at in block] for row in cells])


def _blocks(screen: Screen, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[list[int]]:
    """The columns as they fit beside each other; the first that may be cut names the rows and stands in every block."""
    from evh.cli._terminal import cells

    whole = [max([cells(column.title), *(cells(row[at]) for row in rows)]) for at, column in enumerate(columns)]
    widths = [min(wide, column.least or wide) for wide, column in zip(whole, columns, strict=True)]
    key = next((at for at, column in enumerate(columns) if column.least), 0)
    widths[key] = max(widths[key], min(whole[key], screen.width // 2))  # names that are cut look alike
    made, room = [[key]], screen.width - widths[key]
    for at, width in enumerate(widths):
        if at == key:
            continue
        if room < width + 2 and made[-1] != [key]:
            made.append([key])
            room = screen.width - widths[key]
        made[-1].append(at)
        room -= width + 2
    return [sorted(block) for block in made]


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
