"""Rows of every age, in today's shape, with nothing lost.

`upgrade_document` takes any episode, trace or first-generation row that was ever written, as parsed JSON, and returns
today's episode with the steps that led there; `upgrade_trace_document` does so for a trace that stays one. `upgrade_v0`
takes a row of `results.jsonl` with its `metadata.json`. `regroup` puts traces that were written one a line back into
their episodes. `detect` and `shapes` say what a row is without changing it;
`RULES` explains the rules that steps and shapes name.
"""

from __future__ import annotations

from evh.protocol.upgrade.detect import detect, shapes
from evh.protocol.upgrade.regroup import Regrouped, neighbours, regroup, upgrade_rows
from evh.protocol.upgrade.rows import upgrade_document, upgrade_trace_document
from evh.protocol.upgrade.step import Step
from evh.protocol.upgrade.table import RULES
from evh.protocol.upgrade.v0 import upgrade_v0

__all__ = [
    "RULES",
    "Regrouped",
    "Step",
    "detect",
    "neighbours",
    "regroup",
    "shapes",
    "upgrade_document",
    "upgrade_rows",
    "upgrade_trace_document",
    "upgrade_v0",
]
