"""`evh plot`: pictures that parse, escape what they show, and load nothing."""

from __future__ import annotations

import sys
import types
import xml.etree.ElementTree as ET

import pytest
from cli_support import Evh
from compared_support import Compared, values

KINDS = [("leaderboard",), ("pair", "reranked", "bm25"), ("forest", "reranked", "--against", "e")]


@pytest.mark.parametrize("arguments", KINDS)
def test_pictures_parse_and_load_nothing(evh: Evh, compared: Compared, arguments: tuple[str, ...]) -> None:
    compared.arms()
    ran = evh("plot", *arguments, "-o", "picture.svg")
    assert ran.code == 0, ran
    text = (compared.root / "picture.svg").read_text("utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "script" not in text and text.count("http") == 1 and "href" not in text
    data = evh("plot", *arguments, "-o", "picture.html", "--json").json
    page = (compared.root / "picture.html").read_text("utf-8")
    assert data["path"] == "picture.html" and text in page
    assert any("better is" in each for each in data["notices"])


def test_names_are_escaped(evh: Evh, compared: Compared) -> None:
    compared.arm("<b>&'\"\x1b", values(0.0))
    compared.arm("plain", values(0.1))
    assert evh("plot", "leaderboard", "-o", "a.svg").code == 0
    text = (compared.root / "a.svg").read_text("utf-8")
    ET.fromstring(text)
    assert "<b>" not in text and "\x1b" not in text


def test_equal_values_and_one_arm_are_drawn(evh: Evh, compared: Compared) -> None:
    compared.arm("one", {f"i{at}": {"score": 0.0} for at in range(4)})
    assert evh("plot", "leaderboard", "-o", "a.svg").code == 0
    compared.arm("two", {f"i{at}": {"score": 0.0} for at in range(4)})
    assert evh("plot", "pair", "one", "two", "-o", "b.svg").code == 0
    for name in ("a.svg", "b.svg"):
        ET.fromstring((compared.root / name).read_text("utf-8"))


def test_a_png_needs_a_library(evh: Evh, compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    compared.arms()
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    ran = evh("plot", "leaderboard", "-o", "a.png")
    assert ran.code == 1 and "write .svg or .html" in ran.err and not (compared.root / "a.png").exists()
    library = types.ModuleType("cairosvg")
    library.svg2png = lambda bytestring, scale: b"png " + bytestring[:4]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cairosvg", library)
    assert evh("plot", "leaderboard", "-o", "a.png").code == 0
    assert (compared.root / "a.png").read_bytes() == b"png <svg"


@pytest.mark.parametrize(
    "arguments",
    [
        ("leaderboard", "arm", "-o", "a.svg"), ("pair", "a", "-o", "a.svg"), ("forest", "a", "-o", "a.svg"),
        ("pair", "a", "b", "--against", "c", "-o", "a.svg"), ("leaderboard", "-o", "a.gif"), ("pie", "-o", "a.svg"),
        ("pair", "a", "b", "--match", "c", "-o", "a.svg"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(evh: Evh, compared: Compared, arguments: tuple[str, ...]) -> None:
    assert evh("plot", *arguments).code == 2
