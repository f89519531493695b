"""The texts that a run must not write: what its config keeps in secret tables, and the keys it names by variable.

Promise: known before the first byte of the run directory is written. Values are collected, never shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evh.store.masking import Masker

__all__ = ["masker_for", "named_values"]

_NAMES_A_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE
)


_VARIABLE = re.compile(r"(?:_env|_env_var|(?:key|token|secret|password)_var)$")
_PUBLIC = re.compile(r"(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TERM|PWD|TMPDIR|TEMP|TZ|HOSTNAME)$")
FROM_VARIABLES = "from_env"
FORWARDED = "forward_env"


def masker_for(params: Any, environ: Mapping[str, str]) -> Masker:
    """The masker of a run: the secret tables of `params`, every variable that it names (`named_values`), and the
    variables whose own name says that they hold a credential (`OPENAI_API_KEY`, `HF_TOKEN`)."""
    masker = Masker()
    masker.learn(params)
    masker.add(named_values(params, environ))
    masker.add(value for name, value in environ.items() if _NAMES_A_SECRET.search(name))
    return masker


def named_values(document: Any, environ: Mapping[str, str]) -> Iterator[str]:
    """The values of the variables that a configuration names: by a member such as `api_key_env` or `api_key_var`, in a
    table of names (`headers_from_env`), in a list of what is passed on (`forward_env`)."""
    return (environ[name] for name in _named(document) if name in environ and not _PUBLIC.match(name))


def _named(node: Any) -> Iterator[str]:
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            for key, value in node.items():
                name = key.lower() if isinstance(key, str) else ""
                if isinstance(value, str) and _VARIABLE.search(name):
                    yield value
                elif isinstance(value, Mapping) and name.endswith(FROM_VARIABLES):
                    yield from (each for each in value.values() if isinstance(each, str))
                elif isinstance(value, list | tuple) and name == FORWARDED:
                    yield from (each for each in value if isinstance(each, str))
                else:
                    stack.append(value)
        elif isinstance(node, list | tuple):
            stack.extend(node)
