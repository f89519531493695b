"""Points with intervals and bars, drawn as SVG text; an HTML page around them, a PNG of them.

Promise: nothing is drawn beyond the edge: names are cut in their middle, sentences go on several lines. Text from files
is escaped, and no script, style sheet or image is loaded from elsewhere. Every number drawn is also in the file as
text: the label of a row, and a `title` for what points at it, with the name in full. What a colour says stands below
the drawing in words. A PNG whose letters no font here can show is refused, not written without them. Policy: the look.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evh.cli._lettering import fitted, lines, width
from evh.errors import SourceError

__all__ = ["BAD", "GOOD", "PLAIN", "Legend", "Point", "bars", "page", "png", "points"]

ROW, PLOT, EDGE, LINE_HEIGHT = 26, 470, 20, 18
NAMES, WORDS = (120.0, 360.0), (90.0, 300.0)
"""The narrowest and the widest column of names, and of words."""
INK, LINE, GOOD, BAD, PLAIN = "#1f2430", "#c9ced8", "#1b7f5c", "#b3452f", "#3b5b92"
FAMILIES = (
    "system-ui, DejaVu Sans, Noto Sans, Liberation Sans, Segoe UI, Helvetica Neue, Helvetica, Arial, Roboto, Ubuntu, "
    "Cantarell, Adwaita Sans, Open Sans, FreeSans, Verdana, Tahoma, sans-serif"
)
FONT = f"font-family='{FAMILIES}' font-size='13'"
TITLE = 16
TALLEST = 32_000
"""Pixels beyond which a PNG helps nobody, and takes gigabytes to draw."""


class Point(NamedTuple):
    """A row: a name, a value with its interval, a word beside it. `tone` is 1 for the better end, -1 for the worse."""

    name: str
    value: float
    low: float | None
    high: float | None
    word: str
    tone: int = 0


class Legend(NamedTuple):
    """What a colour says."""

    colour: str
    text: str


def points(
    title: str, told: Sequence[str], rows: Sequence[Point], legend: Sequence[Legend] = (), *, zero: bool = False
) -> str:
    """A row for each value, the first at the top; with `zero` a line where nothing differs. `told` stands below."""
    names, words = [_clean(row.name) for row in rows], [_clean(row.word) for row in rows]
    left = EDGE + math.ceil(min(NAMES[1], max([NAMES[0], *map(width, names)]))) + 12
    right = left + PLOT
    whole = right + 14 + math.ceil(min(WORDS[1], max([WORDS[0], *map(width, words)]))) + EDGE
    ends = [each for row in rows for each in (row.low, row.high, row.value) if each is not None]
    low, high = _range([*ends, 0.0] if zero else ends)
    top, parts = _title(title, whole)
    bottom = top + ROW * len(rows)

    def x(value: float) -> float:
        return round(left + (value - low) / (high - low) * PLOT, 2)

    for value, label in _ticks(low, high, PLOT):
        parts.append(f"<line x1='{x(value)}' x2='{x(value)}' y1='{top - 6}' y2='{bottom}' stroke='{LINE}'/>")
        parts.append(_text(x(value), bottom + 17, label, anchor="middle"))
    if zero:
        parts.append(f"<line x1='{x(0.0)}' x2='{x(0.0)}' y1='{top - 6}' y2='{bottom}' stroke='{INK}'/>")
    for number, (row, name, word) in enumerate(zip(rows, names, words, strict=True)):
        y = top + ROW * number + ROW // 2
        colour = {1: GOOD, -1: BAD}.get(row.tone, PLAIN)
        parts.append(_text(left - 12, y + 4, fitted(name, left - 12 - EDGE), anchor="end"))
        parts.append(f"<g stroke='{colour}' fill='{colour}'><title>{html.escape(_told(row))}</title>")
        if row.low is not None and row.high is not None:
            parts.append(f"<line x1='{x(row.low)}' x2='{x(row.high)}' y1='{y}' y2='{y}' stroke-width='2'/>")
        parts.append(f"<circle cx='{x(row.value)}' cy='{y}' r='4.5'/></g>")
        parts.append(_text(right + 14, y + 4, fitted(word, whole - EDGE - right - 14)))
    return _svg(title, parts, told, legend, whole, bottom + 24)


def bars(
    title: str,
    told: Sequence[str],
    values: Sequence[tuple[str, float]],
    sign: int,
    legend: Sequence[Legend] = (),
    side: str = "",
) -> str:
    """Differences as bars from zero, in the order given; coloured by which side is the better one. `side` names the
    upright axis."""
    low, high = _range([*(value for _, value in values), 0.0])
    whole, tall = 860, 270
    top, parts = _title(title, whole)
    ticks = _ticks(low, high, tall, upright=True)
    left = round(EDGE + 26 + max(width(label) for _, label in ticks))
    bottom, right = top + tall, whole - EDGE
    wide = (right - left) / max(1, len(values))

    def y(value: float) -> float:
        return round(top + (high - value) / (high - low) * tall, 2)

    for value, label in ticks:
        parts.append(f"<line x1='{left}' x2='{right}' y1='{y(value)}' y2='{y(value)}' stroke='{LINE}'/>")
        parts.append(_text(left - 8, y(value) + 4, label, anchor="end"))
    middle = top + tall // 2
    turned = f" transform='rotate(-90 {EDGE + 2} {middle})'"
    parts.append(_text(EDGE + 2, middle, fitted(_clean(side), tall), anchor="middle", more=turned))
    for number, (name, value) in enumerate(values):
        better = value * sign
        colour = PLAIN if not sign else GOOD if better > 0 else BAD
        upper, size = min(y(value), y(0.0)), round(abs(y(value) - y(0.0)), 2)
        broad = wide * 0.85 if wide > 4 else wide
        parts.append(
            f"<rect x='{round(left + number * wide, 2)}' y='{upper}' width='{round(broad, 2)}' "
            f"height='{size}' fill='{colour}'><title>{html.escape(_clean(name))}: {value:g}</title></rect>"
        )
    parts.append(f"<line x1='{left}' x2='{right}' y1='{y(0.0)}' y2='{y(0.0)}' stroke='{INK}'/>")
    return _svg(title, parts, told, legend, whole, bottom + 14)


def page(title: str, svg: str, told: Sequence[str]) -> str:
    """An HTML page with a drawing and the lines that belong to it."""
    items = "\n".join(f"<li>{html.escape(_clean(line))}</li>" for line in dict.fromkeys(told))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{html.escape(_clean(title))}</title>\n"
        "<style>body{font-family:system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#1f2430}"
        "svg{max-width:100%;height:auto}li{margin:.25rem 0;overflow-wrap:anywhere}</style></head>\n"
        f"<body>\n{svg}<ul>\n{items}\n</ul>\n</body></html>\n"
    )


def png(svg: str) -> bytes:
    """A drawing as pixels, two for each where that is not too tall. Raises `SourceError` without the library or a
    font."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise SourceError(
            "a .png needs the library resvg-py, which is not installed: pip install 'evh[plot]', or write .svg or .html"
        ) from None
    height = int(re.findall(r"<svg [^>]* height='([0-9]+)'", svg)[0])
    if height > TALLEST:
        raise SourceError(f"the picture is {height:,} pixels tall, too much for a .png: draw fewer, or write .svg")
    probe = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20' {}><text x='4' y='15'>{}</text></svg>"
    if svg_to_bytes(svg_string=probe.format(FONT, "Ag0")) == svg_to_bytes(svg_string=probe.format(FONT, "")):
        raise SourceError(
            "a .png needs a font, and none of the usual ones is installed: install DejaVu Sans, or write .svg or .html"
        )
    return bytes(svg_to_bytes(svg_string=svg, zoom=2 if height * 2 <= TALLEST else 1))


# --- parts -----------------------------------------------------------------------------------------------------------


def _title(title: str, whole: int) -> tuple[int, list[str]]:
    """The heading, and where what is below it begins."""
    said = lines(_clean(title), whole - 2 * EDGE, TITLE, bold=True)
    more = f" font-size='{TITLE}' font-weight='600'"
    return 30 + 20 * len(said), [_text(EDGE, 28 + 20 * at, each, more=more) for at, each in enumerate(said)]


def _svg(title: str, parts: Sequence[str], told: Sequence[str], legend: Sequence[Legend], whole: int, y: int) -> str:
    """All of it, with what is told and what the colours say in words below, from `y` on."""
    below = []
    for line in [line for each in told for line in lines(_clean(each), whole - 2 * EDGE)]:
        y += LINE_HEIGHT
        below.append(_text(EDGE, y, line))
    for each in legend:
        y += LINE_HEIGHT
        below.append(f"<circle cx='{EDGE + 5}' cy='{y - 4}' r='4.5' fill='{each.colour}'/>")
        below.append(_text(EDGE + 16, y, fitted(_clean(each.text), whole - 2 * EDGE - 16)))
    height = y + EDGE
    frame = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{whole}' height='{height}' viewBox='0 0 {whole} {height}' "
        f"role='img' {FONT}>",
        f"<title>{html.escape(_clean(title))}</title>",
        f"<rect width='{whole}' height='{height}' fill='#ffffff'/>",
    ]
    return "\n".join([*frame, *parts, *below, "</svg>", ""])


def _text(x: float, y: float, text: str, *, anchor: str = "start", more: str = "") -> str:
    return f"<text x='{x}' y='{y}' text-anchor='{anchor}' fill='{INK}'{more}>{html.escape(text)}</text>"


def _range(values: Sequence[float]) -> tuple[float, float]:
    """From the smallest to the largest, with some air; what differs only by rounding is one value."""
    low, high = min(values), max(values)
    largest = max(abs(low), abs(high))
    air = (high - low) * 0.06 if high - low > largest * 1e-9 else largest * 0.1 or 1.0
    return low - air, high + air


def _ticks(low: float, high: float, room: int, *, upright: bool = False) -> list[tuple[float, str]]:
    """About five round numbers, fewer where their labels would touch, each with its label."""
    made: list[tuple[float, str]] = []
    for count in (5, 4, 3, 2):
        made = list(_round_numbers(low, high, (high - low) / count))
        taken = 16 * len(made) if upright else sum(width(label) + 14 for _, label in made)
        if taken <= room:
            break
    return made


def _round_numbers(low: float, high: float, raw: float) -> Iterator[tuple[float, str]]:
    power = math.floor(math.log10(raw))
    unit = next((each for each in (1, 2, 5) if each * 10.0**power >= raw), 0)
    power += not unit  # ten of a unit are one of the next
    step = (unit or 1) * 10.0**power
    places, largest = max(0, -power), max(abs(low), abs(high))
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        value = round(number * step, places + 1)
        if value == 0:
            yield value, "0"
        elif 1e-4 <= largest < 1e9:
            yield value, f"{value:,.{places}f}"
        else:
            yield value, f"{value:.{max(1, math.ceil(math.log10(largest / step)) + 1)}g}"


def _told(row: Point) -> str:
    bounds = "" if row.low is None or row.high is None else f" [{row.low:g}, {row.high:g}]"
    return _clean(f"{row.name}: {row.value:g}{bounds} {row.word}")


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    from evh.cli._terminal import printable

    return printable(text)
