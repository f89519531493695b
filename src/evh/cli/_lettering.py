"""How much room a text takes in a drawing, and how it is made to fit: cut in its middle, or on several lines.

Promise: what `fitted` and `lines` return takes at most the room given, in the widest of the usual fonts; ids that
differ at their ends still differ when they are cut. Policy: the widths, which are those of DejaVu Sans, rounded up.
"""

from __future__ import annotations

from evh.cli._terminal import cells

__all__ = ["SIZE", "fitted", "lines", "width"]

SIZE = 13
LONGEST = 400
"""Characters beyond which the middle of a text is not even looked at."""
_ROOM = {
    **dict.fromkeys("ijl'|!.,:;I ", 0.36),
    **dict.fromkeys('frt()[]{}/\\-"`', 0.47),
    **dict.fromkeys("mwMWOQ@%&", 1.0),
    **dict.fromkeys("+<>=~^#_", 0.84),
    **dict.fromkeys("ABCDEFGHJKLNPRSTUVXYZ", 0.78),
}


def width(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """The room that a text takes at most."""
    ems = sum(_ROOM.get(each, 0.65) if each.isascii() else 1.0 if cells(each) else 0.0 for each in text)
    return ems * size * (1.15 if bold else 1.0)


def fitted(text: str, room: float, size: float = SIZE, *, bold: bool = False) -> str:
    """A text in that room; with `…` for its middle when it is longer, since ids tend to differ at their ends."""
    if len(text) <= LONGEST and width(text, size, bold=bold) <= room:
        return text
    head, tail = text[: min(len(text), LONGEST) // 2], text[-(min(len(text), LONGEST) // 2) :]
    while head and width(f"{head}…{tail}", size, bold=bold) > room:
        if len(tail) >= len(head):
            tail = tail[1:]
        else:
            head = head[:-1]
    return f"{head}…{tail}"


def lines(text: str, room: float, size: float = SIZE, *, bold: bool = False) -> list[str]:
    """A text on as many lines as it needs; a word that is longer than a line is cut in its middle."""
    made: list[str] = []
    for word in text.split():
        longer = f"{made[-1]} {word}" if made else word
        if made and width(longer, size, bold=bold) <= room:
            made[-1] = longer
        else:
            made.append(fitted(word, room, size, bold=bold))
    return made or [""]
