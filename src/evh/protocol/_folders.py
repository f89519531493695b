"""Which files below a folder hold records.

    traces.jsonl                      a run's episodes (early runs: results.jsonl)
    traces/<writer>.jsonl             segments, when several processes wrote one run
    traces/stream/<number>.jsonl      a rolling stream: numbered chunks, the sealed ones .zst or .gz, the live one plain
    *.index.jsonl, annotations/       about the rows, not rows

Promise: the order is the natural one (2 before 10) and the same on every machine; links that leave the folder are not
followed. Policy: of a chunk that stands there both plain and compressed only the plain one is read, since sealing
deletes it last and it has every row.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from evh.errors import SourceError

__all__ = ["find_files", "row_files", "twin_of"]

PACKED = ("", ".zst", ".gz")
RECORD_FILES = frozenset({"metrics.json", "run.json"})
OTHER_ROWS = frozenset({"attempts.jsonl", "steps.jsonl", "errors.jsonl"})
MSGPACK = (".msgpack", ".msgpacks")
REFUSED, REFUSED_MSGPACK = ".refused.jsonl", ".refused.msgpacks"
"""How the files end that hold the rows that an upgrade could not make records of, set aside as they were."""
OTHER_FOLDERS = frozenset({"annotations", "outputs", "steps", "sync"})

_ROWS = re.compile(r"(?P<stem>[^.].*?)\.(?:jsonl|ndjson)(?P<packed>\.zst|\.gz)?")
_BARE_CHUNK = re.compile(r"\d+(?P<packed>\.zst|\.gz)?")
_NUMBERED = re.compile(r"(?:.*[^0-9])?\d+")
_INDEX = re.compile(r"(?:.*[._-])?index(?:[._-].*)?", re.IGNORECASE)


def row_files(folder: Path) -> list[Path]:
    """The files that hold the rows of one run or stream, in reading order.

    Raises `SourceError` when the folder cannot be listed or holds none.
    """
    names = _names(folder)
    single = _first_of("traces.jsonl", folder, names)
    segments = _segments(folder / "traces") if "traces" in names else []
    if found := single + segments or _first_of("results.jsonl", folder, names):
        return found
    files = _segments(folder) if folder.name == "traces" else _files(folder, names, numbered=True)
    if not files:
        raise SourceError(
            "holds no rows: neither traces.jsonl, results.jsonl, traces/ nor numbered chunk files; name a file in it",
            source=str(folder),
        )
    return files


def twin_of(file: Path) -> Path | None:
    """The compressed file that has taken the place of a plain one which is gone, if there is one."""
    if file.exists():
        return None
    return next((twin for packed in PACKED[1:] if (twin := file.with_name(file.name + packed)).exists()), None)


def find_files(path: str | os.PathLike[str]) -> list[Path]:
    """Every record file at or below a path, sorted: rows (`.jsonl`, compressed or not, and chunks), MessagePack
    (`.msgpack`, `.msgpacks`), `metrics.json`, `run.json`. A path to a file stands for itself.

    Hidden names, indexes, annotations, a run's `outputs/`, `steps/` and `sync/`, and the logs `attempts`, `steps` and
    `errors` hold no records and are left out. Raises `SourceError` if the path does not exist or cannot be listed.
    """
    top = Path(path)
    try:
        if not top.is_dir():
            top.stat()
            return [top]
        root = top.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise _unlistable(top, error) from None
    found: list[Path] = []

    def fail(error: OSError) -> None:
        raise _unlistable(Path(error.filename or top), error)

    for folder, below, names in os.walk(top, onerror=fail):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in OTHER_FOLDERS)
        here = Path(folder)
        found += [here / name for name in names if _is_record_file(name) and _inside(here / name, root)]
        found += [file for file in _files(here, frozenset(names), numbered=False) if _inside(file, root)]
    return sorted(found, key=lambda file: [_natural(part) for part in file.parts])


def _is_record_file(name: str) -> bool:
    """Whether a file that holds no lines of rows holds records all the same."""
    if name in RECORD_FILES:
        return True
    return name.endswith(MSGPACK) and not name.startswith(".") and not name.endswith(REFUSED_MSGPACK)


def _first_of(name: str, folder: Path, names: frozenset[str]) -> list[Path]:
    return [folder / (name + packed) for packed in PACKED if name + packed in names][:1]


def _inside(file: Path, root: Path) -> bool:
    """A plain file, or a link to one below `root`."""
    if not file.is_symlink():
        return file.is_file()
    try:
        target = file.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return target.is_relative_to(root) and target.is_file()


def _segments(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    names = _names(folder)
    files = _files(folder, names, numbered=False)
    if not files and "stream" in names and (folder / "stream").is_dir():
        stream = folder / "stream"
        files = _files(stream, _names(stream), numbered=True)
    return files


def _files(folder: Path, names: frozenset[str], *, numbered: bool) -> list[Path]:
    """The files of rows among `names`, in natural order, without indexes and compressed twins."""
    kept = []
    for name in names:
        rows = _ROWS.fullmatch(name)
        chunk = rows or _BARE_CHUNK.fullmatch(name)
        if chunk is None or name in OTHER_ROWS or REFUSED in name or (rows and _INDEX.fullmatch(rows["stem"])):
            continue
        if numbered and rows and not _NUMBERED.fullmatch(rows["stem"]):
            continue
        packed = chunk["packed"] or ""
        plain = name.removesuffix(packed)
        if packed and (plain in names or (packed == ".gz" and plain + ".zst" in names)):
            continue
        if not numbered and not rows and not packed:
            continue  # a bare number is a chunk only where nothing but chunks is looked for
        if (folder / name).is_file():
            kept.append(folder / name)
    return sorted(kept, key=lambda file: _natural(file.name))


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise _unlistable(folder, error) from None


def _natural(name: str) -> list[tuple[int, str]]:
    pieces = re.split(r"(\d+)", name)
    return [(int(piece), piece) if at % 2 else (-1, piece) for at, piece in enumerate(pieces)]


def _unlistable(path: Path, error: BaseException) -> SourceError:
    if isinstance(error, FileNotFoundError):
        return SourceError("no such file or folder", source=str(path))
    why = (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__
    return SourceError(f"cannot be looked into: {why}", source=str(path)[:200])
