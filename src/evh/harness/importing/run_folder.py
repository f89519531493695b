"""A run directory, or rows beside a folder of outputs: what RFC-002 harnesses of any age wrote.

Promise: the source's own record, rows and outputs are read and never touched, be the run measured, derived or imported
itself. An output whose digest is not the row's is refused, and so is one that is a link, a device or no UTF-8.
Policy: an output lies in `outputs/` under the name that this harness gives it, else as `<item_id>.txt`, as older
harnesses had it. Of the record the time at which it was made, the build, the knobs, the labels and what is declared of
metrics are taken over; its ids are where they are the new run's too.
When it breaks: `SourceError` or `RecordError` with file and line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError, SourceError, cut
from evh.harness.importing.found import Found, Reading
from evh.harness.importing.rows import COUNTS
from evh.harness.importing.source import Source
from evh.harness.project import is_plain_path, read_inside
from evh.harness.result import row_metrics
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store import layout
from evh.store.clock import instant, now
from evh.store.projection import Projected, words_of
from evh.store.record import Declared
from evh.store.rows import StoredRow, read_predictions
from evh.store.run_dir import RunDir, open_run_dir

__all__ = ["Ids", "RunRows"]

LABELS = ("goal", "format", "round")
TAKEN = frozenset(
    {
        *LABELS, "build", "params", "primary_metric", "metric_kinds", "metric_directions", "metric_descriptions",
        "created_at", "scores", "n_items", "n_errors", "providers_seen",
    }
)  # fmt: skip
"""Members of a record that the import has or makes anew."""
OWN = frozenset({"item_id", "output_words", *COUNTS})


class Ids(NamedTuple):
    """The ids that the new run has."""

    run_id: str
    dataset_id: str
    config_id: str


class RunRows(Reading):
    """The rows of a run with their outputs."""

    def __init__(self, source: Source, ids: Ids) -> None:
        super().__init__()
        self._folder = source.run_folder
        self._outputs = self._folder / layout.OUTPUTS
        run = open_run_dir(self._folder)
        self._read_about(run, ids, whole=source.is_folder)
        tops = [name.partition("/")[0] for name in source.files()]
        self.lossy.update(set(tops) - {layout.PREDICTIONS, layout.OUTPUTS, layout.RECORD})
        self._held = tops.count(layout.OUTPUTS)  # files of outputs, and how many of them a reading met
        self._read = 0

    def items(self, *, first: bool = False) -> Iterator[Found]:
        path = self._folder / layout.PREDICTIONS
        about_file: list[Any] = []
        self._read = 0
        for stored in read_predictions(path, about_file):
            try:
                row = self._row(stored)
            except EvhError as error:
                raise error.at(str(path), stored.line) from None
            if first:
                self.notices.tell(stored.notices, f"{path}:{stored.line}")
            yield Found(row, str(path), stored.line, document=row.meta)
        if first:
            self.notices.tell(about_file, str(path))
            if (spare := self._held - self._read) > 0:
                self.notices.add(f"{self._outputs}: files that are no row's output are left out: {spare}")

    def _row(self, stored: StoredRow) -> Projected:
        row = stored.row
        plain = row.plain()
        item_id = row.item_id
        failed = row.error
        output = self._output(item_id, row.output_sha256, failed is not None)
        extra = {name: value for name, value in (plain.get("_extra") or {}).items() if value is not None}
        metrics = {
            name: value
            for name, value in plain.items()
            if name not in OWN and not name.startswith("_") and value is not None
        }
        numbers = row_metrics({name: value for name, value in metrics.items() if name not in extra}, extra, item_id)
        self.lossy.update(
            name
            for name in plain
            if name.startswith("_") and name not in ("_extra", "_meta", "_error", "_output_sha256")
        )
        return Projected(
            item_id=item_id,
            output=output,
            metrics={name: numbers[name] for name in metrics if name not in extra},
            extra={name: numbers[name] for name in extra},
            meta=dict(plain.get("_meta") or {}),
            error=failed,
            output_words=words_of(output, failed),
            **{name: plain[name] for name in COUNTS if plain.get(name) is not None},
        )

    def _output(self, item_id: str, digest: str | None, failed: bool) -> str:
        names = [layout.output_name(item_id)]
        by_hand = f"{item_id}.txt"
        if by_hand not in names and is_plain_path(by_hand):
            names.append(by_hand)
        for name in names:
            try:
                data = read_inside(self._outputs, name)
            except FileNotFoundError:
                continue
            if digest is not None and hashlib.sha256(data).hexdigest() != digest:
                raise SourceError(
                    f"the output of item {cut(item_id)}, {cut(name)}, was changed since its row was written"
                )
            self._read += 1
            try:
                return data.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError as error:
                raise SourceError(
                    f"the output of item {cut(item_id)}, {cut(name)}, is not UTF-8 (byte {error.start})"
                ) from None
        if failed:
            return ""
        raise SourceError(f"item {cut(item_id)} has no output: expected {layout.OUTPUTS}/{' or '.join(names)}")

    def _read_about(self, run: RunDir, ids: Ids, *, whole: bool) -> None:
        """What the run's record and manifest say of it; for rows that were named alone nothing."""
        record = run.record if whole else None
        manifest = run.manifest if whole else None
        if manifest is not None:
            self.tool = f"evh {manifest.harness_version}"
            self.build = manifest.build
            self.params = dict(manifest.config.get("params") or {})
        if record is None:
            return
        plain = msgspec.json.decode(encode(record))
        self.build = record.build
        self.params = dict(plain.get("params") or {})
        self.labels = {name: plain[name] for name in LABELS if name in plain}
        self.declared = Declared(
            record.primary_metric,
            dict(record.metric_kinds),
            dict(record.metric_directions),
            dict(record.metric_descriptions),
        )
        kept = TAKEN | {name for name, ours in ids._asdict().items() if plain.get(name) == ours}
        self.lossy.update(f"{layout.RECORD}#/{name}" for name in plain if name not in kept)
        self._tell_record(run, record, ids.dataset_id)

    def _tell_record(self, run: RunDir, record: models.RunRecord, dataset_id: str) -> None:
        place = str(run.path / layout.RECORD)
        if record.dataset_id != dataset_id:
            self.notices.add(f"{place}: was measured on the dataset {cut(record.dataset_id)}, not {cut(dataset_id)}")
        try:
            made = instant(record.created_at)
            verbatim = "T" in record.created_at and record.created_at.endswith("Z")
            self.created_at = record.created_at if verbatim else made.isoformat().replace("+00:00", "Z")
            if made > instant(now()):
                self.notices.add(
                    f"{place}: says that it was made in the future ({record.created_at}), which the import repeats: "
                    "a goal's cut-over goes by it"
                )
        except EvhError as error:
            self.notices.add(f"{place}: {error.message}; the import has its own time")
        self.notices.tell(run.notices, place)
