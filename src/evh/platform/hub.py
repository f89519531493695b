"""Calls of the environments hub: an environment's id by its name, its owner and name, or its id.

Promise: finding by name makes the environment when there is none, and finds the same one however often it is asked.
When it breaks: `NotFound` for an environment of somebody else that is not there; `PlatformError` for an answer without
an id.
"""

from __future__ import annotations

from evh.errors import PlatformError, UsageError, cut
from evh.platform.call import Answer, Call, reading, segment, sending
from evh.protocol.models import EnvironmentLookup, EnvironmentResolve, EnvironmentResolved

__all__ = ["find", "look_up"]

WHAT = "find the environment"


def find(reference: str, *, team_id: str | None = None) -> Call[str]:
    """The id of an environment by `name` (of one's own, made when there is none) or `owner/name`."""
    if not isinstance(reference, str) or not reference:
        raise UsageError(f"{cut(reference)} names no environment: expected name or owner/name")
    owner, slash, name = reference.partition("/")
    if slash:
        path = f"/environmentshub/{segment('the owner', owner)}/{segment('the name', name)}/@latest"
        return Call(WHAT, "GET", path, _id)
    body = EnvironmentResolve(name=reference)
    if team_id:
        body["team_id"] = team_id
    return sending(WHAT, "POST", "/environmentshub/resolve", body, _id, again=True)


def look_up(environment_id: str) -> Call[str]:
    """The id of an environment that is there, by its id."""
    body = EnvironmentLookup(id=environment_id)
    return sending(WHAT, "POST", "/environmentshub/lookup", body, _id, again=True)


_read = reading(EnvironmentResolved, WHAT)


def _id(answer: Answer) -> str:
    found = _read(answer)
    entry = found.get("data")
    value = entry.get("id") if isinstance(entry, dict) else found.get("id")
    if not isinstance(value, str) or not value:
        raise PlatformError(f"{WHAT}: the answer has no id", status=answer.status)
    return value
