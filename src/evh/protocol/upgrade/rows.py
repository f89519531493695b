"""`upgrade_document` and `upgrade_trace_document`: one row of any age, in today's shape.

Promise: any JSON object goes in; what comes out is today's shape, or a `SchemaError` for a row that is neither an
episode nor a trace, or a `RecordError` for one that is nested too deeply to be walked. Every leaf of the source is in
the result or in a step. Upgrading an upgraded row does nothing. The argument may be used up: its parts become
parts of the result. Policy: unknown members, non-finite numbers and values of a wrong type that no historical
shape explains are left in place for the reader that called.
"""

from __future__ import annotations

from typing import Any

from evh.errors import RecordError, SchemaError, Violation
from evh.protocol.upgrade.detect import detect
from evh.protocol.upgrade.episode_rows import upgrade_bare, upgrade_episode, upgrade_trace
from evh.protocol.upgrade.step import Step
from evh.protocol.upgrade.v0 import upgrade_v0

__all__ = ["upgrade_document", "upgrade_trace_document"]


def upgrade_document(doc: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """Any historical episode or trace row, as today's episode.

    Raises SchemaError when the row shows no member of an episode, a trace or a first-generation result, and
    RecordError when it is nested too deeply.
    """
    kind = detect(doc)
    try:
        if kind == "episode":
            return upgrade_episode(doc)
        if kind == "trace":
            return upgrade_bare([doc], [""])
        if kind == "v0":
            return upgrade_v0(doc)
    except RecursionError:
        raise RecordError("nested too deeply to be upgraded") from None
    raise SchemaError("Episode", [Violation("", "shape", "neither an episode nor a trace: none of their members")])


def upgrade_trace_document(doc: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """Any historical trace row, as today's trace. Its run is kept aside: a trace no longer says it.

    Raises SchemaError when the row is no trace, and RecordError when it is nested too deeply.
    """
    kind = detect(doc)
    if kind == "episode" and "traces" not in doc:
        # A trace that lacks all that only traces have is still one when the caller says so.
        kind = "trace"
    if kind != "trace":
        words = {"episode": "an episode", "v0": "a first-generation result"}.get(kind, "no record that is known")
        raise SchemaError("Trace", [Violation("", "shape", f"expected a trace, found {words}")])
    try:
        return upgrade_trace(doc)
    except RecursionError:
        raise RecordError("nested too deeply to be upgraded") from None
