"""What the project's config of an arm says of an import: who scores it, its knobs and labels.

Promise: an import and a run measured here under one config are scored by the same adapter. A config of another dataset
is refused, and so is an id that two files hold, or that may stand in a file that cannot be read. Nothing is called.
Policy: what the source says of itself was measured, so its knobs and labels stand before the config's; where they
differ that is told. Without PyYAML no config can be looked at, which is told as well; a project without the config is
none the worse.
When it breaks: `SourceError`; nothing was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from evh.errors import SourceError, cut
from evh.harness.adapters import Adapter, load_adapter
from evh.harness.config import find_config, load_config
from evh.harness.importing.found import Reading
from evh.harness.project import Project

__all__ = ["BUNDLED", "Configured", "configured"]

BUNDLED = "evh:chat"
"""The adapter whose scorer is exact match, and needs no config."""
LABELS = ("goal", "format", "round")


class Configured(NamedTuple):
    """The config of an arm, as far as an import needs it; without a `path` there is none."""

    path: Path | None = None
    adapter: str | None = None
    params: Mapping[str, Any] = {}
    labels: Mapping[str, str] = {}
    notice: str | None = None
    """Why it was not looked for."""

    def load(self, project: Project) -> Adapter:
        """Its adapter, or the bundled one where there is no config. The caller closes it."""
        if self.path is None:
            return load_adapter(BUNDLED, config_dir=project.root, root=project.root)
        return load_adapter(self.adapter, config_dir=self.path.resolve().parent, root=project.root)

    def knobs(self, reading: Reading, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The params of the run: those given, else the source's, else the config's."""
        if given is not None:
            return dict(given)
        if reading.params and self.params and reading.params != self.params:
            names = sorted({*reading.params, *self.params})
            differ = [name for name in names if reading.params.get(name, names) != self.params.get(name, names)]
            reading.notices.add(
                f"{self.path}: other params than the source's, which stand ({', '.join(map(cut, differ[:9]))})"
            )
        return dict(reading.params or self.params)

    def named(self, reading: Reading) -> dict[str, str]:
        """Goal, format and round: the source's, else the config's."""
        for name in LABELS:
            ours, theirs = self.labels.get(name), reading.labels.get(name)
            if ours is not None and theirs is not None and ours != theirs:
                reading.notices.add(f"{self.path}: {name} is {cut(ours)}, the source's is {cut(theirs)}, which stands")
        return {**self.labels, **reading.labels}


def configured(project: Project, config_id: str, dataset_id: str) -> Configured:
    """What the config of that id says; nothing when the project has none. Raises `SourceError`."""
    if find_spec("yaml") is None:
        looked = any(path.suffix in (".yaml", ".yml") for path in project.configs.glob("*.y*ml"))
        said = f"{project.portable(project.configs)}: not looked at, for PyYAML is missing: pip install 'evh[run]'"
        return Configured(notice=said if looked else None)
    path = find_config(project, config_id)
    if path is None:
        return Configured()
    config = load_config(path).config
    if config.dataset_id != dataset_id:
        raise SourceError(
            f"the config {cut(config_id)} is of the dataset {cut(config.dataset_id)}, not {cut(dataset_id)}: "
            "import under the id of another arm, or on the config's dataset",
            source=str(path),
        )
    labels = {name: value for name in LABELS if (value := getattr(config, name)) is not None}
    return Configured(path, config.adapter, config.params, labels)
