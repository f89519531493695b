"""The OpenAPI 3.1 document of the API, made of the endpoints and of the schemas of their bodies.

Promise: every address, parameter, body, answer and refusal code that an endpoint declares is in it. OpenAPI 3.1 speaks
JSON Schema 2020-12, so the schemas are ours as they are, with their references moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from evh._version import __version__
from evh.protocol.engine import json_schema
from evh.server.endpoint import Endpoint
from evh.server.parameters import Param
from evh.server.profiles import Settings

__all__ = ["document"]

Schema = dict[str, Any]
PATH = re.compile(r"\{([a-z_]+)(?::path)?\}")
ALWAYS = ((400, "invalid_filter"), (503, "storage_unavailable"), (503, "ingest_capacity_exceeded"))
WITH_BODY = (
    (400, "invalid_request"), (400, "malformed_encoding"), (408, "request_timeout"), (413, "request_too_large"),
)  # fmt: skip
WITH_TOKEN = ((401, "unauthenticated"), (403, "forbidden"))
KINDS: dict[str, Schema] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "instant": {"type": "string", "format": "date-time"},
}


def document(endpoints: Iterable[Endpoint], settings: Settings) -> Schema:
    """The whole document."""
    schemas: Schema = {}
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        path = PATH.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, schemas, settings)
    _take(schemas, "ErrorEnvelope")
    for path, about in (("/healthz", "Whether the process answers."), ("/readyz", "Whether it can store.")):
        paths[path] = {"get": {"operationId": path[1:], "tags": ["service"], "summary": about,
                               "responses": {"200": {"description": "Yes."}, "503": _refused(["storage_unavailable"])},
                               "security": []}}  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "evh", "version": __version__,
            "description": "Episodes, traces, evaluations and training runs: sent, stored, read back.",
        },
        "servers": [{"url": settings.public_url or "/"}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}] if settings.tokens else [],
    }  # fmt: skip


def _operation(endpoint: Endpoint, schemas: Schema, settings: Settings) -> Schema:
    codes = [*ALWAYS, *endpoint.codes]
    if settings.tokens and endpoint.scope is not None:
        codes += WITH_TOKEN
    made: Schema = {
        "operationId": _operation_id(endpoint),
        "tags": [endpoint.tag],
        "summary": endpoint.about,
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
              for name in PATH.findall(endpoint.path)),
            *map(_parameter, endpoint.params),
        ],
    }  # fmt: skip
    if endpoint.contexts:
        made["description"] = "`context.<key>=<value>` narrows by the context of the upload, for equality."
    if endpoint.scope is None:
        made["security"] = []
    else:
        made["x-scope"] = endpoint.scope
    if endpoint.body is not None:
        codes += WITH_BODY
        content = {"application/json": {"schema": _take(schemas, endpoint.body)}}
        made["requestBody"] = {"required": not endpoint.body_optional, "content": content}
    elif endpoint.raw_body == "multipart/form-data":
        codes += WITH_BODY
        made["requestBody"] = {"required": True, "content": {endpoint.raw_body: _upload(schemas)}}
        made["parameters"] += UPLOAD_HEADERS
    elif endpoint.raw_body is not None:
        codes += WITH_BODY
        anything = {"schema": {"type": "string", "format": "binary"}}
        content = {endpoint.raw_body: anything, "application/octet-stream": anything}
        made["requestBody"] = {"required": True, "content": content}
    schema = _take(schemas, endpoint.answer) if endpoint.answer is not None else {}
    done: Schema = {"description": HTTPStatus(endpoint.status).phrase}
    if endpoint.status != 202:
        done["content"] = {endpoint.media: {"schema": schema}}
    responses: Schema = {str(endpoint.status): done}
    has_ranges = any(param.name == "raw" for param in endpoint.params) or endpoint.media.endswith("parquet")
    if has_ranges:
        responses |= {str(status): {"description": HTTPStatus(status).phrase} for status in (206, 304, 416)}
    for status in sorted({status for status, _ in codes}):
        responses[str(status)] = _refused([code for each, code in codes if each == status])
    made["responses"] = responses
    return made


UPLOAD_HEADERS: list[Schema] = [
    {
        "name": "Idempotency-Key", "in": "header", "required": True,
        "description": "`sha256:` and the digest of the unpacked bytes of the part `traces`.",
        "schema": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
    },
    {
        "name": "X-Prime-Line-Format", "in": "header", "description": "What a line is; without it, a bare trace.",
        "schema": {"type": "string", "enum": ["episode", "trace"]},
    },
]  # fmt: skip


def _upload(schemas: Schema) -> Schema:
    parts = {"metadata": _take(schemas, "UploadMetadata"), "traces": {"type": "string", "format": "binary"}}
    return {
        "schema": {"type": "object", "required": ["metadata", "traces"], "properties": parts},
        "encoding": {
            "metadata": {"contentType": "application/json"}, "traces": {"contentType": "application/x-ndjson"},
        },
    }  # fmt: skip


def _parameter(param: Param) -> Schema:
    schema = dict(KINDS[param.kind])
    if param.choices:
        schema["enum"] = list(param.choices)
    if param.least is not None:
        schema["minimum"] = param.least
    if param.most is not None:
        schema["maximum"] = param.most
    made: Schema = {"name": param.name, "in": "query", "required": param.required, "schema": schema}
    if param.many:
        made |= {"schema": {"type": "array", "items": schema, "maxItems": 100}, "explode": True}
    if param.about:
        made["description"] = param.about
    return made


def _refused(codes: list[str]) -> Schema:
    schema = {"$ref": "#/components/schemas/ErrorEnvelope"}
    described = ", ".join(f"`{code}`" for code in dict.fromkeys(codes))
    return {"description": described, "content": {"application/json": {"schema": schema}}}


def _take(schemas: Schema, name: str) -> Schema:
    """The reference to a type, whose schema and all that it needs are put among the schemas."""
    bundle = json_schema(name, bundle=True)
    for each, schema in bundle["$defs"].items():
        schemas.setdefault(each, _moved(schema))
    return {"$ref": f"#/components/schemas/{name}"}


def _moved(node: Any) -> Any:
    if isinstance(node, list):
        return [_moved(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value.replace("#/$defs/", "#/components/schemas/")
        if key == "$ref" and isinstance(value, str)
        else _moved(value)
        for key, value in node.items()
    }


def _operation_id(endpoint: Endpoint) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", PATH.sub(r"\1", endpoint.path.removeprefix("/api/")).lower()).strip("_")
    slash = "_" if endpoint.path.endswith("/") else ""
    return f"{endpoint.method.lower()}_{words}{slash}"
