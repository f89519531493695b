"""The self-hosted service: what uploads leave on disk, the catalog that finds it again, and the web in front of both.

Promise: an upload is answered `committed` only when its bytes are fsynced in a segment and its rows are in the catalog;
the same bytes again give the same receipt. Projects never see each other.
Policy: storage (`interfaces`, `blobs`, `segments`, `catalog`, `ingest`, `access`, `quotas`) knows nothing of HTTP; the
web half is thin functions over it.
When it breaks: `ServerFault`, with the code and the status that the wire has for it.
"""

from __future__ import annotations

from evh.server.faults import ServerFault

__all__ = ["ServerFault"]
