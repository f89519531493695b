"""The fingerprint of a measurement, version 3: everything that can make two runs incomparable, in parts.

Promise: `hash` is the SHA-256 of the fingerprint without it, as canonical JSON (RFC 8785), so the same measurement set
up twice has one hash. `differences` names what differs by dotted path; paths below `arm` are what a comparison is
about, every other one is a confound. What is not known is null, never invented.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from evh.protocol import models
from evh.protocol.codec import encode
from evh.protocol.jsontext import canonical

__all__ = [
    "VERSION", "differences", "files_digest", "host_identity", "installed", "items_digest", "scorer_digest", "sealed",
]  # fmt: skip

VERSION = 3
WATCHED = (
    "anthropic", "bm25s", "httpx", "litellm", "numpy", "openai", "scipy", "sentence-transformers", "tokenizers",
    "torch", "transformers", "vllm",
)  # fmt: skip
"""Distributions whose release can change what a system answers."""


def sealed(fingerprint: models.Fingerprint) -> models.Fingerprint:
    """The fingerprint with its hash."""
    plain = msgspec.json.decode(encode(fingerprint))
    plain.pop("hash", None)
    fingerprint.hash = hashlib.sha256(canonical(plain)).hexdigest()
    return fingerprint


def items_digest(items: Iterable[tuple[str, str]]) -> str:
    """Digest over a dataset's items in order: `item_id`, then `source_sha256`."""
    digest = hashlib.sha256()
    for item_id, source_sha256 in items:
        digest.update(item_id.encode("utf-8", "surrogatepass") + source_sha256.encode())
    return digest.hexdigest()


def files_digest(files: Iterable[tuple[str, bytes]]) -> str:
    """Digest over the files of a folder in name order, each as name, byte 0x00, content, byte 0x1E."""
    digest = hashlib.sha256()
    for name, data in files:
        digest.update(os.fsencode(name) + b"\x00" + data + b"\x1e")
    return digest.hexdigest()


def scorer_digest(adapter_sha256: str, parts: Mapping[str, str]) -> str:
    """The digest of a scorer: that of the adapter's file, or where the adapter names parts that decide a score beside
    it (`scorer_id`), one over them all."""
    if not parts:
        return adapter_sha256
    return hashlib.sha256(canonical({"adapter": adapter_sha256, "parts": dict(parts)})).hexdigest()


def host_identity(environ: Mapping[str, str]) -> models.FingerprintHost:
    """The machine, as far as it bears on speed and numerics; its label is `EVAL_HOST_LABEL`."""
    return models.FingerprintHost(
        label=environ.get("EVAL_HOST_LABEL") or None,
        platform=f"{platform.system()}/{platform.machine()}",
        release=platform.release() or None,
        processor=platform.processor() or None,
        cpu_count=os.cpu_count(),
        python=platform.python_version(),
    )


def installed(names: Iterable[str] = WATCHED) -> dict[str, str]:
    """The versions of the watched distributions that are installed, from their metadata; nothing is imported."""
    from importlib import metadata

    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def differences(one: Any, other: Any) -> list[str]:
    """The dotted paths at which two fingerprints (or any JSON values) differ, sorted; `hash` is left out.

    A null member and an absent one are the same.
    """
    found: list[str] = []
    _compare(_plain(one), _plain(other), "", found)
    return sorted(path for path in found if path != "hash")


def _plain(value: Any) -> Any:
    return msgspec.json.decode(encode(value)) if isinstance(value, msgspec.Struct) else value


def _compare(one: Any, other: Any, path: str, found: list[str]) -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            _compare(one.get(key), other.get(key), f"{path}.{key}" if path else str(key), found)
    elif (type(one) is not type(other) and not (_is_number(one) and _is_number(other))) or one != other:
        found.append(path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
