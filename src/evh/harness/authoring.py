"""References written by a config's own system: `evh dataset reference DATASET --tier silver --from CONFIG`.

Promise: every item is answered before the set appears; an answer that fails ends it with nothing left behind but what
was spent. The set says who wrote it: config, adapter, model, what it cost.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from evh.errors import SourceError, UsageError, cut
from evh.harness.cost import cost_of
from evh.harness.dataset import Frozen, source_text
from evh.harness.item import Paid, row_of_episode
from evh.harness.progress import Listener, Quiet
from evh.harness.project import Project
from evh.harness.references import Authored, Tier, author_references
from evh.harness.retry import GaveUp
from evh.harness.setup import Setup, prepare
from evh.protocol import models

__all__ = ["author"]


def author(
    project: Project,
    config_path: Path,
    frozen: Frozen,
    tier: Tier,
    *,
    environ: Mapping[str, str] | None = None,
    force: bool = False,
    caveat: str | None = None,
    listener: Listener | None = None,
) -> Authored:
    """Have the system of a config answer every item, and keep the answers as references.

    Raises `UsageError` for a config of another dataset, `SourceError` for an item that could not be answered.
    """
    listener = listener or Quiet()
    with prepare(project, config_path, os.environ if environ is None else environ) as setup:
        if setup.config.dataset_id != frozen.dataset_id:
            raise UsageError(
                f"the config is for the dataset {cut(setup.config.dataset_id)}, not {cut(frozen.dataset_id)}",
                source=str(config_path),
            )
        setup.warm_up(listener)
        costs: list[float | None] = []
        identity = setup.fingerprint(None).system_under_test
        model = setup.params.get("model")
        return author_references(
            project,
            frozen,
            tier,
            _answers(setup, lambda cost, _: costs.append(cost)),
            force=force,
            authored_by=setup.config.config_id,
            authored_with=setup.adapter.id,
            model=model if isinstance(model, str) else None,
            system_under_test=identity,
            params=setup.masker.value(setup.params),
            cost_usd=lambda: None if None in costs else math.fsum(cost for cost in costs if cost is not None),
            caveat=caveat,
        )


def _answers(setup: Setup, paid: Paid) -> Iterator[tuple[str, str]]:
    params = setup.params_for(None)
    wait = threading.Event().wait
    for index, item_id in enumerate(setup.frozen.item_ids):
        text = source_text(setup.project, setup.frozen, index)
        try:
            found = setup.retries.run(lambda text=text: setup.adapter.call(text, params), wait=wait)  # type: ignore[misc]
        except GaveUp as error:
            raise SourceError(
                f"the item {cut(item_id)} was not answered ({setup.masker.text(error.message)}): no set was made",
                source=str(setup.config_path),
            ) from None
        if isinstance(found, models.Episode):
            output = row_of_episode(setup, found, item_id, None, None, paid).output
        else:
            paid(*cost_of(found, setup.params))
            output = found.output
        yield item_id, setup.masker.text(output)
