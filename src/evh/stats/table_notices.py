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
from evh.stats.direction import Direction, kinds_conflict
from evh.stats.provenance import MEASURED, Provenance, different_instruments
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
        ("with runs scored by different scorers", [a for a, each in pairs if len(each.scorers) > 1]),
        ("with references for some items only", [a for a, each in pairs if each.partly_referenced]),
        ("answered by several providers", [a for a, each in pairs if len(each.providers) > 1]),
        ("with failed rows", [arm for arm in arms if arm.n_errors]),
        ("with a record whose score is not the mean of its rows (rounded?); the rows count", _rounded(read, metric)),
    ]
    notices += [f"{what}: {_names(which)}" for what, which in checks if which]
    if said := different_instruments(found):
        notices.append(said)
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
    for name in columns:
        if conflict := kinds_conflict(name, records):
            yield conflict


def _versions(arms: Sequence[Arm]) -> list[str]:
    """Configs that differ in their version only."""
    stems: dict[str, list[Arm]] = {}
    for arm in arms:
        stems.setdefault(VERSION.sub("", arm.config_id), []).append(arm)
    return [f"several versions of one config: {_names(each)}" for each in stems.values() if len(each) > 1]


def _rounded(read: Sequence[ArmValues], metric: str) -> list[Arm]:
    """Arms of one run whose record says another number than its rows."""
    found = []
    for each in read:
        record, value = each.arm.runs[0].record, each.cells.get(metric)
        said = None if record is None or len(each.arm.runs) > 1 else record.scores.get(metric)
        if said is not None and value is not None and not math.isclose(said, value.mean, rel_tol=1e-12, abs_tol=1e-15):
            found.append(each.arm)
    return found


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
