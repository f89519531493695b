"""From the name in a config to a loaded adapter.

Promise: a relative path is looked for in the config's folder, then in the project's root. The adapter's `id` is the
same on every machine: a path below the root, or the bare name of a file elsewhere, never an absolute path.
Policy: the names that start with `evh:` belong to the harness. No name at all is `evh:chat`.
When it breaks: a run is refused before its directory is made.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from evh.errors import SourceError, UsageError, cut
from evh.harness.adapters.adapter import Adapter
from evh.harness.adapters.chat import ChatSystem
from evh.harness.adapters.command import CommandSystem
from evh.harness.adapters.module import load_module
from evh.harness.adapters.workplace import Workplace

__all__ = ["load_adapter"]

BUILT_IN: dict[str, type[ChatSystem] | type[CommandSystem]] = {"evh:chat": ChatSystem, "evh:command": CommandSystem}


def load_adapter(name: str | None, *, config_dir: Path, root: Path) -> Adapter:
    """The adapter that a config names: a Python file, `evh:chat` (also for None) or `evh:command`.

    Raises SourceError when there is no such adapter, its file does not load, or it defines nothing.
    """
    name = "evh:chat" if name is None else name
    workplace = Workplace(config_dir, root)
    if name.startswith("evh:"):
        kind = BUILT_IN.get(name)
        if kind is None:
            raise SourceError(f"the harness has no adapter {cut(name)}: expected {' or '.join(sorted(BUILT_IN))}")
        file = Path(sys.modules[kind.__module__].__file__ or "")
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return Adapter(kind(), id=name, path=None, sha256=digest, workplace=workplace)
    path = workplace.find(name)
    if path is None:
        places = "there" if Path(name).is_absolute() else f"in {config_dir} or {root}"
        raise SourceError(
            f"no adapter file {cut(name, 200)} {places}; an adapter is a Python file, {' or '.join(sorted(BUILT_IN))}"
        )
    module, digest = load_module(path)
    try:
        return Adapter(module, id=_id(path, root), path=path.resolve(), sha256=digest, workplace=workplace)
    except UsageError as error:  # the fault of a file, not of an argument
        raise SourceError(error.message, source=error.source, line=error.line) from None


def _id(path: Path, root: Path) -> str:
    """The path below the root: as it is spelled, else with links followed, else the bare name."""
    for file, folder in ((Path(os.path.abspath(path)), Path(os.path.abspath(root))), (path.resolve(), root.resolve())):  # noqa: PTH100
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return path.name
