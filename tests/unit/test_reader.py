"""`read_episodes`, `read_rows` and `read_summaries`: every row once, bad rows isolated, the same rows by every way."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evh
from evh.errors import DecodeError, EvhError, SourceError, UsageError
from evh.protocol import _views
from evh.protocol._views import iter_views
from evh.protocol.sources import iter_lines
from evh.protocol.summaries import summary_of

DATA = Path(__file__).parents[1] / "data" / "verifiers"
FILES = sorted(path for path in DATA.rglob("*.jsonl") if path.stat().st_size)


def plain(lines: Any) -> list[tuple[Any, ...]]:
    return [(bytes(line.data), line.line, line.offset, line.notices, line.torn) for line in lines]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_views_are_the_rows_that_lines_are(path: Path) -> None:
    assert plain(line._replace(data=bytes(line.data)) for line in iter_views(path)) == plain(iter_lines(path))


@given(
    rows=st.lists(st.binary(max_size=40).map(lambda row: row.replace(b"\n", b"\r")), max_size=12),
    last=st.booleans(),
    bom=st.booleans(),
    buffer=st.integers(4, 64),
)
def test_views_and_lines_agree_whatever_the_rows_and_the_buffer(
    rows: list[bytes], last: bool, bom: bool, buffer: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" * bom + b"\n".join(rows) + b"\n" * last)
    if path.read_bytes()[:2] == b"\x1f\x8b" or path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd":
        return  # packed, by its first bytes
    before, _views.FIRST_BUFFER = _views.FIRST_BUFFER, buffer
    try:
        assert plain(line._replace(data=bytes(line.data)) for line in iter_views(path)) == plain(iter_lines(path))
    finally:
        _views.FIRST_BUFFER = before


def test_an_episode_outlives_the_buffer_it_was_read_from() -> None:
    path = DATA / "v0.4.0-built" / "built.jsonl"
    held = list(evh.read_episodes(path))
    assert [evh.encode(each) for each in held] == [
        evh.encode(evh.decode(line)) for line in path.read_bytes().splitlines()
    ]


def test_a_bad_row_is_skipped_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    reader = evh.read_episodes(DATA / "v0.4.0-torn" / "traces.jsonl")
    with caplog.at_level(logging.WARNING, "evh"):
        assert len(list(reader)) == reader.read == 17
    assert reader.skipped == 1
    assert "traces.jsonl:18: torn last row of 5552 bytes" in str(reader.errors[0])
    assert "1 of 18 rows could not be read" in caplog.text


def test_a_bad_row_is_raised_or_handed_over_when_asked() -> None:
    path = DATA / "v0.4.0-torn" / "traces.jsonl"
    with pytest.raises(DecodeError, match="torn"):
        list(evh.read_episodes(path, on_error="raise"))
    seen: list[EvhError] = []
    assert len(list(evh.read_episodes(path, on_error=seen.append))) == 17
    assert [error.line for error in seen] == [18]


@pytest.mark.parametrize("wrong", [{"mode": "both"}, {"on_error": "ignore"}])
def test_an_argument_that_makes_no_sense_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        evh.read_episodes(b"", **wrong)


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"missing\.jsonl"):
        list(evh.read_episodes(tmp_path / "missing.jsonl"))


def test_every_way_to_give_rows_gives_the_same_episodes(tmp_path: Path) -> None:
    path = DATA / "v0.4.0-eval" / "traces.jsonl"
    data = path.read_bytes()
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(data))
    expected = [each.id for each in evh.read_episodes(path)]
    assert len(expected) == 18
    with path.open("rb") as file:
        for source in (data, str(path), path.parent, file, tmp_path / "rows.jsonl.gz"):
            assert [each.id for each in evh.read_episodes(source)] == expected


def test_a_traces_run_moves_to_its_episode_on_the_way() -> None:
    old = list(evh.read_episodes(DATA / "673dab2c-eval-trace-run" / "traces.jsonl"))
    assert all(episode.run is not None and episode.run.type == "eval" for episode in old)


def test_messagepack_files_are_read_by_their_name_and_a_torn_one_to_its_last_whole_episode(tmp_path: Path) -> None:
    packed = (DATA / "v0.4.0-built" / "built.msgpacks").read_bytes()
    whole = list(evh.read_episodes(DATA / "v0.4.0-built" / "built.msgpacks"))
    torn = tmp_path / "torn.msgpacks"
    torn.write_bytes(packed[:-100])
    reader = evh.read_episodes(torn)
    assert [each.id for each in reader] == [each.id for each in whole[:-1]]
    assert reader.skipped == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_summary_says_what_the_episode_says(path: Path) -> None:
    seen: list[EvhError] = []
    summaries = list(evh.read_summaries(path, on_error=seen.append))
    episodes = list(evh.read_episodes(path, on_error="skip"))
    assert [each._replace(line=0, offset=0) for each in summaries] == [summary_of(each) for each in episodes]
    data = path.read_bytes()
    starts = [data[each.offset :].removeprefix(b"\xef\xbb\xbf")[:1] for each in summaries]
    assert set(starts) <= {b"{"}


def test_plain_rows_have_null_for_nan_and_say_so() -> None:
    (row,) = evh.read_rows(DATA / "hazards" / "nan.jsonl")
    assert {notice.kind for notice in row.notices} == {"non-finite"}
    json.dumps(row.value, allow_nan=False)
