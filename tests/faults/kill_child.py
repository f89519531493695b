"""A run that is killed after its first call of `evh.store._os`, then one after its second, and so on to its end.

Arguments: a folder, the fsync policy, and `after` (the call is done) or `within` (a write is half done). Each run is a
forked child in a folder of its own, named by the number of the call. Every acknowledgement is a line on standard
output: the number and the item as JSON. The last line is the number of the run that ended by itself, and null.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from power import CALLS
from small_run import write_run

from evh.store import _os


def die_at(number: int, within: bool) -> None:
    """Make this process kill itself at that call."""
    calls = count(1)

    def deadly(name: str) -> Any:
        real = getattr(_os, name)

        def call(*given: Any) -> Any:
            last = next(calls) == number
            if last and within and name == "write":
                given = (given[0], bytes(given[1])[: len(given[1]) // 2])
            try:
                return real(*given)
            finally:
                if last:
                    os.kill(os.getpid(), signal.SIGKILL)

        return call

    for name in CALLS:
        setattr(_os, name, deadly(name))


def tell(number: int, name: str | None) -> None:
    """Acknowledge, in one write."""
    os.write(1, json.dumps([number, name]).encode() + b"\n")


def main() -> None:
    root, policy, when = sys.argv[1:]
    for number in count(1):
        runs = Path(root, str(number))
        child = os.fork()
        if child == 0:
            die_at(number, when == "within")
            write_run(runs, policy, partial(tell, number))
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            tell(number, None)
            return


if __name__ == "__main__":
    main()
