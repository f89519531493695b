"""The collector of cycles, paused while thousands of runs are read: it would look at all of them again and again.

Promise: it is on again afterwards when it was on before, whatever happened in between. Policy: where it is paused.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector. A decorator too: `@uncollected()`."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
