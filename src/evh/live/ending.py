"""The end of a live run: its rows, its record, and last of all `end.json`.

Promise
    An evaluation that completed gets a row an item (several rollouts: their means), the outputs of those rows, and its
    record, all made from the episodes on disk; any other run gets `end.json` alone. `end.json` appears when everything
    it counts is in place and, but for the policy `never`, durable: the segments of other processes too, of which those
    whose writers are gone are repaired first. Done again after it was interrupted, it comes to the same end.
    Memory does not grow with the episodes, only with the ids of the items.
Policy
    A record that cannot be made (a segment was damaged) costs the record, and is told; the run is closed all the same.
    A task that is projected wrongly costs its row, which says why in `_error`.
When it breaks
    `WriteError`: the run is not closed; closing it can be tried again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError, LockedError, RecordError, WriteError
from evh.live.episode_index import EpisodeIndex
from evh.live.losses import Lost
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store import _os, layout
from evh.store.aggregate import aggregate
from evh.store.atomic import clear_temporary, sync_folder, why, write_all, write_file
from evh.store.clock import now
from evh.store.journal import FsyncPolicy, Journal
from evh.store.masking import Masker
from evh.store.outputs import OutputFolder, output_bytes
from evh.store.projection import EPISODE_METRICS, project_episode, project_rollouts
from evh.store.record import document_bytes, run_record, write_record
from evh.store.rows import read_metric_rows
from evh.store.segments import count_run, segment_files, step_files

__all__ = ["Asked", "end_run"]

LONGEST_ERROR = 4096
PIECE = 1 << 20


class Asked(NamedTuple):
    """How a run is to end, as the first who asked said."""

    status: str
    error: str | None = None
    summary: dict[str, Any] | None = None


def end_run(
    directory: Path,
    manifest: models.RunManifest,
    asked: Asked,
    *,
    lost: Lost,
    masker: Masker,
    fsync: FsyncPolicy,
    known: Mapping[str, int],
) -> list[str]:
    """Close a run whose own files are closed; returns what was odd, in words. `known` are the rows of its own files.

    Raises `WriteError`; nothing that was logged is touched by it.
    """
    notes = _settle_segments(directory, fsync)
    rows = dict(known)
    if manifest.kind == "eval" and asked.status == "completed":
        try:
            notes += _write_record(directory, manifest, fsync, rows)
        except WriteError:
            raise
        except EvhError as error:
            notes.append(f"the run has no record: {error}")
    sizes = _sizes(directory)
    end = models.RunEnd(
        status=asked.status,
        ended_at=now(),
        counts=count_run(directory, rows),
        lost=int(lost),
        losses=[masker.text(reason) for reason in lost.reasons],
        error=None if asked.error is None else masker.text(asked.error)[:LONGEST_ERROR],
        summary=None if asked.summary is None else masker.value(asked.summary),
    )
    write_file(directory / layout.END, document_bytes(end))
    if _sizes(directory) != sizes:  # a process that came too late to be told: its line is in, so it counts
        end.counts = count_run(directory)
        write_file(directory / layout.END, document_bytes(end))
    return notes


def _settle_segments(directory: Path, fsync: FsyncPolicy) -> list[str]:
    """Repair and sync the files of other processes."""
    notes = []
    for path in (*segment_files(directory), *step_files(directory)):
        if path.parent == directory:
            continue
        name = path.relative_to(directory).as_posix()
        try:
            with Journal(path, fsync=fsync, note=False) as journal:
                if journal.repaired is not None:
                    notes.append(f"{name}: {journal.repaired}")
        except LockedError:
            notes.append(f"{name} is still being written: what its process logs from now on is refused")
            if fsync != "never":
                _sync(path)
    return notes


def _sizes(directory: Path) -> dict[Path, int]:
    found = {}
    for path in (*segment_files(directory), *step_files(directory)):
        try:
            found[path] = path.stat().st_size
        except OSError:
            found[path] = -1
    return found


# --- rows and record -------------------------------------------------------------------------------------------------


def _write_record(directory: Path, manifest: models.RunManifest, fsync: FsyncPolicy, rows: dict[str, int]) -> list[str]:
    """The rows, outputs and record of an evaluation. `rows` learns how many each segment has."""
    try:
        clear_temporary(directory)
    except OSError as error:
        raise WriteError(f"cannot be cleared: {why(error)}", source=str(directory)) from None
    index = EpisodeIndex(segment_files(directory))
    rows |= {
        path.relative_to(directory).as_posix(): count for path, count in zip(index.segments, index.rows, strict=True)
    }
    outputs = _outputs(directory)
    _write_rows(directory / layout.PREDICTIONS, index, outputs)
    if fsync != "never":
        for path in outputs.path.iterdir():
            _sync(path)
        try:
            outputs.sync()
        except OSError as error:
            raise WriteError(f"cannot be synced: {why(error)}", source=str(outputs.path)) from None
    counted = aggregate(read_metric_rows(directory / layout.PREDICTIONS))
    write_record(directory, run_record(manifest, counted, declared=EPISODE_METRICS))
    return [f"no row was made of it: {fault}" for fault in index.faults]


def _outputs(directory: Path) -> OutputFolder:
    path = directory / layout.OUTPUTS
    try:
        if not os.path.lexists(path):
            _os.mkdir(path)
        folder = OutputFolder(path, synced=False)
        folder.clear_temporary()
    except OSError as error:
        raise WriteError(f"cannot be made: {why(error)}", source=str(path)) from None
    return folder


def _write_rows(path: Path, index: EpisodeIndex, outputs: OutputFolder) -> None:
    """A row an item, the file whole or as it was."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = _os.create(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            pending = bytearray()
            for item_id, episodes in index.items():
                row, output = _row(item_id, episodes)
                outputs.write(item_id, output)
                pending += row + b"\n"
                if len(pending) >= PIECE:
                    write_all(descriptor, pending)
                    pending.clear()
            write_all(descriptor, pending)
            _os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        _remove(temporary)
        raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None
    except BaseException:
        _remove(temporary)
        raise


def _row(item_id: str, episodes: list[models.Episode]) -> tuple[bytes, bytes]:
    """The row of an item and its output."""
    try:
        found = project_rollouts(item_id, [project_episode(episode, item_id) for episode in episodes])
        output, members = output_bytes(found.output), found.members()
    except RecordError as error:
        output, members = b"", {"_extra": {}, "_error": f"the episodes give no row: {error}"}
    row = {"item_id": item_id, **members, "_output_sha256": hashlib.sha256(output).hexdigest()}
    return encode(models.PredictionRow.over(row)), output


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | _os.O_BINARY)
        try:
            _os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise WriteError(f"cannot be synced: {why(error)}", source=str(path)) from None


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # the next one who writes here removes it
        _os.unlink(path)


def plain_summary(summary: Any) -> dict[str, Any] | None:
    """A summary as JSON, copied. Raises `RecordError` for what JSON has no form for."""
    from evh.protocol.jsontext import dumps

    return None if summary is None else msgspec.json.decode(dumps(dict(summary)), type=dict[str, Any])
