"""How much one upload may be. Ours by default; the released service's where somebody wants to be compatible to the
letter."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["DEFAULT", "RELEASED", "Profile"]

MIB = 1 << 20


class Profile(Struct, frozen=True, kw_only=True):
    """Limits of an upload, in unpacked bytes and in numbers; each has the code that it is refused with."""

    name: str
    max_upload_bytes: int
    """`upload_too_large`"""
    max_line_bytes: int
    """`trace_too_large`; without the LF"""
    max_lines: int
    """`too_many_traces_in_upload`"""
    max_traces_in_upload: int
    """`too_many_traces_in_upload`"""
    max_traces_in_episode: int
    """`too_many_traces_in_episode`"""
    max_id_bytes: int = 512
    """`episode_id_too_long`, `environment_id_too_long`, and `invalid_trace` for the other ids"""
    max_context_bytes: int = 64 << 10
    """`invalid_metadata`: names and values of the map together"""


DEFAULT = Profile(
    name="default", max_upload_bytes=512 * MIB, max_line_bytes=256 * MIB, max_lines=250_000,
    max_traces_in_upload=250_000, max_traces_in_episode=100_000,
)  # fmt: skip
"""While an upload is taken in, its rows are in memory: some 4 KB for each trace, hence fewer lines than the released
service allows."""

RELEASED = Profile(
    name="released", max_upload_bytes=256 * MIB, max_line_bytes=64 * MIB, max_lines=1_000_000,
    max_traces_in_upload=1_000_000, max_traces_in_episode=10_000,
)  # fmt: skip
"""The limits of the released service, as its client states them."""
