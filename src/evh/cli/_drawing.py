"""Points with intervals and bars, drawn as SVG text; an HTML page around them.

Promise: text from files is escaped, and no script, style sheet or image is loaded from elsewhere. Every number drawn is
also in the file as text: the label of a row, and a `title` for what points at it. Policy: the look.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Point", "bars", "page", "points"]

ROW, LEFT, RIGHT, WIDTH, TOP = 26, 220, 190, 860, 58
INK, LINE, GOOD, BAD, PLAIN = "#1f2430", "#c9ced8", "#1b7f5c", "#b3452f", "#3b5b92"
FONT = "font-family='system-ui, sans-serif' font-size='13'"


class Point(NamedTuple):
    """A row: a name, a value with its interval, a word beside it. `tone` is 1 for the better end, -1 for the worse."""

    name: str
    value: float
    low: float | None
    high: float | None
    word: str
    tone: int = 0


def points(title: str, axis: str, rows: Sequence[Point], *, zero: bool = False) -> str:
    """A row for each value, the first at the top; with `zero` a line where nothing differs."""
    ends = [each for row in rows for each in (row.low, row.high, row.value) if each is not None]
    low, high = _range([*ends, 0.0] if zero else ends)
    height = TOP + ROW * len(rows) + 44
    parts = [*_frame(title, height), *_axis(low, high, axis, height)]
    if zero:
        at = _x(0.0, low, high)
        parts.append(f"<line x1='{at}' x2='{at}' y1='{TOP - 6}' y2='{height - 44}' stroke='{INK}' stroke-width='1.2'/>")
    for number, row in enumerate(rows):
        y = TOP + ROW * number + ROW // 2
        colour = {1: GOOD, -1: BAD}.get(row.tone, PLAIN)
        parts.append(f"<text x='{LEFT - 12}' y='{y + 4}' text-anchor='end' fill='{INK}'>{_text(row.name, 30)}</text>")
        parts.append(f"<g stroke='{colour}' fill='{colour}'><title>{html.escape(_told(row))}</title>")
        if row.low is not None and row.high is not None:
            a, b = _x(row.low, low, high), _x(row.high, low, high)
            parts.append(f"<line x1='{a}' x2='{b}' y1='{y}' y2='{y}' stroke-width='2'/>")
        parts.append(f"<circle cx='{_x(row.value, low, high)}' cy='{y}' r='4.5'/></g>")
        parts.append(f"<text x='{WIDTH - RIGHT + 14}' y='{y + 4}' fill='{INK}'>{_text(row.word, 28)}</text>")
    return "\n".join([*parts, "</svg>", ""])


def bars(title: str, axis: str, values: Sequence[tuple[str, float]], sign: int) -> str:
    """Differences as bars from zero, in the order given; coloured by which side is the better one."""
    low, high = _range([*(value for _, value in values), 0.0])
    room, height = WIDTH - 90, 360
    wide = room / max(1, len(values))
    parts = _frame(title, height)

    def y(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (height - TOP - 40), 2)

    for each in _ticks(low, high):
        parts.append(f"<line x1='70' x2='{WIDTH - 20}' y1='{y(each)}' y2='{y(each)}' stroke='{LINE}'/>")
        parts.append(f"<text x='62' y='{y(each) + 4}' text-anchor='end' fill='{INK}'>{each:g}</text>")
    for number, (name, value) in enumerate(values):
        side = value * sign
        colour = PLAIN if not sign else GOOD if side > 0 else BAD
        top, size = min(y(value), y(0.0)), round(abs(y(value) - y(0.0)), 2)
        parts.append(
            f"<rect x='{round(70 + number * wide, 2)}' y='{top}' width='{round(max(0.4, wide * 0.85), 2)}' "
            f"height='{max(size, 0.6)}' fill='{colour}'><title>{_text(name, 120)}: {value:g}</title></rect>"
        )
    parts.append(f"<line x1='70' x2='{WIDTH - 20}' y1='{y(0.0)}' y2='{y(0.0)}' stroke='{INK}' stroke-width='1.2'/>")
    parts.append(f"<text x='70' y='{height - 12}' fill='{INK}'>{_text(axis, 110)}</text>")
    return "\n".join([*parts, "</svg>", ""])


def page(title: str, svg: str, lines: Sequence[str]) -> str:
    """An HTML page with a drawing and the lines that belong to it."""
    items = "\n".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n"
        f"<title>{html.escape(title)}</title>\n"
        "<style>body{font-family:system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1f2430}"
        "svg{max-width:100%;height:auto}li{margin:.25rem 0}</style></head>\n"
        f"<body>\n{svg}<ul>\n{items}\n</ul>\n</body></html>\n"
    )


def _frame(title: str, height: int) -> list[str]:
    return [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' viewBox='0 0 {WIDTH} {height}' "
        f"role='img' {FONT}>",
        f"<title>{html.escape(_clean(title))}</title>",
        f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>",
        f"<text x='20' y='28' font-size='16' font-weight='600' fill='{INK}'>{_text(title, 100)}</text>",
    ]


def _axis(low: float, high: float, name: str, height: int) -> list[str]:
    parts = []
    for each in _ticks(low, high):
        at = _x(each, low, high)
        parts.append(f"<line x1='{at}' x2='{at}' y1='{TOP - 6}' y2='{height - 44}' stroke='{LINE}'/>")
        parts.append(f"<text x='{at}' y='{height - 28}' text-anchor='middle' fill='{INK}'>{each:g}</text>")
    parts.append(f"<text x='{LEFT}' y='{height - 8}' fill='{INK}'>{_text(name, 95)}</text>")
    return parts


def _x(value: float, low: float, high: float) -> float:
    return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 2)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """From the smallest to the largest, with some air."""
    low, high = min(values), max(values)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - air, high + air


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers."""
    raw = (high - low) / 5
    base = 10.0 ** math.floor(math.log10(raw))
    step = next(base * each for each in (1, 2, 5, 10) if base * each >= raw)
    return [round(number * step, 12) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _told(row: Point) -> str:
    bounds = "" if row.low is None or row.high is None else f" [{row.low:g}, {row.high:g}]"
    return _clean(f"{row.name}: {row.value:g}{bounds} {row.word}")


def _text(text: str, longest: int) -> str:
    text = _clean(text)
    return html.escape(text if len(text) <= longest else text[: longest - 1] + "…")


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    from evh.cli._terminal import printable

    return printable(text)
