"""A small run, written as the harness writes one: for tests that kill it, starve it or cut its power."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from evh import Episode, TraceTask
from evh.protocol import models
from evh.store import RunDir, RunWriter, open_run_dir
from evh.store.clock import now
from evh.store.record import run_record
from evh.store.run_writer import make_run_directory


class Item(NamedTuple):
    """What is measured of one item."""

    item_id: str
    output: str
    with_episode: bool = False


ITEMS = (
    Item("plain", "an answer\n"),
    Item("../out/of\u2028it", "é\ud83d" * 9),
    Item("Logo", "", with_episode=True),
    Item("logo", "x" * 3000),
    Item("last", "the end", with_episode=True),
)


def manifest(run_id: str = "arm_r1", **members: Any) -> models.RunManifest:
    """What a run of `ITEMS` sets out to do."""
    return models.RunManifest(
        **{
            "run_id": run_id,
            "dataset_id": "small",
            "config_id": "arm",
            "started_at": "2026-10-04T08:15:30Z",
            "harness_version": "0.4.0",
            "config": {"params": {"temperature": 0}},
            "n_items_planned": len(ITEMS),
            "repeat_index": 1,
            **members,
        }
    )


def attempt(number: int, done: int) -> models.Attempt:
    """A launch."""
    return models.Attempt(
        attempt=number, started_at=now(), harness_version="0.4.0", items_done=done, items_owed=len(ITEMS) - done
    )


def write(writer: RunWriter, item: Item, told: Callable[[str], None]) -> None:
    """Write an item; `told` hears of it once it is acknowledged."""
    episode = Episode(task=TraceTask(type="t", data={"id": item.item_id})) if item.with_episode else None
    writer.write_item(item.item_id, item.output, {"score": 0.1, "_extra": {"k": 1}}, episode)
    told(item.item_id)


def write_run(runs: Path, policy: Any, told: Callable[[str], None], *, threads: bool = False) -> Path:
    """A whole run, from its directory to its record; with `threads`, the items are written all at once."""
    directory = make_run_directory(runs, manifest())
    with RunWriter(directory, fsync=policy) as writer:
        writer.begin(attempt(1, 0))
        if threads:
            with ThreadPoolExecutor(len(ITEMS)) as pool:
                list(pool.map(lambda item: write(writer, item, told), ITEMS))
        for number, item in enumerate(() if threads else ITEMS):
            if number == 2:
                writer.write_error(
                    models.ItemError(item_id=item.item_id, attempt=1, at=now(), type="TimeoutError", message="slow")
                )
            if number == 3:
                writer.sync()
                told("(synced)")
            write(writer, item, told)
        finish(writer)
    told("(finished)")
    return directory


def finish(writer: RunWriter) -> None:
    """Count the rows and write the record."""
    run = open_run_dir(writer.directory)
    assert run.manifest is not None
    writer.finish(run_record(run.manifest, run.count()))


def kept(run: RunDir) -> dict[str, bool]:
    """The items that have a row, and whether its output is there as it was written."""
    found: dict[str, bool] = {}
    for stored in run.rows():
        assert stored.row.item_id not in found
        path = run.output_path(stored.row.item_id)
        there = path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == stored.row.output_sha256
        if there:
            (item,) = [item for item in ITEMS if item.item_id == stored.row.item_id]
            assert run.output(item.item_id) == item.output
        found[stored.row.item_id] = there
    return found


def go_on(directory: Path) -> list[str]:
    """Take a run up again and bring it to its end; returns what had to be repaired."""
    done = set(kept(open_run_dir(directory)))
    with RunWriter(directory, fsync="never") as writer:
        assert set(kept(open_run_dir(directory))) >= done
        done = set(kept(open_run_dir(directory)))
        writer.begin(attempt(len(open_run_dir(directory).attempts()) + 1, len(done)))
        for item in ITEMS:
            if item.item_id not in done:
                write(writer, item, lambda _: None)
        finish(writer)
    run = open_run_dir(directory)
    assert run.record is not None
    assert run.record.n_items == len(ITEMS)
    assert run.record.scores["score"] == 0.1
    assert sorted(kept(run)) == sorted(item.item_id for item in ITEMS)
    assert run.state == "finished"
    list(run.episodes() if run.has_episodes else [])
    list(run.errors())
    return writer.repairs
