# Generated from schema/v1 by `make generate` (all files, sha256 65cb59f4eec199aaae8b5617c5ee7764701ddd9346982f6f8238a69619c2b36c). Edit the schema, not this file.
"""What a struct's slot holds for an open object: the plain dict; reading the member wraps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.protocol.models import _open

    EnvironmentReferenceSlot = _open.EnvironmentReference
    EvaluationCreateSlot = _open.EvaluationCreate
    EvaluationCreatedSlot = _open.EvaluationCreated
    EvaluationUpdateSlot = _open.EvaluationUpdate
    EvaluationFinalizeSlot = _open.EvaluationFinalize
    EvaluationSlot = _open.Evaluation
    SamplesBodySlot = _open.SamplesBody
    SamplesAppendedSlot = _open.SamplesAppended
    EnvironmentResolveSlot = _open.EnvironmentResolve
    EnvironmentLookupSlot = _open.EnvironmentLookup
    EnvironmentEntrySlot = _open.EnvironmentEntry
    EnvironmentResolvedSlot = _open.EnvironmentResolved
    ErrorDetailSlot = _open.ErrorDetail
    ErrorEnvelopeSlot = _open.ErrorEnvelope
    CapabilitiesSlot = _open.Capabilities
    UploadMetadataSlot = _open.UploadMetadata
    UploadReceiptSlot = _open.UploadReceipt
    TraceModelSlot = _open.TraceModel
    TraceScoreSlot = _open.TraceScore
    TraceExecutionSlot = _open.TraceExecution
    TraceSummarySlot = _open.TraceSummary
    EpisodeFaultSlot = _open.EpisodeFault
    EpisodeSummarySlot = _open.EpisodeSummary
    EpisodeTotalsSlot = _open.EpisodeTotals
    RunSummarySlot = _open.RunSummary
    RunStepSlot = _open.RunStep
    IndexedMessageSlot = _open.IndexedMessage
    IndexedNodeSlot = _open.IndexedNode
    IndexedCallSlot = _open.IndexedCall
    SearchMatchSlot = _open.SearchMatch
    SearchCoverageSlot = _open.SearchCoverage
    TrainingEnvironmentSlot = _open.TrainingEnvironment
    ExternalRunCreateSlot = _open.ExternalRunCreate
    ExternalRunSlot = _open.ExternalRun
    ExternalRunCreatedSlot = _open.ExternalRunCreated
    RunMetricsSlot = _open.RunMetrics
    SamplesPresignSlot = _open.SamplesPresign
    PresignedUploadSlot = _open.PresignedUpload
    SamplesPresignedSlot = _open.SamplesPresigned
    SamplesConfirmSlot = _open.SamplesConfirm
    RftFinalizeSlot = _open.RftFinalize
    ExternalRunStatusSlot = _open.ExternalRunStatus
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
    EnvironmentReferenceSlot = EvaluationCreateSlot = EvaluationCreatedSlot = EvaluationUpdateSlot = (
        EvaluationFinalizeSlot
    ) = EvaluationSlot = SamplesBodySlot = SamplesAppendedSlot = EnvironmentResolveSlot = EnvironmentLookupSlot = (
        EnvironmentEntrySlot
    ) = EnvironmentResolvedSlot = ErrorDetailSlot = ErrorEnvelopeSlot = CapabilitiesSlot = UploadMetadataSlot = (
        UploadReceiptSlot
    ) = TraceModelSlot = TraceScoreSlot = TraceExecutionSlot = TraceSummarySlot = EpisodeFaultSlot = (
        EpisodeSummarySlot
    ) = EpisodeTotalsSlot = RunSummarySlot = RunStepSlot = IndexedMessageSlot = IndexedNodeSlot = IndexedCallSlot = (
        SearchMatchSlot
    ) = SearchCoverageSlot = TrainingEnvironmentSlot = ExternalRunCreateSlot = ExternalRunSlot = (
        ExternalRunCreatedSlot
    ) = RunMetricsSlot = SamplesPresignSlot = PresignedUploadSlot = SamplesPresignedSlot = SamplesConfirmSlot = (
        RftFinalizeSlot
    ) = ExternalRunStatusSlot = PredictionRowSlot = FingerprintModelSlot = TaskDataSlot = ArtifactSlot = (
        TaskTimeoutSlot
    ) = TaskResourcesSlot = AgentConfigSlot = HarnessConfigSlot = ClientConfigSlot = SamplingSlot = AgentTimeoutSlot = (
        RetryConfigSlot
    ) = RuntimeSlot = ToolSlot = dict[str, Any]
