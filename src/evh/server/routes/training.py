"""Training runs: registered, measured, closed; also below the address that hosted runs use."""

from __future__ import annotations

from starlette.responses import Response

from evh.server import shapes
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import ServerFault
from evh.server.parameters import Param

__all__ = ["ENDPOINTS", "ROOTS"]

ROOTS = ("/api/v1/rft", "/api/internal/rft")
"""The second one answers what a run that a launcher made may ask, with the token in `x-api-key` too."""
OURS = frozenset({"id", "status", "error_message", "created_at", "updated_at", "finished_at", "last_step"})


def create(ask: Ask) -> Response:
    body = {name: value for name, value in ask.body.items() if name not in OURS}
    return answer({"run": shapes.training_run(ask.storage.catalog.training.create(ask.who, body))})


def listing(ask: Ask) -> Response:
    skip, limit = ask.query.get("skip", 0), ask.query.get("limit", 50)
    rows, total = ask.storage.catalog.training.list(ask.who, skip=skip, limit=limit)
    return answer({"runs": [shapes.training_run(row) for row in rows], "total": total, "skip": skip, "limit": limit})


def show(ask: Ask) -> Response:
    return answer({"run": shapes.training_run(ask.storage.catalog.training.get(ask.who, ask.path("run_id")))})


def log(ask: Ask) -> Response:
    metrics = ask.body["metrics"]
    step = metrics.get("step")
    known = step if type(step) is int and abs(step) < 2**53 else None
    ask.storage.catalog.training.log_metrics(ask.who, ask.body["run_id"], metrics, known)
    return answer({"status": "ok"})


def metrics(ask: Ask) -> Response:
    after, limit = ask.query.get("after", 0), ask.query.get("limit", 1000)
    rows = ask.storage.catalog.training.metrics(ask.who, ask.path("run_id"), after=after, limit=limit)
    return answer({"items": shapes.metrics(rows)})


def finalize(ask: Ask) -> Response:
    """A run that is closed already is closed: the same answer."""
    training, run_id = ask.storage.catalog.training, ask.body["run_id"]
    code = ask.body.get("exit_code") or 0
    try:
        row = training.close_run(
            ask.who, run_id, "failed" if code else "completed", f"exit code {code}" if code else None
        )
    except ServerFault as fault:
        if fault.status != 409:
            raise
        row = training.get(ask.who, run_id)
    return answer({"run": shapes.training_run(row)})


def close(ask: Ask) -> Response:
    row = ask.storage.catalog.training.close_run(
        ask.who, ask.path("run_id"), ask.body["status"], ask.body.get("error_message")
    )
    return answer({"run": shapes.training_run(row)})


MISSING = (404, "run_not_found")
ENDPOINTS = (
    Endpoint(
        method="POST", path="/api/v1/rft/external-runs", handler=create, scope="evals:write", tag="training",
        body="ExternalRunCreate", answer="ExternalRunCreated", about="Register a training run.",
    ),
    Endpoint(
        method="GET", path="/api/v1/rft/external-runs", handler=listing, scope="evals:read", tag="training",
        about="Training runs, newest first.",
        params=(
            Param("skip", "integer", least=0, most=2**53 - 1), Param("limit", "integer", least=0, most=1000),
        ),
    ),
    Endpoint(
        method="GET", path="/api/v1/rft/external-runs/{run_id}", handler=show, scope="evals:read", tag="training",
        answer="ExternalRunCreated", about="A training run.", codes=(MISSING,),
    ),
    Endpoint(
        method="PUT", path="/api/v1/rft/external-runs/{run_id}/status", handler=close, scope="evals:write",
        tag="training", body="ExternalRunStatus", answer="ExternalRunCreated", codes=(MISSING, (409, "run_closed")),
        about="Close a training run; 409 when it is closed.",
    ),
    Endpoint(
        method="GET", path="/api/v1/rft/external-runs/{run_id}/metrics", handler=metrics, scope="evals:read",
        tag="training", about="What the run logged, in order of arrival.", codes=(MISSING,),
        params=(
            Param("after", "integer", least=0, most=2**53 - 1, about="`seq` of the last one that is known."),
            Param("limit", "integer", least=1, most=10_000),
        ),
    ),
    *(
        Endpoint(
            method="POST", path=f"{root}/metrics", handler=log, scope="evals:write", tag="training",
            body="RunMetrics", codes=(MISSING,),
            about="Log metrics. The same of the same step again change nothing.",
        )
        for root in ROOTS
    ),
    *(
        Endpoint(
            method="POST", path=f"{root}/finalize", handler=finalize, scope="evals:write", tag="training",
            body="RftFinalize", answer="ExternalRunCreated", codes=(MISSING,),
            about="Close a training run as completed, or as failed by its exit code. Closed is closed: no refusal.",
        )
        for root in ROOTS
    ),
)  # fmt: skip
