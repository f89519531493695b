"""From replies to a judged run: each reply read by the parser, each row given its verdict, the directory made at once.

Promise: a row has a verdict or the flag that its reply could not be read, never both; a row whose call failed has
neither, and the failure stands in `errors.jsonl`. The replies are kept beside the rows, as they came.
When it breaks: no run is left, and the working folder has every reply still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from evh._version import __version__
from evh.harness.derived_dir import DerivedDir, source_path
from evh.harness.judging.choosing import Chosen
from evh.harness.judging.scorer import COST, UNPARSED, JudgeScorer
from evh.harness.judging.sources import judged_rows
from evh.harness.judging.verdicts import Verdict, Verdicts
from evh.harness.lineage import earlier_references
from evh.harness.project import Project
from evh.protocol import models
from evh.protocol.codec import encode
from evh.protocol.jsontext import dumps
from evh.store import layout
from evh.store.clock import now
from evh.store.derived import derived_fingerprint, derived_record
from evh.store.record import Declared
from evh.store.run_dir import RunDir

__all__ = ["ReadReplies", "write_judged"]


class ReadReplies:
    """The replies of a pass, read by the judge's parser. A row keeps its metrics, its money, and nothing else."""

    def __init__(self, scorer: JudgeScorer, taken: frozenset[str]) -> None:
        self.found: dict[str, dict[str, int | float]] = {}
        self.models: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.unparsed = 0
        self.truncated = 0
        self.cost = 0.0
        self._sums: dict[str, float] = {}
        self._scorer = scorer
        self._taken = taken

    def take(self, verdict: Verdict) -> None:
        said = self._scorer.read(verdict.reply, verdict.item_id, self._taken)
        metrics = dict(said or {})
        for name, value in metrics.items():
            self.counts[name] += 1
            self._sums[name] = self._sums.get(name, 0.0) + value
        # A row has a verdict or the flag that it has none, never both.
        self.unparsed += said is None
        self.truncated += bool(verdict.meta.get("truncated"))
        metrics[UNPARSED] = 1.0 if said is None else 0.0
        if verdict.cost_usd is not None:
            metrics[COST] = verdict.cost_usd
            self.cost += verdict.cost_usd
        if verdict.model:
            self.models[verdict.model] += 1
        self.found[verdict.item_id] = metrics

    def means(self) -> dict[str, float]:
        return {name: total / self.counts[name] for name, total in sorted(self._sums.items())}


def write_judged(
    project: Project,
    scorer: JudgeScorer,
    made: Chosen,
    out: Path,
    verdicts: Verdicts,
    read: ReadReplies,
    failures: Mapping[str, str],
) -> tuple[models.RunRecord, dict[str, int]]:
    """The derived run, whole or not at all."""
    names = scorer.declared
    source, references, run = made.record, made.references, made.run
    at = now()
    with DerivedDir(out, run.path.name, runs_dir=project.runs, sources=[run.path]) as derived:
        for stored in run.rows():
            if run.output_path(stored.value.item_id).is_file():
                derived.copy_output(run, stored.value.item_id)
        derived.copy_traces(run)
        derived.copy_file(verdicts.replies, verdicts.replies.name)
        if failures:
            lines = [
                models.ItemError(item_id=k, attempt=1, at=at, type="JudgeFailed", message=v)
                for k, v in failures.items()
            ]
            derived.write(derived.path / layout.ERRORS, b"".join(encode(each) + b"\n" for each in lines), synced=True)
        derived.write_rows(dumps(row) + b"\n" for row in judged_rows(run, read.found))
        counted = RunDir(derived.path).count()
        block = models.JudgeDerived(
            from_=source_path(run.path, out),
            at=at,
            with_=models.JudgeWith(
                scorer=scorer.scorer_id,
                sha256=scorer.sha256,
                model=scorer.masker.text(scorer.model),
                file=scorer.file,
                file_sha256=scorer.file_sha256,
                prompt_sha256=scorer.prompt_sha256,
                parser_sha256=scorer.parser_sha256,
                params=scorer.shown_params,
                models_seen=dict(sorted(read.models.items())),
                rows_sha256=made.rows_sha256,
                harness_version=__version__,
            ),
        )
        record = derived_record(
            source,
            counted,
            block,
            run_id=run.path.name,
            declared=Declared(
                names.primary_metric, names.metric_kinds, names.metric_directions, names.metric_descriptions
            ),
            reference_tier=None if references is None else references.tier,
            coverage=None if references is None else (made.covered, made.rows + made.failed),
            fingerprint=derived_fingerprint(
                source.fingerprint,
                scorer.file,
                scorer.file_sha256,
                references,
                known_sha256=None if references is None else earlier_references(run, references.reference_id),
            ),
        )
        derived.finish(record)
    return record, counted.counts
