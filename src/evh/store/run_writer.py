"""The one writer of a measured run's directory.

Promise
    The directory appears with its `run.json` durable in it, or not at all; two runs never get one name. The writer
    holds the lease. For one item the order is: episode (when there is one), output file, row; a row that is
    acknowledged (`write_item` returned) is on disk whole, its output too, whatever happens to this process. A power cut
    takes back what its policy says: `always` nothing, `group` at most the last 20 ms or 1 MiB, `never` what the system
    held. Its output and its episode are synced before a row is (with `never`, an output's bytes are not synced at all);
    a row that reached the disk ahead of any sync may lack them, which its digest tells. Everything is masked before it
    is written. `metrics.json` is written last, when everything that the policy syncs is durable.

Policy
    The provider's data (`_meta`) of one row is kept up to 1 MiB, an output up to 256 MiB.

When it breaks
    `WriteError`: nothing of that item is acknowledged; the run stops and can be resumed. `LockedError`: somebody else
    holds the run, or took it over (then nothing more is written).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from evh.errors import EvhError, LockedError, RecordError, SourceError, WriteError
from evh.protocol import models
from evh.protocol.codec import encode
from evh.protocol.jsontext import dumps, parse
from evh.store import _os, layout
from evh.store.atomic import clear_temporary, sync_folder, why, write_file
from evh.store.journal import FsyncPolicy, Journal
from evh.store.lease import Lease
from evh.store.masking import SECRET_TABLES, Masker
from evh.store.outputs import OutputFolder, output_bytes
from evh.store.record import document_bytes, write_record

__all__ = ["RunWriter", "make_run_directory"]

META_LIMIT = 1 << 20
OUTPUT_LIMIT = 1 << 28
TABLE_MEMBERS = tuple(f'"{name}"'.encode() for name in sorted(SECRET_TABLES))
KEPT_META = ("usage", "finish_reason", "provider", "model", "id")
NAMES = 1000
PARTIAL = ".partial-"


def make_run_directory(runs_dir: Path, manifest: models.RunManifest, *, exact: bool = False) -> Path:
    """Make the directory of a new run, with its manifest durable in it, and return its path.

    Its name is `manifest.run_id`; when that is taken, `-2`, `-3`, … is put before a repeat's suffix and the manifest's
    id is changed along, unless the name is to be `exact`. Raises `WriteError` when it is taken or the disk refuses.
    """
    wanted = manifest.run_id
    try:
        _make_folders(runs_dir)
        part = runs_dir / f"{PARTIAL}{secrets.token_hex(8)}"
        _os.mkdir(part)
    except OSError as error:
        raise WriteError(f"no run can be made here: {why(error)}", source=str(runs_dir)) from None
    try:
        _os.mkdir(part / layout.OUTPUTS)
        for number in range(1, 2 if exact else NAMES):
            manifest.run_id = _numbered(wanted, manifest.repeat_index, number)
            target = runs_dir / manifest.run_id
            if os.path.lexists(target):
                continue
            write_file(part / layout.MANIFEST, document_bytes(manifest))  # syncs `part` too
            try:
                _os.rename(part, target)
            except OSError as error:
                if os.path.lexists(target):
                    continue  # another process was quicker
                raise WriteError(f"cannot be made: {why(error)}", source=str(target)) from None
            sync_folder(runs_dir)
            return target
        raise WriteError("is there already: name another run, or resume this one", source=str(runs_dir / wanted))
    except OSError as error:
        raise WriteError(f"no run can be made here: {why(error)}", source=str(runs_dir)) from None
    finally:
        steps = ((_os.unlink, layout.MANIFEST), (_os.rmdir, layout.OUTPUTS), (_os.rmdir, ""))
        for remove, name in steps if part.exists() else ():
            with contextlib.suppress(OSError):
                remove(part / name)


def _numbered(run_id: str, repeat_index: int | None, number: int) -> str:
    if number == 1:
        return run_id
    suffix = f"_r{repeat_index}"
    if repeat_index is not None and run_id.endswith(suffix):
        return f"{run_id.removesuffix(suffix)}-{number}{suffix}"
    return f"{run_id}-{number}"


def _make_folders(folder: Path) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            _os.mkdir(each)
        sync_folder(each.parent)


class RunWriter:
    """Writes into one run directory from the constructor to `close`; `write_item` may be called from many threads.

    `lease` is one that the caller took already, to read what is owed under it; the writer releases it all the same.
    `repairs` says what opening the files had to mend. Raises `LockedError`, `WriteError`, `SourceError`.
    """

    def __init__(
        self,
        directory: Path,
        *,
        masker: Masker | None = None,
        fsync: FsyncPolicy = "group",
        lease: Lease | None = None,
        take_over: bool = False,
    ) -> None:
        self.directory = directory
        self.masker = masker or Masker()
        self.repairs: list[str] = []
        self._fsync: FsyncPolicy = fsync
        self._others: dict[str, Journal] = {}
        self._guard = threading.Lock()
        if not (directory / layout.MANIFEST).is_file():
            raise SourceError(
                f"has no {layout.MANIFEST}, so nobody can say which run it is: nothing is written to it",
                source=str(directory),
            )
        self._lease = Lease(directory, take_over=take_over) if lease is None else lease
        try:
            if self._lease.taken_from is not None:
                self.repairs.append(f"the lease of {self._lease.taken_from} was taken over")
            if count := clear_temporary(directory):
                self.repairs.append(f"{count} half-written files were removed")
            outputs = directory / layout.OUTPUTS
            if not os.path.lexists(outputs):
                _os.mkdir(outputs)
            self.outputs = OutputFolder(outputs, synced=fsync != "never")
            if count := self.outputs.clear_temporary():
                self.repairs.append(f"{count} half-written outputs were removed")
            self._rows = self._open(layout.PREDICTIONS, fsync, self._sync_behind)
            for name in (layout.TRACES, layout.ERRORS, layout.ATTEMPTS):
                if (directory / name).exists():
                    self._other(name)
        except OSError as error:
            self._give_back()
            raise WriteError(f"cannot be opened for writing: {why(error)}", source=str(directory)) from None
        except BaseException:
            self._give_back()
            raise

    def begin(self, attempt: models.Attempt) -> None:
        """Note a launch, durably, before its first call."""
        self._other(layout.ATTEMPTS).append(encode(attempt))
        self._other(layout.ATTEMPTS).sync()

    def write_item(
        self, item_id: str, output: str, members: dict[str, Any], episode: models.Episode | None = None
    ) -> None:
        """Write an item: its episode, its output, its row (`members` with `_output_sha256`), in this order."""
        if self._lease.lost is not None:
            raise LockedError(
                f"was taken over by {self._lease.lost}: nothing more is written to it here", source=str(self.directory)
            )
        masker = self.masker.knowing(members.get("_meta"))
        episode_line = None
        if episode is not None:
            episode_line, masker = _masked_episode(encode(episode), masker)
        output = masker.text(output)
        if len(output) > OUTPUT_LIMIT:
            raise RecordError(f"the output has {len(output):,} characters; at most {OUTPUT_LIMIT:,} are kept")
        row = {"item_id": item_id, **members}
        if "_meta" in row:
            row["_meta"] = _kept_meta(masker.value(row["_meta"]))
        data = output_bytes(output)
        row["_output_sha256"] = hashlib.sha256(data).hexdigest()
        line = encode(models.PredictionRow.over(row))  # first: a row that cannot be written leaves nothing behind
        if episode_line is not None:
            self._other(layout.TRACES).append(episode_line)
        self.outputs.write(item_id, data)
        self._rows.append(line)

    def write_episode(self, episode: models.Episode) -> None:
        """Append an episode; a row that is made of it comes later, and is never durable before it."""
        self._other(layout.TRACES).append(_masked_episode(encode(episode), self.masker)[0])

    def write_accepted(self, item_id: str, message: str) -> None:
        """Write the row of a failure that the user accepts."""
        row = {"item_id": item_id, "_extra": {}, "_error": self.masker.text(message)}
        self._rows.append(encode(models.PredictionRow.over(row)))

    def write_error(self, error: models.ItemError) -> None:
        """Note a failed attempt at an item."""
        error.message = self.masker.text(error.message)
        if error.traceback is not None:
            error.traceback = self.masker.text(error.traceback)
        self._other(layout.ERRORS).append(encode(error))

    def sync(self) -> None:
        """Return once everything written is durable (with the policy `never`, all but the bytes of the outputs)."""
        self._rows.sync()
        with self._guard:
            others = list(self._others.values())
        for journal in others:
            journal.sync()
        if self._fsync == "never":  # then opening the files did not make their names durable
            try:
                sync_folder(self.directory)
            except OSError as error:
                raise WriteError(f"cannot be synced: {why(error)}", source=str(self.directory)) from None

    def finish(self, record: models.RunRecord) -> None:
        """Write the record, everything that `sync` covers being durable first."""
        self.sync()
        write_record(self.directory, record)

    def close(self) -> None:
        """Sync and give the directory back; closing twice does nothing. Raises what a journal had not told yet."""
        faults: list[EvhError] = []
        with self._guard:
            journals = [self._rows, *self._others.values()]
        for journal in journals:
            try:
                journal.close()
            except EvhError as error:
                faults.append(error)
        self._lease.release()
        if faults:
            raise faults[0]

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except EvhError:
            if error is None:
                raise

    def _open(self, name: str, fsync: FsyncPolicy, before_sync: Any = None) -> Journal:
        journal = Journal(self.directory / name, fsync=fsync, before_sync=before_sync, note=False)
        if journal.repaired is not None:
            self.repairs.append(f"{name}: {journal.repaired}")
        return journal

    def _other(self, name: str) -> Journal:
        with self._guard:
            journal = self._others.get(name)
            if journal is None:
                journal = self._others[name] = self._open(name, self._fsync)
            return journal

    def _sync_behind(self) -> None:
        """What rows refer to goes first. Raises OSError, as the sync of the rows would."""
        self.outputs.sync()
        traces = self._others.get(layout.TRACES)
        if traces is not None:
            try:
                traces.sync()
            except WriteError as error:
                raise OSError(str(error)) from None

    def _give_back(self) -> None:
        journals = [*self._others.values(), *([self._rows] if hasattr(self, "_rows") else [])]
        for journal in journals:
            with contextlib.suppress(EvhError):
                journal.close()
        self._lease.release()


def _kept_meta(meta: Any) -> Any:
    """The provider's data of one row, or what of it is kept when it is too much."""
    size = len(dumps(meta))
    if size <= META_LIMIT:
        return meta
    kept = {key: meta[key] for key in KEPT_META if key in meta and len(dumps(meta[key])) < META_LIMIT // 8}
    return {**kept, "evh_cut": f"{size} bytes of provider data; at most {META_LIMIT} are kept"}


def _masked_episode(line: bytes, masker: Masker) -> tuple[bytes, Masker]:
    """An episode's line without secrets, and the masker that also knows its own tables. One without any is not parsed:
    token streams are long."""
    if not masker.touches(line) and not any(name in line for name in TABLE_MEMBERS):
        return line, masker
    plain, _ = parse(line)
    env = plain.pop("env", None)  # of the episode itself: which environment, no table of variables
    masker = masker.knowing(plain)
    masked = masker.value(plain)
    return dumps(masked if env is None else {**masked, "env": masker.value(env)}), masker
