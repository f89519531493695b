"""`convert`: a record shaped for a named release of another library; `restore`: the way back.

Promise: the named release's own loader takes what comes out. What it refuses is kept in a stash that survives its load
and save, and is reported; `restore` puts it back. The record that goes in is not changed.
When it breaks: a target that is not known is a `UsageError`; a row that cannot be upgraded first raises what `upgrade`
does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from evh.errors import RecordError, SchemaError, Violation
from evh.protocol import models
from evh.protocol.codec import Data, Format, encode
from evh.protocol.convert import Counts, convert_document, restore_document
from evh.protocol.jsontext import dumps
from evh.protocol.upgrade.step import Step
from evh.protocol.upgraded import Upgraded, upgrade_parsed, upgrade_plain
from evh.protocol.wire import parse_as

__all__ = ["Converted", "convert", "restore"]


class Converted(NamedTuple):
    """A converted row: its bytes (JSON on one line, or MessagePack), the same as plain values, and what was done."""

    data: bytes
    document: dict[str, Any]
    steps: tuple[Step, ...]


def convert(source: models.Episode | Data, target: str, *, format: Format = "json") -> Converted:
    """An episode, or a row of any shape (upgraded first), for `verifiers-0.4`, `verifiers-0.3.1` or `common` to all.

    With `format="msgpack"` the row is read and written as MessagePack, tensors included. The steps hold those of the
    upgrade, then those of the conversion: what was moved into the stash, given another form, or lost.
    """
    steps: list[Step] = []
    if isinstance(source, models.Episode):
        record = source
        document = parse_as(encode(record, format=format), format)[0]
    else:
        (record, made), document = _upgraded(source, format)
        steps += made
    document, more = convert_document(document, target, counts_of(record))
    written = dumps(document) if format == "json" else msgspec.msgpack.encode(document)
    return Converted(written, document, (*steps, *more))


def _upgraded(source: Data, format: Format) -> tuple[Upgraded[Any], dict[str, Any]]:
    """A row of any shape as today's: the record, for its token counts, and the plain document, for everything else.

    What an upgrade writes about itself (`schema`) is no business of the release that the row is for.
    """
    plain, _ = parse_as(source, format)
    if not isinstance(plain, dict):
        raise SchemaError("Episode", [Violation("", "type", "expected an object")])
    declared = plain.get("schema") is not None
    made, document = upgrade_plain(plain)
    if declared:
        return made, document
    document.pop("schema", None)
    return made._replace(steps=tuple(step for step in made.steps if step.rule != "schema")), document


def counts_of(record: models.Episode) -> Counts | None:
    """Token counts as the target would compute them; None where the message graph does not allow it."""
    try:
        return Counts(_three(record), [_three(trace) for trace in record.traces])
    except RecordError:
        return None


def _three(record: models.Episode | models.Trace) -> tuple[int, int, int]:
    return record.num_input_tokens, record.num_output_tokens, record.num_total_tokens


def restore(data: Data, *, format: Format = "json") -> Upgraded[models.Episode]:
    """The episode of a row that a named release has read and saved, with what the conversion had stashed put back."""
    document = parse_as(data, format)[0]
    if not isinstance(document, dict):
        raise SchemaError("Episode", [Violation("", "type", "expected an object")])
    document, steps = restore_document(document)
    up = upgrade_parsed(document)
    return Upgraded(up.record, (*steps, *up.steps))
