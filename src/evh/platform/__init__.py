"""The platform's wire: calls of the evaluations, hub, training and traces APIs as values, and two clients that do them.

`Platform` and `AsyncPlatform` run the calls that `evaluations`, `hub`, `training`, `traces` and `service` make.
Beside them is what is sent: batches of lines (`cut_batches`), episodes re-keyed to a run of the platform
(`for_upload`), and the platform's own projections of episodes (`build_samples`, `sample_table`, `run_summary`).
httpx, zstandard and pyarrow (`pip install 'evh[live]'`) are loaded by what needs them.
"""

from __future__ import annotations

from evh.platform import evaluations, hub, service, traces, training
from evh.platform.batches import HOSTED_LIMITS, Batch, Broken, Limits, Oversized, cut_batches
from evh.platform.call import Call, Paged, Steps
from evh.platform.client import AsyncPlatform, Platform
from evh.platform.encoding import choose, compress
from evh.platform.policy import Policy
from evh.platform.sample_table import sample_table
from evh.platform.samples import RunAverages, build_samples, run_summary, sample_bodies, trace_to_sample
from evh.platform.service import capabilities
from evh.platform.settings import Settings, resolve
from evh.platform.uploaded import Rekeyed, for_upload, row_for_upload

__all__ = [
    "HOSTED_LIMITS",
    "AsyncPlatform",
    "Batch",
    "Broken",
    "Call",
    "Limits",
    "Oversized",
    "Paged",
    "Platform",
    "Policy",
    "Rekeyed",
    "RunAverages",
    "Settings",
    "Steps",
    "build_samples",
    "capabilities",
    "choose",
    "compress",
    "cut_batches",
    "evaluations",
    "for_upload",
    "hub",
    "resolve",
    "row_for_upload",
    "run_summary",
    "sample_bodies",
    "sample_table",
    "service",
    "trace_to_sample",
    "traces",
    "training",
]
