"""A parcel on its way: how each kind is sent, and what an answer means for it.

Promise
    A parcel that is delivered is with the platform, once. Uploads and metrics may be sent again as they are; samples
    may not, so before a second try the platform is asked what it has. A table goes to its place and is confirmed; after
    a crash its confirmation is tried before another place is asked for.
    What is wrong with all parcels alike (the form of the upload, say) is no fault of a record: `WholeUploadRefused`.
When it breaks
    `Refused` for the parcel's own fault; any other `PlatformError` when it cannot be delivered now.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evh.errors import Ambiguous, NotFound, PlatformError, Refused
from evh.live.ledger import Ledger, Said
from evh.live.parcels import METRICS, SAMPLES, TABLE, Parcel
from evh.live.samples_upload import without_present
from evh.live.wire import Wire
from evh.platform import capabilities, choose, evaluations, traces, training
from evh.platform.batches import Limits
from evh.protocol import models
from evh.protocol.codec import decode

if TYPE_CHECKING:
    from evh.platform.encoding import Encoding

__all__ = ["Delivery", "WholeUploadRefused"]

OF_THE_UPLOAD = frozenset(
    {
        "unsupported_schema_version",
        "invalid_metadata",
        "invalid_idempotency_key",
        "digest_mismatch",
        "line_format_mismatch",
        "malformed_encoding",
    }
)
"""Codes that say that the form of the upload is wrong: every record would meet them."""


class WholeUploadRefused(PlatformError):
    """The platform refuses what every upload of ours has; no record is at fault."""


class Delivery:
    """The way of parcels of one run; `remote` is what the platform calls it, `run_id` what we do."""

    def __init__(self, remote: models.SyncRemote, run_id: str, wire: Wire, ledger: Ledger, *, target: int) -> None:
        assert remote.remote_id is not None
        self._remote_id: str = remote.remote_id
        self._run_id = run_id
        self._run_type = "train" if remote.kind == "training" else "eval"
        self._wire = wire
        self._ledger = ledger
        said = wire.run(capabilities)
        self.server = said.server
        self.limits = Limits.of(said, target_bytes=target)
        self._encoding: Encoding = choose(said.encodings)

    def deliver(self, parcel: Parcel, *, doubt: bool = False, place: str | None = None) -> Said:
        """Send a parcel that is in the books. `doubt`: an earlier try may have been done; `place` is a table's."""
        if parcel.kind == METRICS:
            return self._metrics(parcel)
        if parcel.kind == TABLE:
            return self._table(parcel, place)
        if parcel.kind == SAMPLES:
            return self._samples(parcel, doubt)
        return self._traces(parcel)

    def _traces(self, parcel: Parcel) -> Said:
        batch = parcel.batch
        context = {"evh.run_id": self._run_id, "run_type": self._run_type, **parcel.context}
        try:
            receipt = self._wire.run(lambda: traces.upload(batch, encoding=self._encoding, context=context))
        except Refused as error:
            if error.code == "malformed_encoding" and self._encoding == "zstd":
                self._encoding = "gzip"  # something on the way does not know it
                return self._traces(parcel)
            if error.code in OF_THE_UPLOAD:
                raise WholeUploadRefused(error.message, status=error.status, code=error.code) from None
            raise
        return Said(receipt.upload_id, receipt.replayed)

    def _samples(self, parcel: Parcel, doubt: bool) -> Said:
        body: bytes | None = parcel.body

        def attempt() -> None:
            nonlocal body, doubt
            if doubt and body is not None:
                body = without_present(body, self._remote_id, self._wire)
            if body is None:
                return
            doubt = True  # until the answer is here
            try:
                self._wire.once(evaluations.append_samples(self._remote_id, body))
            except PlatformError as error:
                doubt = isinstance(error, Ambiguous)
                raise

        self._wire.patience.run(attempt)
        return Said(replayed=body is None)

    def _metrics(self, parcel: Parcel) -> Said:
        for line in parcel.pieces:
            row = decode(line, models.StepRow)
            numbers = dict(row.metrics) if row.step is None else {**row.metrics, "step": row.step}
            self._wire.run(partial(training.log_metrics, self._remote_id, numbers))
        return Said()

    def _table(self, parcel: Parcel, place: str | None) -> Said:
        step = parcel.step or 0
        if place is not None:
            known = place
            try:
                self._wire.run(lambda: training.confirm(self._remote_id, step, known))
                return Said(known, True)
            except (Refused, NotFound):
                pass  # its bytes did not get there
        given = self._wire.run(lambda: training.presign(self._remote_id, step))
        self._ledger.intend(parcel, given.s3Key, anew=False)
        self._wire.run(lambda: training.put_table(given, parcel.body))
        self._wire.run(lambda: training.confirm(self._remote_id, step, given.s3Key))
        return Said(given.s3Key)
