"""Shaping a row of today's form for a named release of another library, and the way back.

Promised: a converted row is read by that release's own loaders, and every value that the release models comes back
from its re-save unchanged, apart from what no release keeps (digits of per-token floats beyond four decimals in
0.4.0's JSON, numbers that are not finite). What the release refuses or drops is in the stash and named in the steps;
`restore_document` puts it back. A row that suits the release comes out equal, with its keys in their order, and
converting a converted row changes nothing. Neither function changes its argument.
Policy: a row with a stash is restored first, so that a chain of conversions loses nothing. A release is never handed a
message graph that it cannot walk.
What an episode without traces cannot keep (it has no place for a stash) is a step with the action `dropped`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evh.errors import RecordError, UsageError
from evh.protocol.convert.agent_config import AFTER, BEFORE, NEAREST
from evh.protocol.convert.clean import cleaned
from evh.protocol.convert.graph import cut_faults
from evh.protocol.convert.shape import Shaper
from evh.protocol.convert.stash import Owner, has_stash, open_place, put_back
from evh.protocol.convert.targets import Target, passes
from evh.protocol.upgrade.step import Step

__all__ = ["Counts", "convert_document", "restore_document"]

COMPUTED = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
TOO_DEEP = "nested too deeply to be converted"


class Counts(NamedTuple):
    """Token counts as 0.4.0 writes them, (input, output, total): of the episode, and of each trace in order."""

    episode: tuple[int, int, int]
    traces: list[tuple[int, int, int]]


def convert_document(
    doc: dict[str, Any], target: str, counts: Counts | None = None
) -> tuple[dict[str, Any], list[Step]]:
    """A row of today's form as `target` reads it, and what was done.

    `counts` are written for `verifiers-0.4` alone; without them the computed members are left out, and the release
    computes them. Pointers of the steps go into `doc` (after its own stash was put back, if it had one) and, as `to`,
    into the result.

    Raises `UsageError` for an unknown target or counts that do not go with the traces, and `RecordError` when the row
    is not of today's form to a degree that no stash can mend (a trace without its agent, say).
    """
    releases = passes(target)
    try:
        base, back = restore_document(doc) if any(map(has_stash, _traces(doc))) else (doc, [])
        result, steps = _converted(base, releases, counts if target == "verifiers-0.4" else None)
    except RecursionError as error:
        raise RecordError(TOO_DEEP) from error
    if back and result == doc:
        return result, []
    return result, back + steps


def restore_document(doc: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """A converted row, perhaps re-saved by its release, with its stash put back, and what was done.

    A row without a stash comes back equal, but for the name of the sampling masks on the wire. Raises `RecordError`
    for a row whose traces are no list of objects, or one that is nested too deeply.
    """
    try:
        result = _clone(doc)
    except RecursionError as error:
        raise RecordError(TOO_DEEP) from error
    traces = _traces(result)
    steps: list[Step] = []
    if traces and has_stash(traces[0]):
        steps += put_back(result, traces[0], "episode", "", "/traces/0")
    for index, trace in enumerate(traces):
        place = f"/traces/{index}"
        if has_stash(trace):
            steps += put_back(trace, trace, "stash", place, place)
        steps += _masks_by_todays_name(trace, place)
    return result, steps


def _converted(
    doc: dict[str, Any], releases: Sequence[Target], counts: Counts | None
) -> tuple[dict[str, Any], list[Step]]:
    steps: list[Step] = []
    sources = _traces(doc)
    if counts is not None and len(counts.traces) != len(sources):
        raise UsageError(f"counts for {len(counts.traces)} traces do not go with {len(sources)} traces")
    traces: list[dict[str, Any]] = [{} for _ in sources]
    result: dict[str, Any] = {}
    owner = Owner(result, "", traces[0] if traces else None, "/traces/0")
    result.update(cleaned({key: value for key, value in doc.items() if key != "traces"}, owner, "", steps))
    _count(result, counts.episode if counts else None, "", steps)
    _shape(result, "Episode", owner, releases, steps)
    owners = []
    for index, trace in enumerate(traces):
        place = f"/traces/{index}"
        own = Owner(trace, place, trace, place)
        trace.update(cleaned(sources[index], own, "", steps))
        _count(trace, counts.traces[index] if counts else None, place, steps)
        _shape(trace, "Trace", own, releases, steps)
        _mend_graph(trace, own, steps)
        owners.append(own)
    for own in owners:
        if own.holds_anything or (own is owners[0] and owner.holds_anything):
            open_place(own, steps)
    for own in (owner, *owners):
        own.write()
    steps = list(_placed(steps, [owner, *owners]))
    if "traces" not in doc:
        result["traces"] = []
        steps.append(Step("required", "added", "/traces", "/traces", "the releases' readers of files require it", []))
    ordered = {key: traces if key == "traces" else result[key] for key in doc if key == "traces" or key in result}
    return ordered | result, steps


def _placed(steps: list[Step], owners: Sequence[Owner]) -> Iterator[Step]:
    """The steps, with places that a later step put into the stash named as they are in the result."""
    for step in steps:
        if step.to is None or "/info/evh/" in step.to:
            yield step
            continue
        owner = next(owner for owner in reversed(owners) if (step.to + "/").startswith(owner.pointer + "/"))
        to = owner.where(step.to.removeprefix(owner.pointer))
        if to is not None:
            yield step._replace(to=to, pointer=to if step.action == "added" else step.pointer)
        elif step.action != "added":
            yield step._replace(action="dropped", to=None)


def _shape(record: dict[str, Any], name: str, owner: Owner, releases: Sequence[Target], steps: list[Step]) -> None:
    computed = {key: record.pop(key) for key in COMPUTED if key in record}
    for release in releases:
        shaper = Shaper(release, owner, steps, before=BEFORE, after=AFTER, nearest=NEAREST, common=len(releases) > 1)
        if not shaper.object(record, name, ""):
            message = f"cannot be shaped for {release.name}: upgrade the row, or mend this place by hand"
            raise RecordError(message, pointer=owner.pointer + shaper.unfit)
    record.update(computed)


def _count(record: dict[str, Any], counts: tuple[int, int, int] | None, place: str, steps: list[Step]) -> None:
    """Write the computed members last, where the release has them, or leave them out."""
    for index, key in enumerate(COMPUTED):
        stored = record.pop(key, None)
        at = f"{place}/{key}"
        if counts is not None:
            record[key] = counts[index]
            if stored is None:
                steps.append(Step("counts", "added", at, at, "computed", counts[index]))
            elif stored != counts[index]:
                steps.append(Step("counts", "repaired", at, at, "computed again", stored))
        elif stored is not None:
            steps.append(Step("counts", "dropped", at, None, "computed by whoever reads the row", stored))


def _mend_graph(trace: dict[str, Any], owner: Owner, steps: list[Step]) -> None:
    nodes = trace.get("nodes") or []

    def cut(index: int, why: str) -> None:
        owner.keep(steps, Step("graph", "moved", f"/nodes/{index}/parent", None, why, nodes[index].pop("parent")))

    cut_faults(nodes, cut)


def _masks_by_todays_name(trace: dict[str, Any], place: str) -> list[Step]:
    found = trace.get("nodes")
    nodes: list[Any] = found if isinstance(found, list) else []
    steps: list[Step] = []
    for index, node in enumerate(nodes):
        if isinstance(node, dict) and "kept_tokens" in node and "sampling_mask" not in node:
            renamed = {"sampling_mask" if key == "kept_tokens" else key: value for key, value in node.items()}
            node.clear()
            node.update(renamed)
            at = f"{place}/nodes/{index}"
            steps.append(Step("mask", "moved", f"{at}/kept_tokens", f"{at}/sampling_mask", "its name today"))
    return steps


def _traces(doc: Any) -> list[dict[str, Any]]:
    if not isinstance(doc, dict):
        raise RecordError("a row is an object")
    traces = doc.get("traces", [])
    if not isinstance(traces, list):
        raise RecordError("the traces of an episode are a list", pointer="/traces")
    for index, trace in enumerate(traces):
        if not isinstance(trace, dict):
            raise RecordError("a trace is an object", pointer=f"/traces/{index}")
    return traces


def _clone(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clone(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clone(item) for item in value]
    return value
