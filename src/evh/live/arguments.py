"""What `open_run` and `join_run` make of their arguments and of the environment, before anything is written.

Promise: an argument that makes no sense is refused before anything exists on disk. Settings of the environment that
make none are told, and keep a run offline. The masker knows the key, every variable whose name says that it holds one,
what the command line puts into secret tables, and what the caller names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evh.errors import SourceError, UsageError, cut
from evh.live.config_secrets import secret_flags
from evh.live.telling import OnError
from evh.store import layout
from evh.store.journal import FsyncPolicy
from evh.store.masking import Masker
from evh.store.run_dir import RunDir, open_run_dir
from evh.store.secret_values import masker_for

if TYPE_CHECKING:
    from evh.platform.settings import Settings

__all__ = ["StrPath", "check", "live_run", "masker_of", "on_stderr", "settings_of"]

StrPath = str | os.PathLike[str]


def check(
    kind: str,
    on_error: str,
    fsync: str,
    environments: Any,
    tags: Any,
    num_examples: Any,
    rollouts_per_example: Any,
) -> None:
    """Raise `UsageError` for what makes no sense."""
    if kind not in layout.LIVE_KINDS:
        raise UsageError(f"kind is one of {', '.join(sorted(layout.LIVE_KINDS))}, not {cut(kind)}")
    for what, word, known in (("on_error", on_error, OnError), ("fsync", fsync, FsyncPolicy)):
        if word not in get_args(known):
            raise UsageError(f"{what} is one of {', '.join(get_args(known))}, not {cut(word)}")
    for what, texts in (("environments", environments), ("tags", tags)):
        if isinstance(texts, str) or not all(isinstance(each, str) and each for each in texts):
            raise UsageError(f"{what} are texts in a list, such as ['gsm8k'] or ['owner/name'], not {cut(texts)}")
    for what, number, least in (("num_examples", num_examples, -1), ("rollouts_per_example", rollouts_per_example, 1)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < least):
            raise UsageError(f"{what} is a whole number, {least} or more, not {cut(number)}")


def live_run(path: StrPath) -> RunDir:
    """The live run in a directory, which has a manifest. Raises `SourceError` or `UsageError`."""
    run = open_run_dir(os.path.abspath(path))  # noqa: PTH100 (as above)
    if run.manifest is None:
        raise SourceError("has no run.json, so nobody can say which run it is", source=str(path))
    if run.manifest.kind not in layout.LIVE_KINDS:
        raise UsageError(
            f"{path} is a {run.manifest.kind} run: only runs that a program held open are joined or taken up"
        )
    return run


def settings_of(api_key: str | None, team_id: str | None, base_url: str | None) -> tuple[Settings, str | None]:
    """The settings, and what is wrong with those that the environment has."""
    from evh.platform.settings import Settings, resolve

    given = {"api_key": api_key, "team_id": team_id, "base_url": base_url}
    try:
        home: Path | None = Path.home()
    except RuntimeError:
        home = None
    try:
        return resolve(given, environ=os.environ, home=home), None
    except UsageError as error:
        resolve(given, environ={}, home=None)  # an argument that is wrong is the program's mistake
        return Settings(), str(error)


def masker_of(settings: Settings | None, secrets: Iterable[str]) -> Masker:
    """The masker of a run, before it has seen a configuration."""
    masker = masker_for({}, os.environ)
    masker.add(secrets)
    masker.add(secret_flags(sys.argv[1:]))
    if settings is not None:
        masker.add([settings.api_key])
    return masker


def on_stderr(text: str) -> None:
    """Tell something in one line on standard error."""
    sys.stderr.write(f"evh: {text}\n")
