"""The texts that a run must not write: what its config keeps in secret tables, and the keys it names by variable.

Promise: known before the first byte of the run directory is written. Values are collected, never shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evh.store.masking import Masker

__all__ = ["masker_for"]

_NAMES_A_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE
)


def masker_for(params: Any, environ: Mapping[str, str]) -> Masker:
    """The masker of a run: the secret tables of `params`, every variable that a member ending in `_env` names, and the
    variables whose own name says that they hold a credential (`OPENAI_API_KEY`, `HF_TOKEN`)."""
    masker = Masker()
    masker.learn(params)
    masker.add(environ[name] for name in _named(params) if name in environ)
    masker.add(value for name, value in environ.items() if _NAMES_A_SECRET.search(name))
    return masker


def _named(node: Any) -> Iterator[str]:
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            for key, value in node.items():
                if isinstance(value, str) and isinstance(key, str) and key.lower().endswith("_env"):
                    yield value
                else:
                    stack.append(value)
        elif isinstance(node, list | tuple):
            stack.extend(node)
