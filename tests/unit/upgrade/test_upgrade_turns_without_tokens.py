"""S0: a turn that says it has no tokens loses nothing by it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from evh.protocol.upgrade import upgrade_document
from tests.support.leaves import leaves_accounted

TURN: dict[str, Any] = {
    "prompt": [{"role": "user", "content": "What is six times seven?"}],
    "response": {"id": "r-1", "message": {"role": "assistant", "content": "42"}, "finish_reason": "stop"},
}


@pytest.mark.parametrize("tokens", [None, {}, []])
def test_a_turns_missing_tokens_are_said_to_say_nothing(tokens: Any) -> None:
    row = {"id": "3f0c", "task": {"idx": 0, "instruction": "?"}, "trajectory": [{**TURN, "tokens": tokens}]}
    result, steps = upgrade_document(copy.deepcopy(row))
    leaves_accounted(row, result, steps)
    assert any(step.pointer == "/trajectory/0/tokens" for step in steps)
