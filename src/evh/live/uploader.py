"""The uploader process: `python -m evh.live.uploader DIR` uploads the run in DIR until it is over and sent.

Promise: it lives on when the program that started it ends, however that ends, and goes when nothing is left to do. What
it may use is read from its environment and the config file, never from its arguments. A second one for the same run
ends at once. Killed at any moment it leaves books that the next one, or `evh sync`, goes on from.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evh.errors import EvhError, LockedError
from evh.live.patience import Patience
from evh.live.sync import Sync
from evh.live.watching import watch
from evh.platform import Settings, resolve
from evh.store.clock import now

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Upload the run; returns 0 when everything is sent, 3 when something is left, 1 when it cannot be."""
    if len(arguments) != 1:
        _say("expected the directory of a run")
        return 2
    try:
        with Sync(Path(arguments[0]), _settings(), Patience(None)) as sync:
            ending = watch(sync, _settings, told=_say)
    except LockedError:
        return 0
    except EvhError as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        return 3
    return 0 if ending is not None else 3


def _settings() -> Settings:
    return resolve(environ=os.environ, home=_home())


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _say(text: str) -> None:
    sys.stderr.write(f"{now()} {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
