"""What one server takes and how it is set up: the limits of uploads by name, those of every other body, and the rest.

Promise: `evh` is our own profile; `prime` has the released service's limits and answers, where the two differ.
Policy: the numbers. Everything that a request may make the server hold in memory has one here.
"""

from __future__ import annotations

from msgspec import Struct

from evh.errors import UsageError
from evh.server.limits import DEFAULT, RELEASED, Profile

__all__ = ["PROFILES", "Settings", "profile_named"]

MIB = 1 << 20
PROFILES: dict[str, Profile] = {"evh": DEFAULT, "prime": RELEASED}


def profile_named(name: str) -> Profile:
    """The limits of that name. Raises `UsageError`."""
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name!r}: there are {' and '.join(PROFILES)}")
    return PROFILES[name]


class Settings(Struct, frozen=True, kw_only=True):
    """How a server answers. The defaults are those of a server on loopback that asks for no token."""

    profile: Profile = DEFAULT
    tokens: bool = False
    """Whether a token is asked for; without, whoever reaches the server acts in the project `default`."""
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    """The names that a request may use for a server without tokens; all others are refused."""
    public_url: str | None = None
    """Where others reach the server, for addresses in answers; None: as the request named it."""
    json_bytes: int = 8 * MIB
    """A JSON body."""
    samples_bytes: int = 32 * MIB
    """A body with samples; released clients send 25 MiB at most."""
    table_bytes: int = 256 * MIB
    """A table of training samples."""
    metadata_bytes: int = 256 << 10
    """The `metadata` part of an upload."""
    held_bytes: int = 1024 * MIB
    """Bodies of all requests under way, as they came over the wire."""
    max_uploads: int = 64
    """Uploads under way at once."""
    ingest_threads: int = 4
    """Uploads that are checked and stored at once; the others wait."""
    read_threads: int = 32
    """Other requests that are worked on at once; the others wait."""
    silence_seconds: float = 60.0
    """How long a client may send nothing in the middle of a body."""

    @property
    def profile_name(self) -> str:
        """What `evh serve --profile` calls it."""
        return next((name for name, each in PROFILES.items() if each == self.profile), self.profile.name)

    @property
    def is_released(self) -> bool:
        """Whether answers follow the released service to the letter."""
        return self.profile.name == RELEASED.name
