"""Where a project keeps its things, and reading them without being led astray.

Promise: a path is decided once, when a `Project` is made; a later change of the current directory or environment moves
nothing. `portable` never gives an absolute path and never the name of somebody's home folder. `read_inside` opens plain
files below a folder and nothing else: no link is followed on the way, no device or pipe is opened, and a name with
`..`, a root, a backslash or a NUL reaches no system call.
Policy: the names of the folders. `EVAL_RUNS_DIR` moves the runs alone; no folder is made under a file's name
(`results.json`).
When it breaks: `UsageError` for a root or a place of runs that is no folder, `SourceError` for a file that is not what
it should be. Where the platform cannot open relative to a folder (Windows), each part is looked at before the file is
opened: a link that is put there in between would be followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evh.errors import SourceError, UsageError, WriteError, cut
from evh.store import _os
from evh.store.atomic import sync_folder, why

__all__ = ["ITEM_LIMIT", "Project", "file_digest", "is_plain_path", "make_folders", "read_inside", "remove_folder"]

ITEM_LIMIT = 1 << 26
"""Bytes of one input, reference or config that are read at most: it is text for one call."""
BLOCK = 1 << 20
FILE_NAMES = (".json", ".jsonl", ".csv", ".yaml", ".yml", ".txt", ".md", ".parquet", ".gz", ".zst")
HOMES = frozenset({"home", "users"})
"""Folders whose folders are people's, whatever they lie in (`/home`, `C:\\Users`, `/var/home`)."""
NO_FOLLOW = _os.O_NOFOLLOW
AT_ONCE: int = getattr(os, "O_NONBLOCK", 0)  # a pipe is opened without waiting for its writer, then refused
FOLDER = _os.O_DIRECTORY
RELATIVE_OPEN = os.open in os.supports_dir_fd and bool(NO_FOLLOW)


class Project:
    """The folders below `root/data`; `runs` may lie elsewhere. Nothing is created by looking."""

    def __init__(self, root: Path, *, runs: Path | None = None) -> None:
        self.root = Path(os.path.abspath(root))  # noqa: PTH100 (keeps `..` lexical and links as they are named)
        self.data = self.root / "data"
        self.datasets = self.data / "datasets"
        self.materialized = self.data / "materialized"
        self.references = self.data / "references"
        self.configs = self.data / "configs"
        self.runs = self.data / "runs" if runs is None else Path(os.path.abspath(runs))  # noqa: PTH100
        self.baselines = self.data / "baselines"
        self.goals = self.data / "goals"

    @classmethod
    def at(cls, root: Path | None, environ: Mapping[str, str]) -> Project:
        """The project at `root` (default: the current directory), its runs where `EVAL_RUNS_DIR` says."""
        found = Path.cwd() if root is None else Path(root)
        if not found.is_dir():
            raise UsageError(f"the project's root {cut(str(root))} is not a folder")
        if os.path.lexists(found / "data") and not (found / "data").is_dir():
            raise SourceError("is a file where the project's folder belongs: move it away", source=str(found / "data"))
        named = environ.get("EVAL_RUNS_DIR", "")
        project = cls(found, runs=_expanded(named, environ) if named else None)
        _check_runs(project.runs, named)
        return project

    def portable(self, path: str | os.PathLike[str]) -> str:
        """A path as it may be published: relative to the root, with forward slashes.

        Outside the root it is relative with `..`, unless that would name a home folder: then the bare name.
        """
        absolute = Path(os.path.abspath(path))  # noqa: PTH100
        for root, target in ((self.root, absolute), (self.root.resolve(), absolute.resolve())):
            if target.is_relative_to(root):
                return target.relative_to(root).as_posix()
        try:
            relative = os.path.relpath(absolute, self.root)
        except ValueError:  # another drive
            return absolute.name
        shared = len(Path(os.path.commonpath([absolute, self.root])).parts)
        return absolute.name if shared < _home_depth(absolute) else Path(relative).as_posix()


def _expanded(named: str, environ: Mapping[str, str]) -> Path:
    if named == "~" or named.startswith(("~/", "~\\")):
        home = environ.get("HOME") or environ.get("USERPROFILE")
        if home:
            return Path(home) / named[2:]
    try:
        return Path(named).expanduser()
    except RuntimeError:
        raise UsageError(
            f"EVAL_RUNS_DIR is {cut(named)}: there is no such home folder; give the path in full"
        ) from None


def _check_runs(runs: Path, named: str) -> None:
    """Refuse a place of runs that is a file, or would be a folder under a file's name; `named` is `EVAL_RUNS_DIR`."""
    said = f"EVAL_RUNS_DIR is {cut(named)}" if named else "data/runs is the folder of runs"
    if os.path.isdir(runs):  # noqa: PTH112 (false, not an error, for what cannot be looked at)
        return
    if os.path.exists(runs):  # noqa: PTH110
        kind = UsageError if named else SourceError
        raise kind(f"{said}, and a file is there: name a folder, or move the file away", source=str(runs))
    if runs.name.lower().endswith(FILE_NAMES):
        raise UsageError(f"{said}, which is a file's name, and runs are kept in a folder: name a folder")


def _home_depth(path: Path) -> int:
    """How many leading parts of a path name somebody's home folder; 0 when none do."""
    parts = path.parts
    for at, part in enumerate(parts[:-1]):
        if part.casefold() in HOMES:
            return at + 2
    homes = [Path("/root")]
    with contextlib.suppress(RuntimeError):  # no home folder is known: none can be named
        homes.append(Path.home())
    return max((len(home.parts) for home in homes if path.is_relative_to(home)), default=0)


# --- reading below a folder ------------------------------------------------------------------------------------------


def is_plain_path(path: str) -> bool:
    """Whether a relative path with forward slashes stays below its folder on every system."""
    if not path or "\0" in path or "\\" in path or (os.name == "nt" and ":" in path):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return all(part not in ("", ".", "..") for part in path.split("/"))


def read_inside(folder: Path, path: str) -> bytes:
    """The bytes of the plain file `path` below `folder`.

    Raises `FileNotFoundError` when there is none, `SourceError` for a path that leads out, a link on the way, whatever
    is no regular file, a file beyond `ITEM_LIMIT`, and what the system refuses.
    """
    pieces = []
    size = 0
    for piece in _blocks(folder, path):
        size += len(piece)
        if size > ITEM_LIMIT:
            raise SourceError(f"has more than {ITEM_LIMIT >> 20} MiB: an item is text for one call", source=path)
        pieces.append(piece)
    return b"".join(pieces)


def file_digest(folder: Path, path: str) -> str:
    """The sha256 of the plain file `path` below `folder`, in blocks. Raises like `read_inside`, but for the size."""
    found = hashlib.sha256()
    for piece in _blocks(folder, path):
        found.update(piece)
    return found.hexdigest()


def _blocks(folder: Path, path: str) -> Iterator[bytes]:
    if not is_plain_path(path):
        raise SourceError(f"{cut(path)} leads out of its folder and is not opened", source=str(folder))
    shown = f"{folder.name}/{path}"
    try:
        descriptor = _open_below(folder, path.split("/"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SourceError(f"cannot be opened ({why(error)}): links are not followed", source=shown) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SourceError("is not a regular file and is not read", source=shown)
        while piece := os.read(descriptor, BLOCK):
            yield piece
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=shown) from None
    finally:
        os.close(descriptor)


def _open_below(folder: Path, parts: list[str]) -> int:
    """A descriptor of the file, opened part by part so that no link is followed below `folder`."""
    last = os.O_RDONLY | NO_FOLLOW | AT_ONCE | _os.O_BINARY
    if not RELATIVE_OPEN:
        at = folder
        for part in parts:
            at = at / part
            if at.is_symlink():
                raise OSError("is a link")
        return os.open(at, last)
    held = os.open(folder, os.O_RDONLY | FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | FOLDER | NO_FOLLOW, dir_fd=held)
            os.close(held)
            held = inner
        return os.open(parts[-1], last, dir_fd=held)
    finally:
        os.close(held)


# --- folders that are written ----------------------------------------------------------------------------------------


def make_folders(base: Path, parts: Iterable[str] = ()) -> Path:
    """The folder `parts` below `base`, made durable where it did not exist; below `base` no link stands for one of
    them. Raises `WriteError`."""
    folder = base
    try:
        missing = [each for each in (base, *base.parents) if not each.exists()]
        for each in reversed(missing):
            _made(each)
        for part in parts:
            folder = folder / part
            if not os.path.lexists(folder):
                _made(folder)
            elif not stat.S_ISDIR(folder.lstat().st_mode):
                raise WriteError("is a link or file where a folder belongs: move it away", source=str(folder))
    except OSError as error:
        raise WriteError(f"the folder cannot be made: {why(error)}", source=str(folder)) from None
    return folder


def _made(folder: Path) -> None:
    with contextlib.suppress(FileExistsError):  # another process was quicker
        _os.mkdir(folder)
        sync_folder(folder.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it; links, and a link in its own place, are removed and never followed.
    Nothing happens when there is none. Raises `WriteError`."""
    try:
        if folder.is_symlink():
            _os.unlink(folder)
            return
        for inner, folders, files in os.walk(folder, topdown=False):
            for name in files:
                _os.unlink(Path(inner, name))
            for name in folders:
                path = Path(inner, name)
                _os.unlink(path) if path.is_symlink() else _os.rmdir(path)
        if folder.exists():
            _os.rmdir(folder)
    except OSError as error:
        raise WriteError(f"cannot be removed: {why(error)}", source=str(folder)) from None
