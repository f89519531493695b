"""Where a run goes: `online` (disk and upload), `offline` (disk; `evh sync` later) or `disabled` (nowhere at all).

Promise: a pure function of the argument, the environment and the settings. `PRIME_RUNS_MODE=disabled` beats every
argument and means offline: the run stays on disk and nothing is sent. Disabled is only what somebody asked for. A run
that cannot be online is offline, with the reason; nothing about a mode ends a program but a word that is no mode.
Policy: without a word from anybody a run is online when there is a key, or when its server is on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args
from urllib.parse import urlsplit

from evh.errors import UsageError, cut

if TYPE_CHECKING:
    from evh.platform.settings import Settings

__all__ = ["NO_KEY", "Mode", "Resolved", "resolve_mode"]

Mode = Literal["online", "offline", "disabled"]
OURS, THEIRS = "EVH_MODE", "PRIME_RUNS_MODE"
LOOPBACK = frozenset({"localhost", "::1"})
NO_KEY = "there is no API key (PRIME_API_KEY, or api_key=)"


class Resolved(NamedTuple):
    """A mode, and why it is not another; None when somebody asked for it."""

    mode: Mode
    reason: str | None = None


def resolve_mode(argument: str | None, environ: Mapping[str, str], settings: Settings) -> Resolved:
    """The mode of a run. Raises `UsageError` for a word that is no mode, wherever it stands."""
    asked = _word(argument, "mode") or _word(environ.get(OURS, ""), OURS)
    theirs = environ.get(THEIRS, "").strip().lower()
    if theirs == "disabled":
        if argument is None and asked == "disabled":
            return Resolved("disabled")
        return Resolved("offline", f"{THEIRS}=disabled")
    if asked is None and theirs:
        if theirs != "online":
            raise UsageError(f"{THEIRS} is online or disabled, not {cut(theirs)}")
        asked = "online"
    if asked in ("offline", "disabled"):
        return Resolved(cast("Mode", asked))
    if settings.api_key or _is_here(settings.base_url):
        return Resolved("online")
    return Resolved("offline", NO_KEY)


def _word(text: str | None, source: str) -> str | None:
    if text is None:
        return None
    word = text.strip().lower() if isinstance(text, str) else text
    if word == "" and source != "mode":
        return None
    if word not in get_args(Mode):
        raise UsageError(f"{source} is one of {', '.join(get_args(Mode))}, not {cut(text)}")
    return word


def _is_here(url: str) -> bool:
    """Whether a server is on this machine, where it may go without a key."""
    host = urlsplit(url).hostname or ""
    return host in LOOPBACK or host.startswith("127.")
