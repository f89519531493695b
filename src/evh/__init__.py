"""One contract for AI evaluation and RL runs: records, their codec, every shape they have had.

    import evh
    for episode in evh.read_episodes("traces.jsonl"):
        print(episode.id, episode.ok, [trace.reward for trace in episode.traces])

Names are loaded on first use, so that `import evh` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh._version import __version__

if TYPE_CHECKING:
    from evh.errors import DecodeError as DecodeError
    from evh.errors import EvhError as EvhError
    from evh.errors import LockedError as LockedError
    from evh.errors import Notice as Notice
    from evh.errors import NotWritable as NotWritable
    from evh.errors import RecordError as RecordError
    from evh.errors import RunFinishedError as RunFinishedError
    from evh.errors import SchemaError as SchemaError
    from evh.errors import SourceError as SourceError
    from evh.errors import UsageError as UsageError
    from evh.errors import Violation as Violation
    from evh.errors import WriteError as WriteError
    from evh.harness.result import Result as Result
    from evh.live.joining import join_run as join_run
    from evh.live.opening import open_run as open_run
    from evh.live.run import LiveRun as LiveRun
    from evh.protocol.behaviour import Branch as Branch
    from evh.protocol.codec import decode as decode
    from evh.protocol.codec import decode_strict as decode_strict
    from evh.protocol.codec import encode as encode
    from evh.protocol.converted import Converted as Converted
    from evh.protocol.converted import convert as convert
    from evh.protocol.converted import restore as restore
    from evh.protocol.engine import json_schema as json_schema
    from evh.protocol.models import ACPInfo as ACPInfo
    from evh.protocol.models import AgentConfig as AgentConfig
    from evh.protocol.models import AgentInfo as AgentInfo
    from evh.protocol.models import AgentSpan as AgentSpan
    from evh.protocol.models import AssistantMessage as AssistantMessage
    from evh.protocol.models import Baseline as Baseline
    from evh.protocol.models import Config as Config
    from evh.protocol.models import Dataset as Dataset
    from evh.protocol.models import Derived as Derived
    from evh.protocol.models import EnvInfo as EnvInfo
    from evh.protocol.models import Episode as Episode
    from evh.protocol.models import Episode as WireEpisode
    from evh.protocol.models import Error as Error
    from evh.protocol.models import EvalRunInfo as EvalRunInfo
    from evh.protocol.models import EvalWorkInfo as EvalWorkInfo
    from evh.protocol.models import Goal as Goal
    from evh.protocol.models import GroupInfo as GroupInfo
    from evh.protocol.models import ImageUrlPart as ImageUrlPart
    from evh.protocol.models import JudgeDerived as JudgeDerived
    from evh.protocol.models import MessageNode as MessageNode
    from evh.protocol.models import ModelCall as ModelCall
    from evh.protocol.models import PolicySpan as PolicySpan
    from evh.protocol.models import PredictionRow as PredictionRow
    from evh.protocol.models import ReparseDerived as ReparseDerived
    from evh.protocol.models import RescoreDerived as RescoreDerived
    from evh.protocol.models import Reward as Reward
    from evh.protocol.models import RunInfo as RunInfo
    from evh.protocol.models import RunManifest as RunManifest
    from evh.protocol.models import RunRecord as RunRecord
    from evh.protocol.models import Runtime as Runtime
    from evh.protocol.models import Sampling as Sampling
    from evh.protocol.models import SystemMessage as SystemMessage
    from evh.protocol.models import TaskData as TaskData
    from evh.protocol.models import Tensor as Tensor
    from evh.protocol.models import TextPart as TextPart
    from evh.protocol.models import TimeSpan as TimeSpan
    from evh.protocol.models import Timing as Timing
    from evh.protocol.models import Tool as Tool
    from evh.protocol.models import ToolCall as ToolCall
    from evh.protocol.models import ToolMessage as ToolMessage
    from evh.protocol.models import Trace as Trace
    from evh.protocol.models import Trace as WireTrace
    from evh.protocol.models import TraceTask as TraceTask
    from evh.protocol.models import TrainRunInfo as TrainRunInfo
    from evh.protocol.models import TrainWorkInfo as TrainWorkInfo
    from evh.protocol.models import Usage as Usage
    from evh.protocol.models import UserMessage as UserMessage
    from evh.protocol.models import VersionInfo as VersionInfo
    from evh.protocol.models import WorkInfo as WorkInfo
    from evh.protocol.reader import EpisodeReader as EpisodeReader
    from evh.protocol.reader import Row as Row
    from evh.protocol.reader import read_episodes as read_episodes
    from evh.protocol.reader import read_rows as read_rows
    from evh.protocol.summaries import Summary as Summary
    from evh.protocol.summaries import read_summaries as read_summaries
    from evh.protocol.upgrade.step import Step as Step
    from evh.protocol.upgraded import Upgraded as Upgraded
    from evh.protocol.upgraded import upgrade as upgrade
    from evh.protocol.verify import verify as verify
    from evh.store.arm import read_arm as read_arm
    from evh.store.run_dir import RunDir as RunDir
    from evh.store.run_dir import open_run_dir as open_run_dir
    from evh.store.writer import EpisodeWriter as EpisodeWriter

_HOMES = {
    "evh.errors": """
        DecodeError EvhError LockedError NotWritable Notice RecordError RunFinishedError SchemaError SourceError
        UsageError Violation WriteError
    """,
    "evh.protocol.behaviour": "Branch",
    "evh.protocol.codec": "decode decode_strict encode",
    "evh.protocol.converted": "Converted convert restore",
    "evh.protocol.engine": "json_schema",
    "evh.protocol.models": """
        ACPInfo AgentConfig AgentInfo AgentSpan AssistantMessage Baseline Config Dataset Derived EnvInfo
        Episode Error EvalRunInfo EvalWorkInfo Goal GroupInfo ImageUrlPart JudgeDerived MessageNode
        ModelCall PolicySpan PredictionRow ReparseDerived RescoreDerived Reward RunInfo RunManifest
        RunRecord Runtime Sampling SystemMessage TaskData Tensor TextPart TimeSpan Timing Tool ToolCall
        ToolMessage Trace TraceTask TrainRunInfo TrainWorkInfo Usage UserMessage VersionInfo WorkInfo
    """,
    "evh.protocol.reader": "EpisodeReader Row read_episodes read_rows",
    "evh.protocol.summaries": "Summary read_summaries",
    "evh.protocol.upgrade.step": "Step",
    "evh.protocol.upgraded": "Upgraded upgrade",
    "evh.protocol.verify": "verify",
    "evh.harness.result": "Result",
    "evh.live.joining": "join_run",
    "evh.live.opening": "open_run",
    "evh.live.run": "LiveRun",
    "evh.store.arm": "read_arm",
    "evh.store.run_dir": "RunDir open_run_dir",
    "evh.store.writer": "EpisodeWriter",
}
_ALIASES = {"WireEpisode": "Episode", "WireTrace": "Trace"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "ACPInfo",
    "AgentConfig",
    "AgentInfo",
    "AgentSpan",
    "AssistantMessage",
    "Baseline",
    "Branch",
    "Config",
    "Converted",
    "Dataset",
    "DecodeError",
    "Derived",
    "EnvInfo",
    "Episode",
    "EpisodeReader",
    "EpisodeWriter",
    "Error",
    "EvalRunInfo",
    "EvalWorkInfo",
    "EvhError",
    "Goal",
    "GroupInfo",
    "ImageUrlPart",
    "JudgeDerived",
    "LiveRun",
    "LockedError",
    "MessageNode",
    "ModelCall",
    "NotWritable",
    "Notice",
    "PolicySpan",
    "PredictionRow",
    "RecordError",
    "ReparseDerived",
    "RescoreDerived",
    "Result",
    "Reward",
    "Row",
    "RunDir",
    "RunFinishedError",
    "RunInfo",
    "RunManifest",
    "RunRecord",
    "Runtime",
    "Sampling",
    "SchemaError",
    "SourceError",
    "Step",
    "Summary",
    "SystemMessage",
    "TaskData",
    "Tensor",
    "TextPart",
    "TimeSpan",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolMessage",
    "Trace",
    "TraceTask",
    "TrainRunInfo",
    "TrainWorkInfo",
    "Upgraded",
    "Usage",
    "UsageError",
    "UserMessage",
    "VersionInfo",
    "Violation",
    "WireEpisode",
    "WireTrace",
    "WorkInfo",
    "WriteError",
    "__version__",
    "convert",
    "decode",
    "decode_strict",
    "encode",
    "join_run",
    "json_schema",
    "open_run",
    "open_run_dir",
    "read_arm",
    "read_episodes",
    "read_rows",
    "read_summaries",
    "restore",
    "upgrade",
    "verify",
]


if not TYPE_CHECKING:  # so that checkers refuse names that do not exist

    def __getattr__(name: str) -> Any:
        original = _ALIASES.get(name, name)
        home = _HOME_OF.get(original)
        if home is None:
            raise AttributeError(f"module 'evh' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(home), original)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
