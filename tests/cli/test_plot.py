"""`evh plot`: pictures that parse, fit, escape what they show, and load nothing."""

from __future__ import annotations

import re
import struct
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from cli_support import Evh
from compared_support import GAINS, Compared, values

from evh.cli._drawing import Legend, Point, bars, page, png, points
from evh.cli._lettering import width
from evh.errors import SourceError

SVG = "{http://www.w3.org/2000/svg}"
KINDS = [("leaderboard",), ("pair", "reranked", "bm25"), ("forest", "reranked", "--against", "e")]


def parsed(path: Path) -> ET.Element:
    return ET.fromstring(path.read_text("utf-8"))


def texts(drawing: ET.Element) -> list[str]:
    return [each.text or "" for each in drawing.iter(f"{SVG}text")]


def check_that_it_fits(svg: str) -> list[str]:
    """No text reaches over an edge of the drawing, by the widths of a wide font; returns the texts."""
    drawing = ET.fromstring(svg)
    whole, tall = float(drawing.get("width", "0")), float(drawing.get("height", "0"))
    for each in drawing.iter(f"{SVG}text"):
        long = width(each.text or "", float(each.get("font-size", "13")), bold="font-weight" in each.attrib)
        x, y = float(each.get("x", "0")), float(each.get("y", "0"))
        if each.get("transform"):
            assert long <= tall
            continue
        start = {"start": x, "middle": x - long / 2, "end": x - long}[each.get("text-anchor", "start")]
        assert start >= 0 and start + long <= whole and 0 < y < tall, (each.text, start, long, whole)
    return texts(drawing)


@pytest.mark.parametrize("arguments", KINDS)
def test_pictures_parse_and_load_nothing(evh: Evh, compared: Compared, arguments: tuple[str, ...]) -> None:
    compared.arms()
    ran = evh("plot", *arguments, "-o", "picture.svg")
    assert ran.code == 0, ran
    text = (compared.root / "picture.svg").read_text("utf-8")
    assert ET.fromstring(text).tag == f"{SVG}svg"
    assert "script" not in text and text.count("http") == 1 and "href" not in text
    data = evh("plot", *arguments, "-o", "picture.html", "--json").json
    shown = (compared.root / "picture.html").read_text("utf-8")
    assert data["path"] == "picture.html" and text in shown
    assert any("better is" in each for each in data["notices"])


def test_names_are_escaped(evh: Evh, compared: Compared) -> None:
    compared.arm("<b>&'\"\x1b", values(0.0))
    compared.arm("plain", values(0.1))
    assert evh("plot", "leaderboard", "-o", "a.svg").code == 0
    text = (compared.root / "a.svg").read_text("utf-8")
    ET.fromstring(text)
    assert "<b>" not in text and "\x1b" not in text
    assert evh("plot", "pair", "<b>&'\"\x1b", "plain", "-o", "a.html").code == 0
    text = (compared.root / "a.html").read_text("utf-8")
    assert "<b>" not in text and "\x1b" not in text


def test_equal_values_and_one_arm_are_drawn(evh: Evh, compared: Compared) -> None:
    compared.arm("one", {f"i{at}": {"score": 0.0} for at in range(4)})
    assert evh("plot", "leaderboard", "-o", "a.svg").code == 0
    compared.arm("two", {f"i{at}": {"score": 0.0} for at in range(4)})
    assert evh("plot", "pair", "one", "two", "-o", "b.svg").code == 0
    for name in ("a.svg", "b.svg"):
        parsed(compared.root / name)


def test_every_colour_is_told_in_words(evh: Evh, compared: Compared) -> None:
    compared.arms()
    assert evh("plot", "leaderboard", "-o", "a.svg").code == 0
    assert "the first rank" in texts(parsed(compared.root / "a.svg"))
    assert evh("plot", "pair", "bm25", "reranked", "-o", "a.svg").code == 0
    said = texts(parsed(compared.root / "a.svg"))
    assert {"bm25 is better on 0 items", "reranked is better on 12 items", "difference in score"} <= {*said}
    assert evh("plot", "forest", "reranked", "--against", "e", "-o", "a.svg").code == 0
    assert "reranked is better, by the corrected test" in texts(parsed(compared.root / "a.svg"))


def test_a_picture_alone_says_what_it_stands_on(evh: Evh, compared: Compared) -> None:
    compared.arms()
    compared.arm("other_e", {"elsewhere": {"score": 1.0}})
    (compared.root / "few.txt").write_text("".join(f"i{at:02}\n" for at in range(8)))
    assert evh("plot", "pair", "bm25", "reranked", "--items", "few.txt", "-o", "a.svg").code == 0
    said = " ".join(texts(parsed(compared.root / "a.svg")))
    for each in ("8 shared items", "t 95 %", "sign flips, exact", "items dropped: 4 not among", "rows that failed: 0"):
        assert each in said
    assert evh("plot", "forest", "reranked", "--against", "e", "--method", "bh", "-o", "a.svg").code == 0
    said = " ".join(texts(parsed(compared.root / "a.svg")))
    for each in ("Benjamini-Hochberg over 2", "seed 20260926", "skipped other_e", "(uncorrected): t 95 %"):
        assert each in said


def test_what_is_left_out_of_a_leaderboard_is_told_and_is_no_success(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.runs / "dense" / "metrics.json").write_text("{")
    ran = evh("plot", "leaderboard", "-o", "a.svg")
    assert ran.code == 1 and "it cannot be read" in ran.out
    assert "left out: 1 run or arm" in texts(parsed(compared.root / "a.svg"))
    assert evh("plot", "leaderboard", "-o", "a.svg", "--json").json["ok"] is False


def test_arms_that_share_a_rank_say_so(evh: Evh, compared: Compared) -> None:
    for name in ("one", "two"):
        compared.arm(name, values(0.1))
    assert evh("plot", "leaderboard", "-o", "a.svg").code == 0
    assert {"1.5= one", "1.5= two"} <= {*texts(parsed(compared.root / "a.svg"))}


def test_two_arms_of_one_config_are_named_as_they_were_typed(evh: Evh, compared: Compared) -> None:
    compared.arm("bm25", values(0.0))
    compared.arm("bm25", values(0.1), folder="runs-rescored")
    a, b = (f"data/{folder}/d/bm25" for folder in ("runs", "runs-rescored"))
    data = evh("plot", "pair", a, b, "-o", "a.svg", "--json").json
    assert data["title"] == f"{a} minus {b}: score on d"


def test_a_forest_says_what_its_tests_say(evh: Evh, compared: Compared) -> None:
    for name in ("few", "other"):
        compared.arm(name, values(0.0 if name == "few" else 0.2, items=4))
    data = evh("plot", "forest", "few", "--against", "other", "-o", "a.svg", "--json").json
    assert any(each.startswith("other: no result could separate") for each in data["notices"])


LONG = "a_model_with_a_name_that_nobody_reads_to_its_end_but_that_tells_its_settings_there_v"


def test_nothing_is_drawn_beyond_the_edge() -> None:
    rows = [
        Point(f"1  {LONG}1", 0.5, 0.4, 0.6, "0.5 (n=1,200 of 12,000)"),
        Point(f"2  {LONG}2", 0.4, 0.3, 0.5, "0.4 (n=12)"),
        Point("日本語の設定名" * 9, 0.3, None, None, "W" * 90),
        Point("W" * 900, 0.3, 0.3, 0.3, ""),
    ]
    sentence = f"score on {LONG}, better is higher; intervals: t 95 %, cluster bootstrap over 50 clusters 95 %"
    said = check_that_it_fits(points(f"{LONG}1 minus {LONG}2 " * 2, [sentence], rows, [Legend("#000", LONG * 3)]))
    assert len({each for each in said if each.endswith(("v1", "v2")) and "…" in each}) >= 2  # told apart still
    words = " ".join(said)
    assert "cluster bootstrap over 50 clusters 95 %" in words  # a sentence goes on, it is not cut
    several = [(f"i{at}", at - 1_000.5) for at in range(2_000)]
    check_that_it_fits(bars(f"{LONG}1 minus {LONG}2", [sentence], several, 1, [Legend("none", "equal")], "W" * 90))


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.41, 0.97), (1.2e-7, 3.1e-7), (1e-13, 4e-13), (123456700, 123456900), (3e17, 9e17), (-0.2, 0.19), (0.0, 1e5)],
)
def test_the_labels_of_an_axis_differ_and_stand_where_they_say(low: float, high: float) -> None:
    drawing = ET.fromstring(points("t", ["axis"], [Point("a", low, None, None, ""), Point("b", high, None, None, "")]))
    check_that_it_fits(ET.tostring(drawing, "unicode"))
    marks = [each for each in drawing.iter(f"{SVG}text") if each.get("text-anchor") == "middle"]
    numbers = [float((each.text or "").replace(",", "")) for each in marks]
    assert 2 <= len(numbers) <= 8 and numbers == sorted(set(numbers))
    first, second = (float(each.get("cx", "0")) for each in drawing.iter(f"{SVG}circle"))
    for mark, number in zip(marks, numbers, strict=True):
        there = first + (number - low) / (high - low) * (second - first)
        assert abs(float(mark.get("x", "0")) - there) < 1.5


def test_values_that_differ_by_rounding_are_drawn_as_one() -> None:
    svg = points("t", ["axis"], [Point("a", 0.1 + 0.2, None, None, ""), Point("b", 0.3, None, None, "")])
    first, second = (float(each.get("cx", "0")) for each in ET.fromstring(svg).iter(f"{SVG}circle"))
    assert first == second


def test_a_png_has_the_letters_too(evh: Evh, compared: Compared) -> None:
    compared.arms()
    for arguments in KINDS:
        assert evh("plot", *arguments, "-o", "a.png").code == 0
        assert evh("plot", *arguments, "-o", "a.svg").code == 0
        data = (compared.root / "a.png").read_bytes()
        svg = (compared.root / "a.svg").read_text("utf-8")
        drawing = ET.fromstring(svg)
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", data[16:24]) == tuple(2 * int(drawing.get(it, "")) for it in ("width", "height"))
        assert len(data) > 1.5 * len(png(re.sub(">[^<]*</text>", "></text>", svg)))


def test_a_png_without_its_library_or_a_font_is_refused(
    evh: Evh, compared: Compared, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared.arms()
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    ran = evh("plot", "leaderboard", "-o", "a.png")
    assert ran.code == 1 and "pip install 'evh[plot]'" in ran.err and "write .svg or .html" in ran.err
    blind = types.ModuleType("resvg_py")
    blind.svg_to_bytes = lambda svg_string, zoom=1: b"no letters"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "resvg_py", blind)
    ran = evh("plot", "leaderboard", "-o", "a.png")
    assert ran.code == 1 and "needs a font" in ran.err and not (compared.root / "a.png").exists()


def test_a_png_of_thousands_of_rows_is_refused() -> None:
    svg = points("t", ["axis"], [Point(f"a{at}", at, None, None, "") for at in range(2_000)])
    with pytest.raises(SourceError, match=r"too much for a \.png"):
        png(svg)
    half = points("t", ["axis"], [Point(f"a{at}", at, None, None, "") for at in range(700)])
    assert struct.unpack(">I", png(half)[20:24])[0] < 20_000  # a pixel for a pixel: twice as tall would be too much


def test_a_page_says_each_line_once() -> None:
    assert page("t", "<svg/>", ["one", "one", "two"]).count("<li>") == 2


def test_endings_may_be_in_capitals(evh: Evh, compared: Compared) -> None:
    compared.arms()
    assert evh("plot", "leaderboard", "-o", "A.SVG").code == 0
    assert len([each for each in texts(parsed(compared.root / "A.SVG")) if each.endswith(tuple(GAINS))]) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("leaderboard", "arm", "-o", "a.svg"), ("pair", "a", "-o", "a.svg"), ("forest", "a", "-o", "a.svg"),
        ("pair", "a", "b", "--against", "c", "-o", "a.svg"), ("leaderboard", "-o", "a.gif"), ("pie", "-o", "a.svg"),
        ("pair", "a", "b", "--match", "c", "-o", "a.svg"), ("leaderboard", "--method", "bh", "-o", "a.svg"),
        ("leaderboard", "-o", "-"), ("leaderboard", "-o", ""), (), ("-o", "a.svg"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(evh: Evh, compared: Compared, arguments: tuple[str, ...]) -> None:
    assert evh("plot", *arguments).code == 2
    assert evh("plot", *arguments, "--json").json["error"]["kind"] == "usage"


def test_a_folder_that_is_not_there_is_named(evh: Evh, compared: Compared) -> None:
    compared.arms()
    ran = evh("plot", "leaderboard", "-o", "pictures/a.svg")
    assert ran.code == 1 and "pictures" in ran.err and "no such folder" in ran.err


def test_a_pair_tells_ids_that_no_arm_has(evh: Evh, compared: Compared) -> None:
    compared.arms()
    (compared.root / "few.txt").write_text("i00\ni01\ni02\ni03\nplian\n")
    said = "1 of the items asked for are in none of the arms: 'plian'"
    ran = evh("plot", "pair", "bm25", "dense", "--items", "few.txt", "-o", "a.svg", "--json")
    assert said in ran.json["notices"]
    dropped = "items dropped: 8 not among the items asked for; rows that failed: 0 and 0"
    assert dropped in ran.json["notices"] and dropped in evh("pair-test", "bm25", "dense", "--items", "few.txt").out
