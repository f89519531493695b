"""Judging stored outputs with a model: the scorer's file, the calls, the verdicts, and the derived run of them."""

from __future__ import annotations

from evh.harness.judging.judge import JudgedRun, JudgeOptions, Judging, judge_runs
from evh.harness.judging.scorer import JudgeScorer, load_judge_scorer

__all__ = ["JudgeOptions", "JudgeScorer", "JudgedRun", "Judging", "judge_runs", "load_judge_scorer"]
