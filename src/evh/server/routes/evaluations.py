"""Evaluations: opened, updated, closed, listed."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from evh.server import shapes
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.faults import ServerFault, refused
from evh.server.parameters import Param
from evh.server.records import EvaluationRow

__all__ = ["ENDPOINTS"]

CLOSINGS = ("FAILED", "CANCELLED")
OURS = frozenset({"evaluation_id", "total_samples", "created_at", "updated_at", "finalized_at", "viewer_url", "status"})
"""Members that the server alone says; a producer's are passed over."""


def _shape(ask: Ask, row: EvaluationRow) -> dict[str, Any]:
    return shapes.evaluation(row, ask.url(f"/api/v1/evaluations/{row.id}"))


def create(ask: Ask) -> Response:
    """A second one with the same `metadata.evh.run_id` is the first."""
    body = {name: value for name, value in ask.body.items() if value is not None and name not in OURS}
    row, _ = ask.storage.catalog.evaluations.create(ask.who, body)
    return answer(_shape(ask, row))


def listing(ask: Ask) -> Response:
    query = ask.query
    skip, limit = query.get("skip", 0), query.get("limit", 50)
    rows, total = ask.storage.catalog.evaluations.list(
        ask.who, skip=skip, limit=limit, environment_name=query.get("environment_name"),
        suite_id=query.get("suite_id"), team_id=query.get("team_id"), evh_run_id=query.get("evh_run_id"),
    )  # fmt: skip
    return answer({"evaluations": [_shape(ask, row) for row in rows], "total": total, "skip": skip, "limit": limit})


def show(ask: Ask) -> Response:
    return answer(_shape(ask, ask.storage.catalog.evaluations.get(ask.who, ask.path("evaluation_id"))))


def update(ask: Ask) -> Response:
    body = {
        name: value for name, value in ask.body.items() if value is not None and name not in OURS - {"status"}
    }  # a null is as good as nothing
    if body.get("status", "FAILED") not in CLOSINGS:
        raise refused("invalid_request", f"an update closes as {' or '.join(CLOSINGS)}; finalize closes as COMPLETED")
    return answer(_shape(ask, ask.storage.catalog.evaluations.update(ask.who, ask.path("evaluation_id"), body)))


def finalize(ask: Ask) -> Response:
    row = ask.storage.catalog.evaluations.finalize(ask.who, ask.path("evaluation_id"), ask.body.get("metrics"))
    return answer(_shape(ask, row))


def hosted(ask: Ask) -> Response:
    raise ServerFault(403, "service_not_enabled", "this server runs no evaluations: run them and send what they gave")


MISSING = (404, "evaluation_not_found")
CLOSED = (409, "evaluation_closed")
ENDPOINTS = (
    *(
        Endpoint(
            method="POST", path=f"/api/v1/evaluations{slash}", handler=create, scope="evals:write", tag="evaluations",
            body="EvaluationCreate", answer="EvaluationCreated",
            about="Open an evaluation. A second one with the same `metadata.evh.run_id` is the first.",
        )
        for slash in ("/", "")
    ),
    *(
        Endpoint(
            method="GET", path=f"/api/v1/evaluations{slash}", handler=listing, scope="evals:read", tag="evaluations",
            answer="EvaluationPage", about="Evaluations, newest first.",
            params=(
                Param("environment_name"), Param("suite_id"), Param("team_id"),
                Param("evh_run_id", about="With this `metadata.evh.run_id`."),
                Param("skip", "integer", least=0, most=2**53 - 1), Param("limit", "integer", least=0, most=1000),
            ),
        )
        for slash in ("/", "")
    ),
    Endpoint(
        method="GET", path="/api/v1/evaluations/{evaluation_id}", handler=show, scope="evals:read", tag="evaluations",
        answer="Evaluation", about="An evaluation.", codes=(MISSING,),
    ),
    Endpoint(
        method="PUT", path="/api/v1/evaluations/{evaluation_id}", handler=update, scope="evals:write",
        tag="evaluations", body="EvaluationUpdate", answer="Evaluation", codes=(MISSING, CLOSED),
        about="Replace members; with a status, close it: 409 when it is closed, and nothing is taken.",
    ),
    Endpoint(
        method="POST", path="/api/v1/evaluations/{evaluation_id}/finalize", handler=finalize, scope="evals:write",
        tag="evaluations", body="EvaluationFinalize", body_optional=True, answer="Evaluation",
        codes=(MISSING, CLOSED), about="Close it as COMPLETED; 409 when it is closed.",
    ),
    Endpoint(
        method="POST", path="/api/v1/hosted-evaluations", handler=hosted, scope="evals:write", tag="evaluations",
        about="Not here: always refused.", codes=((403, "service_not_enabled"),),
    ),
    Endpoint(
        method="PATCH", path="/api/v1/hosted-evaluations/{evaluation_id}/cancel", handler=hosted, scope="evals:write",
        tag="evaluations", about="Not here: always refused.", codes=((403, "service_not_enabled"),),
    ),
)  # fmt: skip
