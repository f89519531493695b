# Generated from schema/v1 by `make generate` (all files, sha256 aa5aaa6a9b9e5e1467f96e142e22909e922dd8c64728689cca38fe135d25dcd7). Edit the schema, not this file.
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
