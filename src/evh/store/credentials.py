"""Telling a credential by its place or its look, so that none is published with a run.

Promise: what is found is named by place; its value is never shown. Tables whose values are masked wherever they are
written (`headers`, `env` and the like) may hold anything. Time is linear in the text.
Policy: the words of keys and the forms of values below. Words are guesses: `api_key_env` and `max_tokens` are no
credentials, `hub_token` is; a new form of key is a line here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evh.errors import pointer
from evh.store.masking import SECRET_TABLES

__all__ = ["credentials"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALONE = frozenset({
    "apikey", "authorization", "bearer", "credential", "credentials", "passphrase", "passwd", "password", "pwd",
    "secret", "secrets", "token",
})  # fmt: skip
_PAIRS = frozenset({
    ("access", "key"), ("access", "tokens"), ("api", "key"), ("api", "keys"), ("api", "tokens"), ("auth", "key"),
    ("private", "key"), ("secret", "key"), ("signing", "key"), ("subscription", "key"),
})  # fmt: skip
_TEXT_TOKENS = frozenset({
    "bos", "cls", "end", "eos", "image", "mask", "pad", "per", "sep", "special", "start", "stop", "think", "unk",
})  # fmt: skip
"""What a `…_token` is that stands in a text or is counted."""
_FORMS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20}"
    r"|gh[opsur]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|glpat-[A-Za-z0-9_-]{20}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|hf_[A-Za-z0-9]{20}|xox[abeprs]-[A-Za-z0-9-]{10}"
    r"|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10}"
    r"|[Bb]earer [A-Za-z0-9._~+/-]{20})"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
)
_USER_IN_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://(?!git@)[^\s/?#@]{1,500}@")
_KEY_IN_URL = re.compile(r"[?&](?:api[-_]?key|access[-_]?token|auth|key|password|secret|sig|token)=[^&\s]{8}", re.I)


def credentials(value: Any) -> Iterator[tuple[str, str]]:
    """The places (JSON Pointers) of a document at which a credential seems to stand, and what each looks like."""
    yield from _below(value, (), named=False)


def _below(value: Any, parts: tuple[str | int, ...], *, named: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            masked = key.lower() in SECRET_TABLES and isinstance(member, dict | list)
            if not masked:
                yield from _below(member, (*parts, key), named=named or _is_credential_name(key))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _below(each, (*parts, at), named=named)
    elif named and ((isinstance(value, str) and value) or type(value) is int):
        yield pointer(*parts), "a credential, by its name"
    elif isinstance(value, str):
        if _FORMS.search(value):
            yield pointer(*parts), "a key of a service, by its form"
        elif _USER_IN_URL.search(value) or _KEY_IN_URL.search(value):
            yield pointer(*parts), "a URL with a credential in it"


def _is_credential_name(key: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    pair = tuple(words[-2:])
    if words[-1] == "token" and len(words) > 1 and words[-2] in _TEXT_TOKENS:
        return False
    return words[-1] in _ALONE or pair in _PAIRS
