"""The schemas as a consumer sees them: what stands at a path of a type, in a folder, in a release, or as packaged.

Promise: a path leads to every schema that a member at that place may have, through references, unions, arrays and maps,
each with the file and pointer where it is written. When it breaks: a contract is judged against the wrong place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import SourceError

__all__ = ["SchemaSet", "Spot"]

Schema = dict[str, Any]


class Spot(NamedTuple):
    """A schema, where it is written, and whether the member that has it must be there."""

    schema: Schema
    file: str
    pointer: str
    required: bool = True

    @property
    def place(self) -> str:
        return f"{self.file}#{self.pointer}"

    def below(self, *keys: str | int, required: bool = True) -> Spot:
        schema: Any = self.schema
        for key in keys:
            schema = schema[key]
        steps = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)
        return Spot(schema, self.file, self.pointer + steps, required)


class SchemaSet:
    """The schema files of one version."""

    def __init__(self, files: dict[str, Any], label: str) -> None:
        self.label = label
        self.retired: dict[tuple[str, str], str] = {}
        self.definitions: dict[str, Spot] = {}
        try:
            for entry in files.get("retired.json", {}).get("retired", []):
                self.retired[entry["class"], entry["member"]] = entry["instead"]
            for file, document in files.items():
                if "properties" in document:
                    self.definitions[document["title"]] = Spot(document, file, "")
                for name, schema in document.get("$defs", {}).items():
                    self.definitions[name] = Spot(schema, file, f"/$defs/{name}")
        except (AttributeError, KeyError, TypeError) as error:
            raise SourceError("these are no schema files of ours", source=label) from error
        if not self.definitions:
            raise SourceError("there are no schemas here", source=label)

    @classmethod
    def packaged(cls) -> SchemaSet:
        """The schemas that came with this installation."""
        from evh.protocol.engine import packaged
        from evh.protocol.tables import RETIRED

        schemas = packaged()
        files: dict[str, Any] = {f"{stem}.json": schemas.json_schema(stem) for stem in schemas.names()}
        entries = [
            {"class": name, "member": member, "instead": advice}
            for name, members in RETIRED.items()
            for member, advice in members.items()
        ]
        return cls({**files, "retired.json": {"retired": entries}}, "the installed schemas")

    @classmethod
    def at(cls, path: Path) -> SchemaSet:
        """The schemas of a folder, or of the record of a release (`schema/released/*.json`)."""
        if path.is_dir():
            return cls({each.name: _parsed(each) for each in sorted(path.glob("*.json"))}, str(path))
        document = _parsed(path)
        if not isinstance(document, dict) or not isinstance(document.get("files"), dict):
            raise SourceError("neither a folder of schemas nor the record of a release", source=str(path))
        return cls(document["files"], str(path))

    def along(self, name: str, path: str) -> list[Spot]:
        """Every schema that the member at a path of a type may have; none when there is no such member."""
        spots = [self.definitions[name]] if name in self.definitions else []
        for step in path.split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            spots = [found for spot in spots for arm in self.arms(spot) for found in self._step(arm, step)]
        return spots

    def _step(self, arm: Spot, step: str) -> Iterator[Spot]:
        schema = arm.schema
        others = schema.get("additionalProperties")
        if step in schema.get("properties", {}):
            yield arm.below("properties", step, required=step in schema.get("required", ()))
        elif step == "*" and "items" in schema:
            yield arm.below("items")
        elif isinstance(others, dict):
            yield arm.below("additionalProperties", required=False)
        elif "type" not in schema:  # any value: whatever is below it may be there
            yield arm._replace(required=False)

    def arms(self, spot: Spot) -> list[Spot]:
        """A schema without its references and choices: the schemas that one of must hold."""
        schema = spot.schema
        if "$ref" in schema:
            name = str(schema["$ref"]).rsplit("/", 1)[-1]
            if name not in self.definitions:
                raise SourceError(f"{spot.place}: the reference {schema['$ref']} leads nowhere", source=self.label)
            return self.arms(self.definitions[name])
        for keyword in ("oneOf", "anyOf"):
            if keyword in schema:
                branches = range(len(schema[keyword]))
                return [arm for index in branches for arm in self.arms(spot.below(keyword, index))]
        return [spot]

    def types(self, spot: Spot) -> set[str] | None:
        """The JSON types that a schema admits; None for any."""
        found: set[str] = set()
        for arm in self.arms(spot):
            kinds = arm.schema.get("type")
            if kinds is None:
                return None
            found |= {kinds} if isinstance(kinds, str) else set(kinds)
        return found

    def values(self, spot: Spot) -> set[str] | None:
        """The texts of a closed list (a tag, an `enum`); None when any text will do, or no list is closed."""
        found: set[str] = set()
        for arm in self.arms(spot):
            if "const" in arm.schema:
                found.add(arm.schema["const"])
            elif "enum" in arm.schema:
                found |= set(arm.schema["enum"])
            elif arm.schema.get("type") != "null":
                return None
        return found


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", source=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"no JSON: {error}", source=str(path)) from error
