"""The modules of an example by path, without leaving them or their folder behind in the interpreter."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).parents[2] / "examples"


def example_modules(example: str, *names: str) -> list[ModuleType]:
    """Import modules of `examples/<example>` as they import one another."""
    folder = EXAMPLES / example
    own = {each.stem for each in folder.glob("*.py")}
    sys.path.insert(0, str(folder))
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(str(folder))
        for name in own:
            sys.modules.pop(name, None)
