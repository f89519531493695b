# Generated from schema/v1 by `make generate` (all files, sha256 fd111b4c66d2d66dc2ecdb934f95a0d28d2074f1e6f9fb02ac59c13b55fb02a4). Edit the schema, not this file.
"""The records of the contract."""

from __future__ import annotations

from typing import TypeAlias

from evh.protocol._finish import finish
from evh.protocol._tensor import Tensor
from evh.protocol.models._open import (
    AgentConfig,
    AgentTimeout,
    Artifact,
    ClientConfig,
    FingerprintModel,
    HarnessConfig,
    PredictionRow,
    RetryConfig,
    Runtime,
    Sampling,
    TaskData,
    TaskResources,
    TaskTimeout,
    Tool,
)
from evh.protocol.models.attempt import Attempt
from evh.protocol.models.baseline import Baseline
from evh.protocol.models.config import Config
from evh.protocol.models.dataset import Dataset, DatasetItem
from evh.protocol.models.derived import (
    JudgeDerived,
    JudgeWith,
    ReparseDerived,
    ReparseWith,
    RescoreDerived,
    RescoreWith,
    UnknownDerived,
)
from evh.protocol.models.episode import EnvInfo, Episode, GroupInfo
from evh.protocol.models.goal import Goal, GoalRequires
from evh.protocol.models.item_error import ItemError
from evh.protocol.models.lease import Lease
from evh.protocol.models.reference_manifest import ReferenceManifest
from evh.protocol.models.run_info import (
    EvalRunInfo,
    EvalWorkInfo,
    PolicySpan,
    TrainRunInfo,
    TrainWorkInfo,
    UnknownRunInfo,
    UnknownWorkInfo,
)
from evh.protocol.models.run_manifest import ConfigSource, RunManifest
from evh.protocol.models.run_record import (
    Build,
    Fingerprint,
    FingerprintAdapter,
    FingerprintArm,
    FingerprintData,
    FingerprintHarness,
    FingerprintHost,
    FingerprintInstrument,
    FingerprintSystem,
    Imported,
    ReferenceCoverage,
    Resume,
    RunRecord,
)
from evh.protocol.models.trace import (
    ACPInfo,
    AgentInfo,
    AgentSpan,
    AssistantMessage,
    Error,
    ImageSource,
    ImageUrlPart,
    InterceptRecord,
    MessageNode,
    ModelCall,
    ParentLink,
    PolicyEvent,
    Reward,
    SamplingMask,
    SystemMessage,
    TextPart,
    TimeSpan,
    TimeSplit,
    Timing,
    ToolCall,
    ToolMessage,
    Trace,
    TraceTask,
    UnknownContentPart,
    UnknownMessage,
    Usage,
    UserMessage,
    VersionInfo,
)

Derived: TypeAlias = RescoreDerived | JudgeDerived | ReparseDerived | UnknownDerived
"""The provenance of a derived run, told apart by `kind`."""

RunInfo: TypeAlias = EvalRunInfo | TrainRunInfo | UnknownRunInfo
"""A stand-alone evaluation run or a training run, told apart by `type`."""

WorkInfo: TypeAlias = TrainWorkInfo | EvalWorkInfo | UnknownWorkInfo
"""Work of a training run: episodes to train on, or an evaluation inside the run."""

Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage | UnknownMessage
"""A chat message, told apart by `role`."""

ContentPart: TypeAlias = TextPart | ImageUrlPart | UnknownContentPart
"""A part of a message's content, told apart by `type`."""

__all__ = [
    "ACPInfo",
    "AgentConfig",
    "AgentInfo",
    "AgentSpan",
    "AgentTimeout",
    "Artifact",
    "AssistantMessage",
    "Attempt",
    "Baseline",
    "Build",
    "ClientConfig",
    "Config",
    "ConfigSource",
    "ContentPart",
    "Dataset",
    "DatasetItem",
    "Derived",
    "EnvInfo",
    "Episode",
    "Error",
    "EvalRunInfo",
    "EvalWorkInfo",
    "Fingerprint",
    "FingerprintAdapter",
    "FingerprintArm",
    "FingerprintData",
    "FingerprintHarness",
    "FingerprintHost",
    "FingerprintInstrument",
    "FingerprintModel",
    "FingerprintSystem",
    "Goal",
    "GoalRequires",
    "GroupInfo",
    "HarnessConfig",
    "ImageSource",
    "ImageUrlPart",
    "Imported",
    "InterceptRecord",
    "ItemError",
    "JudgeDerived",
    "JudgeWith",
    "Lease",
    "Message",
    "MessageNode",
    "ModelCall",
    "ParentLink",
    "PolicyEvent",
    "PolicySpan",
    "PredictionRow",
    "ReferenceCoverage",
    "ReferenceManifest",
    "ReparseDerived",
    "ReparseWith",
    "RescoreDerived",
    "RescoreWith",
    "Resume",
    "RetryConfig",
    "Reward",
    "RunInfo",
    "RunManifest",
    "RunRecord",
    "Runtime",
    "Sampling",
    "SamplingMask",
    "SystemMessage",
    "TaskData",
    "TaskResources",
    "TaskTimeout",
    "Tensor",
    "TextPart",
    "TimeSpan",
    "TimeSplit",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolMessage",
    "Trace",
    "TraceTask",
    "TrainRunInfo",
    "TrainWorkInfo",
    "UnknownContentPart",
    "UnknownDerived",
    "UnknownMessage",
    "UnknownRunInfo",
    "UnknownWorkInfo",
    "Usage",
    "UserMessage",
    "VersionInfo",
    "WorkInfo",
]

finish(globals())
