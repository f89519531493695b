"""What this server takes, and who the caller is to it."""

from __future__ import annotations

from starlette.responses import Response

from evh._version import __version__
from evh.server.endpoint import Ask, Endpoint
from evh.server.envelopes import answer
from evh.server.unpacking import ENCODINGS

__all__ = ["ENDPOINTS", "FEATURES"]

FEATURES = ("range", "versions", "evh_run_id", "upload_receipts", "episode_documents")


def show(ask: Ask) -> Response:
    """With a token: also its project and scopes."""
    profile = ask.house.settings.profile
    said = {
        "server": f"evh-{__version__}",
        "encodings": list(ENCODINGS),
        "max_upload_bytes": profile.max_upload_bytes,
        "max_line_bytes": profile.max_line_bytes,
        "max_lines": profile.max_lines,
        "features": [each for each in FEATURES if each != "episode_documents" or not ask.house.settings.is_released],
    }
    if ask.who.project_name:
        said |= {"project": ask.who.project_name, "scopes": sorted(ask.who.scopes)}
    return answer(said)


ENDPOINTS = (
    Endpoint(
        method="GET", path="/api/v1/capabilities", handler=show, scope=None, tag="service", answer="Capabilities",
        about="What this server takes. Needs no token; one that is given must count.",
    ),
)  # fmt: skip
