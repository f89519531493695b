"""Measuring: datasets, configs, adapters, runs that stop and go on, imports.

    from evh import Result                       what an adapter returns
    from evh.harness import Project, measure, resume

Names are loaded on first use; nothing here needs an extra until a config or an endpoint is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.harness.launch import Finished as Finished
    from evh.harness.launch import Options as Options
    from evh.harness.launch import measure as measure
    from evh.harness.launch import resume as resume
    from evh.harness.project import Project as Project
    from evh.harness.result import Result as Result

_HOMES = {
    "Finished": "evh.harness.launch",
    "Options": "evh.harness.launch",
    "Project": "evh.harness.project",
    "Result": "evh.harness.result",
    "measure": "evh.harness.launch",
    "resume": "evh.harness.launch",
}

__all__ = ["Finished", "Options", "Project", "Result", "measure", "resume"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'evh.harness' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
