"""A project with one frozen dataset, and the import of a source into it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from evh import read_episodes
from evh.harness.dataset import create_dataset
from evh.harness.importing import Imported, import_run
from evh.harness.project import Project
from evh.store.projection import item_id_of

Freeze = Callable[[Iterable[str]], str]
Importing = Callable[..., Imported]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)


@pytest.fixture
def freeze(project: Project, tmp_path: Path) -> Freeze:
    """Freeze items of these ids as the dataset `qa`."""

    def make(item_ids: Iterable[str]) -> str:
        folder = tmp_path / "sources"
        folder.mkdir(exist_ok=True)
        for item_id in item_ids:
            path = folder / f"{item_id}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"question {item_id}", "utf-8")
        create_dataset(project, folder, "qa")
        return "qa"

    return make


@pytest.fixture
def freeze_tasks(freeze: Freeze) -> Callable[[Path], str]:
    """Freeze the items that a file of episodes names."""
    return lambda path: freeze({item_id_of(episode) for episode in read_episodes(path)})


@pytest.fixture
def bring_in(project: Project) -> Importing:
    def call(source: Path | str, **options: Any) -> Imported:
        return import_run(
            project, source, "qa", options.pop("config_id", "arm"), environ={}, **{"fsync": "never", **options}
        )

    return call
