"""A measured run to derive from, and deriving from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evh.harness.launch import measure
from evh.harness.project import Project
from evh.harness.rescore import Rescored, rescore_run
from evh.harness.run_attempt import Options
from evh.store.run_dir import RunDir, open_run_dir
from tests.support.run_project import RunProject

OTHER = '''
"""Another scorer: how many letters are capitals."""

PRIMARY_METRIC = "capitals"
METRIC_KINDS = {"capitals": "quality"}
METRIC_DIRECTIONS = {"capitals": "higher"}
METRIC_DESCRIPTIONS = {"capitals": "letters that are capitals"}


async def score(output, reference):
    return {"capitals": sum(letter.isupper() for letter in output)}
'''

EPISODES = """
from evh import AgentConfig, AgentInfo, AssistantMessage, Episode, MessageNode, Trace, TraceTask, UserMessage


def call_system(text, params):
    def trace(name, answer):
        made = Trace(
            task=TraceTask(type="T", key=text, data={}),
            agent=AgentInfo(config=AgentConfig({"model": name})),
            nodes=[
                MessageNode(message=UserMessage(content=text)),
                MessageNode(message=AssistantMessage(content=answer), parent=0, sampled=True),
            ],
            ok=True,
        )
        made.record_reward("exact", len(text) / 7)
        return made

    traces = [trace("a", text.upper()), trace("b", text * 2)]
    return Episode(id="of " + text, task=traces[0].task, traces=traces, ok=True)


def score_episode(episode, reference):
    return {"agents": len(episode.traces), "said": sum(len(each.last_reply) for each in episode.traces)}
"""


@contextmanager
def environment(project: RunProject) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(project.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def measured(project: RunProject, **options: Any) -> RunDir:
    """The run of the project's config, whatever its calls cost."""
    with environment(project):
        [done] = measure(Project(project.root), project.config, options=Options(**options), environ=project.environ)
    return open_run_dir(done.directory)


def scored(project: RunProject, run: RunDir, out: str | Path = "runs-rescored", **more: Any) -> Rescored:
    return rescore_run(Project(project.root), run, project.root / "data" / out, **more)


def other(project: RunProject, text: str = OTHER) -> Path:
    """Another scorer's file in the project."""
    path = project.root / "data" / "configs" / "other.py"
    path.write_text(text, "utf-8")
    return path
