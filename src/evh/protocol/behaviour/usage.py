"""Derived members of `Usage`, and how usages add up.

The names differ from OpenAI's: `prompt_tokens` leaves out what was read from the cache, `completion_tokens` includes
reasoning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from evh.protocol.behaviour.numbers import total

if TYPE_CHECKING:
    from evh.protocol.models import Usage

__all__ = ["UsageBehaviour", "usage_of"]


class UsageBehaviour:
    """What follows from the token counts a provider reported for one or more calls."""

    __slots__ = ()

    if TYPE_CHECKING:
        prompt_tokens: Any
        completion_tokens: Any
        cached_input_tokens: Any
        reasoning_tokens: Any
        cost: Any

    @property
    def input_tokens(self) -> int:
        """Tokens fed in: `prompt_tokens` plus those read from the cache."""
        fed: int = self.prompt_tokens + (self.cached_input_tokens or 0)
        return fed

    @property
    def total_tokens(self) -> int:
        """Tokens fed in and generated. Reasoning tokens are part of the completion and not added again."""
        both: int = self.input_tokens + self.completion_tokens
        return both

    @classmethod
    def aggregate(cls, usages: Iterable[Self]) -> Self | None:
        """The sum of `usages`; None when there are none.

        An optional member is the sum of the values that were reported, None only when no usage reported it.
        Raises `RecordError` when the cost is too large for a double.
        """
        whole: Self | None = _sum(cls, list(usages), "")
        return whole


def usage_of(usages: Iterable[Usage | None], place: str) -> Usage | None:
    """The sum of those that are there, in their own class; faults are reported at `place`."""
    present = [usage for usage in usages if usage is not None]
    return _sum(type(present[0]), present, place) if present else None


def _sum(cls: type[Any], usages: Sequence[Any], place: str) -> Any:
    if not usages:
        return None
    cached = [usage.cached_input_tokens for usage in usages if usage.cached_input_tokens is not None]
    reasoning = [usage.reasoning_tokens for usage in usages if usage.reasoning_tokens is not None]
    costs = [usage.cost for usage in usages if usage.cost is not None]
    return cls(
        prompt_tokens=sum(usage.prompt_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        cached_input_tokens=sum(cached) if cached else None,
        reasoning_tokens=sum(reasoning) if reasoning else None,
        cost=total(costs, place) if costs else None,
    )
