"""Where the data are, and what running a command gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parents[1] / "data"
REAL = DATA / "verifiers"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Evh = Callable[..., Ran]
