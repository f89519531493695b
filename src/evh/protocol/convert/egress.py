"""The network rules of a sandbox, as each release accepts them for each kind of runtime.

Promised: `accepted` says whether that release takes the two lists of a runtime, `rewritten` whether it writes others.
Policy: the lists are judged as they stand; what a platform would make of them later is not looked at.
When a check is too generous the release refuses the whole row.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

__all__ = ["accepted", "rewritten"]

LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
HOST = re.compile(rf"(?:\*\.)?(?:{LABEL}\.)*{LABEL}", re.IGNORECASE)
PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
MOST_ENTRIES = 1024
LAST_PORT = 65535
WEB_PORTS = (80, 443)


def accepted(runtime: dict[str, Any], release: str) -> bool:
    """Whether `release` takes the `allow` and `block` of this runtime; both lists must hold text only."""
    allow, block = runtime.get("allow", ["*"]), runtime.get("block", [])
    if not allow or "*" in block:
        allow, block = [], ["*"]
    elif allow != ["*"] and block:
        return False
    if "*" in allow and not block:
        return True
    kind = runtime.get("type", "prime")
    if kind == "prime":
        if release == "0.3.1" and runtime.get("vm", True) is not True:
            return False
        return not allow or _prime_list(block if allow == ["*"] else allow)
    if kind == "modal":
        return runtime.get("network_access", True) is True and allow != ["*"] and all(map(_modal_entry, allow))
    if kind == "e2b":
        names = [entry for entry in allow if entry != "*"]
        addresses = [entry for entry in block if entry != "*"]
        return all(map(_is_network, addresses)) and all(_is_network(name) or HOST.fullmatch(name) for name in names)
    return True


def rewritten(runtime: dict[str, Any]) -> bool:
    """Whether a release would write other lists than these: both spellings of "nothing at all" become one."""
    allow, block = runtime.get("allow", ["*"]), runtime.get("block", [])
    return (not allow or "*" in block) and (allow != [] or block != ["*"])


def _prime_list(entries: Sequence[str]) -> bool:
    return len(entries) <= MOST_ENTRIES and all(map(_prime_entry, entries))


def _prime_entry(entry: str) -> bool:
    """A host name, one with a leading `*.`, an IPv4 address or range, each with an optional port or ports."""
    text = entry.strip()
    if _is_address(text):
        return ipaddress.ip_address(text).version == 4
    host, colon, ports = text.rpartition(":")
    if colon and "://" not in text and not _is_network(text):
        match = PORTS.fullmatch(ports)
        if match is None or ":" in host:
            return False
        low, high = int(match[1]), int(match[2] or match[1])
        if not 1 <= low <= high <= LAST_PORT or not _prime_entry(host):
            return False
        return _is_network(host) or (low == high and low in WEB_PORTS)
    if "/" in text:
        return _is_network(text) and ipaddress.ip_network(text, strict=False).version == 4
    if any(mark in text for mark in ("://", "@", "?")):
        return False
    domain = text.removeprefix("*.").rstrip(".")
    return "*" not in domain and all(domain.split("."))


def _modal_entry(entry: str) -> bool:
    """A host name, or an HTTPS origin on the usual port; no address."""
    try:
        parts = urlsplit(entry if "://" in entry else f"//{entry}")
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        return False
    plain = parts.scheme in ("", "https") and port in (None, 443) and parts.username is None
    return plain and not _is_address(host) and HOST.fullmatch(host) is not None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
