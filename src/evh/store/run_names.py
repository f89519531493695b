"""Names of runs: `<config id>_<second>`, and `_r1`, `_r2`, … behind it for the repeats of one launch.

Promise: a name is a plain folder name on every system, at most 160 characters long, whatever the config is called; two
configs with different ids never get one name in the same second.
"""

from __future__ import annotations

import hashlib
import re

from evh.errors import UsageError, cut
from evh.store.clock import run_stamp

__all__ = ["checked_run_id", "repeat_ids", "run_base"]

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,159}")


def run_base(config_id: str) -> str:
    """The id of a run of this config that is launched now, without what tells repeats apart."""
    name = config_id
    if not _PLAIN.fullmatch(name) or name.endswith("."):
        digest = hashlib.sha256(config_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        name = f"{_UNSAFE.sub('', config_id)[:40].lstrip('._-') or 'run'}~{digest}"
    return f"{name}_{run_stamp()}"


def repeat_ids(base: str, repeats: int) -> list[str]:
    """The ids of all passes of a launch. Raises `UsageError` for fewer than one."""
    if repeats < 1:
        raise UsageError(f"a number of repeats is at least 1, not {cut(repeats)}")
    return [checked_run_id(base)] if repeats == 1 else [checked_run_id(f"{base}_r{n}") for n in range(1, repeats + 1)]


def checked_run_id(run_id: str) -> str:
    """A run id that can be a folder's name. Raises `UsageError` for any other."""
    if not _RUN_ID.fullmatch(run_id) or run_id.endswith("."):
        raise UsageError(
            f"a run id is 1 to 160 of A-Z a-z 0-9 . _ ~ -, begins with a letter or digit and does not end in a dot; "
            f"{cut(run_id)} is not"
        )
    return run_id
