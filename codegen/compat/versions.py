"""A version of the schemas: read from a folder, from a commit, or from the record of a release.

Promise: reading changes nothing, in git neither; a clone without history and tags has the last release, because the
repository keeps it as one file, `schema/released/<version>.json`, whole. A digest would only say that something
changed.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evh.errors import SourceError, UsageError

__all__ = ["Node", "Version", "at_reference", "in_folder", "released", "tree", "write_release"]

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMAS = Path("schema/v1")
RELEASES = Path("schema/released")
CHANGES = Path("schema/CHANGELOG.md")
VERSION = re.compile(r"^## ([0-9]+\.[0-9]+)\s*$", re.MULTILINE)

Schema = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """A schema and where it stands."""

    schema: Schema = field(compare=False)
    file: str
    pointer: str

    def below(self, *keys: str | int) -> Node:
        schema: Any = self.schema
        for key in keys:
            schema = schema[key]
        steps = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)
        return Node(schema, self.file, self.pointer + steps)


class Version:
    """All schema files of one version. `number` is its `<major>.<minor>` where that is known, `changes` the text of its
    list of changes."""

    def __init__(self, label: str, files: dict[str, Any], *, number: str | None = None, changes: str = "") -> None:
        self.label = label
        self.number = number
        self.changes = changes
        self.files = {name: document for name, document in files.items() if name != "retired.json"}
        self.retired: list[dict[str, str]] = files.get("retired.json", {}).get("retired", [])
        self.definitions: dict[str, Node] = {}
        self.roots: dict[str, str] = {}
        for name, document in self.files.items():
            if "properties" in document or "$ref" in document:
                self.roots[name] = document["title"]
                if "properties" in document:
                    self.definitions[document["title"]] = Node(document, name, "")
            for title, schema in document.get("$defs", {}).items():
                self.definitions[title] = Node(schema, name, f"/$defs/{title}")

    def target(self, node: Node) -> Node:
        """What a node is, behind its references."""
        while "$ref" in node.schema:
            reference = str(node.schema["$ref"])
            name = self.roots[reference] if reference in self.roots else reference.rsplit("/", 1)[-1]
            if name not in self.definitions:
                raise SourceError(f"{node.file}#{node.pointer}: {reference} leads nowhere", source=self.label)
            node = self.definitions[name]
        return node


def tree() -> Version:
    """The schemas of this checkout as they are now."""
    return in_folder(REPOSITORY / SCHEMAS, "the working tree")


def in_folder(folder: Path, label: str | None = None) -> Version:
    """The schema files of a folder, with the list of changes beside it where there is one."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise SourceError("no schema files (*.json) in this folder", source=str(folder))
    files = {path.name: _parsed(path.read_bytes(), str(path)) for path in paths}
    changes = folder.parent / "CHANGELOG.md"
    text = changes.read_text("utf-8") if changes.exists() else ""
    return Version(label or str(folder), files, number=_newest(text), changes=text)


def at_reference(reference: str) -> Version:
    """The schemas of a commit, branch or tag of this repository."""
    command = ["git", "archive", "--format=tar", "--end-of-options", reference, "schema"]
    try:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    except OSError as error:
        raise SourceError(f"git cannot be run: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["git says nothing"]
        raise UsageError(f"{reference!r} is neither a folder nor a commit of this clone with schemas ({said[-1]})")
    files: dict[str, Any] = {}
    changes = ""
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            path, data = Path(member.name), archive.extractfile(member) if member.isfile() else None
            if data is None:
                continue
            if path.parent == SCHEMAS and path.suffix == ".json":
                files[path.name] = _parsed(data.read(), f"{reference}:{path}")
            elif path == CHANGES:
                changes = data.read().decode("utf-8")
    if not files:
        raise UsageError(f"the commit {reference!r} has no schemas in {SCHEMAS}")
    return Version(reference, files, number=_newest(changes), changes=changes)


def released() -> Version:
    """The last release that the repository has a record of."""
    paths = sorted((REPOSITORY / RELEASES).glob("*.json"), key=lambda path: _number(path.stem))
    if not paths:
        raise SourceError(f"no record of a release in {RELEASES}: `python -m codegen compat --release` makes one")
    document = _parsed(paths[-1].read_bytes(), str(paths[-1]))
    return Version(f"release {document['version']}", document["files"], number=document["version"])


def write_release(version: Version) -> Path:
    """Record a version as released. Its number is the newest heading of the list of changes."""
    if version.number is None:
        raise SourceError(f"{CHANGES} has no heading of a version")
    files = {**version.files, "retired.json": {"retired": version.retired}}
    lines = [
        f"  {json.dumps(name)}: {json.dumps(files[name], ensure_ascii=False, separators=(',', ':'))}"
        for name in sorted(files)
    ]
    target = RELEASES / f"{version.number}.json"
    text = f'{{\n "version": "{version.number}",\n "files": {{\n' + ",\n".join(lines) + "\n }\n}\n"
    (REPOSITORY / RELEASES).mkdir(parents=True, exist_ok=True)
    (REPOSITORY / target).write_text(text, "utf-8")
    return target


def _newest(changes: str) -> str | None:
    found = VERSION.search(changes)
    return found[1] if found else None


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _parsed(data: bytes, source: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise SourceError(f"no JSON: {error}", source=source) from error
