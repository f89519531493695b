"""Calls of the evaluations API: open an evaluation, append samples, close it, read it back.

Promise: opening, appending and closing are never sent twice while nobody knows whether they were done. `open_once` and
`close` ask the platform in such a case: an evaluation is found again by our id of the run in its metadata, a close is
done when the evaluation is closed.
Policy: a listing asks for pages of 100. Services that do not know `evh_run_id` pass it over; every answer is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evh.errors import Ambiguous, Conflict, PlatformError, Refused, UsageError, cut
from evh.platform.call import Answer, Call, Paged, Steps, get, query, reading, segment, sending
from evh.protocol.models import (
    Evaluation,
    EvaluationCreate,
    EvaluationCreated,
    EvaluationFinalize,
    EvaluationPage,
    EvaluationUpdate,
    SamplesPage,
)

__all__ = [
    "CLOSED",
    "append_samples",
    "close",
    "create",
    "finalize",
    "find",
    "listing",
    "look_up",
    "open_once",
    "samples",
    "update",
]

CLOSED = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
LONGEST_ERROR = 4096
PAGE = 100
SAMPLES_TIMEOUT = 300.0
EVH, RUN_ID = "evh", "run_id"


def create(body: EvaluationCreate) -> Call[EvaluationCreated]:
    """Open an evaluation. See `open_once` for what to do when the answer is lost."""
    what = "open the evaluation"
    read = reading(EvaluationCreated, what, "evaluation_id")
    return sending(what, "POST", "/evaluations/", body, read, again=False)


def open_once(body: EvaluationCreate, *, in_doubt: bool = False) -> Steps[EvaluationCreated]:
    """Open an evaluation whose `metadata.evh.run_id` is our id of the run, or find the one that has it.

    `in_doubt` says that an earlier try may have been done: the platform is asked first. When this try gets no clear
    answer it is asked as well; `Ambiguous` when it knows of none: wait, then come again with `in_doubt`.
    """
    run_id = run_id_of(body.metadata)
    if run_id is None:
        raise UsageError("open_once needs our id of the run as metadata.evh.run_id: without it nothing is found again")
    if in_doubt:
        found = yield from find(run_id, team_id=body.team_id)
        if found is not None:
            return found
    try:
        made: EvaluationCreated = yield create(body)
    except Ambiguous as doubt:
        try:
            found = yield from find(run_id, team_id=body.team_id)
        except PlatformError as error:
            raise doubt from error
        if found is None:
            raise
        return found
    return made


def find(run_id: str, *, team_id: str | None = None) -> Steps[EvaluationCreated | None]:
    """The evaluation with our id of a run in its metadata, None when there is none."""
    pages = listing(evh_run_id=run_id, team_id=team_id)
    call: Call[EvaluationPage] | None = pages.first
    while call is not None:
        page: EvaluationPage = yield call
        for each in page.evaluations:
            if run_id_of(each.metadata) == run_id:
                return EvaluationCreated(
                    evaluation_id=each.evaluation_id, name=each.name, viewer_url=each.get("viewer_url")
                )
        call = pages.following(page)
    return None


def run_id_of(metadata: Mapping[str, Any] | None) -> str | None:
    """Our id of the run in the metadata of an evaluation."""
    ours = (metadata or {}).get(EVH)
    run_id = ours.get(RUN_ID) if isinstance(ours, Mapping) else None
    return run_id if isinstance(run_id, str) else None


def append_samples(evaluation_id: str, body: bytes) -> Call[None]:
    """Append samples: a body that `samples.sample_bodies` made."""
    path = f"/evaluations/{segment('evaluation_id', evaluation_id)}/samples"
    headers = (("Content-Type", "application/json"),)
    return Call(
        "append samples", "POST", path, _nothing, (), headers, body, again=False, tries=5, timeout=SAMPLES_TIMEOUT
    )


def update(evaluation_id: str, body: EvaluationUpdate) -> Call[None]:
    """Replace members of an evaluation; a closed one is a `Conflict`."""
    path = f"/evaluations/{segment('evaluation_id', evaluation_id)}"
    return sending("update the evaluation", "PUT", path, body, _nothing, again=True)


def finalize(evaluation_id: str, metrics: Mapping[str, Any] | None = None) -> Call[None]:
    """Close an evaluation as completed. See `close` for what to do when the answer is lost."""
    path = f"/evaluations/{segment('evaluation_id', evaluation_id)}/finalize"
    body = EvaluationFinalize(metrics=dict(metrics or {}))
    return sending("close the evaluation", "POST", path, body, _nothing, again=False)


def close(
    evaluation_id: str,
    status: str = "COMPLETED",
    *,
    metrics: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    error_message: str | None = None,
) -> Steps[str]:
    """Close an evaluation and give the status that it has then.

    One that was closed already keeps its status. `metadata`, and `metrics` of one that did not complete, are sent ahead
    of its status; when they are refused it is closed all the same, and then `Refused` is raised.
    """
    if status not in CLOSED:
        raise UsageError(f"status is {cut(status)}: an evaluation is closed as {', '.join(sorted(CLOSED))}")
    apart = {"metadata": metadata, "metrics": None if status == "COMPLETED" else metrics}
    members = {name: dict(value) for name, value in apart.items() if value is not None}
    refused: Refused | None = None
    try:
        if members:
            try:
                yield update(evaluation_id, EvaluationUpdate(members))
            except Refused as error:
                if isinstance(error, Conflict):
                    raise
                refused = error
        if status == "COMPLETED":
            yield finalize(evaluation_id, metrics)
        else:
            ending = EvaluationUpdate(status=status)
            if error_message:
                ending["error_message"] = error_message[:LONGEST_ERROR]
            yield update(evaluation_id, ending)
    except (Ambiguous, Conflict) as error:
        known = yield from _status(evaluation_id)
        if known in CLOSED:
            return str(known)
        if known is None and isinstance(error, Conflict):
            return status
        raise
    if refused is not None:
        raise refused
    return status


def _status(evaluation_id: str) -> Steps[str | None]:
    """The status of an evaluation, None when it cannot be read."""
    try:
        found: Evaluation = yield look_up(evaluation_id)
    except PlatformError:
        return None
    return found.status


def look_up(evaluation_id: str) -> Call[Evaluation]:
    """One evaluation."""
    return get("read the evaluation", f"/evaluations/{segment('evaluation_id', evaluation_id)}", Evaluation)


def listing(
    *,
    environment_name: str | None = None,
    suite_id: str | None = None,
    team_id: str | None = None,
    evh_run_id: str | None = None,
    limit: int = PAGE,
) -> Paged[EvaluationPage, Evaluation]:
    """The evaluations, the newest first."""
    filters = query(
        (
            ("environment_name", environment_name),
            ("suite_id", suite_id),
            ("team_id", team_id or None),
            ("evh_run_id", evh_run_id),
            ("skip", 0),
            ("limit", limit),
        )
    )
    first = get("list the evaluations", "/evaluations/", EvaluationPage, filters)

    def following(page: EvaluationPage) -> Call[EvaluationPage] | None:
        skip = page.skip + len(page.evaluations)
        return first.with_params(("skip", str(skip))) if page.evaluations and skip < page.total else None

    return Paged(first, lambda page: page.evaluations, following)


def samples(evaluation_id: str, *, limit: int = PAGE) -> Paged[SamplesPage, dict[str, Any]]:
    """The samples of an evaluation, in the order they were appended."""
    path = f"/evaluations/{segment('evaluation_id', evaluation_id)}/samples"
    first = get("read the samples", path, SamplesPage, query((("page", 1), ("limit", limit))))

    def following(page: SamplesPage) -> Call[SamplesPage] | None:
        return first.with_params(("page", str(page.page + 1))) if page.hasMore and page.samples else None

    return Paged(first, lambda page: page.samples, following)


def _nothing(answer: Answer) -> None:
    return None
