"""Re-parsed runs: outputs rebuilt from the raw replies that the rows keep, by another parser, and scored anew.

Promise
    No model is called. The parser gets a row, its output and the params of the run; what it gives is the new output,
    which the adapter's scorer scores as it would have when it was measured. Extras that the parser computes again take
    the place of the old ones, all others are carried, as are time, tokens, money and `_meta`: a row holds one value of
    a name. A run none of whose rows has a raw reply is passed over and told; a row without one keeps its output.
    Accepted failures stay what they are. The source is only read.
Policy: what a raw reply is says the parser (`evh.harness.reply_parser`).
When it breaks: no derived run is left.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evh._version import __version__
from evh.errors import RecordError, SourceError, WriteError, cut
from evh.harness.adapters import Adapter, load_adapter
from evh.harness.dataset import Frozen, load_dataset, source_text
from evh.harness.derived_dir import DerivedDir, check_out, source_path
from evh.harness.lineage import earlier_references, rows_digest
from evh.harness.project import Project
from evh.harness.references import References, load_references
from evh.harness.reply_parser import Parser, parsed, raw_reply
from evh.harness.result import row_metrics
from evh.protocol import models
from evh.protocol.jsontext import dumps
from evh.store import layout
from evh.store.clock import now
from evh.store.derived import MOST, chain, derived_fingerprint, derived_record
from evh.store.fingerprint import scorer_digest
from evh.store.outputs import output_bytes
from evh.store.record import Declared
from evh.store.run_dir import RunDir
from evh.store.runs import list_runs

__all__ = ["Reparsed", "Reparsing", "reparse_runs"]

CARRIED = ("latency_ms", "cost_usd", "tokens_in", "tokens_out")


class Reparsed(NamedTuple):
    """One derived run."""

    source: Path
    directory: Path
    record: models.RunRecord
    counts: Mapping[str, int]
    changed: int
    """Rows with another output than before."""
    without_reply: int


class Reparsing(NamedTuple):
    """All runs of a launch, and those that were passed over with the reason."""

    runs: list[Reparsed]
    skipped: list[tuple[Path, str]]


def reparse_runs(
    project: Project,
    parser: Parser,
    *,
    dataset_id: str,
    out: Path | None = None,
    adapter: str | None = None,
    match: str | None = None,
    force: bool = False,
) -> Reparsing:
    """Re-parse the finished runs of a dataset. Raises `SourceError` when there is none, `UsageError` for an output
    folder that is read from."""
    out = project.data / "runs-reparsed" if out is None else out
    listing = list_runs(project.runs)
    chosen = [run for run in listing.finished if _is_meant(run, dataset_id, match)]
    skipped = [(each.path, each.why) for each in listing.skipped]
    if not chosen:
        raise SourceError(
            f"holds no finished run of the dataset {cut(dataset_id)} that is meant", source=str(project.runs)
        )
    check_out(out, project.runs, [run.path for run in chosen])
    frozen = load_dataset(project, dataset_id)
    references = load_references(project, frozen)
    owed: list[tuple[RunDir, models.RunRecord, str, int]] = []
    with contextlib.ExitStack() as stack:
        adapters: dict[str, Adapter] = {}
        for run in chosen:
            record = run.record
            assert record is not None
            named = adapter or record.adapter
            without = _without_reply(run, parser)
            if without is None:
                skipped.append((run.path, f"has no raw replies (`_meta.{parser.raw}`): nothing to parse again"))
            elif named is None:
                skipped.append((run.path, "names no adapter to score with: give one (--adapter FILE)"))
            else:
                _refuse(project, run, record, references, out, force=force)
                if named not in adapters:
                    adapters[named] = stack.enter_context(_scoring(project, named))
                owed.append((run, record, named, without))
        made = [
            _reparse(
                project, parser, run, record, _Scorer(project, frozen, references, adapters[named]), out, force, without
            )
            for run, record, named, without in owed
        ]
    return Reparsing(made, skipped)


def _without_reply(run: RunDir, parser: Parser) -> int | None:
    """How many rows have no raw reply; None when none has one."""
    rows = without = 0
    for stored in run.rows():
        if stored.value.error is None:
            rows += 1
            without += raw_reply(stored.value.plain(), parser) is None
    return None if without == rows else without


def _refuse(
    project: Project, run: RunDir, record: models.RunRecord, references: References | None, out: Path, *, force: bool
) -> None:
    """Refuse what would be refused later, before the first run is derived."""
    if len(chain(record)) >= MOST:
        raise RecordError(f"is derived {MOST} times over, which is the most: take an earlier run", source=str(run.path))
    if references is None and record.reference_tier is not None:
        raise SourceError(
            f"{run.path.name} was scored against {record.reference_tier} references, and there are none here",
            source=str(project.references),
        )
    if not force and os.path.lexists(out / run.path.name):
        raise WriteError("is there already: --force replaces it, --out DIR keeps both", source=str(out / run.path.name))


def _scoring(project: Project, named: str) -> Adapter:
    """The adapter that scores: a file here, or below the root or its parent."""
    beside = project.root.parent / named
    here = named.startswith("evh:") or Path(named).is_file() or (project.root / named).is_file()
    found = load_adapter(named if here or not beside.is_file() else str(beside), config_dir=Path(), root=project.root)
    if not found.has_score:
        found.close()
        raise SourceError("has no score(output, reference)", source=found.id)
    return found


def _is_meant(run: RunDir, dataset_id: str, match: str | None) -> bool:
    record = run.record
    return (
        record is not None
        and record.dataset_id == dataset_id
        and (match is None or match in record.config_id or match in run.path.name)
    )


class _Scorer:
    """What scores a rebuilt output."""

    def __init__(self, project: Project, frozen: Frozen, references: References | None, adapter: Adapter) -> None:
        self.adapter = adapter
        self.references = references
        self._project = project
        self._frozen = frozen

    def index(self, item_id: str) -> int:
        found = self._frozen.position.get(item_id)
        if found is None:
            raise RecordError(f"the item {cut(item_id)} is not in the dataset {self._frozen.dataset_id}")
        return found

    def score(self, item_id: str, output: str) -> Mapping[str, Any]:
        index = self.index(item_id)
        reference = None if self.references is None else self.references.text(item_id)
        text = source_text(self._project, self._frozen, index) if self.adapter.wants_source else None
        return self.adapter.score(output, reference, text) or {}


def _reparse(
    project: Project,
    parser: Parser,
    run: RunDir,
    source: models.RunRecord,
    scorer: _Scorer,
    out: Path,
    force: bool,
    without: int,
) -> Reparsed:
    adapter, references = scorer.adapter, scorer.references
    at = now()
    changed = items = covered = 0
    digest = rows_digest(run.path)
    with DerivedDir(out, run.path.name, runs_dir=project.runs, sources=[run.path], force=force) as derived:

        def rows() -> Iterator[bytes]:
            nonlocal changed, items, covered
            for stored in run.rows():
                row = stored.value.plain()
                item_id = row["item_id"]
                items += 1
                covered += references is not None and references.has(scorer.index(item_id))
                if row.get("_error") is not None:
                    yield dumps(row) + b"\n"
                    continue
                if "_extra" not in row:
                    raise RecordError(
                        "the row has no `_extra`: it was written before 0.4.0",
                        source=str(run.path / layout.PREDICTIONS),
                        line=stored.line,
                    )
                old = run.output(item_id)
                if row.get("_output_sha256") not in (None, hashlib.sha256(output_bytes(old)).hexdigest()):
                    raise SourceError(
                        f"the output of item {cut(item_id)} was changed since it was written",
                        source=str(run.output_path(item_id)),
                    )
                output, extras = old, dict[str, int | float]()
                if raw_reply(row, parser) is not None:
                    output, extras = parsed(parser, row, old, source.params)
                changed += output != old
                data = output_bytes(output)
                derived.write(derived.outputs / layout.output_name(item_id), data)
                yield dumps(_row(row, output, data, extras, scorer.score(item_id, output))) + b"\n"

        derived.write_rows(rows())
        derived.copy_traces(run)
        counted = RunDir(derived.path).count()
        block = models.ReparseDerived(
            from_=source_path(run.path, out),
            at=at,
            with_=models.ReparseWith(
                parser=parser.name,
                parser_sha256=parser.sha256,
                adapter=adapter.id,
                scorer_sha256=scorer_digest(adapter.sha256, adapter.scorer_id()),
                rows_sha256=digest,
                harness_version=__version__,
            ),
        )
        record = derived_record(
            source,
            counted,
            block,
            run_id=run.path.name,
            adapter=adapter.id,
            declared=Declared(
                adapter.primary_metric, adapter.metric_kinds, adapter.metric_directions, adapter.metric_descriptions
            ),
            reference_tier=None if references is None else references.tier,
            coverage=None if references is None else (covered, items),
            fingerprint=derived_fingerprint(
                source.fingerprint,
                adapter.id,
                adapter.sha256,
                references,
                known_sha256=None if references is None else earlier_references(run, references.reference_id),
            ),
        )
        directory = derived.finish(record)
    return Reparsed(run.path, directory, record, counted.counts, changed, without)


def _row(
    row: Mapping[str, Any], output: str, data: bytes, extras: Mapping[str, int | float], scores: Mapping[str, Any]
) -> dict[str, Any]:
    """The derived row: one value of a name, the new one."""
    extra = {**row["_extra"], **extras}
    made: dict[str, Any] = {"item_id": row["item_id"], **row_metrics(scores, extra, row["item_id"])}
    made |= {name: row[name] for name in CARRIED if row.get(name) is not None}
    made.setdefault("output_words", len(output.split()))
    made["_extra"] = extra
    if row.get("_meta") is not None:
        made["_meta"] = row["_meta"]
    made["_output_sha256"] = hashlib.sha256(data).hexdigest()
    return made
