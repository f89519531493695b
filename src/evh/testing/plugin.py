"""The pytest plugin, found by pytest as `evh` once the package is installed.

    def test_my_viewer(make_episode, run_directory):
        folder = run_directory(episodes=[make_episode(reward=0.5), make_episode(ok=False)])
        assert my_viewer.count(folder) == 2

Fixtures: `make_episode` and `run_directory`, told in docs/testing.md. Options: `--evh-contract FILE` writes what the
tests read of records as a contract (`evh contract`), `--evh-contract-name NAME` says whose.

Promise: loading the plugin loads nothing but pytest's own modules and this package's name; records, validators and
Hypothesis come with the first fixture that needs them. With pytest-xdist the contract is that of all workers together.
Policy: which values the fixtures make. When it breaks: every test run where the package is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evh.testing.samples import EpisodeMaker

__all__ = ["make_episode", "run_directory"]

NOTED = "evh_contract"
"""Where a worker of pytest-xdist leaves what it noted."""


@pytest.fixture
def make_episode() -> EpisodeMaker:
    """Makes valid episodes, numbered within the test: `make_episode(turns=2, reward=None, ok=False)`."""
    from evh.testing.samples import EpisodeMaker

    return EpisodeMaker()


@pytest.fixture
def run_directory(tmp_path: Path) -> Callable[..., Path]:
    """Writes run directories below `tmp_path`: `run_directory("name", rows=5, episodes=[…], finished=False)`."""
    from evh.testing.samples import make_run_directory

    def make(name: str = "run", rows: Any = 3, **options: Any) -> Path:
        return make_run_directory(tmp_path / name, rows, **options)

    return make


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("evh", "evh: records of evaluation and RL runs")
    group.addoption(
        "--evh-contract", metavar="FILE", help="write what the tests read of records as a contract (.toml or .json)"
    )
    group.addoption(
        "--evh-contract-name", metavar="NAME", default="tests", help="the consumer's name in it (default: tests)"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--evh-contract"):
        config.pluginmanager.register(_ContractNotes(config), "evh-contract")


class _ContractNotes:
    """Records while the tests run, and writes the contract when they are over."""

    def __init__(self, config: pytest.Config) -> None:
        from evh.testing.recorder import recording

        self.config = config
        self.running = ExitStack()
        self.noted = self.running.enter_context(recording(str(config.getoption("--evh-contract-name"))))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker of pytest-xdist has ended."""
        data = getattr(node, "workeroutput", {}).get(NOTED)
        if data is not None:
            self.noted.merge(data)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        output: dict[str, Any] | None = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[NOTED] = self.noted.data()
            self.running.close()

    def pytest_unconfigure(self) -> None:
        self.running.close()
        if hasattr(self.config, "workeroutput"):
            return
        from evh.testing.contracts import contract_text

        path = Path(str(self.config.getoption("--evh-contract")))
        try:
            path.write_text(contract_text(self.noted.contract(), toml=path.suffix == ".toml"), "utf-8")
        except OSError as error:
            raise pytest.UsageError(f"--evh-contract: {path} cannot be written: {error.strerror}") from error
