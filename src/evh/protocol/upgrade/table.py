"""Every rule of the upgrade in one table: what a row shows, when rows were written so (2026), and what becomes of it.

Promise: a step's `rule` is a key of `RULES`. Policy: the wording. The functions that do it carry the same names in
their docstrings.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["RULES", "About"]


class About(NamedTuple):
    """What a rule is about: the shape it looks for, when it was written, and where its content goes."""

    shape: str
    written: str
    becomes: str


RULES: dict[str, About] = {
    "S0": About("a trace with a list of turns, `trajectory`, and no nodes", "9 to 10 Jun", "nodes and calls"),
    "S1": About("a bare trace on a line", "10 Jun to 21 Jul; by trainers to 20 Aug", "an episode of one trace"),
    "S2": About("a single `error`", "to 9 Jun", "the last of `errors`"),
    "S3": About("computed members: reward, branches, counts, durations", "9 to 17 Jun", "dropped where derivable"),
    "S4": About("`finish_reason` and `usage` on a node", "10 Jun to 17 Jul", "on the node's call"),
    "S5": About("a flat task", "to 10 Jul", "`task.data`, with an empty type; `instruction` is the prompt"),
    "S6": About("`runtime` at the top of a trace", "9 to 23 Jul", "`agent.runtime`, and a made config's runtime"),
    "S7": About("no agent, or one without a config", "to 30 Jul", "an agent with an empty config"),
    "S8": About("model, sampling and harness in the agent itself", "17 to 23 Jul", "`agent.config`"),
    "S9": About("`verifiers` null or absent, `tools` null", "to 30 Jul", "the version `unknown`; no tools"),
    "S10": About("a reward that is a number", "to 23 Jul", "a score of weight 1: the weight was applied"),
    "S11": About("a reward or metric that is null", "from 3 Aug", "stays: it was never scored"),
    "S12": About("`env` is a text", "21 to 30 Jul", "`env.id`"),
    "S13": About("`timing.generation`", "to 30 Jul", "`timing.agent`"),
    "S14": About("no `timing.boot`", "to 13 Jul", "an empty span"),
    "S15": About("an episode without a task", "21 Jul to 20 Aug", "the task of its first trace, or an empty one"),
    "S16": About("the run on each trace", "17 Jul to 20 Aug", "`run` of the episode; `step` stands in `work`"),
    "S17": About("the episode's run in the older form", "4 to 5 Aug", "today's form; the episode's `info` stays"),
    "S18": About("a trainer's notes in `info` of a bare trace", "23 Jun to 20 Aug", "env, group, id and policy"),
    "S19": About("a trainer's rollouts as first-generation rows", "10 Apr to 23 Jun", "as `v0`"),
    "S20": About("the shape of 20 August", "from 20 Aug", "stays"),
    "S21": About("computed token counts; `kept_tokens` on nodes", "0.4.0, and before", "dropped; `sampling_mask`"),
    "S22": About("a directory of numbered chunks", "from Sep", "its rows are today's"),
    "S23": About("an agent's config with unknown members", "always", "stays: the config is open"),
    "S24": About("an uploaded copy: its traces say the run again", "from Aug", "dropped; kept aside when it differs"),
    "v0": About("a row of the first generation's `results.jsonl`", "to Jun, and since", "an episode of one trace"),
    "required": About("a missing id or start time", "never but by a fault", "made from what the row says"),
    "info": About("an `info` that has no room for what is kept aside", "never but by a fault", "kept aside itself"),
}
