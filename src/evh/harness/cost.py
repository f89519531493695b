"""What a call cost, and by what that is known: one rule for measuring and for judging.

The provider's bill (`usage.cost` of its reply), else the adapter's own figure, else the config's prices per million
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from evh.errors import EvhError
from evh.store.numbers import finite

__all__ = ["PRICES", "Priced", "cost_of"]

PRICES = ("usd_per_mtok_in", "usd_per_mtok_out")


class Priced(Protocol):
    """What a call says of itself."""

    meta: dict[str, Any]
    cost_usd: int | float | None
    tokens_in: int | float | None
    tokens_out: int | float | None


def cost_of(found: Priced, params: Mapping[str, Any]) -> tuple[float | None, str | None]:
    """US dollars, and `bill`, `adapter` or `prices`; None and None when nobody says."""
    usage = found.meta.get("usage") if found.meta else None
    bill = usage.get("cost") if isinstance(usage, Mapping) else None
    if isinstance(bill, int | float) and not isinstance(bill, bool) and bill >= 0:
        try:
            return finite(bill, "usage.cost"), "bill"
        except EvhError:
            pass  # a bill that is no amount says nothing
    if found.cost_usd is not None:
        return found.cost_usd, "adapter"
    counts = (found.tokens_in, found.tokens_out)
    sums = [
        count * params[name]
        for count, name in zip(counts, PRICES, strict=True)
        if count is not None and _has(params, name)
    ]
    return (sum(sums) / 1e6, "prices") if len(sums) == len(PRICES) else (None, None)


def _has(params: Mapping[str, Any], name: str) -> bool:
    return params.get(name) is not None
