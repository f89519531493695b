"""The lease of a run directory: one writer, known by name, wherever it runs.

Promise
    While a `Lease` is held, another process that asks is refused at once. Two guards stand together: the operating
    system's lock on `run.json`, which ends with its process however that dies, and `lease.json`, which says who holds
    it across machines. A lease that is found is taken over only when its process is provably gone on this host and boot
    (`evh.store.host.is_gone`), or when the caller says so (`take_over=True`). One that was silent for a minute is told
    as stale; it is never presumed dead.
    A holder that was replaced learns it at its next beat: `lost` is then set and says by whom. Only a lease that can be
    read and is another's tells it, or one that is provably gone; a look that fails proves nothing and is repeated.
    `lease.json` is never written through a link.

Policy
    A beat every ten seconds. A lease file that cannot be read counts as one of an unknown holder, unless this machine's
    lock on `run.json` was free and the file is one that a power cut can leave (empty or cut short).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from pathlib import Path
from typing import NamedTuple

from evh.errors import EvhError, LockedError, SourceError, WriteError
from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.store import _os, host
from evh.store.atomic import why, write_file
from evh.store.clock import instant, now
from evh.store.layout import LEASE, MANIFEST
from evh.store.lock import FileLock
from evh.store.outputs import read_regular

__all__ = ["Holder", "Lease", "holder_of"]

BEAT_SECONDS = 10.0
STALE_SECONDS = 60.0


class Holder(NamedTuple):
    """Who a lease names: `state` is `running` (beat within the last minute), `stale` (silent for longer), or `gone`
    (provably ended)."""

    state: str
    lease: models.Lease | None
    silent_seconds: float | None

    def __str__(self) -> str:
        if self.lease is None:
            return "a process that its lease does not name (lease.json cannot be read)"
        said = f"the process {self.lease.pid} on {self.lease.host!r}"
        if self.state == "stale" and self.silent_seconds is not None:
            return f"{said}, silent for {_span(self.silent_seconds)} (stale, which is no proof that it ended)"
        return said


def holder_of(directory: Path) -> Holder | None:
    """Who holds a run directory by its lease; None when nobody does. Reads only."""
    try:
        data = _bytes_of(directory / LEASE)
    except EvhError:
        return Holder("stale", None, None)
    if data is None:
        return None
    try:
        lease = decode(data, models.Lease)
    except EvhError:
        return Holder("gone" if not data.rstrip(b"\x00\n").endswith(b"}") else "stale", None, None)
    if host.is_gone(lease.host, lease.boot_id, lease.pid_space, lease.pid, lease.pid_started, lease.machine_id):
        return Holder("gone", lease, None)
    try:
        silent = (instant(now()) - instant(lease.beat_at)).total_seconds()
    except EvhError:
        silent = STALE_SECONDS + 1
    return Holder("stale" if silent > STALE_SECONDS else "running", lease, silent)


class Lease:
    """The right to write a run directory, from the constructor to `release`.

    `directory` holds a `run.json`. Raises `LockedError` when somebody else holds it, `WriteError` when the disk
    refuses.
    `taken_from` says whom it was taken over from, for a notice; None when it was free.
    """

    def __init__(self, directory: Path, *, take_over: bool = False) -> None:
        self.directory = directory
        self.lost: str | None = None
        self.taken_from: str | None = None
        self._token = secrets.token_hex(8)
        self._process = os.getpid()
        self._acquired = now()
        self._stop = threading.Event()
        self._releasing = threading.Lock()
        self._released = False
        self._lock = _locked(directory)
        try:
            found = holder_of(directory)
            if found is not None:
                if found.state != "gone" and not take_over and not _is_left_by_us(found.lease):
                    raise LockedError(
                        f"is held by {found}: wait for it or stop it; if you know that it is gone, say --take-over",
                        source=str(directory),
                    )
                self.taken_from = str(found)
            self._write()
            self._thread = threading.Thread(target=self._beat, name=f"lease {directory.name}", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:
                self._remove()
                raise WriteError(f"cannot be held: {error}", source=str(directory)) from None
        except BaseException:
            self._stop.set()
            self._lock.release()
            raise

    def release(self) -> None:
        """Give the directory back; releasing twice does nothing, nor does it in a forked child. Interrupted, it can be
        called again."""
        if os.getpid() != self._process:
            return
        self._stop.set()
        with self._releasing:
            if self._released:
                return
            self._thread.join()
            if self.lost is None:
                self._remove()
            self._lock.release()
            self._released = True

    def _remove(self) -> None:
        with contextlib.suppress(OSError):  # left behind it names a process that is gone: the next writer sees that
            _os.unlink(self.directory / LEASE)

    def _write(self) -> None:
        path = self.directory / LEASE
        if os.path.islink(path):  # noqa: PTH114 (never raises)
            raise WriteError("is a link in the place of a lease: remove it", source=str(path))
        pid = os.getpid()
        lease = models.Lease(
            token=self._token,
            host=host.host_name(),
            machine_id=host.machine_id(),
            boot_id=host.boot_id(),
            pid_space=host.pid_space(),
            pid=pid,
            pid_started=host.started(pid),
            acquired_at=self._acquired,
            beat_at=now(),
        )
        write_file(path, encode(lease) + b"\n")

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                data = _bytes_of(self.directory / LEASE)
                token = None if data is None else decode(data, models.Lease).token
            except EvhError:
                continue  # it cannot be looked at now, so it says nothing: at the next beat again
            if token != self._token:
                found = holder_of(self.directory)
                self.lost = "somebody who removed its lease" if token is None or found is None else str(found)
                return
            with contextlib.suppress(WriteError):  # a full disk: the beat comes late, the lock still stands
                self._write()


def _is_left_by_us(lease: models.Lease | None) -> bool:
    """Whether a lease is this process's own, which could not remove it: the lock on `run.json` is ours by now."""
    pid = os.getpid()
    here = (host.host_name(), host.machine_id(), host.boot_id(), host.pid_space())
    return (
        lease is not None
        and lease.boot_id is not None
        and (lease.host, lease.machine_id, lease.boot_id, lease.pid_space) == here
        and (lease.pid, lease.pid_started) == (pid, host.started(pid))
    )


def _bytes_of(path: Path) -> bytes | None:
    """A lease's bytes; None when there provably is none. Looked at twice: it may appear, or go, between two looks."""
    for last in (False, True):
        try:
            return read_regular(path)
        except EvhError:
            try:
                path.lstat()
            except FileNotFoundError:
                return None
            except OSError:
                raise SourceError("cannot be looked at", source=str(path)) from None
            if last:
                raise
    return None


def _locked(directory: Path) -> FileLock:
    path = directory / MANIFEST
    try:
        descriptor = os.open(path, os.O_RDWR | _os.O_NOFOLLOW | _os.O_BINARY)
    except OSError as error:
        raise WriteError(f"cannot be opened for writing: {why(error)}", source=str(path)) from None
    try:
        return FileLock(descriptor, path, note=False)
    except LockedError as error:
        os.close(descriptor)
        found = holder_of(directory)
        raise LockedError(
            f"is being written by {found if found is not None else 'another process'}: wait for it or stop it",
            source=str(directory),
        ) from error
    except BaseException:
        os.close(descriptor)
        raise


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
