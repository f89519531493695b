"""What listings of the traces API can be asked for.

Promise: a name that is no filter of the listing is a `UsageError`, not a filter that selects everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from evh.errors import UsageError
from evh.platform.call import query

__all__ = [
    "CallFilters",
    "EpisodeFilters",
    "MemberFilters",
    "NodeFilters",
    "RunFilters",
    "SearchFilters",
    "TraceFilters",
    "parameters",
]

OneOrMore = str | Sequence[str] | None


class _Page(TypedDict, total=False):
    """How many a page has at most, and where it begins: `next_cursor` of the page before, with the same filters."""

    limit: int | None
    cursor: str | None


class _Created(TypedDict, total=False):
    """When it began, RFC 3339: at or after the one, before the other."""

    created_after: str | None
    created_before: str | None


class MemberFilters(_Page, _Created, total=False):
    """Of the traces of an episode. `context` is compared with the notes of their upload."""

    run_id: str | None
    environment_id: str | None
    model_id: str | None
    model_provider: str | None
    task_id: str | None
    reward_min: float | None
    reward_max: float | None
    outcome: str | None
    has_error: bool | None
    is_truncated: bool | None
    context: Mapping[str, str] | None


class TraceFilters(MemberFilters, total=False):
    """Of traces. `upload_id` may be several."""

    upload_id: OneOrMore
    run_step: int | None
    step_min: int | None
    step_max: int | None
    search: str | None
    sort: str | None


class EpisodeFilters(_Page, _Created, total=False):
    """Of episodes. Steps and `context` match through their traces."""

    run_id: str | None
    upload_id: OneOrMore
    environment_id: str | None
    outcome: str | None
    has_error: bool | None
    run_step: int | None
    step_min: int | None
    step_max: int | None
    context: Mapping[str, str] | None


class RunFilters(_Page, _Created, total=False):
    """Of runs: `eval`, `train` or `unknown`; who uploaded a trace of it."""

    run_type: OneOrMore
    created_by: OneOrMore


class NodeFilters(_Page, total=False):
    """Of message nodes; `after` is the position of the last node that is not wanted, without a cursor."""

    role: OneOrMore
    sampled: bool | None
    after: int | None


class CallFilters(_Page, total=False):
    """Of model calls."""

    model: OneOrMore
    finish_reason: OneOrMore


class SearchFilters(_Page, total=False):
    """Of a search: `content`, `reasoning_content` or `tool_calls` of messages, and which messages."""

    field: str | None
    role: str | None
    run_step: int | None
    has_error: bool | None
    reward_min: float | None
    reward_max: float | None


def parameters(filters: Mapping[str, Any], kind: type) -> tuple[tuple[str, str], ...]:
    """The query parameters of filters."""
    names: frozenset[str] = getattr(kind, "__optional_keys__")  # noqa: B009 - a TypedDict has it, its type does not
    unknown = filters.keys() - names
    if unknown:
        raise UsageError(f"{', '.join(sorted(unknown))}: no such filter; there are {', '.join(sorted(names))}")
    return query(((name, value) for name, value in filters.items() if name != "context"), filters.get("context"))
