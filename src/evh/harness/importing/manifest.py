"""The manifest of an import: the same identity as a measured run's, as far as it is known.

Promise: what measured elsewhere is not invented: no host, no system under test. The data and the scorer are this
project's, so imports of one dataset compare with runs measured here.
"""

from __future__ import annotations

import os
from typing import Any

from evh._version import __version__
from evh.harness.dataset import Frozen
from evh.harness.importing.scoring import Scorer
from evh.protocol import models
from evh.store.build import harness_state
from evh.store.clock import now
from evh.store.fingerprint import VERSION, sealed
from evh.store.host import host_name

__all__ = ["NO_ADAPTER", "import_manifest"]

NO_ADAPTER = "evh:import"
"""The adapter's id in the fingerprint of an import that nothing scored here."""


def import_manifest(
    frozen: Frozen, config_id: str, run_id: str, labels: dict[str, str], scorer: Scorer, params: dict[str, Any]
) -> models.RunManifest:
    """The manifest, without build and `imported`. `params` are masked already."""
    adapter, references = scorer.adapter, scorer.used
    config: dict[str, Any] = {"config_id": config_id, "dataset_id": frozen.dataset_id, "params": params, **labels}
    if adapter is not None:
        config["adapter"] = adapter.id
    fingerprint = models.Fingerprint(
        version=VERSION,
        instrument=models.FingerprintInstrument(
            harness=harness_state(),
            adapter=models.FingerprintAdapter(
                id=NO_ADAPTER if adapter is None else adapter.id, sha256=None if adapter is None else adapter.sha256
            ),
        ),
        data=models.FingerprintData(
            dataset_id=frozen.dataset_id,
            items_sha256=frozen.items_sha256,
            n_items=len(frozen),
            reference_id=None if references is None else references.reference_id,
            reference_tier=None if references is None else references.tier,
            references_sha256=None if references is None else references.sha256,
        ),
        arm=models.FingerprintArm(config_id=config_id, params=params),
    )
    return models.RunManifest(
        run_id=run_id,
        dataset_id=frozen.dataset_id,
        config_id=config_id,
        started_at=now(),
        harness_version=__version__,
        config=config,
        fingerprint=sealed(fingerprint),
        host=host_name(),
        pid=os.getpid(),
    )
