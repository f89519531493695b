"""The shape of every answer: JSON of ours, and the one envelope that all refusals come in.

Promise: a refusal is `{"error": {"code", "message"}}` with the status that belongs to the code, whatever went wrong; a
fault of our own is `internal_error` and says nothing about itself but the id of the request. Messages never hold a
token, a header or the body of a request.
Policy: the wording of messages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from evh.protocol.jsontext import dumps
from evh.server.faults import ServerFault

__all__ = ["INTERNAL", "answer", "http_refusal", "refusal"]

JSON = "application/json"
INTERNAL = ServerFault(500, "internal_error", "the server failed; its log has more under the id of this request")
_CODES = {
    400: ("invalid_request", "the request makes no sense"),
    404: ("not_found", "there is nothing at this address"),
    405: ("method_not_allowed", "this address does not take that method"),
    413: ("request_too_large", "the request is too large"),
}


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer; lone surrogates in it are escaped."""
    return Response(dumps(value), status, headers, JSON)


def refusal(fault: ServerFault) -> Response:
    """A fault as the wire has it."""
    headers: dict[str, str] = {}
    if fault.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(fault.retry_after)))
    if fault.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="evh"'
    return answer({"error": {"code": fault.code, "message": str(fault)}}, fault.status, headers)


async def http_refusal(request: Request, error: Exception) -> Response:
    """What the framework refuses by itself: an address or method that is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    code, message = _CODES.get(status, ("invalid_request", "the request was refused"))
    return answer({"error": {"code": code, "message": message}}, status, headers)
