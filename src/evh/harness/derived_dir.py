"""The directory of a derived run: built beside its place, and put there when it is whole.

Promise: a derived run is there with its record, or not at all; a kill at any moment leaves only a hidden
`.<name>.partial-…` folder, which readers pass over and the next derivation of that run removes. Nothing is written
outside of the output folder; sources are opened for reading alone and no file of theirs is linked to. An output folder
that is, contains or lies in a folder that is read is refused, by identity: through links, `..`, another spelling or a
mount. A run that is there already is refused, or with `force` replaced as a whole.
Policy: a derived run holds copies of the outputs and episodes that it was made from, so that it can itself be a source
and stays what it is when its source is edited or removed. Hard links would cost less and are not made: whoever edits
one file would edit both runs. Rows, traces, record and the names of folders are synced. Copied outputs are not synced
one by one: rows carry their digests, so validate tells of one that a power cut took, and the run can be derived again.
When it breaks: `UsageError` for the overlap, `WriteError` for the disk and for a name that is taken, `LockedError` when
another process derives the same run now.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from evh.errors import LockedError, SourceError, UsageError, WriteError, cut
from evh.harness.copying import copy_file
from evh.harness.project import Project, make_folders, remove_folder
from evh.protocol import models
from evh.store import _os, layout
from evh.store.atomic import sync_folder, why, write_all
from evh.store.lock import FileLock
from evh.store.outputs import read_regular
from evh.store.record import write_record
from evh.store.run_dir import RunDir

__all__ = ["DerivedDir", "check_out", "source_path"]

PIECE = 1 << 20
LARGE = 1 << 16


def check_out(out: Path, runs_dir: Path, sources: Iterable[Path]) -> None:
    """Refuse an output folder that is, contains or lies in the runs directory or a source run. Raises `UsageError`."""
    here = _resolved(out)
    above = {path: _identity(path) for path in (here, *here.parents)}
    known = {identity for identity in above.values() if identity is not None}
    mine = above[here]
    parents: dict[Path, bool] = {}
    for other, what in ((runs_dir, "the runs directory that is read"), *((each, "a source run") for each in sources)):
        there = _resolved(other)
        identity = _identity(there)
        if here == there or (mine is not None and mine == identity):
            how = "is"
        elif there in above or (identity is not None and identity in known):
            how = "lies in"
        elif _holds(here, mine, there, parents):
            how = "contains"
        else:
            continue
        raise SourceError(
            f"the output folder {cut(str(out))} {how} {what} ({cut(str(other))}), and originals are never touched: "
            "name a folder beside it with --out"
        )


def _holds(here: Path, mine: tuple[int, int] | None, there: Path, parents: dict[Path, bool]) -> bool:
    if there.parent not in parents:
        parents[there.parent] = any(
            each == here or (mine is not None and _identity(each) == mine)
            for each in (there.parent, *there.parent.parents)
        )
    return parents[there.parent]


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{cut(str(path))} is no usable path: {why(error)}") from None


def _identity(path: Path | int) -> tuple[int, int] | None:
    try:
        about = os.stat(path)  # noqa: PTH116 (a descriptor, too)
    except OSError:
        return None
    return about.st_dev, about.st_ino


def source_path(source: Path, out: Path) -> str:
    """A source run as a derived block names it: from the folder that holds the output folder, never a home folder."""
    return Project(Path(os.path.abspath(out)).parent).portable(source)  # noqa: PTH100


class DerivedDir:
    """One derived run in the making: write below `path`, then `finish`. Use it in a `with` block.

    `out` is the derived runs' directory, `name` the run's folder in it. `runs_dir` and `sources` are what is read:
    they are held against `out` here and again right before the run takes its name.
    """

    def __init__(self, out: Path, name: str, *, runs_dir: Path, sources: Iterable[Path], force: bool = False) -> None:
        self._check = (out, runs_dir, list(sources))
        check_out(*self._check)
        self.target = out / name
        self._force = force
        self._refuse_taken()
        make_folders(out)
        check_out(*self._check)  # what the file system made of the name
        self._lock = _locked(out, name)
        try:
            self._clear(out, name)
            self._refuse_taken()
            self.path = make_folders(out, [f"{_partial(name)}{secrets.token_hex(4)}"])
            self.outputs = make_folders(self.path, [layout.OUTPUTS])
        except BaseException:
            self._unlock()
            raise

    def copy_file(self, source: Path, name: str) -> None:
        """Copy a file of the source under a name, durably."""
        copy_file(source, self.path / name, synced=True)

    def copy_traces(self, source: RunDir) -> None:
        """Copy the source's `traces.jsonl`, when it has one."""
        if (source.path / layout.TRACES).exists():
            self.copy_file(source.path / layout.TRACES, layout.TRACES)

    def start_traces(self, source: RunDir) -> Path | None:
        """Copy the source's `traces.jsonl` where that is no work, and give None; else a new file that takes its bytes
        by `write_at` from those who read them anyway. `sync_traces` ends both."""
        target = self.path / layout.TRACES
        return None if copy_file(source.path / layout.TRACES, target, only_cloned=True) else target

    def sync_traces(self, source: RunDir) -> None:
        """Make that copy durable. Raises `SourceError` when the source has another length: it was changed."""
        origin, target = source.path / layout.TRACES, self.path / layout.TRACES
        try:
            descriptor = _os.create(target, os.O_WRONLY)
            try:
                size = os.fstat(descriptor).st_size
                _os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise WriteError(f"cannot be written: {why(error)}", source=str(target)) from None
        if size != origin.stat().st_size:
            raise SourceError("was changed while it was read", source=str(origin))

    def copy_output(self, source: RunDir, item_id: str) -> bytes:
        """Copy what the arm wrote for an item, under the name of today; returns it. Raises `SourceError` when it is
        missing."""
        data = read_regular(source.output_path(item_id))
        self.write(self.outputs / layout.output_name(item_id), data)
        return data

    @staticmethod
    def write(path: str | Path, data: bytes, *, synced: bool = False) -> None:
        """Make a new file of these bytes. Raises `WriteError`."""
        try:
            descriptor = _os.create(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                write_all(descriptor, data)
                if synced:
                    _os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None

    def write_rows(self, lines: Iterable[bytes]) -> None:
        """Write `predictions.jsonl`: rows with their ends, or pieces of several, durably. Raises `WriteError`."""
        path = self.path / layout.PREDICTIONS
        try:
            descriptor = _os.create(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                for piece in _pieces(lines):
                    write_all(descriptor, piece)
                _os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None

    def finish(self, record: models.RunRecord) -> Path:
        """Write the record and give the run its name; returns its directory. Raises `UsageError` or `WriteError`; what
        was there before is there then."""
        try:
            sync_folder(self.outputs)
            write_record(self.path, record)
            check_out(*self._check)
            self._refuse_taken()
            aside = self.target.with_name(f"{_partial(self.target.name)}old")
            if os.path.lexists(self.target):
                _os.rename(self.target, aside)
            try:
                _os.rename(self.path, self.target)
            except OSError:
                if aside.exists():
                    _os.rename(aside, self.target)
                raise
            sync_folder(self.target.parent)
            remove_folder(aside)
        except OSError as error:
            raise WriteError(f"cannot be put in its place: {why(error)}", source=str(self.target)) from None
        return self.target

    def close(self) -> None:
        """Remove what was not finished; again: nothing."""
        try:
            remove_folder(self.path)
        finally:
            self._unlock()

    def __enter__(self) -> DerivedDir:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except WriteError:
            if error is None:
                raise

    def _refuse_taken(self) -> None:
        if not os.path.lexists(self.target):
            return
        if not self._force:
            raise WriteError("is there already: --force replaces it, --out DIR keeps both", source=str(self.target))
        if self.target.is_symlink() or not (self.target / layout.RECORD).is_file():
            raise WriteError("is no derived run and is not replaced: move it away", source=str(self.target))

    def _clear(self, out: Path, name: str) -> None:
        """Remove what killed derivations of this run left; one that was being replaced gets its place back first."""
        aside = out / f"{_partial(name)}old"
        try:
            if aside.is_dir() and not os.path.lexists(self.target):
                _os.rename(aside, self.target)
            with os.scandir(out) as entries:
                left = [entry.path for entry in entries if entry.name.startswith(_partial(name))]
        except OSError as error:
            raise WriteError(f"cannot be looked through: {why(error)}", source=str(out)) from None
        for each in left:
            remove_folder(Path(each))

    def _unlock(self) -> None:
        if self._lock.descriptor >= 0:
            with contextlib.suppress(OSError):  # where an open file cannot be removed, it stays
                _os.unlink(_lock_path(self.target.parent, self.target.name))
            self._lock.release()


def _partial(name: str) -> str:
    return f".{name}.partial-"


def _locked(out: Path, name: str) -> FileLock:
    """The right to derive the run: a lock on a hidden file, which goes with the lock."""
    path = _lock_path(out, name)
    try:
        descriptor = _os.create(path, os.O_RDWR | os.O_CREAT | _os.O_NOFOLLOW)
    except OSError as error:
        raise WriteError(f"cannot be written: {why(error)}", source=str(path)) from None
    try:
        lock = FileLock(descriptor, out / name, note=False)
    except BaseException:
        os.close(descriptor)
        raise
    if _identity(path) != _identity(descriptor):  # its last holder removed it in between
        lock.release()
        raise LockedError("was derived by another process just now: try again", source=str(out / name))
    return lock


def _lock_path(out: Path, name: str) -> Path:
    return out / f".{name}.lock"


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes | bytearray]:
    """Small pieces together, large ones as they are."""
    held = bytearray()
    for line in lines:
        if len(line) >= LARGE:
            if held:
                yield held
                held = bytearray()
            yield line
            continue
        held += line
        if len(held) >= PIECE:
            yield held
            held = bytearray()
    if held:
        yield held
