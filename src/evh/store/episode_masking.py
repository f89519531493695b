"""Episodes without their secrets, as they go into a run directory.

Promise: what a masked episode says is what `Masker` leaves of it: its own secret tables, and their values wherever they
recur in it, are masked; so is what the masker knew. The masker that comes back knows the tables too, for the row and
the output that are made of the episode. An episode with nothing to mask comes back as the object it was, and is not
parsed: token streams are long. Of one whose secrets stand in their tables alone, only these are. The episode's own
`env` (which environment it ran in) is no table, nor is a reward that is called like one.
Policy: a number that an episode needs as a number (a time, a count) stays one, whatever a table says.
When it breaks: `NotWritable` for an episode that cannot be written at all. Masking itself never fails.
"""

from __future__ import annotations

import json
from typing import Any

from evh.errors import EvhError
from evh.protocol import models
from evh.protocol.codec import decode, encode
from evh.protocol.jsontext import dumps, parse
from evh.store.masking import SECRET_TABLES, Masker, tables_in

__all__ = ["mask_episode", "masked_line"]

_read_value = json.JSONDecoder().raw_decode


def mask_episode(episode: models.Episode, masker: Masker) -> tuple[models.Episode, bytes, Masker]:
    """The episode without secrets, its line, and the masker that also knows its tables.

    Raises `NotWritable` for an episode that cannot be written.
    """
    line = encode(episode)
    found = _tables_masked(episode, line, masker)
    if found is None:
        return _masked_whole(episode, line, masker)
    data, knowing = found
    return episode if data is line else decode(data), data, knowing


def masked_line(episode: models.Episode, masker: Masker) -> bytes:
    """The line alone, without reading it again where that is not needed. Raises `NotWritable` like `mask_episode`."""
    line = encode(episode)
    found = _tables_masked(episode, line, masker)
    return _masked_whole(episode, line, masker)[1] if found is None else found[0]


def _tables_masked(episode: models.Episode, line: bytes, masker: Masker) -> tuple[bytes, Masker] | None:
    """The line with its tables masked in their places (the same object when it has none) and the masker that knows
    them; None when a secret stands elsewhere too, or something of the episode itself is called like a table.

    All tables then stand in objects that may hold anything, so the line stays a valid episode.
    """
    if masker.touches(line):
        return None
    text = line.decode()
    pieces: list[str] = []
    tables: list[dict[str, Any]] = []
    at = own_end = 0
    for name, start in tables_in(text):
        if start < at:
            continue  # inside the last one
        if start < own_end:
            return None
        value, end = _read_value(text, start)
        if name == "env" and not own_end:
            own_end = end  # its own comes first
            continue
        tables.append({name: value})
        pieces += [text[at:start], dumps(masker.value({name: value})[name]).decode()]
        at = end
    if not tables:
        return line, masker
    if any(name.lower() in SECRET_TABLES for trace in episode.traces for name in trace.rewards):
        return None
    data = "".join([*pieces, text[at:]]).encode()
    theirs = Masker()
    theirs.learn(tables)
    return None if theirs.touches(data) else (line if data == line else data, masker.knowing(tables))


def _masked_whole(episode: models.Episode, line: bytes, masker: Masker) -> tuple[models.Episode, bytes, Masker]:
    plain, _ = parse(line)
    own = _Own(plain)
    knowing = masker.knowing(plain)
    masked = own.given_back(knowing.value(plain), knowing)
    data = dumps(masked)
    try:
        return decode(data), data, knowing
    except EvhError:
        texts = knowing.texts_only()
        data = dumps(own.given_back(texts.value(plain), texts))
        return decode(data), data, knowing


class _Own:
    """What is called like a secret table and is none: the episode's own `env`, and rewards by their names. It is taken
    out of a plain episode, and given back masked as what it is."""

    def __init__(self, plain: dict[str, Any]) -> None:
        self._env = plain.get("env")
        self._rewards = [trace.get("rewards") for trace in plain.get("traces", ())]
        if self._env is not None:
            plain["env"] = None
        for trace, rewards in zip(plain.get("traces", ()), self._rewards, strict=True):
            if rewards:
                trace["rewards"] = None

    def given_back(self, masked: dict[str, Any], masker: Masker) -> dict[str, Any]:
        if self._env is not None:
            masked["env"] = masker.value(self._env)
        for trace, rewards in zip(masked.get("traces", ()), self._rewards, strict=True):
            if rewards:
                trace["rewards"] = masker.names({name: masker.value(reward) for name, reward in rewards.items()})
        return masked
