"""The schema files of one folder, and self-contained documents made of them.

Promise: a bundle needs no other file: every reference is `#/$defs/...`. Names of definitions are unique over all files
(the profile demands it), so a bundle renames nothing. Files without a `$schema` member are no schemas and are left out.
If this module breaks, no validator can be built.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from evh.errors import SourceError, UsageError

if TYPE_CHECKING:
    import sys

    if sys.version_info >= (3, 12):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

__all__ = ["SchemaFiles"]

_DEFINITIONS = "/$defs/"
_DATA = ("const", "default", "enum", "examples")


class SchemaFiles:
    """Schema files by their stems, read on first use."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._schemas: dict[str, dict[str, Any]] | None = None

    def names(self) -> list[str]:
        """The stems of all schema files, sorted."""
        return sorted(self._loaded())

    def find(self, name: str) -> dict[str, Any]:
        """The schema of a root, not a copy: `"episode"` a file's, `"trace#MessageNode"` a definition in it.

        Raises UsageError when there is none, SourceError when the files are missing or broken.
        """
        stem, marker, definition = name.partition("#")
        schema = self._loaded().get(stem)
        if schema is None:
            raise UsageError(f"no schema is named {stem!r}: there are {', '.join(self.names())}")
        if not marker:
            return schema
        found = schema.get("$defs", {}).get(definition)
        if found is None:
            raise UsageError(f"{stem} defines no {definition!r}: there are {', '.join(schema.get('$defs', {}))}")
        return found  # type: ignore[no-any-return]

    def bundle(self, name: str) -> dict[str, Any]:
        """A fresh document with everything that a root needs under `$defs`."""
        return _Bundler(self, name).document()

    def _loaded(self) -> dict[str, dict[str, Any]]:
        if self._schemas is None:
            self._schemas = dict(self._read())
        return self._schemas

    def _read(self) -> list[tuple[str, dict[str, Any]]]:
        try:
            texts = [
                (entry.name, entry.read_bytes()) for entry in self._folder.iterdir() if entry.name.endswith(".json")
            ]
        except OSError as error:
            raise SourceError(f"the schema files cannot be read: {error.strerror}", source=str(self._folder)) from error
        found = []
        for file_name, text in texts:
            try:
                schema = json.loads(text)
            except ValueError as error:
                raise SourceError(f"the schema file {file_name} is not JSON: {error}") from error
            if isinstance(schema, dict) and "$schema" in schema:
                found.append((file_name.removesuffix(".json"), schema))
        if not found:
            raise SourceError("there are no schema files", source=str(self._folder))
        return found


class _Bundler:
    """One bundle in the making: copies a root, then every definition that a copied reference asks for."""

    def __init__(self, schemas: SchemaFiles, name: str) -> None:
        self._schemas = schemas
        self._name = name
        self._stem = name.partition("#")[0]
        self._origins: dict[str, str] = {}
        self._waiting: list[tuple[str, str, dict[str, Any]]] = []

    def document(self) -> dict[str, Any]:
        root = self._schemas.find(self._name)
        if "#" in self._name:
            definition = self._name.partition("#")[2]
            made = {"$schema": self._schemas.find(self._stem)["$schema"], "$ref": self._ask(self._stem, definition)}
        else:
            made = self._copy({key: value for key, value in root.items() if key != "$defs"}, self._stem)
            if "type" not in root and "$ref" not in root:
                # A file that only names types for others: all of them are what it is for.
                for definition in root.get("$defs", {}):
                    self._ask(self._stem, definition)
        definitions: dict[str, Any] = {}
        while self._waiting:
            stem, definition, schema = self._waiting.pop(0)
            definitions[definition] = self._copy(schema, stem)
        if definitions:
            made["$defs"] = definitions
        return made

    def _copy(self, node: Any, stem: str) -> Any:
        if isinstance(node, list):
            return [self._copy(item, stem) for item in node]
        if not isinstance(node, dict):
            return node
        made: dict[str, Any] = {}
        for key, value in node.items():
            if key == "$ref":
                made[key] = self._reference(value, stem)
            elif key == "properties":
                # Its members are names, and a name may be that of a keyword.
                made[key] = {name: self._copy(member, stem) for name, member in value.items()}
            else:
                made[key] = deepcopy(value) if key in _DATA else self._copy(value, stem)
        return made

    def _reference(self, reference: str, stem: str) -> str:
        file_name, _, fragment = reference.partition("#")
        target = file_name.removesuffix(".json") if file_name else stem
        if fragment.startswith(_DEFINITIONS) and "/" not in fragment.removeprefix(_DEFINITIONS):
            return self._ask(target, fragment.removeprefix(_DEFINITIONS))
        if fragment:
            raise SourceError(f"{stem}.json: the reference {reference!r} leads to no definition")
        if target == self._name:
            return "#"
        return self._ask_root(target)

    def _ask(self, stem: str, definition: str) -> str:
        return self._wait(stem, definition, self._schemas.find(f"{stem}#{definition}"))

    def _ask_root(self, stem: str) -> str:
        root = self._schemas.find(stem)
        title = root.get("title", stem)
        if root.get("$ref") == f"#{_DEFINITIONS}{title}":
            return self._ask(stem, title)
        kept = {key: value for key, value in root.items() if key not in ("$defs", "$id", "$schema")}
        return self._wait(stem, title, kept)

    def _wait(self, stem: str, definition: str, schema: dict[str, Any]) -> str:
        origin = self._origins.get(definition)
        if origin is None:
            self._origins[definition] = stem
            self._waiting.append((stem, definition, schema))
        elif origin != stem:
            raise SourceError(f"{definition} is defined twice: in {origin}.json and in {stem}.json")
        return f"#{_DEFINITIONS}{definition}"
