"""The conformance vectors: documents of every type, right and wrong, with what a reader must say of each.

Promise: `load_vectors` gives them in the order of their files; a file that is missing or no vector file is a
`SourceError` that names it. The form of a vector is told in `schema/v1/vectors/README.md`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evh.errors import SourceError, UsageError

__all__ = ["Vector", "load_vectors", "vector_bytes", "vectors_folder"]

Vector = dict[str, Any]
"""A line of a vector file, as it stands there."""

INSTALLED = Path(__file__).with_name("_vectors")
CHECKOUT = Path(__file__).resolve().parents[3] / "schema" / "v1" / "vectors"


def vectors_folder() -> Path:
    """Where the vectors are: beside this module in an installed package, else in the checkout that it belongs to."""
    for folder in (INSTALLED, CHECKOUT):
        if (folder / "manifest.json").exists():
            return folder
    raise SourceError("this installation has no conformance vectors: name a folder, schema/v1/vectors of a checkout")


def load_vectors(folder: str | Path | None = None, *, only: Iterable[str] = ()) -> Iterator[Vector]:
    """The vectors of a folder (else the packaged ones), of `only` these types where any are named.

    Raises `SourceError` for what is no folder of vectors, `UsageError` for a type that has none.
    """
    where = vectors_folder() if folder is None else Path(folder)
    manifest = _json(where / "manifest.json", _text(where / "manifest.json"))
    try:
        types, files = set(manifest["types"]), list(manifest["files"])
    except (TypeError, KeyError) as error:
        raise SourceError("no manifest of vectors", source=str(where / "manifest.json")) from error
    wanted = set(only)
    if wanted - types:
        raise UsageError(
            f"there are no vectors of the type {min(wanted - types)!r}: there are {', '.join(sorted(types))}"
        )
    for name in files:
        path = where / name
        for number, line in enumerate(_text(path).split("\n"), 1):
            if line:
                vector = _json(path, line, number)
                if not isinstance(vector, dict) or not {"name", "type", "json"} <= vector.keys():
                    raise SourceError("no vector", source=str(path), line=number)
                if not wanted or vector["type"] in wanted:
                    yield vector


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SourceError(f"the vectors cannot be read: {error.strerror}", source=str(path)) from error
    except UnicodeDecodeError as error:
        raise SourceError("the vectors are not UTF-8", source=str(path)) from error


def _json(path: Path, text: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SourceError(f"not JSON: {error}", source=str(path), line=line) from error


def vector_bytes(vector: Vector) -> bytes:
    """The document of a vector as a reader gets it."""
    if "base64" in vector:
        return base64.b64decode(vector["base64"])
    if "text" in vector:
        return str(vector["text"]).encode()
    document = vector["document"]
    if "fill" in vector:
        fill = vector["fill"]
        document = {**document, fill["pointer"].removeprefix("/"): fill["text"] * fill["times"]}
    return json.dumps(document, separators=(",", ":")).encode()
