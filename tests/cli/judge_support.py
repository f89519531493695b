"""A judge to write, an endpoint that answers as told, and the runs that come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evh.store import open_run_dir
from tests.support.chat_server import ChatServer, Reply, answer
from tests.support.run_project import RunProject

SCORER = """
SCORER_ID = "helpful"
PARAMS = {"model": "judge-1", "base_url": "URL"}
PRIMARY_METRIC = "grade"
METRIC_KINDS = {"grade": "quality"}
METRIC_DIRECTIONS = {"grade": "higher"}
QUESTION = "Grade this from 0 to 1: "


def prompt(output, reference=None, source_text=None):
    return QUESTION + output


def parse(reply):
    head, _, grade = reply.partition("GRADE: ")
    return {"grade": float(grade)} if grade.replace(".", "").isdigit() else None
"""


def write_judge(project: RunProject, server: ChatServer, text: str = SCORER) -> Path:
    path = project.root / "judge.py"
    path.write_text(text.replace("URL", server.url), "utf-8")
    return path


def graded(*grades: object, cost: float = 0.01) -> list[Reply]:
    return [answer(f"GRADE: {grade}", usage={"cost": cost}) for grade in grades]


def judged(project: RunProject, name: str = "helpful") -> Any:
    return open_run_dir(project.root / "data" / "runs-judged" / name / "arm-x")


def rows(run: Any) -> dict[str, dict[str, Any]]:
    return {each.item_id: each.value.plain() for each in run.rows()}


def judged_folder(project: RunProject) -> Path:
    return project.root / "data" / "runs-judged" / "helpful" / "arm-x"
