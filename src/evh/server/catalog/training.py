"""Training runs: what they were started with, their metrics by step, and the tables of samples that they upload.

Promise: a run closes once. Metrics of a step that come again are stored once; metrics without a step always. The
address of an upload holds a secret that is kept as a digest; it opens until it expires, for one table only.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from evh.protocol.jsontext import dumps
from evh.server.catalog.database import Database
from evh.server.catalog.environments import ascii_id
from evh.server.catalog.projects import count_up, locked
from evh.server.catalog.tables import training_metrics, training_runs, training_uploads
from evh.server.faults import ServerFault, conflict, not_found, refused
from evh.server.records import MetricsRow, Principal, TrainingRow, TrainingUpload
from evh.server.text import now_us

__all__ = ["TrainingTable"]

UPLOAD_US = 3600 * 1_000_000
_RUN = [training_runs.c[name] for name in TrainingRow.__struct_fields__]
_UPLOAD = [training_uploads.c[{"run_id": "run"}.get(name, name)] for name in TrainingUpload.__struct_fields__]
_METRICS = [training_metrics.c[name] for name in MetricsRow.__struct_fields__]


class TrainingTable:
    """`Training` over the catalog's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, who: Principal, body: dict[str, Any]) -> TrainingRow:
        """A new run, `running`."""

        def change(connection: Connection) -> TrainingRow:
            locked(connection, who.project)
            now = now_us()
            made = uuid.uuid4().hex
            connection.execute(
                insert(training_runs).values(
                    id=made, project=who.project, seq=count_up(connection, who.project, 1), name=body.get("name"),
                    status="running", created_us=now, updated_us=now, document=body,
                )
            )  # fmt: skip
            return _one(connection, who, made)

        return self._database.write(change)

    def get(self, who: Principal, run_id: str) -> TrainingRow:
        """404 `run_not_found`."""
        with self._database.read() as connection:
            return _one(connection, who, run_id)

    def list(self, who: Principal, *, skip: int = 0, limit: int = 50) -> tuple[list[TrainingRow], int]:
        """Newest first, and how many there are in all."""
        if not (0 <= skip < 2**62 and 0 <= limit <= 1000):
            raise refused("invalid_filter", "skip is 0 or more, limit from 0 to 1000")
        mine = training_runs.c.project == who.project
        with self._database.read() as connection:
            total: int = connection.execute(select(func.count()).select_from(training_runs).where(mine)).scalar_one()
            query = select(*_RUN).where(mine).order_by(training_runs.c.seq.desc()).offset(skip).limit(limit)
            return [TrainingRow(**row._mapping) for row in connection.execute(query)], total

    def log_metrics(self, who: Principal, run_id: str, metrics: dict[str, Any], step: int | None) -> None:
        """Append, unless the same metrics of the same step are there. Also for a closed run: they may come late."""
        digest = None if step is None else hashlib.sha256(dumps([step, metrics])).hexdigest()
        table = training_metrics.c

        def change(connection: Connection) -> None:
            locked(connection, who.project)
            run = _one(connection, who, run_id)
            now = now_us()
            again = select(table.seq).where(table.run == run.id, table.digest == digest)
            if digest is not None and connection.execute(again).first() is not None:
                return
            connection.execute(
                insert(training_metrics).values(
                    project=who.project, seq=count_up(connection, who.project, 1), run=run.id, step=step, logged_us=now,
                    metrics=metrics, digest=digest,
                )
            )  # fmt: skip
            last = step if run.last_step is None else run.last_step if step is None else max(step, run.last_step)
            _set(connection, run.id, updated_us=now, last_step=last)

        self._database.write(change)

    def metrics(self, who: Principal, run_id: str, *, after: int = 0, limit: int = 1000) -> Sequence[MetricsRow]:
        """In order of arrival, those whose `seq` is greater than `after`."""
        table = training_metrics.c
        with self._database.read() as connection:
            run = _one(connection, who, run_id)
            query = select(*_METRICS).where(table.run == run.id, table.seq > after).order_by(table.seq).limit(limit)
            return [MetricsRow(*row) for row in connection.execute(query)]

    def presign(self, who: Principal, run_id: str, step: int) -> tuple[TrainingUpload, str]:
        """A place for one table and the secret that opens it, for an hour. 409 `run_closed` for a closed run."""
        secret = secrets.token_urlsafe(32)

        def change(connection: Connection) -> TrainingUpload:
            locked(connection, who.project)
            run = _one(connection, who, run_id)
            _refuse_closed(run)
            now = now_us()
            key = f"training/{who.project}/{run.id}/{step}-{uuid.uuid4().hex}.parquet"
            connection.execute(
                insert(training_uploads).values(
                    key=key, project=who.project, run=run.id, step=step, state="presigned", secret=_digest(secret),
                    created_us=now, expires_us=now + UPLOAD_US,
                )
            )  # fmt: skip
            return _upload(connection, key)

        return self._database.write(change), secret

    def uploads(self, who: Principal, run_id: str) -> Sequence[TrainingUpload]:
        """By step, whatever their state."""
        table = training_uploads.c
        with self._database.read() as connection:
            run = _one(connection, who, run_id)
            query = select(*_UPLOAD).where(table.run == run.id).order_by(table.step, table.created_us, table.key)
            return [TrainingUpload(*row) for row in connection.execute(query)]

    def redeem(self, key: str, secret: str) -> TrainingUpload:
        """The place that an address opens, until it expires. 403 `forbidden` for any other address: they are not told
        apart."""
        fault = ServerFault(403, "forbidden", "this address opens nothing: it is unknown or expired")
        if not key.isascii() or not key.isprintable():
            raise fault
        with self._database.read() as connection:
            query = select(training_uploads.c.secret, *_UPLOAD).where(training_uploads.c.key == key)
            row = connection.execute(query).first()
        if row is None or not hmac.compare_digest(row[0], _digest(secret)):
            raise fault
        _, *members = row
        upload = TrainingUpload(*members)
        if upload.expires_us < now_us():
            raise fault
        return upload

    def stored(self, key: str, size: int, digest: str) -> TrainingUpload:
        """Note that the table is in the blob store. Again: nothing changes; 409 `upload_stored` for another one."""

        def change(connection: Connection) -> TrainingUpload:
            place = (training_uploads.c.key == key) & (training_uploads.c.state == "presigned")
            values = {"state": "stored", "size": size, "digest": digest}
            fresh = connection.execute(update(training_uploads).where(place).values(**values)).rowcount
            held = _upload(connection, key)
            if not fresh and (held.size, held.digest) != (size, digest):
                raise conflict("upload_stored", "another table was stored at this address already")
            return held

        return self._database.write(change)

    def confirm(self, who: Principal, run_id: str, step: int, key: str) -> TrainingUpload:
        """Count a stored table in. 400 `upload_missing` when nothing was stored under the key."""

        def change(connection: Connection) -> TrainingUpload:
            locked(connection, who.project)
            run = _one(connection, who, run_id)
            table = training_uploads.c
            known = key.isascii() and key.isprintable()
            found = _find_upload(connection, key) if known else None
            if found is None or (found.run_id, found.step) != (run.id, step) or found.state == "presigned":
                raise refused("upload_missing", "nothing was stored for this step under this key: upload it first")
            connection.execute(update(training_uploads).where(table.key == key).values(state="confirmed"))
            _set(connection, run.id, updated_us=now_us(), last_step=max(step, run.last_step or step))
            return _upload(connection, key)

        return self._database.write(change)

    def stored_tables(self) -> Iterator[TrainingUpload]:
        """Every table of every project that is in the blob store, by key."""
        table = training_uploads.c
        key = ""
        while True:
            query = select(*_UPLOAD).where(table.key > key, table.state != "presigned").order_by(table.key).limit(500)
            with self._database.read() as connection:
                rows = connection.execute(query).all()
            for row in rows:
                yield TrainingUpload(*row)
            if not rows:
                return
            key = rows[-1].key

    def close_run(self, who: Principal, run_id: str, status: str, error_message: str | None) -> TrainingRow:
        """`completed` or `failed`; 409 `run_closed` when it is closed already."""
        if status not in ("completed", "failed"):
            raise refused("invalid_status", "a training run ends as completed or failed")

        def change(connection: Connection) -> TrainingRow:
            locked(connection, who.project)
            run = _one(connection, who, run_id)
            _refuse_closed(run)
            now = now_us()
            _set(connection, run.id, status=status, error_message=error_message, updated_us=now, closed_us=now)
            return _one(connection, who, run_id)

        return self._database.write(change)


def _one(connection: Connection, who: Principal, run_id: str) -> TrainingRow:
    query = select(*_RUN).where(training_runs.c.project == who.project, training_runs.c.id == ascii_id(run_id, "run"))
    row = connection.execute(query).first()
    if row is None:
        raise not_found("run", run_id)
    return TrainingRow(**row._mapping)


def _find_upload(connection: Connection, key: str) -> TrainingUpload | None:
    row = connection.execute(select(*_UPLOAD).where(training_uploads.c.key == key)).first()
    return None if row is None else TrainingUpload(*row)


def _upload(connection: Connection, key: str) -> TrainingUpload:
    return TrainingUpload(*connection.execute(select(*_UPLOAD).where(training_uploads.c.key == key)).one())


def _set(connection: Connection, run_id: str, **values: Any) -> None:
    connection.execute(update(training_runs).where(training_runs.c.id == run_id).values(**values))


def _refuse_closed(run: TrainingRow) -> None:
    if run.closed_us is not None:
        raise conflict("run_closed", f"the run is closed as {run.status} already")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
