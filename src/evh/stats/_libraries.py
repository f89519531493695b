"""The numerical libraries, loaded when a test first needs them.

Promise: `import evh.stats` loads neither numpy nor scipy. When one is missing, the error says what to install.
Policy: values are `Any`, since scipy ships no types.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evh.errors import UsageError


def load(name: str) -> Any:
    """A module of numpy or scipy. Raises `UsageError` when it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        raise UsageError(f"this comparison needs {library}, which is not installed: pip install 'evh[stats]'") from None
