"""What to beware of in a table of arms, a sentence each.

Promise: every run of every arm is looked at; a notice names the arms it is about, the first of them when they are many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from evh.errors import cut
from evh.protocol import models
from evh.stats.cells import COST, ArmValues
from evh.stats.direction import Direction, kinds_conflicts
from evh.stats.provenance import MEASURED, Provenance, differences
from evh.store.arm import Arm

__all__ = ["table_notices"]

VERSION = re.compile(r"_v\d+(?=_|$)")
NAMED = 5


def table_notices(
    read: Sequence[ArmValues],
    found: Sequence[Provenance],
    records: Sequence[models.RunRecord],
    metric: str,
    direction: Direction,
    columns: Mapping[str, str],
) -> list[str]:
    """The notices of a table that is ranked by a metric."""
    arms = [each.arm for each in read]
    pairs = list(zip(arms, found, strict=True))
    notices = list(_of_metric(records, metric, direction, columns))
    notices += _versions(arms)
    checks = [
        ("scored against references that a model wrote (silver)", [a for a, each in pairs if "silver" in each.tiers]),
        ("scored against several tiers of references", [a for a, each in pairs if len(each.tiers) > 1]),
        ("derived, not measured", [a for a, each in pairs if each.kinds - MEASURED]),
        ("with runs scored by different scorers", [a for a, each in pairs if each.scorer_count > 1]),
        ("with outputs rebuilt by several parsers", [a for a, each in pairs if len(each.parsers) > 1]),
        ("with references for some items only", [a for a, each in pairs if each.partly_referenced]),
        ("answered by several providers", [a for a, each in pairs if len(each.providers) > 1]),
        ("with failed rows", [arm for arm in arms if arm.n_errors]),
        ("with a record whose score is not the mean of its rows (rounded?); the rows count", _rounded(read, metric)),
    ]
    notices += [f"{what}: {_names(which)}" for what, which in checks if which]
    notices += differences(found)
    notices += _unscored(read, metric)
    notices += _costs(read, columns)
    return notices


def _of_metric(
    records: Sequence[models.RunRecord], metric: str, direction: Direction, columns: Mapping[str, str]
) -> Iterable[str]:
    if direction.conflict:
        yield direction.conflict
    elif not direction.sign:
        yield f"{metric} has no better end ({direction.why}): the order is by size, not by merit"
    elif columns.get(metric) == "descriptive":
        yield f"ranked by {metric}, a descriptive metric"
    yield from kinds_conflicts(columns, records)


def _versions(arms: Sequence[Arm]) -> list[str]:
    """Configs that differ in their version only."""
    stems: dict[str, list[Arm]] = {}
    for arm in arms:
        name = arm.config_id
        stems.setdefault(VERSION.sub("", name) if "_v" in name else name, []).append(arm)
    return [f"several versions of one config: {_names(each)}" for each in stems.values() if len(each) > 1]


def _rounded(read: Sequence[ArmValues], metric: str) -> list[Arm]:
    """Arms with a run whose record says another number than its rows, as far as all of them were read."""
    found = []
    for each in read:
        arm, value = each.arm, each.cells.get(metric)
        if value is None or arm.left_out:
            continue
        means = arm.means(metric) if len(arm.runs) > 1 else [value.mean]
        if any(_says_another(run.record, metric, mean) for run, mean in zip(arm.runs, means, strict=True)):
            found.append(arm)
    return found


def _says_another(record: models.RunRecord | None, metric: str, mean: float | None) -> bool:
    said = None if record is None else record.scores.get(metric)
    return said is not None and mean is not None and not math.isclose(said, mean, rel_tol=1e-12, abs_tol=1e-15)


def _unscored(read: Sequence[ArmValues], metric: str) -> list[str]:
    """The third count beside the scored and the failed ones."""
    counts = [(each.arm, each.unscored) for each in read if each.unscored]
    said = [f"{cut(arm.config_id)} {count} of {arm.n_items}" for arm, count in counts[:NAMED]]
    more = f" and {len(counts) - NAMED} more" if len(counts) > NAMED else ""
    return [f"items without {metric} that did not fail: {', '.join(said)}{more}"] if said else []


def _costs(read: Sequence[ArmValues], columns: Mapping[str, str]) -> list[str]:
    if COST not in columns:
        return ["no cost was recorded"]
    values = [(each.arm, each.cells.get(COST)) for each in read]
    partly = [f"{cut(arm.config_id)} {value.n} of {value.of}" for arm, value in values if value and value.n < value.of]
    notices = []
    if partly:
        more = f" and {len(partly) - NAMED} more" if len(partly) > NAMED else ""
        notices.append(f"items with a price: {', '.join(partly[:NAMED])}{more}; totals are of those")
    if free := [arm for arm, value in values if value is None]:
        notices.append(f"without any cost recorded: {_names(free)}")
    return notices


def _names(arms: Sequence[Arm]) -> str:
    more = f" and {len(arms) - NAMED} more" if len(arms) > NAMED else ""
    return ", ".join(cut(arm.config_id) for arm in arms[:NAMED]) + more
