"""Everything a pass needs, found and checked before anything is paid: config, dataset, references, adapter, identity.

Promise: what can be refused is refused here, by file and place. The config is taken as it was written: adapters get
copies, so nothing they do to it is recorded, and what is recorded has its secrets masked.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from evh._version import __version__
from evh.errors import EvhError, SourceError, UsageError, cut
from evh.harness.adapters import Adapter, AdapterError, load_adapter
from evh.harness.config import LoadedConfig, load_config
from evh.harness.cost import PRICES
from evh.harness.dataset import Frozen, load_dataset
from evh.harness.progress import Listener
from evh.harness.project import Project
from evh.harness.references import References, load_references
from evh.harness.retry import RetryPolicy
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store.build import build_of, harness_state
from evh.store.clock import now
from evh.store.fingerprint import VERSION, host_identity, installed, sealed
from evh.store.host import host_name
from evh.store.record import Declared
from evh.store.secret_values import masker_for

__all__ = ["Setup", "planned", "prepare"]


class Setup:
    """One arm, ready to be measured. `close` it at the end: it holds the adapter."""

    def __init__(
        self,
        project: Project,
        loaded: LoadedConfig,
        frozen: Frozen,
        references: References | None,
        adapter: Adapter,
        environ: Mapping[str, str],
    ) -> None:
        self.project = project
        self.config = loaded.config
        self.config_path = loaded.path
        self.frozen = frozen
        self.references = references
        self.adapter = adapter
        self.environ = environ
        self._warmup_ms: float | None = None
        self.retries = RetryPolicy.from_environment(environ, adapter.transient_markers)
        self.params: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(_plain(loaded.config.params)))
        self.masker = masker_for(self.params, environ)
        self.build = build_of(project.root, environ)
        self.harness = harness_state()

    def params_for(self, repeat_index: int | None) -> dict[str, Any]:
        """The knobs of one pass: the config's, and a seed (the number of the repeat, from 0) unless it sets one."""
        return {"seed": (repeat_index or 1) - 1, **self.params}

    @property
    def declared(self) -> Declared:
        """What the adapter says of its metrics."""
        adapter = self.adapter
        return Declared(
            adapter.primary_metric, adapter.metric_kinds, adapter.metric_directions, adapter.metric_descriptions
        )

    def fingerprint(self, repeat_index: int | None) -> models.Fingerprint:
        """The identity of a measurement with this setup, secrets masked."""
        params = self.params_for(repeat_index)
        references = self.references
        mask = self.masker.value
        return sealed(
            models.Fingerprint(
                version=VERSION,
                instrument=models.FingerprintInstrument(
                    harness=self.harness,
                    adapter=models.FingerprintAdapter(id=self.adapter.id, sha256=self.adapter.sha256),
                ),
                system_under_test=models.FingerprintSystem(
                    model=models.FingerprintModel(mask(self.adapter.fingerprint(params))), libraries=installed()
                ),
                data=models.FingerprintData(
                    dataset_id=self.frozen.dataset_id,
                    items_sha256=self.frozen.items_sha256,
                    n_items=len(self.frozen),
                    reference_id=None if references is None else references.reference_id,
                    reference_tier=None if references is None else references.tier,
                    references_sha256=None if references is None else references.sha256,
                ),
                host=host_identity(self.environ),
                arm=models.FingerprintArm(config_id=self.config.config_id, params=mask(params)),
            )
        )

    def manifest(
        self, run_id: str, *, limit: int | None, repeat_index: int | None, repeats: int | None
    ) -> models.RunManifest:
        """The manifest of one pass, secrets masked."""
        config = msgspec.json.decode(encode(self.config))
        config |= {"adapter": self.adapter.id, "params": self.params_for(repeat_index)}
        return models.RunManifest(
            run_id=run_id,
            dataset_id=self.frozen.dataset_id,
            config_id=self.config.config_id,
            started_at=now(),
            harness_version=__version__,
            config=self.masker.value(config),
            build=self.build,
            fingerprint=self.fingerprint(repeat_index),
            n_items_planned=planned(len(self.frozen), limit),
            repeat_index=repeat_index,
            repeats=repeats,
            host=host_name(),
            pid=os.getpid(),
        )

    def coverage(self, items: int) -> tuple[int, int] | None:
        """How many of the first `items` have a reference, and `items`; None without references."""
        references = self.references
        return None if references is None else (sum(references.has(index) for index in range(items)), items)

    def warm_up(self, listener: Listener) -> float | None:
        """Let the adapter build what it needs, once for all passes; how many milliseconds that took, None when there is
        nothing to build. Raises `SourceError` when it fails: nothing was called then."""
        if self.adapter.warmup is None or self._warmup_ms is not None:
            return self._warmup_ms
        listener.notice("warming up")
        started = time.perf_counter()
        try:
            self.adapter.warmup(self.params_for(None))
        except EvhError as error:
            raise SourceError(
                f"nothing was run and nothing spent: {self.masker.text(error.message)}",
                source=error.source,
                line=error.line,
            ) from error
        self._warmup_ms = (time.perf_counter() - started) * 1000
        return self._warmup_ms

    def close(self) -> None:
        self.adapter.close()

    def __enter__(self) -> Setup:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(AdapterError):  # a coroutine that never ends: what was measured stands all the same
            self.close()


def prepare(project: Project, config_path: Path, environ: Mapping[str, str]) -> Setup:
    """Load what a config names. Raises `SourceError` (or another `EvhError`) for what its files say wrong, with secrets
    masked, and `UsageError` for a variable of the environment; nothing has been called or written then."""
    masker = masker_for({}, environ)
    adapter: Adapter | None = None
    try:
        loaded = load_config(config_path)
        frozen = load_dataset(project, loaded.config.dataset_id)
        references = load_references(project, frozen)
        adapter = load_adapter(loaded.config.adapter, config_dir=config_path.resolve().parent, root=project.root)
        if not adapter.can_call:
            raise SourceError(
                "has no call_system(text, params), so nothing can be measured with it", source=str(adapter.path)
            )
        _check_prices(loaded.config.params)
        masker = masker_for(_plain(loaded.config.params), environ)
        adapter.check({"seed": 0, **_plain(loaded.config.params)})
        adapter.scorer_id()
    except EvhError as error:
        if adapter is not None:
            adapter.close()
        error.args = (masker.text(str(error.args[0])),) if error.args else ()
        error.message = masker.text(error.message)
        if isinstance(error, UsageError):  # the arguments were right; what the files say is not
            raise SourceError(error.message, source=error.source or str(config_path), line=error.line) from error
        raise
    except BaseException:
        if adapter is not None:
            adapter.close()
        raise
    try:
        return Setup(project, loaded, frozen, references, adapter, environ)
    except BaseException:
        adapter.close()
        raise


def _check_prices(params: Mapping[str, Any]) -> None:
    for name in PRICES:
        price = params.get(name)
        if price is not None and (isinstance(price, bool) or not isinstance(price, int | float) or price < 0):
            raise SourceError(f"/params/{name}: expected US dollars for a million tokens, 0 or more, not {cut(price)}")
    if sum(params.get(name) is not None for name in PRICES) == 1:
        raise SourceError(f"/params: {' and '.join(PRICES)} go together: one of them alone prices no call")


def planned(items: int, limit: int | None) -> int:
    """How many items a pass is to measure."""
    if limit is not None and limit < 1:
        raise UsageError(f"a limit is a number of items from 1 on, not {cut(limit)}")
    return items if limit is None else min(limit, items)


def _plain(value: Any) -> Any:
    return value.plain() if hasattr(value, "plain") else value
