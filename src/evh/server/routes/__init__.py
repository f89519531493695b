"""The API, address by address: thin functions from a request to the storage and back.

Promise: `ENDPOINTS` is all there is; the router, the OpenAPI document and the tests of access are made of it.
"""

from __future__ import annotations

from evh.server.endpoint import Endpoint
from evh.server.routes import (
    capabilities,
    episodes,
    evaluations,
    hub,
    runs,
    samples,
    tables,
    traces,
    training,
    uploads,
)

__all__ = ["ENDPOINTS"]

ENDPOINTS: tuple[Endpoint, ...] = (
    *capabilities.ENDPOINTS,
    *uploads.ENDPOINTS,
    *traces.ENDPOINTS,
    *episodes.ENDPOINTS,
    *runs.ENDPOINTS,
    *hub.ENDPOINTS,
    *evaluations.ENDPOINTS,
    *samples.ENDPOINTS,
    *training.ENDPOINTS,
    *tables.ENDPOINTS,
)
