"""One self-contained document per root: every `$defs` entry it reaches, all references local."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from .shapes import Contract, Schema, reference_name


def bundle(contract: Contract, file: str) -> Schema:
    """The schema of a file with everything it refers to; the input is not changed."""
    document = deepcopy(contract.files[file])
    document.pop("$defs", None)
    reached: dict[str, Schema] = {}
    pending: list[Any] = [document]
    while pending:
        for name in _local_references(pending.pop()):
            if name not in reached:
                reached[name] = deepcopy(contract.definitions[name][1])
                reached[name].pop("$defs", None)
                pending.append(reached[name])
    document["$defs"] = {name: reached[name] for name in sorted(reached)}
    return document


def _local_references(schema: Any) -> list[str]:
    """Make every reference below `schema` local and list the names they go to."""
    if isinstance(schema, list):
        return [name for each in schema for name in _local_references(each)]
    if not isinstance(schema, dict):
        return []
    names: list[str] = []
    if isinstance(schema.get("$ref"), str):
        names.append(reference_name(schema))
        schema["$ref"] = f"#/$defs/{names[0]}"
    return names + [name for each in schema.values() for name in _local_references(each)]
