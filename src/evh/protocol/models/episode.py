# Generated from schema/v1 by `make generate` (episode.json, sha256 62256ca0e94b6dda486001bf2fc96caf67d563b95caeb03149447dc51e2386db). Edit the schema, not this file.
"""The closed types of `schema/v1/episode.json`: episode."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    ABSENT,
    MINTED,
    ComputedSlot,
    Model,
    OverflowSlot,
    always,
    new_list,
)
from evh.protocol.behaviour import EpisodeBehaviour

from .run_info import EvalRunInfo, TrainRunInfo, UnknownRunInfo
from .trace import Error, Trace, TraceTask


class EnvInfo(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Identity of an environment."""

    id: str = field(default_factory=always(""))
    """Identity, such as `gsm8k` or `agentic-judge+gsm8k`; empty when unknown."""
    name: str | None = None
    """The name a consumer gave it."""
    additional: OverflowSlot = field(default=None, name="*")


class Episode(
    EpisodeBehaviour,
    Model,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
    gc=False,
):
    """One dispatched unit of work, with one Trace per agent that took part. One line of `traces.jsonl`. An episode may have no traces at all (cancelled, or failed before any agent ran); it still says which run it belongs to."""

    schema: Annotated[str, Meta(max_length=32, pattern="^evh:1\\.(0|[1-9][0-9]{0,3}):episode(?!\\n)$")] | None = None
    """Version of this schema that the writer knew, as `evh:<major>.<minor>:episode`. Optional on reading."""
    id: str = MINTED
    """Identity of the episode, made once and kept for ever; 32 lower-case hexadecimal digits when made here."""
    env: EnvInfo = field(default_factory=lambda: EnvInfo())
    """The environment that ran the episode."""
    task: TraceTask
    """The task that was dispatched; present even when there are no traces."""
    group: GroupInfo | None = None
    """The cohort a consumer put the episode in, such as the rollouts of one prompt; null when in none."""
    run: EvalRunInfo | TrainRunInfo | UnknownRunInfo | None = None
    """The run the episode belongs to, stamped by the consumer; null when nobody stamped it."""
    ok: bool = field(default_factory=always(False))
    """The verdict: true when every trace succeeded and no episode-level hook failed. The only signal of success."""
    is_timeout: bool = field(default_factory=always(False))
    """True when the episode ran past its deadline."""
    errors: list[Error] = field(default_factory=new_list)
    """Episode-level errors, oldest first; a retried success keeps its history."""
    traces: list[Trace] = field(default_factory=new_list)
    """One trace per agent, in order of completion."""
    info: dict[str, Any] = field(default_factory=dict)
    """Free notes about the episode as a whole, merged in by `record_run`. The key `evh` is reserved: `upgrade` and `convert` keep there what has no other place."""
    computed_num_input_tokens: ComputedSlot = field(default=ABSENT, name="num_input_tokens")
    """Input tokens, new in each call, over all traces. Written by other writers, recomputed here."""
    computed_num_output_tokens: ComputedSlot = field(default=ABSENT, name="num_output_tokens")
    """Output tokens over all traces. Written by other writers, recomputed here."""
    computed_num_total_tokens: ComputedSlot = field(default=ABSENT, name="num_total_tokens")
    """Input and output tokens over all traces. Written by other writers, recomputed here."""
    additional: OverflowSlot = field(default=None, name="*")


class GroupInfo(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """A cohort of episodes."""

    id: str
    """Identity of the cohort."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any
