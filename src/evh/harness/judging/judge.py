"""Judged runs: stored outputs, asked about one by one, and the derived run that the verdicts make.

Promise
    Nothing is asked before everything that can be refused was refused. A run's record is written only when every row
    was tried and at most the stated share of the calls failed; until then the replies stand in a hidden working folder,
    and a pass that goes on asks for none of them again.
    A reply that cannot be read gives no metric and `judge_unparsed` 1.0; a call that failed gives nothing but a line
    in `errors.jsonl`; a row that failed when it was measured is not judged. None of them is ever a 0.
    The judge's money is `judge_cost_usd`; what the arm cost, took and wrote is carried as it is.
    Judged runs of one scorer id have one digest: another prompt, parser, model or setting needs another id.
Policy: runs that were judged already, from the same rows and references by the same judge, are passed over.
When it breaks: the sources were never opened for writing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from evh.errors import EvhError, SourceError, cut
from evh.harness.dataset import source_text
from evh.harness.derived_dir import check_out
from evh.harness.judging.asking import Asking, Budget, Task
from evh.harness.judging.choosing import Chosen, choose
from evh.harness.judging.judged import ReadReplies, write_judged
from evh.harness.judging.scorer import JudgeScorer
from evh.harness.judging.sources import episode_tasks, output_tasks
from evh.harness.judging.verdicts import About, Verdicts, holds_replies, refuse_other_replies, working_folder
from evh.harness.project import Project, remove_folder
from evh.harness.retry import RetryPolicy
from evh.protocol import models
from evh.store import layout
from evh.store.run_dir import RunDir, open_run_dir
from evh.store.runs import list_runs

__all__ = ["JudgeOptions", "JudgedRun", "Judging", "judge_runs"]


class JudgeOptions(NamedTuple):
    """How a judging is done, whatever the judge."""

    concurrency: int = 8
    max_cost_usd: float | None = None
    max_failed: float = 0.1
    """The share of calls that may fail before a run is left without a record."""
    resume: bool = False


class JudgedRun(NamedTuple):
    """How one run ended: with a record, or why not."""

    source: Path
    directory: Path
    record: models.RunRecord | None
    rows: int
    """Rows to judge: those that are no failures of the measurement."""
    failed_rows: int
    """Rows that failed when they were measured, and were not judged."""
    replies: int
    """Rows with a reply, those of earlier launches included."""
    asked: int
    """Replies of this launch."""
    unparsed: int
    truncated: int
    """Replies that were cut off at the token limit."""
    failures: Mapping[str, str]
    counts: Mapping[str, int]
    means: Mapping[str, float]
    """The judge's metrics over the replies so far, by name."""
    judge_cost_usd: float
    stop: str | None = None
    fault: str | None = None


class Judging(NamedTuple):
    """All runs of a launch, and what was passed over."""

    runs: list[JudgedRun]
    already: list[Path]
    """Runs that this judge judged before."""
    skipped: list[tuple[Path, str]]
    spent: float
    unpriced: int
    untouched: int
    """Runs that a stop left for later."""


def judge_runs(
    project: Project,
    scorer: JudgeScorer,
    *,
    dataset_id: str | None = None,
    match: str | None = None,
    options: JudgeOptions | None = None,
    environ: Mapping[str, str],
    notice: Callable[[str], None] = lambda _: None,
    told: Callable[[int, int], None] = lambda replies, failed: None,
) -> Judging:
    """Judge the finished runs of the project: those of a dataset, those whose config or run name holds `match`.

    Raises `SourceError` (or another `EvhError`) before any call for whatever can be refused.
    """
    options = options or JudgeOptions()
    out = project.data / "runs-judged" / scorer.scorer_id
    listing = list_runs(project.runs)
    chosen = [run for run in listing.finished if _is_meant(run, dataset_id, match)]
    skipped = [(each.path, each.why) for each in listing.skipped]
    if not chosen:
        raise SourceError(
            f"holds no finished run that is meant ({len(listing.finished)} finished, {len(listing.unfinished)} "
            f"unfinished, {len(skipped)} unreadable)",
            source=str(project.runs),
        )
    check_out(out, project.runs, [run.path for run in chosen])
    scorer.check()
    _refuse_another_judge(out, scorer)
    owed: list[Chosen] = []
    already: list[Path] = []
    for run in chosen:
        made = choose(project, scorer, run)
        if _is_judged(out / run.path.name, made):
            already.append(run.path)
            remove_folder(working_folder(out, run.path.name))
            continue
        folder = working_folder(out, run.path.name)
        if holds_replies(folder) and not options.resume:
            raise SourceError(
                "holds the replies of a pass that stopped: --resume goes on with it, or remove the folder (its replies "
                "were paid for)",
                source=str(folder),
            )
        refuse_other_replies(folder, _about(scorer, made))
        owed.append(made)
    budget = Budget(options.max_cost_usd)
    retries = RetryPolicy.from_environment(environ, scorer.transient_markers)
    done: list[JudgedRun] = []
    for made in owed:
        notice(f"judging {project.portable(made.run.path)}: {made.rows} rows")
        judged = _judge(project, scorer, made, out, options, budget, retries, told, notice)
        done.append(judged)
        if judged.stop is not None and judged.stop != "failures":
            break
    return Judging(done, already, skipped, budget.spent, budget.unpriced, len(owed) - len(done))


def _is_meant(run: RunDir, dataset_id: str | None, match: str | None) -> bool:
    record = run.record
    assert record is not None
    return (dataset_id is None or record.dataset_id == dataset_id) and (
        match is None or match in record.config_id or match in run.path.name
    )


def _refuse_another_judge(out: Path, scorer: JudgeScorer) -> None:
    for run in list_runs(out).finished:
        block = run.record.derived if run.record is not None else None
        if isinstance(block, models.JudgeDerived) and block.with_.sha256 != scorer.sha256:
            raise SourceError(
                f"was judged by another {cut(scorer.scorer_id)} (its prompt, parser, model or settings differ): scores "
                "of two judges do not stand in one folder; give this one a new SCORER_ID",
                source=str(run.path),
            )


def _is_judged(directory: Path, made: Chosen) -> bool:
    """Whether the run stands already. Raises `SourceError` when it was made from something else, or is no run."""
    if not os.path.lexists(directory):
        return False
    if not (directory / layout.RECORD).is_file():
        raise SourceError("stands where the judged run belongs, and is none: move it away", source=str(directory))
    record = open_run_dir(directory).record
    block = None if record is None else record.derived
    if not isinstance(block, models.JudgeDerived) or block.with_.rows_sha256 != made.rows_sha256:
        raise SourceError(
            f"is there already and was not made from the rows of {made.run.path.name} as they are now: move it away",
            source=str(directory),
        )
    fingerprint = None if record is None else record.fingerprint
    if made.references is not None and fingerprint is not None:
        shown = fingerprint.data.reference_id, fingerprint.data.references_sha256
        if shown != (made.references.reference_id, made.references.sha256):
            raise SourceError(
                f"was judged against {cut(shown[0])} as it was then, and {made.references.reference_id} counts now: "
                "give the judge a new SCORER_ID, or move the run away",
                source=str(directory),
            )
    return True


def _judge(
    project: Project,
    scorer: JudgeScorer,
    made: Chosen,
    out: Path,
    options: JudgeOptions,
    budget: Budget,
    retries: RetryPolicy,
    told: Callable[[int, int], None],
    notice: Callable[[str], None],
) -> JudgedRun:
    """One run: ask what is owed, and make the derived run when nothing is."""
    directory = out / made.run.path.name
    with Verdicts(working_folder(out, made.run.path.name), _about(scorer, made)) as verdicts:
        if verdicts.repaired:
            notice(verdicts.repaired)
        there = {each.item_id for each in verdicts}
        tasks = _tasks(project, scorer, made, there)
        asking = Asking(
            scorer, verdicts, tasks, taken=made.extras, retries=retries, budget=budget,
            concurrency=min(options.concurrency, max(1, made.rows - len(there))), told=told,
            notice=notice,
        )  # fmt: skip
        asking.run()
        stop: str | None = asking.stop
        fault = None if asking.fault is None else scorer.masker.text(str(asking.fault))
        read = ReadReplies(scorer, made.extras)
        try:
            for verdict in verdicts:
                read.take(verdict)
        except EvhError as error:  # the parser's fault; the replies stay
            stop, fault = "fault", scorer.masker.text(str(error))
        if stop is None and len(read.found) + len(asking.failures) < made.rows:
            stop, fault = "fault", f"{made.rows - len(read.found)} rows have no episode to judge"
        if stop is None and len(asking.failures) > options.max_failed * made.rows:
            stop = "failures"
        record, counts = None, dict(read.counts)
        if stop is None:
            verdicts.sync()
            record, counts = write_judged(project, scorer, made, out, verdicts, read, asking.failures)
            verdicts.discard()
        return JudgedRun(
            made.run.path, directory, record, made.rows, made.failed, len(there) + asking.replies, asking.replies,
            read.unparsed, read.truncated, asking.failures, counts, read.means(), read.cost, stop, fault,
        )  # fmt: skip


def _about(scorer: JudgeScorer, made: Chosen) -> About:
    return About(scorer.scorer_id, scorer.asked_sha256, made.rows_sha256, made.beside_sha256)


def _tasks(project: Project, scorer: JudgeScorer, made: Chosen, there: set[str]) -> Iterator[Task]:
    def beside(item_id: str) -> tuple[str | None, str | None]:
        reference = None if made.references is None else made.references.text(item_id)
        source = None
        if scorer.wants_source and made.frozen is not None:
            source = source_text(project, made.frozen, made.frozen.position[item_id])
        return reference, source

    return (episode_tasks if scorer.judges_episodes else output_tasks)(made.run, there, beside)
