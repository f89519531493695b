"""Episodes without their secrets, as they go into a run directory.

Promise: what a masked episode says is what `Masker` leaves of it: its own secret tables, and their values wherever they
recur in it, are masked; so is what the masker knew. The masker that comes back knows the tables too, for the row and
the output that are made of the episode. An episode with nothing to mask comes back as the object it was, and is not
parsed: token streams are long. The episode's own `env` (which environment it ran in) is no table.
Policy: a number that an episode needs as a number (a time, a count) stays one, whatever a table says.
When it breaks: `NotWritable` for an episode that cannot be written at all. Masking itself never fails.
"""

from __future__ import annotations

from typing import Any

from evh.errors import EvhError
from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.protocol.jsontext import dumps, parse
from evh.store.masking import Masker, holds_table

__all__ = ["mask_episode"]

OWN_ENV = {b"env": 1}


def mask_episode(episode: models.Episode, masker: Masker) -> tuple[models.Episode, bytes, Masker]:
    """The episode without secrets, its line, and the masker that also knows its tables.

    Raises `NotWritable` for an episode that cannot be written.
    """
    line = encode(episode)
    if not masker.touches(line) and not holds_table(line, OWN_ENV):
        return episode, line, masker
    plain, _ = parse(line)
    knowing = masker.knowing({name: value for name, value in plain.items() if name != "env"})
    masked = _masked(plain, knowing)
    if masked == plain:
        return episode, line, knowing
    data = dumps(masked)
    try:
        return decode(data), data, knowing
    except EvhError:
        data = dumps(_masked(plain, knowing.texts_only()))
        return decode(data), data, knowing


def _masked(plain: dict[str, Any], masker: Masker) -> dict[str, Any]:
    masked: dict[str, Any] = masker.value({**plain, "env": None} if "env" in plain else plain)
    if "env" in plain:  # of the episode itself
        masked["env"] = masker.value(plain["env"])
    return masked
