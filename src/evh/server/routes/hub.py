"""The hub of environments: names that evaluations refer to, there when they are first asked for."""

from __future__ import annotations

from starlette.responses import Response

from evh.server import shapes
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer

__all__ = ["ENDPOINTS"]


def resolve(ask: Ask) -> Response:
    return answer({"data": shapes.environment(ask.storage.catalog.environments.resolve(ask.who, ask.body["name"]))})


def latest(ask: Ask) -> Response:
    row = ask.storage.catalog.environments.resolve(ask.who, ask.path("name"), ask.path("owner"))
    return answer({"data": shapes.environment(row)})


def look_up(ask: Ask) -> Response:
    return answer({"data": shapes.environment(ask.storage.catalog.environments.get(ask.who, ask.body["id"]))})


ENDPOINTS = (
    Endpoint(
        method="POST", path="/api/v1/environmentshub/resolve", handler=resolve, scope="evals:write", tag="hub",
        body="EnvironmentResolve", answer="EnvironmentResolved", codes=((400, "invalid_environment"),),
        about="The environment of that name, made when there is none.",
    ),
    Endpoint(
        method="POST", path="/api/v1/environmentshub/lookup", handler=look_up, scope="evals:read", tag="hub",
        body="EnvironmentLookup", answer="EnvironmentResolved", codes=((404, "environment_not_found"),),
        about="The environment of that id.",
    ),
    Endpoint(
        method="GET", path="/api/v1/environmentshub/{owner}/{name}/@latest", handler=latest, scope="evals:write",
        tag="hub", answer="EnvironmentResolved", codes=((400, "invalid_environment"),),
        about="The environment of that owner and name, made when there is none: nothing is pushed to this server.",
    ),
)  # fmt: skip
