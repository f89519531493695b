"""Tables: on a terminal of any width, as Markdown, as CSV."""

from __future__ import annotations

import io

import pytest

from evh.cli._tabled import Value, print_table
from evh.cli._terminal import Screen, cells

COLUMNS = [("rank", False), ("config", True), *((f"metric_{at}", False) for at in range(6)), ("verdict", False)]
ROWS: list[list[Value]] = [
    [1, "a_config_with_a_long_name_v1", *(at / 7 for at in range(6)), "better"],
    [2, "a_config_with_a_long_name_v2", *(at / 3 for at in range(6)), "not separated"],
    [3, "設定名設定名", *(None for _ in range(6)), "no verdict"],
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO) -> list[str]:
    print_table(Screen(stream), COLUMNS, ROWS)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_a_narrow_terminal_shows_every_column_in_blocks(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    lines = printed(Terminal())
    assert max(map(cells, lines)) <= columns
    blocks = "\n".join(lines).split("\n\n")
    headings = [block.splitlines()[0].split() for block in blocks]
    assert [name for block in headings for name in block if name != "config"] == [
        name for name, _ in COLUMNS if name != "config"
    ]
    assert all("config" in block for block in headings) and len(blocks) > 1
    assert {len(block.splitlines()) for block in blocks} == {1 + len(ROWS)}


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_a_table_that_fits_or_is_piped_is_one(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160" if stream is Terminal else "40")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = printed(stream())
    assert len(lines) == 1 + len(ROWS) and lines[0].split() == [name for name, _ in COLUMNS]
