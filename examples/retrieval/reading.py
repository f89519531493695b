"""From a text to the ranking it states: of an output file, or of a model that was asked for an order.

Promise: a text is a ranking or it is unreadable (`None`); nothing is guessed out of prose. A ranking is a JSON list of
ids, or ids on lines or set apart by commas. An empty list is a ranking of nothing, an empty text is unreadable.
Policy: an id is one that a corpus may have (`beir.ID`). A list begins a line or follows a short lead-in that ends
in a colon; a list that does not parse is never searched for parts that would.
"""

from __future__ import annotations

import json
import re
from typing import Any

from beir import ID

FENCED = re.compile(r"(?:(?P<lead>[^\n]*)\n)?```[\w-]*\n(?P<inside>.*?)\n?```", re.DOTALL)
NUMBERING = re.compile(r"(?:\d+[.)]|[-*])[ \t]+")
FINISHED_SENTENCE = re.compile(r"[.!?](?:\s|$)")
LONGEST_LEAD_IN = 64


def read_ranking(text: str) -> list[str] | None:
    """The ids that a text ranks, in its order, repeats kept; None when it states no ranking."""
    text = text.strip()
    fenced = FENCED.fullmatch(text)
    if fenced and (not fenced["lead"] or _is_lead_in(fenced["lead"])):
        text = fenced["inside"].strip()
    if not text:
        return None
    before, bracket, _ = text.partition("[")
    if bracket:
        line = before.rpartition("\n")[2]
        return _listed(text[len(before) :]) if not line.strip() or _is_lead_in(line) else None
    ids = [part.strip() for line in text.split("\n") if line.strip() for part in _parts(line)]
    return ids if all(map(ID.fullmatch, ids)) else None


def _is_lead_in(text: str) -> bool:
    text = text.strip()
    return len(text) <= LONGEST_LEAD_IN and text.endswith(":") and not FINISHED_SENTENCE.search(text)


def _parts(line: str) -> list[str]:
    line = line.strip()
    numbering = NUMBERING.match(line)
    return (line[numbering.end() :] if numbering else line).split(",")


def _listed(text: str) -> list[str] | None:
    """The ids of the JSON list that a text begins with, if that is the only one."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if "[" in text[end:]:
        return None
    ids = [_id(each) for each in value]
    return None if None in ids else [each for each in ids if each is not None]


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    return text if ID.fullmatch(text) else None
