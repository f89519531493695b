"""A sound project to break."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.rules.whole_tree import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "work")
