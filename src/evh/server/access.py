"""Who may ask: tokens, made once and shown once.

Promise
    A token is `evh_<prefix>_<secret>`; the catalog keeps the prefix and the SHA-256 of the secret. One that is unknown,
    wrong, expired or revoked is `unauthenticated`, and they are not told apart. A revocation counts at once, in every
    process. A principal belongs to one project.
Policy
    The secret has 256 random bits, so one plain hash is enough: nobody can try them all, and a slow hash (made for
    passwords that people choose) would only cost time at each request. Nothing is cached.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable

from evh.errors import UsageError, cut
from evh.server.catalog import Catalog
from evh.server.faults import ServerFault
from evh.server.records import SCOPES, Principal, TokenRow
from evh.server.text import now_us

__all__ = ["CatalogAccess"]

TOKEN = re.compile(r"evh_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


class CatalogAccess:
    """`Access` over the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def create(
        self, project: str, *, scopes: Iterable[str], name: str = "", expires_us: int | None = None
    ) -> tuple[str, TokenRow]:
        """A token, shown this once, and what is kept of it. The project is made when there is none."""
        held = frozenset(scopes)
        if not held or held - set(SCOPES):
            raise UsageError(f"a token needs scopes out of {', '.join(SCOPES)}, not {cut(sorted(held))}")
        owner = self._catalog.projects.ensure(project)
        prefix, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        row = TokenRow(prefix, owner.id, owner.name, name[:200], held, now_us(), expires_us, None, None)
        self._catalog.tokens.add(row, _digest(secret))
        return f"evh_{prefix}_{secret}", row

    def authenticate(self, token: str) -> Principal:
        """Whoever holds the token. 401 `unauthenticated`."""
        parts = TOKEN.fullmatch(token)
        found = self._catalog.tokens.find(parts[1]) if parts is not None else None
        now = now_us()
        if parts is None or found is None or not hmac.compare_digest(found[1], _digest(parts[2])):
            raise _unauthenticated()
        row = found[0]
        if row.revoked_us is not None or (row.expires_us is not None and row.expires_us <= now):
            raise _unauthenticated()
        self._catalog.tokens.used(row, now)
        return Principal(row.project, row.project_name, row.scopes, row.prefix, row.name)

    def local(self, project: str = "default") -> Principal:
        """Whoever asks over loopback where no tokens are asked for: all scopes of one project."""
        owner = self._catalog.projects.ensure(project)
        return Principal(owner.id, owner.name, frozenset(SCOPES))

    def list(self, project: str | None = None) -> list[TokenRow]:
        """Oldest first, revoked ones too; of all projects, or of one (404 `project_not_found`)."""
        return self._catalog.tokens.all(None if project is None else self._catalog.projects.get(project).id)

    def revoke(self, prefix: str) -> TokenRow:
        """From now on it opens nothing; takes the prefix, or a whole token. 404 `token_not_found`."""
        whole = TOKEN.fullmatch(prefix)
        bare = whole[1] if whole is not None else prefix.removeprefix("evh_")
        if not re.fullmatch(r"[0-9a-f]{16}", bare) or self._catalog.tokens.find(bare) is None:
            raise ServerFault(404, "token_not_found", f"there is no token with the prefix {cut(bare)}")
        self._catalog.tokens.revoke(bare, now_us())
        found = self._catalog.tokens.find(bare)
        assert found is not None
        return found[0]


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _unauthenticated() -> ServerFault:
    return ServerFault(401, "unauthenticated", "the token is missing, unknown, expired or revoked")
