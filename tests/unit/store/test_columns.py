"""Reading a run's metrics as columns gives what reading them row by row gives, or leaves it to that."""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.errors import EvhError
from evh.store import Arm, open_run_dir
from evh.store._columns import read_columns
from tests.unit.store.made_runs import make_run

ORDINARY: list[list[dict[str, Any]]] = [
    [],
    [{"item_id": "a", "m": 1}],
    [{"item_id": "a", "m": 1.5, "_error": "x"}, {"item_id": "b", "k": -2}, {"item_id": "c", "m": None}],
    [{"item_id": "a", "m": 1, "_extra": {"m": 7, "x": 2}}, {"item_id": "b", "m": None, "_extra": {"m": 3}}],
    [{"item_id": "ü", "_meta": {"provider": "p"}, "_extra": {"only": 0.5}}, {"item_id": "b"}],
    [{"item_id": item, "m": 2**53 + 1, "k": 0.5, "_extra": {"x": 1, "y": 2.5}} for item in "abc"],
    [{"item_id": "a", "m": 1, "k": 2}, {"item_id": "b", "m": 1, "n": 2}, {"k": 5, "item_id": "c", "m": None}],
    [{"item_id": "a", "_extra": {"x": 1}}, {"item_id": "b", "_extra": {"y": 1}}, {"item_id": "c", "_extra": {}}],
]
ODD = [
    '{"item_id": "a", "m": 1}',
    '{"item_id": "a", "m": 1}\n{"item_id": "b", "m',
    '{"item_id": "a", "m": 1}\n\n',
    '{"item_id": "a", "m": 1}\n{"item_id": "a", "m": 1}\n',
    '{"item_id": "a", "m": true}\n',
    '{"item_id": "a", "m": "1"}\n',
    '{"item_id": "a", "m": NaN}\n',
    '{"item_id": "", "m": 1}\n',
    '{"item_id": 1, "m": 1}\n',
    '{"m": 1}\n',
    "[]\n",
    '{"item_id": "a", "m": 1' + "0" * 400 + "}\n",
    '{"item_id": "a", "_extra": [1]}\n',
    '{"item_id": "a", "_extra": {"m": null}}\n',
    '{"item_id": "a", "m": 1} {"item_id": "b", "m": 1}\n\n',
    '{"item_id": "a", "m": 1}\n{"m": 1, "k": 2}\n',
    '{"item_id": "a", "m": 1}\n{"item_id": "b", "m": false}\n',
    '{"item_id": "a", "_extra": {"item_id": 1}}\n',
]
NUMBER = st.floats(-1e308, 1e308) | st.integers(-(2**70), 2**70)
VALUE = NUMBER | st.none() | st.sampled_from([True, "1", [], {}])
NAMES = st.sampled_from(["m", "k", "cost_usd", "_x", "item_id"])
ROW = st.fixed_dictionaries(
    {"item_id": st.sampled_from(["a", "b", "c", "d", "e", "é"])},
    optional={
        "m": NUMBER | st.none(),
        "k": NUMBER | st.none(),
        "odd": VALUE,
        "_extra": st.none() | st.dictionaries(NAMES, NUMBER) | st.dictionaries(NAMES, VALUE) | st.just([1]),
        "_error": st.none() | st.just("E: x"),
        "_meta": st.just({"provider": "p"}),
    },
)
LIKE_ROW = st.fixed_dictionaries(
    {"m": NUMBER, "k": NUMBER, "_extra": st.fixed_dictionaries({"x": NUMBER, "y": NUMBER})}
)
ROWS = st.lists(ROW, max_size=5) | st.lists(LIKE_ROW, max_size=4).map(
    lambda rows: [{"item_id": f"i{at}"} | row for at, row in enumerate(rows)]
)
"""Rows of every sort, and rows that all have the same members, as a harness writes them."""
BREAK = st.sampled_from(["\n"] * 12 + ["", " ", "\r\n", "\n\n", "\n{"])


def seen(arm: Arm) -> Any:
    values = {name: arm.values(name) for name in arm.metrics}
    return arm.items, values, arm.n_errors, arm.n_items, arm.n_on_all, [arm.value(name) for name in arm.metrics]


def outcome(*paths: Path) -> Any:
    """What an arm of runs says, or how it is refused."""
    runs = [open_run_dir(path) for path in paths]
    try:
        return seen(Arm(runs)), [notice for run in runs for notice in run.notices]
    except EvhError as error:
        return type(error), str(error)


def by_row(path: Path, monkeypatch: pytest.MonkeyPatch, *runs: Path) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr("evh.store.arm.read_columns", lambda path: None)
        return seen(Arm([open_run_dir(run) for run in (path, *runs)]))


@pytest.mark.parametrize("rows", ORDINARY)
def test_ordinary_files_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]
) -> None:
    path = make_run(tmp_path, "a", rows)
    assert read_columns(path / "predictions.jsonl") is not None
    assert seen(Arm([open_run_dir(path)])) == by_row(path, monkeypatch)


@pytest.mark.parametrize("rows", ORDINARY)
def test_repeats_in_another_order_are_placed_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]
) -> None:
    one = make_run(tmp_path, "a_r1", ORDINARY[2])
    two = make_run(tmp_path, "a_r2", rows[::-1])
    assert seen(Arm([open_run_dir(one), open_run_dir(two)])) == by_row(one, monkeypatch, two)


@pytest.mark.parametrize("text", ODD)
def test_the_rest_is_left_to_the_reader_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = make_run(tmp_path, "a", [])
    (path / "predictions.jsonl").write_text(text)
    assert read_columns(path / "predictions.jsonl") is None
    try:
        expected = by_row(path, monkeypatch)
    except EvhError as error:
        with pytest.raises(type(error)) as raised:
            Arm([open_run_dir(path)])
        assert str(raised.value) == str(error)
    else:
        assert seen(Arm([open_run_dir(path)])) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(ROWS, st.lists(BREAK, min_size=5, max_size=5)), min_size=1, max_size=3))
def test_whatever_a_file_holds_both_ways_say_the_same(tmp_path: Path, files: list[tuple[Any, list[str]]]) -> None:
    paths = []
    for number, (rows, breaks) in enumerate(files, 1):
        path = tmp_path / f"a_r{number}"
        if not path.exists():
            make_run(tmp_path, path.name, [])
        lines = [json.dumps(row) + end for row, end in zip(rows, breaks, strict=False)]
        (path / "predictions.jsonl").write_bytes("".join(lines).encode())
        paths.append(path)
    at_once = outcome(*paths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evh.store.arm.read_columns", lambda path: None)
        assert outcome(*paths) == at_once


def test_b020_a_large_file_is_read_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_run(tmp_path, "a", [{"item_id": f"i{at}", "m": at} for at in range(50)])
    at_once = outcome(path)
    monkeypatch.setattr("evh.store._columns.LARGEST", 1000)
    assert read_columns(path / "predictions.jsonl") is None
    assert outcome(path) == at_once


def test_what_is_no_plain_file_is_left_to_it_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps({"item_id": "a"}) + "\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_columns(tmp_path / "link") is None and read_columns(tmp_path / "none") is None


def test_missing_values_are_nan(tmp_path: Path) -> None:
    path = make_run(tmp_path, "a", [{"item_id": "a", "m": 1}, {"item_id": "b"}])
    found = read_columns(path / "predictions.jsonl")
    assert found is not None and found.items == ["a", "b"] and isinstance(found.values["m"], array)
    assert found.values["m"][0] == 1 and math.isnan(found.values["m"][1])


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('{"a": 1, "a": 2', True), ('{"scores": {"m": 1, "m": 1}', True), ('{"goal": "a \\": b"', False),
        ('{"goal": "\\"x\\":"', False), ('{"goal":\n"x"', False), ('{"goal" \t: "x"', False),
        ('{"goal" : "x", "goal":"x"', True), ('{"goal"\n:"x", "goal":"x"', True),
        ('{"goal":"x", "g\\u006fal":"x"', True),
    ],
)  # fmt: skip
def test_a_name_that_stands_twice_in_a_record_is_found(tmp_path: Path, text: str, refused: bool) -> None:
    path = make_run(tmp_path, "a", [])
    record = json.loads((path / "metrics.json").read_text("utf-8"))
    record.pop("scores") if '"scores"' in text else None
    (path / "metrics.json").write_text(text + ", " + json.dumps(record)[1:], "utf-8")
    if refused:
        with pytest.raises(EvhError, match="remove one of them"):
            open_run_dir(path).record  # noqa: B018
    else:
        assert open_run_dir(path).record is not None
