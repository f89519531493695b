"""Which files below a folder become items, in which order, under which ids, and where their copies lie.

Promise: the answer depends on the names of the files alone: the same on every system and in every language. A hidden
file is counted, anything else that cannot become an item is refused by name; nothing is left out in silence.
Policy: order is by path, part by part, numbers by their value (`q2` before `q10`). An id is the path without its last
suffix. A copy has its source's path, unless that path could not stand on every file system beside the others (`A.txt`
beside `a.txt`, `é` written in two ways, `con`, a colon): then it lies apart, under a name made from the path's digest.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evh.errors import SourceError, UsageError, cut
from evh.store.atomic import why

__all__ = ["Found", "Source", "find_sources", "id_of", "natural"]

_DIGITS = re.compile("([0-9]+)")
_UNSURE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\~]|[. ]$')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)
LONGEST_PART = 200
"""Bytes of a file's name that every file system takes, with room for what a temporary name adds."""


class Source(NamedTuple):
    """One file: its item's id, its path below the folder, the plain file that it is (another path for a link), and
    where its copy lies below the materialized folder."""

    item_id: str
    path: str
    real: str
    copy: str


class Found(NamedTuple):
    sources: list[Source]
    hidden: int
    """Hidden files and folders that were passed over."""


def find_sources(folder: Path, globs: Sequence[str] = ()) -> Found:
    """The items below a folder. Raises `UsageError` for what is no folder and a pattern that matches nothing,
    `SourceError` when there are no files or some cannot be items."""
    if not folder.is_dir():
        raise UsageError(f"{cut(str(folder))} is not a folder: name the one that holds the items' files")
    real_folder = folder.resolve()
    paths, hidden = _walk(folder)
    for glob in globs:
        if not any(_matches(path, glob) for path in paths):
            raise UsageError(f"--glob {cut(glob)} matches none of the {len(paths)} files below {cut(str(folder))}")
    if globs:
        paths = [path for path in paths if any(_matches(path, glob) for glob in globs)]
    if not paths:
        passed = f" ({hidden} hidden ones were passed over)" if hidden else ""
        raise SourceError(f"holds no files{passed}, and at least one is needed", source=str(folder))
    paths.sort(key=natural)
    by_id: dict[str, str] = {}
    for path in paths:
        item_id = id_of(path)
        if item_id in by_id:
            raise SourceError(
                f"{cut(by_id[item_id])} and {cut(path)} would both be the item {cut(item_id)}: "
                "rename one, or leave one out with --glob",
                source=str(folder),
            )
        by_id[item_id] = path
    copies = _copies(paths)
    real = {path: _real(folder, real_folder, path) for path in paths}
    return Found([Source(id_of(path), path, real[path], copies[path]) for path in paths], hidden)


def id_of(path: str) -> str:
    """A path without its last suffix; a dot at the start or end of a name begins none."""
    head, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    return head + slash + (stem if stem and dot and suffix else name)


def natural(path: str) -> tuple[list[list[tuple[int, str]]], str]:
    """The key to sort paths by."""
    return [[_rank(at, piece) for at, piece in enumerate(_DIGITS.split(part))] for part in path.split("/")], path


def _rank(at: int, piece: str) -> tuple[int, str]:
    if at % 2 == 0:
        return 0, piece
    number = piece.lstrip("0")
    return len(number), number  # as by value, whatever the number of digits


def _walk(folder: Path) -> tuple[list[str], int]:
    """The paths of all files below a folder that are not hidden, and how many entries are."""
    paths: list[str] = []
    hidden = 0
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(folder / below) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        hidden += 1
                        continue
                    path = below + _text(entry.name, folder)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{path}/")
                    elif entry.is_dir():
                        raise SourceError("is a link to a folder: copy the folder or name it itself", source=entry.path)
                    else:
                        paths.append(path)
        except OSError as error:
            raise SourceError(f"cannot be listed: {why(error)}", source=str(folder / below)) from None
    return paths, hidden


def _text(name: str, folder: Path) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SourceError(
            f"the file name {cut(name)} is not UTF-8: rename it, since an item's id is text", source=str(folder)
        ) from None
    return name


def _real(folder: Path, real_folder: Path, path: str) -> str:
    """The path of the plain file behind a path; links that stay below the folder are followed."""
    file = folder / path
    try:
        target = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise SourceError(f"is a link that leads nowhere ({why(error)}): remove it", source=str(file)) from None
    if not target.is_relative_to(real_folder):
        raise SourceError("is a link that leaves the folder: copy the file that it names", source=str(file))
    if not target.is_file():
        raise SourceError("is neither a file nor a folder: leave it out with --glob", source=str(file))
    return target.relative_to(real_folder).as_posix()


def _copies(paths: Sequence[str]) -> dict[str, str]:
    """Where each copy lies: no two copies, and no copy and folder, differ by case or spelling alone."""
    files = Counter(_folded(path) for path in paths)
    # Two spellings of one folder are as bad as two of one file: each folded folder may have one spelling.
    spelled: dict[str, set[str]] = {}
    for path in paths:
        for end in [at for at, sign in enumerate(path) if sign == "/"]:
            spelled.setdefault(_folded(path[:end]), set()).add(path[:end])

    def stands(path: str) -> bool:
        if not all(map(_is_sure, path.split("/"))) or files[_folded(path)] > 1 or _folded(path) in spelled:
            return False
        return all(len(spelled[_folded(path[:end])]) == 1 for end, sign in enumerate(path) if sign == "/")

    return {path: path if stands(path) else _apart(path) for path in paths}


def _apart(path: str) -> str:
    """A name from the path's digest. No path that stands holds the sign `~`, so none is in its way."""
    return f"apart~{hashlib.sha256(path.encode()).hexdigest()[:32]}"


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _is_sure(part: str) -> bool:
    """Whether a part of a path can stand on every file system as it is."""
    return not _UNSURE.search(part) and not _DEVICE.match(part) and len(part.encode()) <= LONGEST_PART


def _matches(path: str, glob: str) -> bool:
    """Whether a path matches a pattern: of the whole path when there is a slash in it, else of the file's name."""
    if "/" not in glob:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], glob)
    return _match_parts(path.split("/"), glob.removeprefix("./").split("/"))


def _match_parts(parts: list[str], patterns: list[str]) -> bool:
    reached = {0}  # how many parts are taken after each pattern: ways do not multiply
    for pattern in patterns:
        if pattern == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatch.fnmatchcase(parts[at], pattern)}
    return len(parts) in reached
