"""The one writer of a measured run's directory.

Promise
    The writer holds the lease. For one item the order is: episode (when there is one), output file, row; a row that is
    acknowledged (`write_item` returned) is on disk whole, its output too, whatever happens to this process. A power cut
    takes back what its policy says: `always` nothing, `group` at most the last 20 ms or 1 MiB, `never` what the system
    held. Its output and its episode are synced before a row is (with `never`, an output's bytes are not synced at all);
    a row that reached the disk ahead of any sync may lack them, which its digest tells. Everything is masked before it
    is written, each row by its own tables and by what the run's masker knows, so that it is written the same whenever
    it is. `metrics.json` is written last, when everything that the policy syncs is durable.
    A link in the place of a file of the run is refused at the start, never written through. Once `close` was called
    nothing is written any more: writes in progress are waited for, later ones are refused.

Policy
    The provider's data (`_meta`) of one row is kept up to 1 MiB, an output up to 256 MiB. `close` waits five seconds.

When it breaks
    `WriteError`: nothing of that item is acknowledged; the run stops and can be resumed. `LockedError`: somebody else
    holds the run, or took it over (then nothing more is written).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from evh.errors import EvhError, LockedError, RecordError, SourceError, WriteError
from evh.protocol import models
from evh.protocol.codec import encode
from evh.protocol.jsontext import dumps
from evh.store import _os, layout
from evh.store.atomic import clear_temporary, sync_folder, why
from evh.store.episode_masking import mask_episode
from evh.store.journal import FsyncPolicy, Journal
from evh.store.lease import Lease
from evh.store.masking import Masker
from evh.store.new_run import make_run_directory
from evh.store.outputs import OutputFolder, output_bytes
from evh.store.record import write_record

__all__ = ["RunWriter", "make_run_directory"]

META_LIMIT = 1 << 20
OUTPUT_LIMIT = 1 << 28
KEPT_META = ("usage", "finish_reason", "provider", "model", "id")
CLOSE_SECONDS = 5.0
FILES = (layout.PREDICTIONS, layout.TRACES, layout.ERRORS, layout.ATTEMPTS, layout.RECORD, layout.LEASE)


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
        self._guard = threading.Condition()  # the journals, whether it is closed, and the writes in progress
        self._closed = self._sealed = False  # no new write; no new file either
        self._writes = 0
        if not (directory / layout.MANIFEST).is_file():
            raise SourceError(
                f"has no {layout.MANIFEST}, so nobody can say which run it is: nothing is written to it",
                source=str(directory),
            )
        self._lease = Lease(directory, take_over=take_over) if lease is None else lease
        try:
            for name in FILES:
                if (directory / name).is_symlink():
                    raise WriteError(
                        "is a link in the place of a file of the run: remove it", source=f"{directory / name}"
                    )
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
        """Note a launch, durably whatever the policy, before its first call."""
        with self._writing():
            attempts = self._other(layout.ATTEMPTS)
            attempts.append(encode(attempt))
            attempts.sync()
            self._sync_names()

    def write_item(
        self,
        item_id: str,
        output: str,
        members: dict[str, Any],
        episode: models.Episode | None = None,
        *,
        masker: Masker | None = None,
    ) -> None:
        """Write an item: its episode, its output, its row (`members` with `_output_sha256`), in this order.

        `masker` knows more than the run's: what was learned of this item alone, by `mask_episode` say.
        """
        if self._lease.lost is not None:
            raise LockedError(
                f"was taken over by {self._lease.lost}: nothing more is written to it here", source=str(self.directory)
            )
        masker = (self.masker if masker is None else masker).knowing(members.get("_meta"))
        episode_line = None
        if episode is not None:
            _, episode_line, masker = mask_episode(episode, masker)
        output = masker.text(output)
        if len(output) > OUTPUT_LIMIT:
            raise RecordError(f"the output has {len(output):,} characters; at most {OUTPUT_LIMIT:,} are kept")
        data = output_bytes(output)
        row = {"item_id": item_id, **_masked_members(members, masker)}
        row["_output_sha256"] = hashlib.sha256(data).hexdigest()
        line = encode(models.PredictionRow.over(row))  # first: a row that cannot be written leaves nothing behind
        with self._writing():
            if episode_line is not None:
                self._other(layout.TRACES).append(episode_line)
            self.outputs.write(item_id, data)
            self._rows.append(line)

    def write_episode(self, episode: models.Episode) -> None:
        """Append an episode; a row that is made of it comes later, and is never durable before it."""
        line = mask_episode(episode, self.masker)[1]
        with self._writing():
            self._other(layout.TRACES).append(line)

    def write_accepted(self, item_id: str, message: str) -> None:
        """Write the row of a failure that the user accepts."""
        row = {"item_id": item_id, "_extra": {}, "_error": self.masker.text(message)}
        with self._writing():
            self._rows.append(encode(models.PredictionRow.over(row)))

    def write_error(self, error: models.ItemError) -> None:
        """Note a failed attempt at an item."""
        error.message = self.masker.text(error.message)
        if error.traceback is not None:
            error.traceback = self.masker.text(error.traceback)
        with self._writing():
            self._other(layout.ERRORS).append(encode(error))

    def sync(self) -> None:
        """Return once everything written is durable (with the policy `never`, all but the bytes of the outputs)."""
        with self._writing():
            self._sync()

    def finish(self, record: models.RunRecord) -> None:
        """Write the record, everything that `sync` covers being durable first."""
        with self._writing():
            self._sync()
            write_record(self.directory, record)

    def close(self) -> None:
        """Sync and give the directory back; closing twice does nothing. Raises what a journal had not told yet."""
        with self._guard:
            self._closed = True
            self._guard.wait_for(lambda: not self._writes, timeout=CLOSE_SECONDS)
            self._sealed = True
            journals = [self._rows, *self._others.values()]
        faults: list[EvhError] = []
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
            if self._sealed:
                raise self._refusal()
            journal = self._others.get(name)
            if journal is None:
                journal = self._others[name] = self._open(name, self._fsync)
            return journal

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """A write in progress, for which `close` waits; refused once that was called."""
        with self._guard:
            if self._closed:
                raise self._refusal()
            self._writes += 1
        try:
            yield
        finally:
            with self._guard:
                self._writes -= 1
                self._guard.notify_all()

    def _refusal(self) -> WriteError:
        return WriteError("the run is closed: nothing more is written to it here", source=str(self.directory))

    def _sync(self) -> None:
        self._rows.sync()
        with self._guard:
            others = list(self._others.values())
        for journal in others:
            journal.sync()
        self._sync_names()

    def _sync_names(self) -> None:
        """With the policy `never`, opening the files did not make their names durable."""
        if self._fsync == "never":
            try:
                sync_folder(self.directory)
            except OSError as error:
                raise WriteError(f"cannot be synced: {why(error)}", source=str(self.directory)) from None

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


def _masked_members(members: dict[str, Any], masker: Masker) -> dict[str, Any]:
    """The members of a row: names masked, and everything but its numbers."""
    masked = masker.names({name: value for name, value in members.items() if name != "item_id"})
    for name in ("_meta", "_error"):
        if name in masked:
            masked[name] = masker.value(masked[name])
    if "_meta" in masked:
        masked["_meta"] = _kept_meta(masked["_meta"])
    if isinstance(masked.get("_extra"), dict):
        masked["_extra"] = masker.names(masked["_extra"])
    return masked


def _kept_meta(meta: Any) -> Any:
    """The provider's data of one row, or what of it is kept when it is too much."""
    size = len(dumps(meta))
    if size <= META_LIMIT:
        return meta
    kept = {key: meta[key] for key in KEPT_META if key in meta and len(dumps(meta[key])) < META_LIMIT // 8}
    return {**kept, "evh_cut": f"{size} bytes of provider data; at most {META_LIMIT} are kept"}
