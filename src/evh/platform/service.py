"""What a service can do: ours says so, the hosted one does not know the question.

Promise: `capabilities` has an answer for every service that answers at all; for one that does not say, the limits that
the hosted service is known to have, and gzip.
"""

from __future__ import annotations

from evh.errors import NotFound
from evh.platform.batches import HOSTED_LIMITS
from evh.platform.call import Steps, get
from evh.protocol.models import Capabilities

__all__ = ["HOSTED", "capabilities"]

HOSTED = "hosted"
"""What `Capabilities.server` says of a service that does not know the question."""


def capabilities() -> Steps[Capabilities]:
    """What the traces service takes."""
    try:
        said: Capabilities = yield get("ask what the service can do", "/capabilities", Capabilities, service="traces")
    except NotFound:
        return Capabilities(
            server=HOSTED,
            encodings=["gzip"],
            max_upload_bytes=HOSTED_LIMITS.upload_bytes,
            max_line_bytes=HOSTED_LIMITS.line_bytes,
            max_lines=HOSTED_LIMITS.lines,
            features=[],
        )
    return said
