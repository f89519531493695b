# Generated from schema/v1 by `make generate` (all files, sha256 fd111b4c66d2d66dc2ecdb934f95a0d28d2074f1e6f9fb02ac59c13b55fb02a4). Edit the schema, not this file.
"""What a struct's slot holds for an open object: the plain dict; reading the member wraps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.protocol.models import _open

    PredictionRowSlot = _open.PredictionRow
    FingerprintModelSlot = _open.FingerprintModel
    TaskDataSlot = _open.TaskData
    ArtifactSlot = _open.Artifact
    TaskTimeoutSlot = _open.TaskTimeout
    TaskResourcesSlot = _open.TaskResources
    AgentConfigSlot = _open.AgentConfig
    HarnessConfigSlot = _open.HarnessConfig
    ClientConfigSlot = _open.ClientConfig
    SamplingSlot = _open.Sampling
    AgentTimeoutSlot = _open.AgentTimeout
    RetryConfigSlot = _open.RetryConfig
    RuntimeSlot = _open.Runtime
    ToolSlot = _open.Tool
else:
    PredictionRowSlot = FingerprintModelSlot = TaskDataSlot = ArtifactSlot = TaskTimeoutSlot = TaskResourcesSlot = (
        AgentConfigSlot
    ) = HarnessConfigSlot = ClientConfigSlot = SamplingSlot = AgentTimeoutSlot = RetryConfigSlot = RuntimeSlot = (
        ToolSlot
    ) = dict[str, Any]
