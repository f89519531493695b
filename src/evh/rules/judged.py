"""A rule about judged runs: no row has both a verdict and the flag that its reply could not be read.

Promise: only rows that carry the flag are held against it. What a verdict is, say the metrics of the row that are
neither measured, nor an extra, nor the judge's own accounts.
"""

from __future__ import annotations

from evh.errors import EvhError, cut
from evh.rules.outcome import Outcome
from evh.rules.tree import Tree
from evh.store.rows import read_predictions

__all__ = ["r8"]

ACCOUNTS = frozenset({"item_id", "latency_ms", "cost_usd", "tokens_in", "tokens_out", "output_words", "judge_cost_usd"})
FLAG = "judge_unparsed"


def r8(tree: Tree, outcome: Outcome) -> None:
    """A reply that could not be read gave no metric."""
    for _, run in tree.runs():
        record = run.record
        if record is None or record.derived is None or record.derived.kind != "judge" or not run.rows_path.exists():
            continue
        file = tree.shown(run.rows_path)
        try:
            for stored in read_predictions(run.rows_path):
                row = stored.value.plain()
                if FLAG not in row:
                    continue
                outcome.looked("rows")
                extra = row.get("_extra") or {}
                verdict = [
                    name
                    for name in row
                    if name[0] != "_" and name not in ACCOUNTS and name != FLAG and name not in extra
                ]
                if row[FLAG] and verdict:
                    outcome.found(
                        file,
                        f"item {cut(row['item_id'])}: {FLAG} is {row[FLAG]}, and the row has {cut(verdict[0])}",
                        "judge the run again: what is no verdict must not enter a mean",
                        line=stored.line,
                    )
        except EvhError:
            outcome.noted(f"{file}: rows cannot be read (V1 says which)")
