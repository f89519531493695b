"""Rows of the platform's sample table, for an account that has no traces service.

Promise: a row of the run becomes its samples as `evh.platform.build_samples` makes them, rollouts numbered over the
whole run, also after a restart: what was sent before is counted again from the files. Before a body is sent a second
time the platform is asked which of its samples it has, and only the others go.
When it breaks: `DecodeError` or `SchemaError` for a row that is no episode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from evh.errors import EvhError
from evh.live.ledger import Ledger
from evh.live.segments_reader import SegmentReader
from evh.live.wire import Wire
from evh.platform import build_samples, evaluations
from evh.protocol import models
from evh.protocol.codec import decode
from evh.protocol.jsontext import dumps

__all__ = ["SampleMaker", "without_present"]

PIECE = 8 << 20


class SampleMaker:
    """Makes the samples of one run; `remote_id` is the platform's name of it."""

    def __init__(self, remote_id: str, ledger: Ledger, readers: Iterable[SegmentReader]) -> None:
        self._remote_id = remote_id
        self._numbers: dict[Any, int] = {}
        for reader in readers:
            self._count(reader, ledger.cursor(reader.name))

    def piece(self, line: bytes) -> bytes:
        """The samples of one row, apart by commas."""
        episode = decode(line, models.Episode)
        if isinstance(episode.run, models.EvalRunInfo | models.TrainRunInfo):
            episode.run.id = self._remote_id
        return b",".join(dumps(sample) for sample in build_samples([episode], self._numbers))

    def _count(self, reader: SegmentReader, cursor: models.SegmentCursor | None) -> None:
        """Number again what was sent."""
        at = 0
        while cursor is not None and at < cursor.offset:
            data = reader.piece(at, min(cursor.offset, at + PIECE))
            while not (cut := data.rfind(b"\n") + 1):
                data += reader.piece(at + len(data), min(cursor.offset, at + 2 * len(data)))
            for line in data[:cut].split(b"\n"):
                if line.strip():
                    try:
                        build_samples([decode(line, models.Episode)], self._numbers)
                    except EvhError:
                        continue  # it was refused
            at += cut


def without_present(body: bytes, evaluation_id: str, wire: Wire) -> bytes | None:
    """What of a body the platform does not have yet; None when it has all of it."""
    samples: list[dict[str, Any]] = msgspec.json.decode(body)["samples"]
    missing = {sample["sample_id"] for sample in samples}
    for each in wire.platform.items(evaluations.samples(evaluation_id)):
        missing.discard(each.get("sample_id"))
        if not missing:
            return None
    return dumps({"samples": [sample for sample in samples if sample["sample_id"] in missing]})
