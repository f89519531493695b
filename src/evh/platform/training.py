"""Calls of the training-run API: register a run that is trained elsewhere, send its numbers and tables, close it.

Promise: registering is never sent twice while nobody knows whether it was done. A table's address is a secret: it gets
no key, and it stands in no message and no log.
Policy: closing as completed tries `finalize` first, which enqueues what the platform computes of the run; where that is
refused the plain status closes the run. A run that is closed already is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evh.errors import Conflict, Refused, UsageError, cut
from evh.platform.call import SEND_TRIES, Answer, Call, Steps, reading, segment, sending, with_members
from evh.protocol.models import (
    ExternalRun,
    ExternalRunCreate,
    ExternalRunCreated,
    ExternalRunStatus,
    PresignedUpload,
    RftFinalize,
    RunMetrics,
    SamplesConfirm,
    SamplesPresign,
    SamplesPresigned,
)

__all__ = ["close", "confirm", "create", "finalize", "log_metrics", "presign", "put_table", "send_table", "set_status"]

PUT_TIMEOUT = 300.0
ENDINGS = ("completed", "failed", "cancelled", "crashed")


def create(body: ExternalRunCreate) -> Call[ExternalRun]:
    """Register a training run. `Forbidden` for a team that may not."""
    what = "register the training run"
    read = reading(ExternalRunCreated, what, "run")
    return sending(
        what,
        "POST",
        "/rft/external-runs",
        body,
        lambda answer: with_members(read(answer).run, what, answer, "id"),
        again=False,
    )


def log_metrics(run_id: str, metrics: Mapping[str, Any]) -> Call[None]:
    """Numbers of a run; `step` is one of them."""
    body = RunMetrics(run_id=run_id, metrics=dict(metrics))
    return sending("send metrics", "POST", "/rft/metrics", body, _nothing, again=True)


def presign(run_id: str, step: int) -> Call[PresignedUpload]:
    """Ask where the sample table of a step goes."""
    what = "ask for a table's place"
    read = reading(SamplesPresigned, what, "data")
    return sending(
        what,
        "POST",
        "/rft/samples/presign",
        SamplesPresign(run_id=run_id, step=step),
        lambda answer: with_members(read(answer).data, what, answer, "presignedUrl", "s3Key"),
        again=True,
    )


def put_table(place: PresignedUpload, table: bytes) -> Call[None]:
    """Put the bytes of a Parquet table in its place."""
    return Call(
        "store the sample table",
        "PUT",
        "(its place)",
        _nothing,
        headers=(("Content-Type", "application/parquet"),),
        body=table,
        tries=SEND_TRIES,
        timeout=PUT_TIMEOUT,
        service="storage",
        url=place.presignedUrl,
    )


def confirm(run_id: str, step: int, key: str) -> Call[None]:
    """Say that a table is in its place."""
    body = SamplesConfirm(run_id=run_id, step=step, s3_key=key)
    return sending("confirm the sample table", "POST", "/rft/samples/confirm", body, _nothing, again=True)


def send_table(run_id: str, step: int, table: bytes) -> Steps[str]:
    """Send the sample table of a step (see `sample_table`), and give the name that the platform has for it."""
    place: PresignedUpload = yield presign(run_id, step)
    yield put_table(place, table)
    yield confirm(run_id, step, place.s3Key)
    return place.s3Key


def finalize(run_id: str) -> Call[None]:
    """Close a run as completed."""
    body = RftFinalize(run_id=run_id, exit_code=0)
    return sending("close the training run", "POST", "/rft/finalize", body, _nothing, again=True)


def set_status(run_id: str, status: str, *, error_message: str | None = None) -> Call[None]:
    """Close a run as `completed` or `failed`."""
    body = ExternalRunStatus(status=status)
    if error_message:
        body["error_message"] = error_message
    path = f"/rft/external-runs/{segment('run_id', run_id)}/status"
    return sending("close the training run", "PUT", path, body, _nothing, again=True)


def close(run_id: str, status: str = "completed", *, error_message: str | None = None) -> Steps[None]:
    """Close a run. The platform knows `completed` and `failed` only: a run that was cancelled or crashed is failed, and
    its message says which."""
    if status not in ENDINGS:
        raise UsageError(f"status is {cut(status)}: a training run ends {', '.join(ENDINGS)}")
    try:
        if status == "completed":
            try:
                yield finalize(run_id)
            except Conflict:
                return
            except Refused:
                yield set_status(run_id, "completed")
            return
        message = error_message or status
        yield set_status(run_id, "failed", error_message=message if status == "failed" else f"{status}: {message}")
    except Conflict:
        return


def _nothing(answer: Answer) -> None:
    return None
