"""S16, S17, S24: which run a row belongs to, from every place it has stood in, to `Episode.run`.

Promise: an episode has one run. When its traces disagree, the first one wins, the others are kept aside on their
traces and reported; a run that says nothing new is dropped with a pointer to where it stands. An evaluation inside a
training run becomes `train` with `work.type` `eval` when something says that there is a training run; otherwise it
stays `eval` and its step is kept aside. Policy: `unknown` stands for an identity that was never written, 0 for a step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from evh.protocol.upgrade.detect import is_old_run, members
from evh.protocol.upgrade.step import Record, Step, token

__all__ = ["keep_run", "lift_runs"]

UNKNOWN_RUN = "unknown"
UNKNOWN_STEP = 0
ORDER = ("type", "id", "name", "work")


class Change(NamedTuple):
    """One change between a written run and today's form; pointers are relative to the run."""

    action: str
    tail: str
    to: str | None
    value: Any
    note: str


class Form(NamedTuple):
    """A run in today's form, the changes that led there, and what the written one said, by pointer."""

    run: dict[str, Any]
    changes: list[Change]
    facts: dict[str, str]


def lift_runs(episode: Record, traces: list[Record]) -> None:
    """S16 (17 Jul to 20 Aug): the run stood on every trace; S17 (4 and 5 Aug): on the episode, in the old form;
    S24 (uploaded copies): on both. One run for the episode, from its own member or the first trace that has one."""
    own = episode.doc.get("run")
    training = _is_training(own) or any(_says_training(trace.doc) for trace in traces)
    form: Form | None = None
    if isinstance(own, dict):
        form = _today(own, training=training) if is_old_run(own) else Form(own, [], _facts(own, set()))
        episode.doc["run"] = form.run
        _report(episode, episode, "S17", form)
    for trace in traces:
        if "run" not in trace.doc:
            continue
        rule = "S16" if own is None else "S24"
        member = trace.doc.pop("run")
        if member is None:
            trace.dropped(rule, "/run", None, "a null says nothing")
            continue
        if not isinstance(member, dict):
            trace.keep(rule, "/run", member, "not a run")
            continue
        found = _today(member, training=training)
        if form is None and own is None:
            if "run" in episode.doc:
                episode.dropped(rule, "/run", None, "a null says nothing")
            form, episode.doc["run"] = found, found.run
            trace.steps.append(Step(rule, "moved", trace.src + "/run", episode.dst + "/run"))
            _report(trace, episode, rule, found)
        elif form is not None and found.facts.items() <= form.facts.items():
            note = "the episode says the same"
            trace.steps.append(Step(rule, "dropped", trace.src + "/run", episode.dst + "/run", note, member))
            _report(trace, episode, rule, found, redundant=True)
        else:
            trace.keep(rule, "/run", member, "another run than the episode's, which is the first that was named")


def keep_run(trace: Record) -> None:
    """S16 for a row that stays a trace: it has no episode to say its run, so the run is kept aside."""
    if "run" in trace.doc:
        run = trace.doc.pop("run")
        if run is None:
            trace.dropped("S16", "/run", None, "a null says nothing")
        else:
            trace.keep("S16", "/run", run, "a trace does not say its run; its episode does")


def _report(owner: Record, episode: Record, rule: str, form: Form, *, redundant: bool = False) -> None:
    for action, tail, to, value, note in form.changes:
        target = None if to is None else f"{episode.dst}/run{to}"
        if action == "kept":
            owner.keep(rule, "/run" + tail, value, note)
        elif action == "added":
            if not redundant:
                owner.steps.append(Step(rule, "added", target or "", target, note, value))
        elif redundant:
            said = target if value is not None else None
            why = note or "the episode says the same"
            owner.steps.append(Step(rule, "dropped", f"{owner.src}/run{tail}", said, why, value))
        else:
            owner.steps.append(Step(rule, action, f"{owner.src}/run{tail}", target, note, value))


def _is_training(run: Any) -> bool:
    return isinstance(run, dict) and _kind(run) == "train"


def _says_training(trace: dict[str, Any]) -> bool:
    """Whether a trace says that a training run made it: by its run, or by the policy version a trainer notes."""
    return _is_training(trace.get("run")) or isinstance(members(trace.get("info")).get("policy_version"), int | dict)


def _kind(run: dict[str, Any]) -> str:
    kind = run.get("type")
    if kind is not None:
        return kind if isinstance(kind, str) else ""
    return "train" if run.get("work") is not None or run.get("step") is not None else "eval"


def _today(written: dict[str, Any], *, training: bool) -> Form:
    """A run in today's form: its type told, its identity filled, its step inside `work`."""
    kind = _kind(written)
    if kind not in ("eval", "train"):
        return Form(written, [], _facts(written, set()))
    run = {name: value for name, value in written.items() if value is not None and name != "step"}
    changes = [
        Change("dropped", token(name), None, None, "a null says nothing")
        for name, value in written.items()
        if value is None and name not in ("type", "id")
    ]
    made: set[str] = set()
    step = written.get("step")
    if step is not None:
        _place_step(written, run, kind, training, changes)
    run.setdefault("type", kind)
    if written.get("type") is None:
        note = f"not written: {run['type']}, by the members that are there"
        made.add("/type")
        changes.append(_filled(written, "type", run["type"], note))
    if "id" not in run:
        run["id"] = UNKNOWN_RUN
        made.add("/id")
        changes.append(_filled(written, "id", UNKNOWN_RUN, "the run's identity was never written: a placeholder"))
    if run["type"] == "train" and "work" not in run:
        run["work"] = {"type": "train", "step": UNKNOWN_STEP}
        made.add("/work")
        note = "a training run without a step: 0 is a placeholder"
        changes.append(Change("added", "", "/work", run["work"], note))
    ordered = {name: run[name] for name in ORDER if name in run} | run
    return Form(ordered, changes, _facts(ordered, made))


def _place_step(written: dict[str, Any], run: dict[str, Any], kind: str, training: bool, changes: list[Change]) -> None:
    """Put a run's own step into `work`, or aside."""
    step, work = written["step"], written.get("work")
    if work is not None:
        if isinstance(work, dict) and repr(work.get("step")) == repr(step):
            changes.append(Change("moved", "/step", "/work/step", step, "work says the same"))
        else:
            changes.append(Change("kept", "/step", None, step, "work says something else"))
    elif kind == "train":
        run["work"] = {"type": "train", "step": step}
        changes.append(Change("moved", "/step", "/work/step", step, ""))
    elif training:
        run["type"] = "train"
        run["work"] = {"type": "eval", "step": step}
        changes.append(Change("moved", "/step", "/work/step", step, "an evaluation inside a training run"))
        if written.get("type") is not None:
            changes.append(Change("moved", "/type", "/work/type", kind, "an evaluation inside a training run"))
    else:
        changes.append(Change("kept", "/step", None, step, "a run that is not known to train has no step"))


def _filled(written: dict[str, Any], name: str, value: str, note: str) -> Change:
    at = token(name)
    return Change("repaired", at, at, None, note) if name in written else Change("added", "", at, value, note)


def _facts(run: dict[str, Any], made: set[str]) -> dict[str, str]:
    """What a run says, by pointer, as text that tells 1, 1.0 and true apart; nulls and made members say nothing."""
    facts: dict[str, str] = {}
    for name, value in run.items():
        at = token(name)
        if value is None or at in made:
            continue
        if name == "work" and isinstance(value, dict):
            facts.update((at + token(part), repr(inner)) for part, inner in value.items() if inner is not None)
        else:
            facts[at] = repr(value)
    return facts
