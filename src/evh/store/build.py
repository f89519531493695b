"""The version of the system under test, and of the harness: what git says, or what was declared.

Promise: `EVAL_BUILD_REF` beats git; without both the ref is `unknown`, never a guess. Asking changes nothing, and takes
no longer than a few seconds even where git hangs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from evh.protocol import models

__all__ = ["build_of", "harness_state"]

SECONDS = 10.0


def build_of(root: Path, environ: Mapping[str, str], declared: str | None = None) -> models.Build:
    """The build of a project; `declared` is one that was named on the command line."""
    if declared:
        return models.Build(ref=declared, source="--build-ref")
    if ref := environ.get("EVAL_BUILD_REF", "").strip():
        return models.Build(ref=ref, source="EVAL_BUILD_REF")
    commit, dirty = _state(root)
    return models.Build(ref="unknown") if commit is None else models.Build(ref=commit, dirty=dirty, source="git")


def harness_state() -> models.FingerprintHarness:
    """The state of the harness's own source, when it is run from a repository."""
    here = Path(__file__).resolve().parent
    commit, dirty = _state(here) if not any(part == "site-packages" for part in here.parts) else (None, None)
    return models.FingerprintHarness(commit=None if commit is None else commit[:12], dirty=dirty)


def _state(folder: Path) -> tuple[str | None, bool | None]:
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None, None
    # What runs leave in the tree is no change of the system: only tracked files count.
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changes is None else bool(changes)


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "--no-optional-locks", *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
