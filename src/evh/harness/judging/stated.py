"""What a judge's file states, checked: its id, its settings, its functions and what they take, its metrics.

Promise: whatever is missing or makes no sense is a `SourceError` with the file, before anything is asked.
When it breaks: nothing is judged.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from evh.errors import EvhError, SourceError, cut
from evh.harness.adapters.declarations import Declarations
from evh.harness.cost import PRICES
from evh.protocol.jsontext import canonical
from evh.store.layout import safe_name

__all__ = [
    "COST", "OURS", "UNPARSED", "Asked", "function_of", "params_of", "parse_of", "prompt_of", "refuse_ours",
    "scorer_id_of", "with_ours",
]  # fmt: skip

COST, UNPARSED = "judge_cost_usd", "judge_unparsed"
SCORER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
OURS = {
    COST: ("cost", "lower", "US dollars that the judge's call cost; never part of what the arm cost"),
    UNPARSED: (
        "descriptive",
        "lower",
        "1 when the judge's reply could not be read: the row has no verdict; else 0",
    ),
}


class Asked(NamedTuple):
    """The prompt function, and which arguments it takes by name."""

    name: str
    function: Callable[..., Any]
    reference: bool
    reference_needed: bool
    source: bool


def scorer_id_of(names: object, source: str) -> str:
    found = getattr(names, "SCORER_ID", None)
    if not isinstance(found, str) or not SCORER_ID.fullmatch(found):
        raise SourceError(
            "SCORER_ID names the judge and its folder: 1 to 100 of A-Z a-z 0-9 . _ -, beginning with a letter or "
            f"digit; {'it is missing' if found is None else f'{cut(found)} is not'}",
            source=source,
        )
    if safe_name(found.lower()) != found.lower():
        raise SourceError(
            f"SCORER_ID names a folder, and some systems have none called {cut(found)}: it is a device's name, or ends "
            "in a dot",
            source=source,
        )
    return found


def params_of(names: object, source: str) -> dict[str, Any]:
    found = getattr(names, "PARAMS", None)
    if not isinstance(found, Mapping) or not isinstance(found.get("model"), str) or not found["model"].strip():
        raise SourceError(f"PARAMS is a mapping with at least the text `model`, not {cut(found)}", source=source)
    for name in ("prompt", "prompt_file"):
        if found.get(name) is not None:
            raise SourceError(f"PARAMS has no {name}: prompt(output, …) makes what is asked", source=source)
    try:
        params = copy.deepcopy(dict(found))
        canonical(params)
    except (EvhError, TypeError, ValueError, RecursionError) as error:
        raise SourceError(f"PARAMS is plain data, as JSON has it: {error}", source=source) from None
    for name in PRICES:
        price = params.get(name)
        if price is not None and (isinstance(price, bool) or not isinstance(price, int | float) or price < 0):
            raise SourceError(f"PARAMS: {name} is dollars for a million tokens, not {cut(price)}", source=source)
    return params


def function_of(names: object, name: str, source: str) -> Callable[..., Any] | None:
    found = getattr(names, name, None)
    if found is not None and not callable(found):
        raise SourceError(f"{name} is to be a function, not {cut(found)}", source=source)
    return found


def prompt_of(names: object, source: str) -> Asked:
    functions = [(name, function_of(names, name, source)) for name in ("prompt", "prompt_episode")]
    given = [(name, function) for name, function in functions if function is not None]
    if len(given) != 1:
        raise SourceError(
            "a judge defines prompt(output, reference=None, source_text=None) or prompt_episode(episode), one of them; "
            f"this one has {'both' if given else 'neither'}",
            source=source,
        )
    [(name, function)] = given
    try:
        places = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        raise SourceError(f"{name} does not show what it takes: define it with def", source=source) from None
    wide = any(each.kind is each.VAR_KEYWORD for each in places.values())
    known = {each: each in places or wide for each in ("reference", "source_text")}
    needed = "reference" in places and places["reference"].default is inspect.Parameter.empty
    try:
        inspect.signature(function).bind(None, **{each: None for each, is_taken in known.items() if is_taken})
    except TypeError as error:
        raise SourceError(
            f"{name} is called with the output, then reference= and source_text= where it has them: {error}",
            source=source,
        ) from None
    return Asked(name, function, known["reference"], needed, known["source_text"])


def parse_of(names: object, source: str) -> Callable[..., Any]:
    """The function that reads a reply. One that a reply cannot be given to is refused before a reply is paid."""
    function = function_of(names, "parse", source)
    if function is None:
        raise SourceError("a judge defines parse(reply): a mapping of metrics, or None", source=source)
    try:
        inspect.signature(function).bind("")
    except TypeError as error:
        raise SourceError(f"parse is called with the reply alone: {error}", source=source) from None
    except ValueError:
        pass  # a function that shows no signature
    return function


def refuse_ours(said: Declarations, source: str) -> None:
    for table in (said.metric_kinds, said.metric_directions, said.metric_descriptions):
        for name in OURS:
            if name in table:
                raise SourceError(f"{name} is written and declared by the harness itself", source=source)


def with_ours(said: Declarations) -> Declarations:
    """A judge's declarations and those of the metrics that every judged run has."""
    return Declarations(
        said.primary_metric,
        {**said.metric_kinds, **{name: kind for name, (kind, _, _) in OURS.items()}},
        {**said.metric_directions, **{name: way for name, (_, way, _) in OURS.items()}},
        {**said.metric_descriptions, **{name: text for name, (_, _, text) in OURS.items()}},
        said.transient_markers,
    )
