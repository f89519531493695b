"""Rules over a whole tree of runs: what `evh validate` holds it against.

`check` looks at record files one by one; these look at how files of datasets, configs and runs fit together.
"""

from __future__ import annotations

from evh.rules.outcome import Finding, Outcome
from evh.rules.registry import RULES, Rule, rules_named, validate
from evh.rules.tree import Tree

__all__ = ["RULES", "Finding", "Outcome", "Rule", "Tree", "rules_named", "validate"]
