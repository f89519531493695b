"""Which run an episode belongs to: what a live run makes of the records it is given, and how it stamps them.

Promise: an `Episode` that is given is the object that is stamped and written. A bare `Trace` is wrapped once, and the
episode around it is the one that is written. A mapping, or what `to_record()` gives, becomes an episode of today,
whatever its age. An episode that carries another run's stamp is refused: a record belongs to one run.
When it breaks: `UsageError` for what is no record or belongs elsewhere, any other `EvhError` for a record that is
broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evh.errors import RecordError, UsageError, cut
from evh.protocol import models
from evh.protocol.behaviour.messages import tag_of
from evh.protocol.jsontext import dumps
from evh.protocol.upgraded import upgrade

__all__ = ["Identity", "episode_of"]

KINDS = {"eval": models.EvalRunInfo, "train": models.TrainRunInfo}
Work = models.TrainWorkInfo | models.EvalWorkInfo


class Identity(NamedTuple):
    """A run as its episodes name it."""

    run_id: str
    kind: str
    name: str | None = None

    def info(self, work: Work | None = None) -> models.EvalRunInfo | models.TrainRunInfo:
        """The stamp of this run. Raises `UsageError` when a training run is not told what the episode is for."""
        if self.kind == "eval":
            if work is not None:
                raise UsageError("work is said of the episodes of a training run; this run is an evaluation")
            return models.EvalRunInfo(id=self.run_id, name=self.name)
        if not isinstance(work, Work):
            raise UsageError(
                "an episode of a training run says what it was dispatched for: give work=TrainWorkInfo(step=…) or "
                f"EvalWorkInfo(step=…), or stamp it with record_run(run.info(work)) before; found {cut(work)}"
            )
        return models.TrainRunInfo(id=self.run_id, name=self.name, work=work)

    def stamp(self, episode: models.Episode, work: Work | None = None) -> None:
        """Say on an episode that it belongs to this run; one that says so already stays as it is."""
        held = episode.run
        if held is None:
            episode.record_run(self.info(work))
            return
        if not isinstance(held, KINDS[self.kind]) or held.id != self.run_id:
            if isinstance(held, models.UnknownRunInfo):
                kind, said = held.value.get("type"), held.value.get("id")
            else:
                kind, said = tag_of(held), held.id
            raise UsageError(
                f"the episode {cut(episode.id)} belongs to the {kind} run {cut(said)}, this is the {self.kind} run "
                f"{cut(self.run_id)}: log it to its own run, or open this one with run_id={cut(said)}"
            )


def episode_of(record: Any) -> models.Episode:
    """The episode that a record is or becomes. Raises `UsageError` for what is no record."""
    if isinstance(record, models.Episode):
        return record
    if isinstance(record, models.Trace):
        return models.Episode.of(record)
    plain = record
    if not isinstance(plain, Mapping):
        plain = _given(record)
        if not isinstance(plain, Mapping):
            raise UsageError(
                f"expected an Episode, a Trace, a mapping or an object with to_record(), not {type(record).__name__}"
            )
    try:
        return upgrade(dumps(dict(plain))).record
    except RecordError as error:
        raise RecordError(_bare(error), pointer=error.pointer, source=_name_of(plain)) from None


def _given(record: Any) -> Any:
    """What `to_record()` of an object of somebody else gives; None when it has no such method."""
    give = getattr(record, "to_record", None)
    if not callable(give) or isinstance(record, type):
        return None
    try:
        return give()
    except Exception as error:
        raise RecordError(f"to_record() of a {type(record).__name__} failed: {type(error).__name__}: {error}") from None


def _bare(error: RecordError) -> str:
    return error.message.removeprefix(f"{error.pointer}: ")


def _name_of(plain: Mapping[str, Any]) -> str | None:
    name = plain.get("id")
    return f"the record {cut(name)}" if isinstance(name, str) else None
