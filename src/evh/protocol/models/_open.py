# Generated from schema/v1 by `make generate` (all files, sha256 65cb59f4eec199aaae8b5617c5ee7764701ddd9346982f6f8238a69619c2b36c). Edit the schema, not this file.
"""Open objects of the contract: typed access to the members that the schema names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from evh.protocol._open import OpenObject

__all__ = [
    "AgentConfig",
    "AgentTimeout",
    "Artifact",
    "Capabilities",
    "ClientConfig",
    "EnvironmentEntry",
    "EnvironmentLookup",
    "EnvironmentReference",
    "EnvironmentResolve",
    "EnvironmentResolved",
    "EpisodeFault",
    "EpisodeSummary",
    "EpisodeTotals",
    "ErrorDetail",
    "ErrorEnvelope",
    "Evaluation",
    "EvaluationCreate",
    "EvaluationCreated",
    "EvaluationFinalize",
    "EvaluationUpdate",
    "ExternalRun",
    "ExternalRunCreate",
    "ExternalRunCreated",
    "ExternalRunStatus",
    "FingerprintModel",
    "HarnessConfig",
    "IndexedCall",
    "IndexedMessage",
    "IndexedNode",
    "PredictionRow",
    "PresignedUpload",
    "RetryConfig",
    "RftFinalize",
    "RunMetrics",
    "RunStep",
    "RunSummary",
    "Runtime",
    "SamplesAppended",
    "SamplesBody",
    "SamplesConfirm",
    "SamplesPresign",
    "SamplesPresigned",
    "Sampling",
    "SearchCoverage",
    "SearchMatch",
    "TaskData",
    "TaskResources",
    "TaskTimeout",
    "Tool",
    "TraceExecution",
    "TraceModel",
    "TraceScore",
    "TraceSummary",
    "TrainingEnvironment",
    "UploadMetadata",
    "UploadReceipt",
]


class EnvironmentReference(OpenObject):
    """An environment of an evaluation, by its id on the platform."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"id": "id", "version_id": "version_id"}
    known_type: ClassVar[str] = "EnvironmentReference"

    @property
    def id(self) -> str:
        """Id of the environment on the platform."""
        value: str = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str) -> None:
        self["id"] = value

    @property
    def version_id(self) -> str | None:
        """Id of one version of it; null means the latest."""
        value: str | None = self._typed("version_id", str)
        return value

    @version_id.setter
    def version_id(self, value: str | None) -> None:
        self["version_id"] = value


class EvaluationCreate(OpenObject):
    """`POST /evaluations/`: opens an evaluation. It has either environments or the id of a run on the platform."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "environments": "environments",
        "run_id": "run_id",
        "suite_id": "suite_id",
        "tags": "tags",
        "model_name": "model_name",
        "dataset": "dataset",
        "framework": "framework",
        "task_type": "task_type",
        "description": "description",
        "metadata": "metadata",
        "metrics": "metrics",
        "is_public": "is_public",
        "team_id": "team_id",
    }
    known_type: ClassVar[str] = "EvaluationCreate"

    @property
    def name(self) -> str:
        """A name for people; need not be unique."""
        value: str = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str) -> None:
        self["name"] = value

    @property
    def environments(self) -> list[EnvironmentReference] | None:
        """The environments whose episodes it holds."""
        value: list[EnvironmentReference] | None = self._typed("environments", list[EnvironmentReference])
        return value

    @environments.setter
    def environments(self, value: list[EnvironmentReference] | None) -> None:
        self["environments"] = value

    @property
    def run_id(self) -> str | None:
        """Id of the training run on the platform that the evaluation belongs to."""
        value: str | None = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str | None) -> None:
        self["run_id"] = value

    @property
    def suite_id(self) -> str | None:
        """Id of the suite that the evaluation belongs to."""
        value: str | None = self._typed("suite_id", str)
        return value

    @suite_id.setter
    def suite_id(self, value: str | None) -> None:
        self["suite_id"] = value

    @property
    def tags(self) -> list[Any] | None:
        """Words to find it by."""
        value: list[Any] | None = self._typed("tags", None)
        return value

    @tags.setter
    def tags(self, value: list[Any] | None) -> None:
        self["tags"] = value

    @property
    def model_name(self) -> str | None:
        """The model that is evaluated."""
        value: str | None = self._typed("model_name", str)
        return value

    @model_name.setter
    def model_name(self, value: str | None) -> None:
        self["model_name"] = value

    @property
    def dataset(self) -> str | None:
        """The dataset, or the environment under another name."""
        value: str | None = self._typed("dataset", str)
        return value

    @dataset.setter
    def dataset(self, value: str | None) -> None:
        self["dataset"] = value

    @property
    def framework(self) -> str | None:
        """The program that runs the episodes."""
        value: str | None = self._typed("framework", str)
        return value

    @framework.setter
    def framework(self, value: str | None) -> None:
        self["framework"] = value

    @property
    def task_type(self) -> str | None:
        """The kind of the tasks."""
        value: str | None = self._typed("task_type", str)
        return value

    @task_type.setter
    def task_type(self, value: str | None) -> None:
        self["task_type"] = value

    @property
    def description(self) -> str | None:
        """Text for people."""
        value: str | None = self._typed("description", str)
        return value

    @description.setter
    def description(self, value: str | None) -> None:
        self["description"] = value

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Free notes; a configuration, as a rule. `evh.run_id` in it is our id of the run: a second create with the same one finds the first."""
        value: dict[str, Any] | None = self._typed("metadata", dict)
        return value

    @metadata.setter
    def metadata(self, value: dict[str, Any] | None) -> None:
        self["metadata"] = value

    @property
    def metrics(self) -> dict[str, Any] | None:
        """Numbers about the whole evaluation, maps of numbers among them."""
        value: dict[str, Any] | None = self._typed("metrics", dict)
        return value

    @metrics.setter
    def metrics(self, value: dict[str, Any] | None) -> None:
        self["metrics"] = value

    @property
    def is_public(self) -> bool | None:
        """True when everybody may read it."""
        value: bool | None = self._typed("is_public", bool)
        return value

    @is_public.setter
    def is_public(self, value: bool | None) -> None:
        self["is_public"] = value

    @property
    def team_id(self) -> str | None:
        """The team it belongs to; null means the owner of the key."""
        value: str | None = self._typed("team_id", str)
        return value

    @team_id.setter
    def team_id(self, value: str | None) -> None:
        self["team_id"] = value


class EvaluationCreated(OpenObject):
    """The answer to a create."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"evaluation_id": "evaluation_id", "name": "name", "viewer_url": "viewer_url"}
    known_type: ClassVar[str] = "EvaluationCreated"

    @property
    def evaluation_id(self) -> str:
        """Id of the evaluation on the platform."""
        value: str = self._typed("evaluation_id", str)
        return value

    @evaluation_id.setter
    def evaluation_id(self, value: str) -> None:
        self["evaluation_id"] = value

    @property
    def name(self) -> str | None:
        """The name it was given."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def viewer_url(self) -> str | None:
        """Where people look at it."""
        value: str | None = self._typed("viewer_url", str)
        return value

    @viewer_url.setter
    def viewer_url(self, value: str | None) -> None:
        self["viewer_url"] = value


class EvaluationUpdate(OpenObject):
    """`PUT /evaluations/{id}`: replaces the members that are given, each as a whole. A closed evaluation answers 409."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "name": "name",
        "description": "description",
        "model_name": "model_name",
        "dataset": "dataset",
        "framework": "framework",
        "task_type": "task_type",
        "tags": "tags",
        "metadata": "metadata",
        "metrics": "metrics",
        "is_public": "is_public",
        "status": "status",
        "error_message": "error_message",
    }
    known_type: ClassVar[str] = "EvaluationUpdate"

    @property
    def name(self) -> str | None:
        """A name for people."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def description(self) -> str | None:
        """Text for people."""
        value: str | None = self._typed("description", str)
        return value

    @description.setter
    def description(self, value: str | None) -> None:
        self["description"] = value

    @property
    def model_name(self) -> str | None:
        """The model that is evaluated."""
        value: str | None = self._typed("model_name", str)
        return value

    @model_name.setter
    def model_name(self, value: str | None) -> None:
        self["model_name"] = value

    @property
    def dataset(self) -> str | None:
        """The dataset."""
        value: str | None = self._typed("dataset", str)
        return value

    @dataset.setter
    def dataset(self, value: str | None) -> None:
        self["dataset"] = value

    @property
    def framework(self) -> str | None:
        """The program that runs the episodes."""
        value: str | None = self._typed("framework", str)
        return value

    @framework.setter
    def framework(self, value: str | None) -> None:
        self["framework"] = value

    @property
    def task_type(self) -> str | None:
        """The kind of the tasks."""
        value: str | None = self._typed("task_type", str)
        return value

    @task_type.setter
    def task_type(self, value: str | None) -> None:
        self["task_type"] = value

    @property
    def tags(self) -> list[Any] | None:
        """Words to find it by; null leaves them as they are, an empty list takes them away."""
        value: list[Any] | None = self._typed("tags", None)
        return value

    @tags.setter
    def tags(self, value: list[Any] | None) -> None:
        self["tags"] = value

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Free notes. They replace the old ones whole."""
        value: dict[str, Any] | None = self._typed("metadata", dict)
        return value

    @metadata.setter
    def metadata(self, value: dict[str, Any] | None) -> None:
        self["metadata"] = value

    @property
    def metrics(self) -> dict[str, Any] | None:
        """Numbers about the whole evaluation."""
        value: dict[str, Any] | None = self._typed("metrics", dict)
        return value

    @metrics.setter
    def metrics(self, value: dict[str, Any] | None) -> None:
        self["metrics"] = value

    @property
    def is_public(self) -> bool | None:
        """True when everybody may read it."""
        value: bool | None = self._typed("is_public", bool)
        return value

    @is_public.setter
    def is_public(self, value: bool | None) -> None:
        self["is_public"] = value

    @property
    def status(self) -> str | None:
        """Closes an evaluation that did not complete."""
        value: str | None = self._typed("status", str)
        return value

    @status.setter
    def status(self, value: str | None) -> None:
        self["status"] = value

    @property
    def error_message(self) -> str | None:
        """Why it did not complete."""
        value: str | None = self._typed("error_message", str)
        return value

    @error_message.setter
    def error_message(self, value: str | None) -> None:
        self["error_message"] = value


class EvaluationFinalize(OpenObject):
    """`POST /evaluations/{id}/finalize`: closes an evaluation as completed."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"metrics": "metrics"}
    known_type: ClassVar[str] = "EvaluationFinalize"

    @property
    def metrics(self) -> dict[str, Any] | None:
        """Numbers about the whole evaluation, maps of numbers among them."""
        value: dict[str, Any] | None = self._typed("metrics", dict)
        return value

    @metrics.setter
    def metrics(self, value: dict[str, Any] | None) -> None:
        self["metrics"] = value


class Evaluation(OpenObject):
    """An evaluation as the platform holds it: `GET /evaluations/{id}`."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "evaluation_id": "evaluation_id",
        "name": "name",
        "status": "status",
        "error_message": "error_message",
        "model_name": "model_name",
        "dataset": "dataset",
        "framework": "framework",
        "task_type": "task_type",
        "eval_type": "eval_type",
        "description": "description",
        "environment_ids": "environment_ids",
        "suite_id": "suite_id",
        "run_id": "run_id",
        "version_id": "version_id",
        "tags": "tags",
        "metadata": "metadata",
        "metrics": "metrics",
        "total_samples": "total_samples",
        "is_public": "is_public",
        "created_at": "created_at",
        "updated_at": "updated_at",
        "finalized_at": "finalized_at",
        "user_id": "user_id",
        "team_id": "team_id",
        "viewer_url": "viewer_url",
    }
    known_type: ClassVar[str] = "Evaluation"

    @property
    def evaluation_id(self) -> str:
        """Id of the evaluation on the platform."""
        value: str = self._typed("evaluation_id", str)
        return value

    @evaluation_id.setter
    def evaluation_id(self, value: str) -> None:
        self["evaluation_id"] = value

    @property
    def name(self) -> str:
        """A name for people."""
        value: str = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str) -> None:
        self["name"] = value

    @property
    def status(self) -> str | None:
        """How far it is."""
        value: str | None = self._typed("status", str)
        return value

    @status.setter
    def status(self, value: str | None) -> None:
        self["status"] = value

    @property
    def error_message(self) -> str | None:
        """Why it did not complete."""
        value: str | None = self._typed("error_message", str)
        return value

    @error_message.setter
    def error_message(self, value: str | None) -> None:
        self["error_message"] = value

    @property
    def model_name(self) -> str | None:
        """The model that is evaluated."""
        value: str | None = self._typed("model_name", str)
        return value

    @model_name.setter
    def model_name(self, value: str | None) -> None:
        self["model_name"] = value

    @property
    def dataset(self) -> str | None:
        """The dataset."""
        value: str | None = self._typed("dataset", str)
        return value

    @dataset.setter
    def dataset(self, value: str | None) -> None:
        self["dataset"] = value

    @property
    def framework(self) -> str | None:
        """The program that runs the episodes."""
        value: str | None = self._typed("framework", str)
        return value

    @framework.setter
    def framework(self, value: str | None) -> None:
        self["framework"] = value

    @property
    def task_type(self) -> str | None:
        """The kind of the tasks."""
        value: str | None = self._typed("task_type", str)
        return value

    @task_type.setter
    def task_type(self, value: str | None) -> None:
        self["task_type"] = value

    @property
    def eval_type(self) -> str | None:
        """The platform's own word for its kind."""
        value: str | None = self._typed("eval_type", str)
        return value

    @eval_type.setter
    def eval_type(self, value: str | None) -> None:
        self["eval_type"] = value

    @property
    def description(self) -> str | None:
        """Text for people."""
        value: str | None = self._typed("description", str)
        return value

    @description.setter
    def description(self, value: str | None) -> None:
        self["description"] = value

    @property
    def environment_ids(self) -> list[Any] | None:
        """Ids of its environments on the platform."""
        value: list[Any] | None = self._typed("environment_ids", None)
        return value

    @environment_ids.setter
    def environment_ids(self, value: list[Any] | None) -> None:
        self["environment_ids"] = value

    @property
    def suite_id(self) -> str | None:
        """The suite it belongs to."""
        value: str | None = self._typed("suite_id", str)
        return value

    @suite_id.setter
    def suite_id(self, value: str | None) -> None:
        self["suite_id"] = value

    @property
    def run_id(self) -> str | None:
        """The training run it belongs to."""
        value: str | None = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str | None) -> None:
        self["run_id"] = value

    @property
    def version_id(self) -> str | None:
        """The environment's version."""
        value: str | None = self._typed("version_id", str)
        return value

    @version_id.setter
    def version_id(self, value: str | None) -> None:
        self["version_id"] = value

    @property
    def tags(self) -> list[Any] | None:
        """Words to find it by."""
        value: list[Any] | None = self._typed("tags", None)
        return value

    @tags.setter
    def tags(self, value: list[Any] | None) -> None:
        self["tags"] = value

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Free notes."""
        value: dict[str, Any] | None = self._typed("metadata", dict)
        return value

    @metadata.setter
    def metadata(self, value: dict[str, Any] | None) -> None:
        self["metadata"] = value

    @property
    def metrics(self) -> dict[str, Any] | None:
        """Numbers about the whole evaluation."""
        value: dict[str, Any] | None = self._typed("metrics", dict)
        return value

    @metrics.setter
    def metrics(self, value: dict[str, Any] | None) -> None:
        self["metrics"] = value

    @property
    def total_samples(self) -> int | None:
        """How many samples it holds."""
        value: int | None = self._typed("total_samples", int)
        return value

    @total_samples.setter
    def total_samples(self, value: int | None) -> None:
        self["total_samples"] = value

    @property
    def is_public(self) -> bool | None:
        """True when everybody may read it."""
        value: bool | None = self._typed("is_public", bool)
        return value

    @is_public.setter
    def is_public(self, value: bool | None) -> None:
        self["is_public"] = value

    @property
    def created_at(self) -> str | None:
        """When it was opened, RFC 3339."""
        value: str | None = self._typed("created_at", str)
        return value

    @created_at.setter
    def created_at(self, value: str | None) -> None:
        self["created_at"] = value

    @property
    def updated_at(self) -> str | None:
        """When it was last changed, RFC 3339."""
        value: str | None = self._typed("updated_at", str)
        return value

    @updated_at.setter
    def updated_at(self, value: str | None) -> None:
        self["updated_at"] = value

    @property
    def finalized_at(self) -> str | None:
        """When it was closed, RFC 3339."""
        value: str | None = self._typed("finalized_at", str)
        return value

    @finalized_at.setter
    def finalized_at(self, value: str | None) -> None:
        self["finalized_at"] = value

    @property
    def user_id(self) -> str | None:
        """Who opened it."""
        value: str | None = self._typed("user_id", str)
        return value

    @user_id.setter
    def user_id(self, value: str | None) -> None:
        self["user_id"] = value

    @property
    def team_id(self) -> str | None:
        """The team it belongs to."""
        value: str | None = self._typed("team_id", str)
        return value

    @team_id.setter
    def team_id(self, value: str | None) -> None:
        self["team_id"] = value

    @property
    def viewer_url(self) -> str | None:
        """Where people look at it."""
        value: str | None = self._typed("viewer_url", str)
        return value

    @viewer_url.setter
    def viewer_url(self, value: str | None) -> None:
        self["viewer_url"] = value


class SamplesBody(OpenObject):
    """`POST /evaluations/{id}/samples`: samples to append, at most 25 MiB a call. What a sample holds is its writer's affair."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"samples": "samples"}
    known_type: ClassVar[str] = "SamplesBody"

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The samples, in order."""
        value: list[dict[str, Any]] = self._typed("samples", None)
        return value

    @samples.setter
    def samples(self, value: list[dict[str, Any]]) -> None:
        self["samples"] = value


class SamplesAppended(OpenObject):
    """The answer to appended samples; nothing in it is promised."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"samples_pushed": "samples_pushed"}
    known_type: ClassVar[str] = "SamplesAppended"

    @property
    def samples_pushed(self) -> int | None:
        """How many were appended."""
        value: int | None = self._typed("samples_pushed", int)
        return value

    @samples_pushed.setter
    def samples_pushed(self, value: int | None) -> None:
        self["samples_pushed"] = value


class EnvironmentResolve(OpenObject):
    """`POST /environmentshub/resolve`: the environment of that name, made when there is none."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"name": "name", "team_id": "team_id"}
    known_type: ClassVar[str] = "EnvironmentResolve"

    @property
    def name(self) -> str:
        """Name of the environment."""
        value: str = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str) -> None:
        self["name"] = value

    @property
    def team_id(self) -> str | None:
        """The team it belongs to; null means the owner of the key."""
        value: str | None = self._typed("team_id", str)
        return value

    @team_id.setter
    def team_id(self, value: str | None) -> None:
        self["team_id"] = value


class EnvironmentLookup(OpenObject):
    """`POST /environmentshub/lookup`: an environment by its id."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"id": "id"}
    known_type: ClassVar[str] = "EnvironmentLookup"

    @property
    def id(self) -> str:
        """Id of the environment on the platform."""
        value: str = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str) -> None:
        self["id"] = value


class EnvironmentEntry(OpenObject):
    """An environment of the hub."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"id": "id", "name": "name", "owner": "owner", "version_id": "version_id"}
    known_type: ClassVar[str] = "EnvironmentEntry"

    @property
    def id(self) -> str:
        """Id of the environment on the platform."""
        value: str = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str) -> None:
        self["id"] = value

    @property
    def name(self) -> str | None:
        """Its name."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def owner(self) -> str | None:
        """Who owns it."""
        value: str | None = self._typed("owner", str)
        return value

    @owner.setter
    def owner(self, value: str | None) -> None:
        self["owner"] = value

    @property
    def version_id(self) -> str | None:
        """Id of the version that was meant."""
        value: str | None = self._typed("version_id", str)
        return value

    @version_id.setter
    def version_id(self, value: str | None) -> None:
        self["version_id"] = value


class EnvironmentResolved(OpenObject):
    """The answer of all three ways to find an environment. Older services answer with the environment itself instead of `data`."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"data": "data", "id": "id"}
    known_type: ClassVar[str] = "EnvironmentResolved"

    @property
    def data(self) -> EnvironmentEntry | None:
        """The environment."""
        value: EnvironmentEntry | None = self._typed("data", EnvironmentEntry)
        return value

    @data.setter
    def data(self, value: EnvironmentEntry | None) -> None:
        self["data"] = value

    @property
    def id(self) -> str | None:
        """Id of the environment, where there is no `data`."""
        value: str | None = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str | None) -> None:
        self["id"] = value


class ErrorDetail(OpenObject):
    """What went wrong."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"code": "code", "message": "message"}
    known_type: ClassVar[str] = "ErrorDetail"

    @property
    def code(self) -> str:
        """One of the service's error codes; programs go by it."""
        value: str = self._typed("code", str)
        return value

    @code.setter
    def code(self, value: str) -> None:
        self["code"] = value

    @property
    def message(self) -> str:
        """What it says to people; it may change."""
        value: str = self._typed("message", str)
        return value

    @message.setter
    def message(self, value: str) -> None:
        self["message"] = value


class ErrorEnvelope(OpenObject):
    """The answer of a call that failed."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"error": "error"}
    known_type: ClassVar[str] = "ErrorEnvelope"

    @property
    def error(self) -> ErrorDetail:
        """What went wrong."""
        value: ErrorDetail = self._typed("error", ErrorDetail)
        return value

    @error.setter
    def error(self, value: ErrorDetail) -> None:
        self["error"] = value


class Capabilities(OpenObject):
    """`GET /api/v1/capabilities`: what a service takes. Ours; the hosted one answers 404, and a client then keeps to its limits and to gzip."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "server": "server",
        "encodings": "encodings",
        "max_upload_bytes": "max_upload_bytes",
        "max_line_bytes": "max_line_bytes",
        "max_lines": "max_lines",
        "features": "features",
    }
    known_type: ClassVar[str] = "Capabilities"

    @property
    def server(self) -> str:
        """The program and its version, such as `evh-0.5.0`."""
        value: str = self._typed("server", str)
        return value

    @server.setter
    def server(self, value: str) -> None:
        self["server"] = value

    @property
    def encodings(self) -> list[Any] | None:
        """Content encodings of the `traces` part, the best first."""
        value: list[Any] | None = self._typed("encodings", None)
        return value

    @encodings.setter
    def encodings(self, value: list[Any] | None) -> None:
        self["encodings"] = value

    @property
    def max_upload_bytes(self) -> int | None:
        """Uncompressed bytes of an upload at most."""
        value: int | None = self._typed("max_upload_bytes", int)
        return value

    @max_upload_bytes.setter
    def max_upload_bytes(self, value: int | None) -> None:
        self["max_upload_bytes"] = value

    @property
    def max_line_bytes(self) -> int | None:
        """Bytes of a line at most."""
        value: int | None = self._typed("max_line_bytes", int)
        return value

    @max_line_bytes.setter
    def max_line_bytes(self, value: int | None) -> None:
        self["max_line_bytes"] = value

    @property
    def max_lines(self) -> int | None:
        """Lines of an upload at most."""
        value: int | None = self._typed("max_lines", int)
        return value

    @max_lines.setter
    def max_lines(self, value: int | None) -> None:
        self["max_lines"] = value

    @property
    def features(self) -> list[Any] | None:
        """What it can do beyond the hosted service."""
        value: list[Any] | None = self._typed("features", None)
        return value

    @features.setter
    def features(self, value: list[Any] | None) -> None:
        self["features"] = value


class UploadMetadata(OpenObject):
    """The `metadata` part of an upload."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"schema_version": "schema_version", "context": "context"}
    known_type: ClassVar[str] = "UploadMetadata"

    @property
    def schema_version(self) -> int:
        """Version of the line format: 1."""
        value: int = self._typed("schema_version", int)
        return value

    @schema_version.setter
    def schema_version(self, value: int) -> None:
        self["schema_version"] = value

    @property
    def context(self) -> dict[str, Any] | None:
        """Notes about the whole upload, kept with each of its traces and usable as a filter. Ours: `evh.run_id`, `evh.segment`, `evh.range`."""
        value: dict[str, Any] | None = self._typed("context", dict)
        return value

    @context.setter
    def context(self, value: dict[str, Any] | None) -> None:
        self["context"] = value


class UploadReceipt(OpenObject):
    """The answer to an upload: every line of it is durable, or the answer is an error. The same bytes get the same receipt again."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "upload_id": "upload_id",
        "status": "status",
        "accepted": "accepted",
        "replayed": "replayed",
        "duplicates": "duplicates",
        "new_versions": "new_versions",
    }
    known_type: ClassVar[str] = "UploadReceipt"

    @property
    def upload_id(self) -> str:
        """SHA-256 of the uncompressed bytes, 64 lowercase hexadecimal digits."""
        value: str = self._typed("upload_id", str)
        return value

    @upload_id.setter
    def upload_id(self, value: str) -> None:
        self["upload_id"] = value

    @property
    def status(self) -> str:
        """`committed`."""
        value: str = self._typed("status", str)
        return value

    @status.setter
    def status(self, value: str) -> None:
        self["status"] = value

    @property
    def accepted(self) -> int | None:
        """Lines stored now. A member of ours; the hosted service does not send it."""
        value: int | None = self._typed("accepted", int)
        return value

    @accepted.setter
    def accepted(self, value: int | None) -> None:
        self["accepted"] = value

    @property
    def replayed(self) -> bool | None:
        """True when the upload had been committed before. A member of ours; the hosted service does not send it."""
        value: bool | None = self._typed("replayed", bool)
        return value

    @replayed.setter
    def replayed(self, value: bool | None) -> None:
        self["replayed"] = value

    @property
    def duplicates(self) -> int | None:
        """Lines that the project held already, byte for byte. A member of ours; the hosted service does not send it."""
        value: int | None = self._typed("duplicates", int)
        return value

    @duplicates.setter
    def duplicates(self, value: int | None) -> None:
        self["duplicates"] = value

    @property
    def new_versions(self) -> int | None:
        """Lines whose episode the project held with other content; both are kept. A member of ours; the hosted service does not send it."""
        value: int | None = self._typed("new_versions", int)
        return value

    @new_versions.setter
    def new_versions(self, value: int | None) -> None:
        self["new_versions"] = value


class TraceModel(OpenObject):
    """The model of a trace."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"provider": "provider", "id": "id"}
    known_type: ClassVar[str] = "TraceModel"

    @property
    def provider(self) -> str:
        """Who served it."""
        value: str = self._typed("provider", str)
        return value

    @provider.setter
    def provider(self, value: str) -> None:
        self["provider"] = value

    @property
    def id(self) -> str:
        """Its name there."""
        value: str = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str) -> None:
        self["id"] = value


class TraceScore(OpenObject):
    """The score of a trace."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"reward": "reward", "outcome": "outcome"}
    known_type: ClassVar[str] = "TraceScore"

    @property
    def reward(self) -> int | float:
        """The reward; null when the trace was not scored."""
        value: int | float = self._typed("reward", int | float)
        return value

    @reward.setter
    def reward(self, value: int | float) -> None:
        self["reward"] = value

    @property
    def outcome(self) -> str:
        """The verdict in a word; null when there is none."""
        value: str = self._typed("outcome", str)
        return value

    @outcome.setter
    def outcome(self, value: str) -> None:
        self["outcome"] = value


class TraceExecution(OpenObject):
    """How a trace went."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"has_error": "has_error", "is_truncated": "is_truncated"}
    known_type: ClassVar[str] = "TraceExecution"

    @property
    def has_error(self) -> bool:
        """True when it holds an error."""
        value: bool = self._typed("has_error", bool)
        return value

    @has_error.setter
    def has_error(self, value: bool) -> None:
        self["has_error"] = value

    @property
    def is_truncated(self) -> bool:
        """True when it was cut short."""
        value: bool = self._typed("is_truncated", bool)
        return value

    @is_truncated.setter
    def is_truncated(self, value: bool) -> None:
        self["is_truncated"] = value


class TraceSummary(OpenObject):
    """What is known about a stored trace without reading it."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "trace_id": "trace_id",
        "upload_id": "upload_id",
        "episode_id": "episode_id",
        "created_at": "created_at",
        "ingested_at": "ingested_at",
        "run_id": "run_id",
        "environment_id": "environment_id",
        "model": "model",
        "task_id": "task_id",
        "agent_name": "agent_name",
        "score": "score",
        "execution": "execution",
        "duration_ms": "duration_ms",
        "total_tokens": "total_tokens",
        "size_bytes": "size_bytes",
        "context": "context",
    }
    known_type: ClassVar[str] = "TraceSummary"

    @property
    def trace_id(self) -> str:
        """Identity of the trace."""
        value: str = self._typed("trace_id", str)
        return value

    @trace_id.setter
    def trace_id(self, value: str) -> None:
        self["trace_id"] = value

    @property
    def upload_id(self) -> str:
        """The upload it came with."""
        value: str = self._typed("upload_id", str)
        return value

    @upload_id.setter
    def upload_id(self, value: str) -> None:
        self["upload_id"] = value

    @property
    def episode_id(self) -> str:
        """The episode it belongs to; null for a bare trace."""
        value: str = self._typed("episode_id", str)
        return value

    @episode_id.setter
    def episode_id(self, value: str) -> None:
        self["episode_id"] = value

    @property
    def created_at(self) -> str:
        """When it began, RFC 3339."""
        value: str = self._typed("created_at", str)
        return value

    @created_at.setter
    def created_at(self, value: str) -> None:
        self["created_at"] = value

    @property
    def ingested_at(self) -> str:
        """When it was stored, RFC 3339."""
        value: str = self._typed("ingested_at", str)
        return value

    @ingested_at.setter
    def ingested_at(self, value: str) -> None:
        self["ingested_at"] = value

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def environment_id(self) -> str:
        """The environment that ran it."""
        value: str = self._typed("environment_id", str)
        return value

    @environment_id.setter
    def environment_id(self, value: str) -> None:
        self["environment_id"] = value

    @property
    def model(self) -> TraceModel:
        """The model."""
        value: TraceModel = self._typed("model", TraceModel)
        return value

    @model.setter
    def model(self, value: TraceModel) -> None:
        self["model"] = value

    @property
    def task_id(self) -> str:
        """The task."""
        value: str = self._typed("task_id", str)
        return value

    @task_id.setter
    def task_id(self, value: str) -> None:
        self["task_id"] = value

    @property
    def agent_name(self) -> str:
        """The agent."""
        value: str = self._typed("agent_name", str)
        return value

    @agent_name.setter
    def agent_name(self, value: str) -> None:
        self["agent_name"] = value

    @property
    def score(self) -> TraceScore:
        """The score."""
        value: TraceScore = self._typed("score", TraceScore)
        return value

    @score.setter
    def score(self, value: TraceScore) -> None:
        self["score"] = value

    @property
    def execution(self) -> TraceExecution:
        """How it went."""
        value: TraceExecution = self._typed("execution", TraceExecution)
        return value

    @execution.setter
    def execution(self, value: TraceExecution) -> None:
        self["execution"] = value

    @property
    def duration_ms(self) -> int:
        """Milliseconds from start to end."""
        value: int = self._typed("duration_ms", int)
        return value

    @duration_ms.setter
    def duration_ms(self, value: int) -> None:
        self["duration_ms"] = value

    @property
    def total_tokens(self) -> int:
        """Tokens, input counted once."""
        value: int = self._typed("total_tokens", int)
        return value

    @total_tokens.setter
    def total_tokens(self, value: int) -> None:
        self["total_tokens"] = value

    @property
    def size_bytes(self) -> int:
        """Bytes of the stored document."""
        value: int = self._typed("size_bytes", int)
        return value

    @size_bytes.setter
    def size_bytes(self, value: int) -> None:
        self["size_bytes"] = value

    @property
    def context(self) -> dict[str, Any]:
        """Notes of its upload."""
        value: dict[str, Any] = self._typed("context", dict)
        return value

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        self["context"] = value


class EpisodeFault(OpenObject):
    """The error of an episode itself, not of its traces."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"type": "type", "message": "message"}
    known_type: ClassVar[str] = "EpisodeFault"

    @property
    def type(self) -> str:
        """Its class."""
        value: str = self._typed("type", str)
        return value

    @type.setter
    def type(self, value: str) -> None:
        self["type"] = value

    @property
    def message(self) -> str:
        """What it says."""
        value: str = self._typed("message", str)
        return value

    @message.setter
    def message(self, value: str) -> None:
        self["message"] = value


class EpisodeSummary(OpenObject):
    """What is known about a stored episode without reading it."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "episode_id": "episode_id",
        "upload_id": "upload_id",
        "schema_version": "schema_version",
        "created_at": "created_at",
        "ingested_at": "ingested_at",
        "run_id": "run_id",
        "environment_id": "environment_id",
        "outcome": "outcome",
        "has_error": "has_error",
        "error": "error",
        "traces": "traces",
    }
    known_type: ClassVar[str] = "EpisodeSummary"

    @property
    def episode_id(self) -> str:
        """Identity of the episode."""
        value: str = self._typed("episode_id", str)
        return value

    @episode_id.setter
    def episode_id(self, value: str) -> None:
        self["episode_id"] = value

    @property
    def upload_id(self) -> str:
        """The upload it came with."""
        value: str = self._typed("upload_id", str)
        return value

    @upload_id.setter
    def upload_id(self, value: str) -> None:
        self["upload_id"] = value

    @property
    def schema_version(self) -> int:
        """Version of the line format."""
        value: int = self._typed("schema_version", int)
        return value

    @schema_version.setter
    def schema_version(self, value: int) -> None:
        self["schema_version"] = value

    @property
    def created_at(self) -> str:
        """When it began, RFC 3339."""
        value: str = self._typed("created_at", str)
        return value

    @created_at.setter
    def created_at(self, value: str) -> None:
        self["created_at"] = value

    @property
    def ingested_at(self) -> str:
        """When it was stored, RFC 3339."""
        value: str = self._typed("ingested_at", str)
        return value

    @ingested_at.setter
    def ingested_at(self, value: str) -> None:
        self["ingested_at"] = value

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def environment_id(self) -> str:
        """The environment that ran it."""
        value: str = self._typed("environment_id", str)
        return value

    @environment_id.setter
    def environment_id(self, value: str) -> None:
        self["environment_id"] = value

    @property
    def outcome(self) -> str:
        """The verdict in a word."""
        value: str = self._typed("outcome", str)
        return value

    @outcome.setter
    def outcome(self, value: str) -> None:
        self["outcome"] = value

    @property
    def has_error(self) -> bool:
        """True when the episode itself holds an error."""
        value: bool = self._typed("has_error", bool)
        return value

    @has_error.setter
    def has_error(self, value: bool) -> None:
        self["has_error"] = value

    @property
    def error(self) -> EpisodeFault:
        """That error."""
        value: EpisodeFault = self._typed("error", EpisodeFault)
        return value

    @error.setter
    def error(self, value: EpisodeFault) -> None:
        self["error"] = value

    @property
    def traces(self) -> EpisodeTotals | None:
        """Totals over its traces; only where one episode is asked for."""
        value: EpisodeTotals | None = self._typed("traces", EpisodeTotals)
        return value

    @traces.setter
    def traces(self, value: EpisodeTotals | None) -> None:
        self["traces"] = value


class EpisodeTotals(OpenObject):
    """Totals over the traces of an episode. An episode may have none."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "trace_count": "trace_count",
        "total_tokens": "total_tokens",
        "total_duration_ms": "total_duration_ms",
        "any_trace_error": "any_trace_error",
        "agent_names": "agent_names",
    }
    known_type: ClassVar[str] = "EpisodeTotals"

    @property
    def trace_count(self) -> int:
        """How many traces."""
        value: int = self._typed("trace_count", int)
        return value

    @trace_count.setter
    def trace_count(self, value: int) -> None:
        self["trace_count"] = value

    @property
    def total_tokens(self) -> int:
        """Their tokens."""
        value: int = self._typed("total_tokens", int)
        return value

    @total_tokens.setter
    def total_tokens(self, value: int) -> None:
        self["total_tokens"] = value

    @property
    def total_duration_ms(self) -> int:
        """Their milliseconds, added up."""
        value: int = self._typed("total_duration_ms", int)
        return value

    @total_duration_ms.setter
    def total_duration_ms(self, value: int) -> None:
        self["total_duration_ms"] = value

    @property
    def any_trace_error(self) -> bool:
        """True when one of them holds an error."""
        value: bool = self._typed("any_trace_error", bool)
        return value

    @any_trace_error.setter
    def any_trace_error(self, value: bool) -> None:
        self["any_trace_error"] = value

    @property
    def agent_names(self) -> list[Any]:
        """Their agents."""
        value: list[Any] = self._typed("agent_names", None)
        return value

    @agent_names.setter
    def agent_names(self, value: list[Any]) -> None:
        self["agent_names"] = value


class RunSummary(OpenObject):
    """Totals over the traces of a run."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "run_id": "run_id",
        "first_trace_created_at": "first_trace_created_at",
        "last_trace_created_at": "last_trace_created_at",
        "last_trace_ingested_at": "last_trace_ingested_at",
        "trace_count": "trace_count",
        "episode_count": "episode_count",
        "avg_reward": "avg_reward",
        "step_min": "step_min",
        "step_max": "step_max",
        "step_count": "step_count",
        "has_error": "has_error",
        "first_user_id": "first_user_id",
        "environment_ids": "environment_ids",
        "model_ids": "model_ids",
        "context": "context",
    }
    known_type: ClassVar[str] = "RunSummary"

    @property
    def run_id(self) -> str:
        """The run."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def first_trace_created_at(self) -> str:
        """When its first trace began, RFC 3339."""
        value: str = self._typed("first_trace_created_at", str)
        return value

    @first_trace_created_at.setter
    def first_trace_created_at(self, value: str) -> None:
        self["first_trace_created_at"] = value

    @property
    def last_trace_created_at(self) -> str:
        """When its last trace began, RFC 3339."""
        value: str = self._typed("last_trace_created_at", str)
        return value

    @last_trace_created_at.setter
    def last_trace_created_at(self, value: str) -> None:
        self["last_trace_created_at"] = value

    @property
    def last_trace_ingested_at(self) -> str:
        """When its last trace was stored, RFC 3339."""
        value: str = self._typed("last_trace_ingested_at", str)
        return value

    @last_trace_ingested_at.setter
    def last_trace_ingested_at(self, value: str) -> None:
        self["last_trace_ingested_at"] = value

    @property
    def trace_count(self) -> int:
        """How many traces."""
        value: int = self._typed("trace_count", int)
        return value

    @trace_count.setter
    def trace_count(self, value: int) -> None:
        self["trace_count"] = value

    @property
    def episode_count(self) -> int:
        """How many episodes."""
        value: int = self._typed("episode_count", int)
        return value

    @episode_count.setter
    def episode_count(self, value: int) -> None:
        self["episode_count"] = value

    @property
    def avg_reward(self) -> int | float:
        """Mean reward of the scored traces; null when none is scored."""
        value: int | float = self._typed("avg_reward", int | float)
        return value

    @avg_reward.setter
    def avg_reward(self, value: int | float) -> None:
        self["avg_reward"] = value

    @property
    def step_min(self) -> int:
        """First training step."""
        value: int = self._typed("step_min", int)
        return value

    @step_min.setter
    def step_min(self, value: int) -> None:
        self["step_min"] = value

    @property
    def step_max(self) -> int:
        """Last training step."""
        value: int = self._typed("step_max", int)
        return value

    @step_max.setter
    def step_max(self, value: int) -> None:
        self["step_max"] = value

    @property
    def step_count(self) -> int:
        """How many training steps."""
        value: int = self._typed("step_count", int)
        return value

    @step_count.setter
    def step_count(self, value: int) -> None:
        self["step_count"] = value

    @property
    def has_error(self) -> bool:
        """True when a trace holds an error."""
        value: bool = self._typed("has_error", bool)
        return value

    @has_error.setter
    def has_error(self, value: bool) -> None:
        self["has_error"] = value

    @property
    def first_user_id(self) -> str:
        """Who uploaded its first trace."""
        value: str = self._typed("first_user_id", str)
        return value

    @first_user_id.setter
    def first_user_id(self, value: str) -> None:
        self["first_user_id"] = value

    @property
    def environment_ids(self) -> list[Any]:
        """Its environments."""
        value: list[Any] = self._typed("environment_ids", None)
        return value

    @environment_ids.setter
    def environment_ids(self, value: list[Any]) -> None:
        self["environment_ids"] = value

    @property
    def model_ids(self) -> list[Any]:
        """Its models."""
        value: list[Any] = self._typed("model_ids", None)
        return value

    @model_ids.setter
    def model_ids(self, value: list[Any]) -> None:
        self["model_ids"] = value

    @property
    def context(self) -> dict[str, Any]:
        """Notes of the upload of its newest trace."""
        value: dict[str, Any] = self._typed("context", dict)
        return value

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        self["context"] = value


class RunStep(OpenObject):
    """Totals over one training step of a run."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "step": "step",
        "trace_count": "trace_count",
        "episode_count": "episode_count",
        "avg_reward": "avg_reward",
    }
    known_type: ClassVar[str] = "RunStep"

    @property
    def step(self) -> int:
        """The step."""
        value: int = self._typed("step", int)
        return value

    @step.setter
    def step(self, value: int) -> None:
        self["step"] = value

    @property
    def trace_count(self) -> int:
        """How many traces."""
        value: int = self._typed("trace_count", int)
        return value

    @trace_count.setter
    def trace_count(self, value: int) -> None:
        self["trace_count"] = value

    @property
    def episode_count(self) -> int:
        """How many episodes."""
        value: int = self._typed("episode_count", int)
        return value

    @episode_count.setter
    def episode_count(self, value: int) -> None:
        self["episode_count"] = value

    @property
    def avg_reward(self) -> int | float:
        """Mean reward of the scored traces; null when none is scored."""
        value: int | float = self._typed("avg_reward", int | float)
        return value

    @avg_reward.setter
    def avg_reward(self, value: int | float) -> None:
        self["avg_reward"] = value


class IndexedMessage(OpenObject):
    """The message of a node, as it was written; its `content` and `tool_calls` are whatever JSON they were."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "role": "role",
        "reasoning_content": "reasoning_content",
        "tool_call_id": "tool_call_id",
        "name": "name",
        "tool_name": "tool_name",
    }
    known_type: ClassVar[str] = "IndexedMessage"

    @property
    def role(self) -> str:
        """Its role."""
        value: str = self._typed("role", str)
        return value

    @role.setter
    def role(self, value: str) -> None:
        self["role"] = value

    @property
    def reasoning_content(self) -> str | None:
        """Its reasoning."""
        value: str | None = self._typed("reasoning_content", str)
        return value

    @reasoning_content.setter
    def reasoning_content(self, value: str | None) -> None:
        self["reasoning_content"] = value

    @property
    def tool_call_id(self) -> str | None:
        """The call it answers."""
        value: str | None = self._typed("tool_call_id", str)
        return value

    @tool_call_id.setter
    def tool_call_id(self, value: str | None) -> None:
        self["tool_call_id"] = value

    @property
    def name(self) -> str | None:
        """A name."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def tool_name(self) -> str | None:
        """The tool."""
        value: str | None = self._typed("tool_name", str)
        return value

    @tool_name.setter
    def tool_name(self, value: str | None) -> None:
        self["tool_name"] = value


class IndexedNode(OpenObject):
    """A message node of a stored trace."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "node_idx": "node_idx",
        "parent_idx": "parent_idx",
        "timestamp": "timestamp",
        "sampled": "sampled",
        "message": "message",
    }
    known_type: ClassVar[str] = "IndexedNode"

    @property
    def node_idx(self) -> int:
        """Position among the trace's nodes."""
        value: int = self._typed("node_idx", int)
        return value

    @node_idx.setter
    def node_idx(self, value: int) -> None:
        self["node_idx"] = value

    @property
    def parent_idx(self) -> int:
        """The node before it; null for the first."""
        value: int = self._typed("parent_idx", int)
        return value

    @parent_idx.setter
    def parent_idx(self, value: int) -> None:
        self["parent_idx"] = value

    @property
    def timestamp(self) -> int | float:
        """When it was made, in seconds since 1970."""
        value: int | float = self._typed("timestamp", int | float)
        return value

    @timestamp.setter
    def timestamp(self, value: int | float) -> None:
        self["timestamp"] = value

    @property
    def sampled(self) -> bool:
        """True when the model wrote it."""
        value: bool = self._typed("sampled", bool)
        return value

    @sampled.setter
    def sampled(self, value: bool) -> None:
        self["sampled"] = value

    @property
    def message(self) -> IndexedMessage:
        """The message."""
        value: IndexedMessage = self._typed("message", IndexedMessage)
        return value

    @message.setter
    def message(self, value: IndexedMessage) -> None:
        self["message"] = value


class IndexedCall(OpenObject):
    """A model call of a stored trace."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "call_idx": "call_idx",
        "node_idx": "node_idx",
        "time_start": "time_start",
        "time_end": "time_end",
        "model": "model",
        "endpoint": "endpoint",
        "finish_reason": "finish_reason",
    }
    known_type: ClassVar[str] = "IndexedCall"

    @property
    def call_idx(self) -> int:
        """Position among the trace's calls."""
        value: int = self._typed("call_idx", int)
        return value

    @call_idx.setter
    def call_idx(self, value: int) -> None:
        self["call_idx"] = value

    @property
    def node_idx(self) -> int:
        """The node it made."""
        value: int = self._typed("node_idx", int)
        return value

    @node_idx.setter
    def node_idx(self, value: int) -> None:
        self["node_idx"] = value

    @property
    def time_start(self) -> int | float:
        """When it began, in seconds since 1970."""
        value: int | float = self._typed("time_start", int | float)
        return value

    @time_start.setter
    def time_start(self, value: int | float) -> None:
        self["time_start"] = value

    @property
    def time_end(self) -> int | float:
        """When it ended."""
        value: int | float = self._typed("time_end", int | float)
        return value

    @time_end.setter
    def time_end(self, value: int | float) -> None:
        self["time_end"] = value

    @property
    def model(self) -> str:
        """The model."""
        value: str = self._typed("model", str)
        return value

    @model.setter
    def model(self, value: str) -> None:
        self["model"] = value

    @property
    def endpoint(self) -> str:
        """The endpoint."""
        value: str = self._typed("endpoint", str)
        return value

    @endpoint.setter
    def endpoint(self, value: str) -> None:
        self["endpoint"] = value

    @property
    def finish_reason(self) -> str:
        """Why it stopped."""
        value: str = self._typed("finish_reason", str)
        return value

    @finish_reason.setter
    def finish_reason(self, value: str) -> None:
        self["finish_reason"] = value


class SearchMatch(OpenObject):
    """The first match in a node. Positions count code points from 0, the end excluded."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "trace_id": "trace_id",
        "upload_id": "upload_id",
        "generation": "generation",
        "episode_id": "episode_id",
        "node_idx": "node_idx",
        "role": "role",
        "field": "field",
        "representation": "representation",
        "match_start": "match_start",
        "match_end": "match_end",
        "excerpt": "excerpt",
        "excerpt_start": "excerpt_start",
    }
    known_type: ClassVar[str] = "SearchMatch"

    @property
    def trace_id(self) -> str:
        """The trace."""
        value: str = self._typed("trace_id", str)
        return value

    @trace_id.setter
    def trace_id(self, value: str) -> None:
        self["trace_id"] = value

    @property
    def upload_id(self) -> str:
        """The upload it came with."""
        value: str = self._typed("upload_id", str)
        return value

    @upload_id.setter
    def upload_id(self, value: str) -> None:
        self["upload_id"] = value

    @property
    def generation(self) -> int:
        """Which of its stored versions."""
        value: int = self._typed("generation", int)
        return value

    @generation.setter
    def generation(self, value: int) -> None:
        self["generation"] = value

    @property
    def episode_id(self) -> str:
        """Its episode."""
        value: str = self._typed("episode_id", str)
        return value

    @episode_id.setter
    def episode_id(self, value: str) -> None:
        self["episode_id"] = value

    @property
    def node_idx(self) -> int:
        """The node."""
        value: int = self._typed("node_idx", int)
        return value

    @node_idx.setter
    def node_idx(self, value: int) -> None:
        self["node_idx"] = value

    @property
    def role(self) -> str:
        """The node's role."""
        value: str = self._typed("role", str)
        return value

    @role.setter
    def role(self, value: str) -> None:
        self["role"] = value

    @property
    def field(self) -> str:
        """Where in the message."""
        value: str = self._typed("field", str)
        return value

    @field.setter
    def field(self, value: str) -> None:
        self["field"] = value

    @property
    def representation(self) -> str:
        """What the positions count in."""
        value: str = self._typed("representation", str)
        return value

    @representation.setter
    def representation(self, value: str) -> None:
        self["representation"] = value

    @property
    def match_start(self) -> int:
        """Where the match begins."""
        value: int = self._typed("match_start", int)
        return value

    @match_start.setter
    def match_start(self, value: int) -> None:
        self["match_start"] = value

    @property
    def match_end(self) -> int:
        """Where it ends."""
        value: int = self._typed("match_end", int)
        return value

    @match_end.setter
    def match_end(self, value: int) -> None:
        self["match_end"] = value

    @property
    def excerpt(self) -> str:
        """The match with some text around it."""
        value: str = self._typed("excerpt", str)
        return value

    @excerpt.setter
    def excerpt(self, value: str) -> None:
        self["excerpt"] = value

    @property
    def excerpt_start(self) -> int:
        """Where the excerpt begins."""
        value: int = self._typed("excerpt_start", int)
        return value

    @excerpt_start.setter
    def excerpt_start(self, value: int) -> None:
        self["excerpt_start"] = value


class SearchCoverage(OpenObject):
    """What a search could not see when it began."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "examined_traces": "examined_traces",
        "unindexed_trace_ids": "unindexed_trace_ids",
        "partial_index": "partial_index",
    }
    known_type: ClassVar[str] = "SearchCoverage"

    @property
    def examined_traces(self) -> int:
        """Traces that were looked at."""
        value: int = self._typed("examined_traces", int)
        return value

    @examined_traces.setter
    def examined_traces(self, value: int) -> None:
        self["examined_traces"] = value

    @property
    def unindexed_trace_ids(self) -> list[Any]:
        """Some of those that are not indexed yet."""
        value: list[Any] = self._typed("unindexed_trace_ids", None)
        return value

    @unindexed_trace_ids.setter
    def unindexed_trace_ids(self, value: list[Any]) -> None:
        self["unindexed_trace_ids"] = value

    @property
    def partial_index(self) -> bool:
        """True when the index of one stops before the trace does."""
        value: bool = self._typed("partial_index", bool)
        return value

    @partial_index.setter
    def partial_index(self, value: bool) -> None:
        self["partial_index"] = value


class TrainingEnvironment(OpenObject):
    """An environment of a training run, by its id or its name on the hub."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"id": "id", "version_id": "version_id"}
    known_type: ClassVar[str] = "TrainingEnvironment"

    @property
    def id(self) -> str:
        """Id or name of the environment."""
        value: str = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str) -> None:
        self["id"] = value

    @property
    def version_id(self) -> str | None:
        """Id of one version of it; null means the latest."""
        value: str | None = self._typed("version_id", str)
        return value

    @version_id.setter
    def version_id(self, value: str | None) -> None:
        self["version_id"] = value


class ExternalRunCreate(OpenObject):
    """`POST /rft/external-runs`: registers a training run. Only for teams that the platform lets do so; others get 403."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "base_model": "base_model",
        "max_steps": "max_steps",
        "environments": "environments",
        "team_id": "team_id",
        "name": "name",
        "batch_size": "batch_size",
        "rollouts_per_example": "rollouts_per_example",
        "seq_len": "seq_len",
        "run_config": "run_config",
        "wandb_project": "wandb_project",
        "wandb_entity": "wandb_entity",
        "wandb_run_name": "wandb_run_name",
    }
    known_type: ClassVar[str] = "ExternalRunCreate"

    @property
    def base_model(self) -> str:
        """The model that is trained."""
        value: str = self._typed("base_model", str)
        return value

    @base_model.setter
    def base_model(self, value: str) -> None:
        self["base_model"] = value

    @property
    def max_steps(self) -> int:
        """Steps the run is to make; 0 when that is not known."""
        value: int = self._typed("max_steps", int)
        return value

    @max_steps.setter
    def max_steps(self, value: int) -> None:
        self["max_steps"] = value

    @property
    def environments(self) -> list[TrainingEnvironment] | None:
        """The environments it trains on."""
        value: list[TrainingEnvironment] | None = self._typed("environments", list[TrainingEnvironment])
        return value

    @environments.setter
    def environments(self, value: list[TrainingEnvironment] | None) -> None:
        self["environments"] = value

    @property
    def team_id(self) -> str:
        """The team it belongs to."""
        value: str = self._typed("team_id", str)
        return value

    @team_id.setter
    def team_id(self, value: str) -> None:
        self["team_id"] = value

    @property
    def name(self) -> str | None:
        """A name for people."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def batch_size(self) -> int | None:
        """Episodes of a step."""
        value: int | None = self._typed("batch_size", int)
        return value

    @batch_size.setter
    def batch_size(self, value: int | None) -> None:
        self["batch_size"] = value

    @property
    def rollouts_per_example(self) -> int | None:
        """Episodes per task."""
        value: int | None = self._typed("rollouts_per_example", int)
        return value

    @rollouts_per_example.setter
    def rollouts_per_example(self, value: int | None) -> None:
        self["rollouts_per_example"] = value

    @property
    def seq_len(self) -> int | None:
        """Tokens of a sequence at most."""
        value: int | None = self._typed("seq_len", int)
        return value

    @seq_len.setter
    def seq_len(self, value: int | None) -> None:
        self["seq_len"] = value

    @property
    def run_config(self) -> dict[str, Any] | None:
        """The configuration, with secrets masked."""
        value: dict[str, Any] | None = self._typed("run_config", dict)
        return value

    @run_config.setter
    def run_config(self, value: dict[str, Any] | None) -> None:
        self["run_config"] = value

    @property
    def wandb_project(self) -> str | None:
        """Project of the run on Weights & Biases."""
        value: str | None = self._typed("wandb_project", str)
        return value

    @wandb_project.setter
    def wandb_project(self, value: str | None) -> None:
        self["wandb_project"] = value

    @property
    def wandb_entity(self) -> str | None:
        """Entity of the run there."""
        value: str | None = self._typed("wandb_entity", str)
        return value

    @wandb_entity.setter
    def wandb_entity(self, value: str | None) -> None:
        self["wandb_entity"] = value

    @property
    def wandb_run_name(self) -> str | None:
        """Name of the run there."""
        value: str | None = self._typed("wandb_run_name", str)
        return value

    @wandb_run_name.setter
    def wandb_run_name(self, value: str | None) -> None:
        self["wandb_run_name"] = value


class ExternalRun(OpenObject):
    """A registered training run."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "name": "name",
        "status": "status",
        "error_message": "error_message",
        "team_id": "team_id",
    }
    known_type: ClassVar[str] = "ExternalRun"

    @property
    def id(self) -> str:
        """Id of the run on the platform."""
        value: str = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str) -> None:
        self["id"] = value

    @property
    def name(self) -> str | None:
        """A name for people."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def status(self) -> str | None:
        """How far it is."""
        value: str | None = self._typed("status", str)
        return value

    @status.setter
    def status(self, value: str | None) -> None:
        self["status"] = value

    @property
    def error_message(self) -> str | None:
        """Why it failed."""
        value: str | None = self._typed("error_message", str)
        return value

    @error_message.setter
    def error_message(self, value: str | None) -> None:
        self["error_message"] = value

    @property
    def team_id(self) -> str | None:
        """The team it belongs to."""
        value: str | None = self._typed("team_id", str)
        return value

    @team_id.setter
    def team_id(self, value: str | None) -> None:
        self["team_id"] = value


class ExternalRunCreated(OpenObject):
    """The answer to a registration."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"run": "run"}
    known_type: ClassVar[str] = "ExternalRunCreated"

    @property
    def run(self) -> ExternalRun:
        """The run."""
        value: ExternalRun = self._typed("run", ExternalRun)
        return value

    @run.setter
    def run(self, value: ExternalRun) -> None:
        self["run"] = value


class RunMetrics(OpenObject):
    """`POST /rft/metrics`: numbers of a training run. `step` is among them."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"run_id": "run_id", "metrics": "metrics"}
    known_type: ClassVar[str] = "RunMetrics"

    @property
    def run_id(self) -> str:
        """Id of the run on the platform."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def metrics(self) -> dict[str, Any]:
        """Name to value."""
        value: dict[str, Any] = self._typed("metrics", dict)
        return value

    @metrics.setter
    def metrics(self, value: dict[str, Any]) -> None:
        self["metrics"] = value


class SamplesPresign(OpenObject):
    """`POST /rft/samples/presign`: asks where the sample table of a step goes."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"run_id": "run_id", "step": "step"}
    known_type: ClassVar[str] = "SamplesPresign"

    @property
    def run_id(self) -> str:
        """Id of the run on the platform."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def step(self) -> int:
        """The training step."""
        value: int = self._typed("step", int)
        return value

    @step.setter
    def step(self, value: int) -> None:
        self["step"] = value


class PresignedUpload(OpenObject):
    """Where a sample table goes."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"presignedUrl": "presignedUrl", "s3Key": "s3Key"}
    known_type: ClassVar[str] = "PresignedUpload"

    @property
    def presignedUrl(self) -> str:
        """Address for one PUT of the table's bytes. It is a secret: whoever has it may write there."""
        value: str = self._typed("presignedUrl", str)
        return value

    @presignedUrl.setter
    def presignedUrl(self, value: str) -> None:
        self["presignedUrl"] = value

    @property
    def s3Key(self) -> str:
        """Name of the table for the confirmation."""
        value: str = self._typed("s3Key", str)
        return value

    @s3Key.setter
    def s3Key(self, value: str) -> None:
        self["s3Key"] = value


class SamplesPresigned(OpenObject):
    """The answer to a presign."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"data": "data"}
    known_type: ClassVar[str] = "SamplesPresigned"

    @property
    def data(self) -> PresignedUpload:
        """Where the table goes."""
        value: PresignedUpload = self._typed("data", PresignedUpload)
        return value

    @data.setter
    def data(self, value: PresignedUpload) -> None:
        self["data"] = value


class SamplesConfirm(OpenObject):
    """`POST /rft/samples/confirm`: the sample table of a step has been put in its place."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"run_id": "run_id", "step": "step", "s3_key": "s3_key"}
    known_type: ClassVar[str] = "SamplesConfirm"

    @property
    def run_id(self) -> str:
        """Id of the run on the platform."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def step(self) -> int:
        """The training step."""
        value: int = self._typed("step", int)
        return value

    @step.setter
    def step(self, value: int) -> None:
        self["step"] = value

    @property
    def s3_key(self) -> str:
        """Name of the table, as the presign gave it."""
        value: str = self._typed("s3_key", str)
        return value

    @s3_key.setter
    def s3_key(self, value: str) -> None:
        self["s3_key"] = value


class RftFinalize(OpenObject):
    """`POST /rft/finalize`: closes a training run as completed. Closed twice is closed."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"run_id": "run_id", "exit_code": "exit_code"}
    known_type: ClassVar[str] = "RftFinalize"

    @property
    def run_id(self) -> str:
        """Id of the run on the platform."""
        value: str = self._typed("run_id", str)
        return value

    @run_id.setter
    def run_id(self, value: str) -> None:
        self["run_id"] = value

    @property
    def exit_code(self) -> int | None:
        """The trainer's exit code."""
        value: int | None = self._typed("exit_code", int)
        return value

    @exit_code.setter
    def exit_code(self, value: int | None) -> None:
        self["exit_code"] = value


class ExternalRunStatus(OpenObject):
    """`PUT /rft/external-runs/{id}/status`: closes a training run. A closed one answers 409."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"status": "status", "error_message": "error_message"}
    known_type: ClassVar[str] = "ExternalRunStatus"

    @property
    def status(self) -> str:
        """How it ended."""
        value: str = self._typed("status", str)
        return value

    @status.setter
    def status(self, value: str) -> None:
        self["status"] = value

    @property
    def error_message(self) -> str | None:
        """Why it failed."""
        value: str | None = self._typed("error_message", str)
        return value

    @error_message.setter
    def error_message(self, value: str | None) -> None:
        self["error_message"] = value


class PredictionRow(OpenObject):
    """One item as it was measured: a line of `predictions.jsonl`, appended once the item's output is on disk. Every member that is not named here is a metric of the item: its name is the adapter's or the scorer's, its value a finite number. A metric that an item does not have is left out; it is never null and never counted as 0. Members with a leading underscore never enter an average."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "item_id": "item_id",
        "latency_ms": "latency_ms",
        "cost_usd": "cost_usd",
        "tokens_in": "tokens_in",
        "tokens_out": "tokens_out",
        "output_words": "output_words",
        "extra": "_extra",
        "meta": "_meta",
        "error": "_error",
        "output_sha256": "_output_sha256",
    }
    known_type: ClassVar[str] = "PredictionRow"
    checked: ClassVar[bool] = True

    @property
    def item_id(self) -> str:
        """The item, as the dataset names it; at most one row per item."""
        value: str = self._typed("item_id", str)
        return value

    @item_id.setter
    def item_id(self, value: str) -> None:
        self["item_id"] = value

    @property
    def latency_ms(self) -> int | float | None:
        """Milliseconds the call took, by the monotonic clock, warm-up excluded."""
        value: int | float | None = self._typed("latency_ms", int | float)
        return value

    @latency_ms.setter
    def latency_ms(self, value: int | float | None) -> None:
        self["latency_ms"] = value

    @property
    def cost_usd(self) -> int | float | None:
        """US dollars the call cost: the provider's bill where there is one, else by the config's prices. A judge's money is another metric."""
        value: int | float | None = self._typed("cost_usd", int | float)
        return value

    @cost_usd.setter
    def cost_usd(self, value: int | float | None) -> None:
        self["cost_usd"] = value

    @property
    def tokens_in(self) -> int | float | None:
        """Tokens of the prompt. Not always whole: the mean when several rollouts make one row."""
        value: int | float | None = self._typed("tokens_in", int | float)
        return value

    @tokens_in.setter
    def tokens_in(self, value: int | float | None) -> None:
        self["tokens_in"] = value

    @property
    def tokens_out(self) -> int | float | None:
        """Tokens of the reply. Not always whole: the mean when several rollouts make one row."""
        value: int | float | None = self._typed("tokens_out", int | float)
        return value

    @tokens_out.setter
    def tokens_out(self, value: int | float | None) -> None:
        self["tokens_out"] = value

    @property
    def output_words(self) -> int | float | None:
        """Words of the output."""
        value: int | float | None = self._typed("output_words", int | float)
        return value

    @output_words.setter
    def output_words(self, value: int | float | None) -> None:
        self["output_words"] = value

    @property
    def extra(self) -> dict[str, int | float] | None:
        """Name to number: what the adapter attached when the item was called and nothing can compute again, such as `truncated` or `reasoning_tokens`. They are metrics of the row as well, and rescore and judge-score carry them. Every row since version 0.4.0 has it, be it empty; a row without it is older, can be read, and can't be resumed or rescored."""
        value: dict[str, int | float] | None = self._typed("_extra", dict[str, int | float])
        return value

    @extra.setter
    def extra(self, value: dict[str, int | float] | None) -> None:
        self["_extra"] = value

    @property
    def meta(self) -> dict[str, Any] | None:
        """What the provider said about the call, kept as it came: `usage` (with the bill in `usage.cost`), `finish_reason`, `provider`, `model` and the rest."""
        value: dict[str, Any] | None = self._typed("_meta", dict)
        return value

    @meta.setter
    def meta(self, value: dict[str, Any] | None) -> None:
        self["_meta"] = value

    @property
    def error(self) -> str | None:
        """The item failed, and the user accepted that: type and message of the last failure. Such a row has no score."""
        value: str | None = self._typed("_error", str)
        return value

    @error.setter
    def error(self, value: str | None) -> None:
        self["_error"] = value

    @property
    def output_sha256(self) -> str | None:
        """Digest of the bytes of the item's file in `outputs/`. When the file is missing or differs, the item is owed again."""
        value: str | None = self._typed("_output_sha256", str)
        return value

    @output_sha256.setter
    def output_sha256(self, value: str | None) -> None:
        self["_output_sha256"] = value


class FingerprintModel(OpenObject):
    """Identity of the system as the adapter's `fingerprint` hook returned it. Open: whatever else the hook returns stands beside these members."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "identity_declared": "identity_declared",
        "revision": "revision",
        "revision_source": "revision_source",
        "error": "error",
    }
    known_type: ClassVar[str] = "FingerprintModel"

    @property
    def identity_declared(self) -> bool:
        """False when the adapter has no hook, or the hook failed or returned no object."""
        value: bool = self._typed("identity_declared", bool)
        return value

    @identity_declared.setter
    def identity_declared(self, value: bool) -> None:
        self["identity_declared"] = value

    @property
    def revision(self) -> str | None:
        """Revision of the model or service; null when it could not be learned. Never invented."""
        value: str | None = self._typed("revision", str)
        return value

    @revision.setter
    def revision(self, value: str | None) -> None:
        self["revision"] = value

    @property
    def revision_source(self) -> str | None:
        """Where the revision was learned; `unavailable` when there is none."""
        value: str | None = self._typed("revision_source", str)
        return value

    @revision_source.setter
    def revision_source(self, value: str | None) -> None:
        self["revision_source"] = value

    @property
    def error(self) -> str | None:
        """What the hook failed with."""
        value: str | None = self._typed("error", str)
        return value

    @error.setter
    def error(self, value: str | None) -> None:
        self["error"] = value


class TaskData(OpenObject):
    """A task's data. What a task set declares is named here; every other member is a column of the dataset and is kept verbatim."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "idx": "idx",
        "id": "id",
        "name": "name",
        "description": "description",
        "prompt": "prompt",
        "system_prompt": "system_prompt",
        "image": "image",
        "workdir": "workdir",
        "agent_user": "agent_user",
        "skills": "skills",
        "network_allow": "network_allow",
        "network_block": "network_block",
        "artifacts": "artifacts",
        "artifact_max_bytes": "artifact_max_bytes",
        "timeout": "timeout",
        "resources": "resources",
    }
    known_type: ClassVar[str] = "TaskData"

    @property
    def idx(self) -> int | None:
        """Position of the task in its task set, from 0."""
        value: int | None = self._typed("idx", int)
        return value

    @idx.setter
    def idx(self, value: int | None) -> None:
        self["idx"] = value

    @property
    def id(self) -> str | None:
        """Identity the dataset gave the task."""
        value: str | None = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str | None) -> None:
        self["id"] = value

    @property
    def name(self) -> str | None:
        """A name for people."""
        value: str | None = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str | None) -> None:
        self["name"] = value

    @property
    def description(self) -> str | None:
        """What the task is about, for people."""
        value: str | None = self._typed("description", str)
        return value

    @description.setter
    def description(self, value: str | None) -> None:
        self["description"] = value

    @property
    def prompt(self) -> str | list[Any] | None:
        """What the agent is asked: a text, or a list of message objects."""
        value: str | list[Any] | None = self._typed("prompt", None)
        return value

    @prompt.setter
    def prompt(self, value: str | list[Any] | None) -> None:
        self["prompt"] = value

    @property
    def system_prompt(self) -> str | None:
        """Instructions that stand before the prompt."""
        value: str | None = self._typed("system_prompt", str)
        return value

    @system_prompt.setter
    def system_prompt(self, value: str | None) -> None:
        self["system_prompt"] = value

    @property
    def image(self) -> str | None:
        """Container image the task runs in."""
        value: str | None = self._typed("image", str)
        return value

    @image.setter
    def image(self, value: str | None) -> None:
        self["image"] = value

    @property
    def workdir(self) -> str | None:
        """Working directory inside the runtime."""
        value: str | None = self._typed("workdir", str)
        return value

    @workdir.setter
    def workdir(self, value: str | None) -> None:
        self["workdir"] = value

    @property
    def agent_user(self) -> str | None:
        """User the agent runs as inside the runtime."""
        value: str | None = self._typed("agent_user", str)
        return value

    @agent_user.setter
    def agent_user(self, value: str | None) -> None:
        self["agent_user"] = value

    @property
    def skills(self) -> list[Any] | None:
        """Skills offered to the agent: paths, or objects `{"runtime": path}`."""
        value: list[Any] | None = self._typed("skills", None)
        return value

    @skills.setter
    def skills(self, value: list[Any] | None) -> None:
        self["skills"] = value

    @property
    def network_allow(self) -> list[Any] | None:
        """Hosts the runtime may reach; `*` stands for all."""
        value: list[Any] | None = self._typed("network_allow", None)
        return value

    @network_allow.setter
    def network_allow(self, value: list[Any] | None) -> None:
        self["network_allow"] = value

    @property
    def network_block(self) -> list[Any] | None:
        """Hosts the runtime may not reach."""
        value: list[Any] | None = self._typed("network_block", None)
        return value

    @network_block.setter
    def network_block(self, value: list[Any] | None) -> None:
        self["network_block"] = value

    @property
    def artifacts(self) -> list[Artifact] | None:
        """Files to collect when the task ends."""
        value: list[Artifact] | None = self._typed("artifacts", list[Artifact])
        return value

    @artifacts.setter
    def artifacts(self, value: list[Artifact] | None) -> None:
        self["artifacts"] = value

    @property
    def artifact_max_bytes(self) -> int | None:
        """Largest artifact that is collected, in bytes."""
        value: int | None = self._typed("artifact_max_bytes", int)
        return value

    @artifact_max_bytes.setter
    def artifact_max_bytes(self, value: int | None) -> None:
        self["artifact_max_bytes"] = value

    @property
    def timeout(self) -> TaskTimeout | None:
        """Time limits of the task's stages."""
        value: TaskTimeout | None = self._typed("timeout", TaskTimeout)
        return value

    @timeout.setter
    def timeout(self, value: TaskTimeout | None) -> None:
        self["timeout"] = value

    @property
    def resources(self) -> TaskResources | None:
        """What the task's runtime needs."""
        value: TaskResources | None = self._typed("resources", TaskResources)
        return value

    @resources.setter
    def resources(self, value: TaskResources | None) -> None:
        self["resources"] = value


class Artifact(OpenObject):
    """A file to collect from the runtime when a task ends."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"source": "source", "exclude": "exclude", "required": "required"}
    known_type: ClassVar[str] = "Artifact"

    @property
    def source(self) -> str | None:
        """Path inside the runtime."""
        value: str | None = self._typed("source", str)
        return value

    @source.setter
    def source(self, value: str | None) -> None:
        self["source"] = value

    @property
    def exclude(self) -> list[Any] | None:
        """Patterns of what to leave out."""
        value: list[Any] | None = self._typed("exclude", None)
        return value

    @exclude.setter
    def exclude(self, value: list[Any] | None) -> None:
        self["exclude"] = value

    @property
    def required(self) -> bool | None:
        """Whether a missing file is an error; absent means yes."""
        value: bool | None = self._typed("required", bool)
        return value

    @required.setter
    def required(self, value: bool | None) -> None:
        self["required"] = value


class TaskTimeout(OpenObject):
    """Time limits of a task's stages, in seconds; null is no limit."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "setup": "setup",
        "agent": "agent",
        "finalize": "finalize",
        "scoring": "scoring",
    }
    known_type: ClassVar[str] = "TaskTimeout"

    @property
    def setup(self) -> int | float | None:
        """Limit of the setup stage, in seconds."""
        value: int | float | None = self._typed("setup", int | float)
        return value

    @setup.setter
    def setup(self, value: int | float | None) -> None:
        self["setup"] = value

    @property
    def agent(self) -> int | float | None:
        """Limit of the agent stage, in seconds."""
        value: int | float | None = self._typed("agent", int | float)
        return value

    @agent.setter
    def agent(self, value: int | float | None) -> None:
        self["agent"] = value

    @property
    def finalize(self) -> int | float | None:
        """Limit of the finalize stage, in seconds."""
        value: int | float | None = self._typed("finalize", int | float)
        return value

    @finalize.setter
    def finalize(self, value: int | float | None) -> None:
        self["finalize"] = value

    @property
    def scoring(self) -> int | float | None:
        """Limit of the scoring stage, in seconds."""
        value: int | float | None = self._typed("scoring", int | float)
        return value

    @scoring.setter
    def scoring(self, value: int | float | None) -> None:
        self["scoring"] = value


class TaskResources(OpenObject):
    """Resources a task needs."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"cpu": "cpu", "memory": "memory", "gpu": "gpu", "disk": "disk"}
    known_type: ClassVar[str] = "TaskResources"

    @property
    def cpu(self) -> int | float | None:
        """Processors, in cores."""
        value: int | float | None = self._typed("cpu", int | float)
        return value

    @cpu.setter
    def cpu(self, value: int | float | None) -> None:
        self["cpu"] = value

    @property
    def memory(self) -> int | float | None:
        """Memory, in GiB."""
        value: int | float | None = self._typed("memory", int | float)
        return value

    @memory.setter
    def memory(self, value: int | float | None) -> None:
        self["memory"] = value

    @property
    def gpu(self) -> str | None:
        """Accelerator, as the runtime names it."""
        value: str | None = self._typed("gpu", str)
        return value

    @gpu.setter
    def gpu(self, value: str | None) -> None:
        self["gpu"] = value

    @property
    def disk(self) -> int | float | None:
        """Disk, in GiB."""
        value: int | float | None = self._typed("disk", int | float)
        return value

    @disk.setter
    def disk(self, value: int | float | None) -> None:
        self["disk"] = value


class AgentConfig(OpenObject):
    """An agent's resolved configuration. It belongs to the library that ran the agent and changes with its releases, so it is open at every level and written back as it came."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "harness": "harness",
        "runtime": "runtime",
        "model": "model",
        "client": "client",
        "sampling": "sampling",
        "max_turns": "max_turns",
        "max_input_tokens": "max_input_tokens",
        "max_output_tokens": "max_output_tokens",
        "max_total_tokens": "max_total_tokens",
        "timeout": "timeout",
        "retries": "retries",
        "network_notice": "network_notice",
    }
    known_type: ClassVar[str] = "AgentConfig"

    @property
    def harness(self) -> HarnessConfig | None:
        """The program that drives the agent."""
        value: HarnessConfig | None = self._typed("harness", HarnessConfig)
        return value

    @harness.setter
    def harness(self, value: HarnessConfig | None) -> None:
        self["harness"] = value

    @property
    def runtime(self) -> Runtime | None:
        """Where the agent was told to run."""
        value: Runtime | None = self._typed("runtime", Runtime)
        return value

    @runtime.setter
    def runtime(self, value: Runtime | None) -> None:
        self["runtime"] = value

    @property
    def model(self) -> str | None:
        """Model the agent calls."""
        value: str | None = self._typed("model", str)
        return value

    @model.setter
    def model(self, value: str | None) -> None:
        self["model"] = value

    @property
    def client(self) -> ClientConfig | None:
        """How the model is reached."""
        value: ClientConfig | None = self._typed("client", ClientConfig)
        return value

    @client.setter
    def client(self, value: ClientConfig | None) -> None:
        self["client"] = value

    @property
    def sampling(self) -> Sampling | None:
        """How the model samples."""
        value: Sampling | None = self._typed("sampling", Sampling)
        return value

    @sampling.setter
    def sampling(self, value: Sampling | None) -> None:
        self["sampling"] = value

    @property
    def max_turns(self) -> int | None:
        """Most turns allowed."""
        value: int | None = self._typed("max_turns", int)
        return value

    @max_turns.setter
    def max_turns(self, value: int | None) -> None:
        self["max_turns"] = value

    @property
    def max_input_tokens(self) -> int | None:
        """Most input tokens allowed."""
        value: int | None = self._typed("max_input_tokens", int)
        return value

    @max_input_tokens.setter
    def max_input_tokens(self, value: int | None) -> None:
        self["max_input_tokens"] = value

    @property
    def max_output_tokens(self) -> int | None:
        """Most output tokens allowed."""
        value: int | None = self._typed("max_output_tokens", int)
        return value

    @max_output_tokens.setter
    def max_output_tokens(self, value: int | None) -> None:
        self["max_output_tokens"] = value

    @property
    def max_total_tokens(self) -> int | None:
        """Most input and output tokens allowed."""
        value: int | None = self._typed("max_total_tokens", int)
        return value

    @max_total_tokens.setter
    def max_total_tokens(self, value: int | None) -> None:
        self["max_total_tokens"] = value

    @property
    def timeout(self) -> AgentTimeout | None:
        """Time limits of the agent's stages."""
        value: AgentTimeout | None = self._typed("timeout", AgentTimeout)
        return value

    @timeout.setter
    def timeout(self, value: AgentTimeout | None) -> None:
        self["timeout"] = value

    @property
    def retries(self) -> RetryConfig | None:
        """When a failed rollout is tried again."""
        value: RetryConfig | None = self._typed("retries", RetryConfig)
        return value

    @retries.setter
    def retries(self, value: RetryConfig | None) -> None:
        self["retries"] = value

    @property
    def network_notice(self) -> bool | None:
        """Whether the agent is told about its network limits."""
        value: bool | None = self._typed("network_notice", bool)
        return value

    @network_notice.setter
    def network_notice(self, value: bool | None) -> None:
        self["network_notice"] = value


class HarnessConfig(OpenObject):
    """Configuration of the program that drives an agent."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "id": "id",
        "env": "env",
        "forward_env": "forward_env",
        "tool_timeout": "tool_timeout",
        "disabled_tools": "disabled_tools",
        "skills": "skills",
    }
    known_type: ClassVar[str] = "HarnessConfig"

    @property
    def id(self) -> str | None:
        """Which harness."""
        value: str | None = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str | None) -> None:
        self["id"] = value

    @property
    def env(self) -> dict[str, Any] | None:
        """Environment variables given to the harness. May hold credentials: masked in run directories and uploads."""
        value: dict[str, Any] | None = self._typed("env", None)
        return value

    @env.setter
    def env(self, value: dict[str, Any] | None) -> None:
        self["env"] = value

    @property
    def forward_env(self) -> list[Any] | None:
        """Names of variables passed on from the host."""
        value: list[Any] | None = self._typed("forward_env", None)
        return value

    @forward_env.setter
    def forward_env(self, value: list[Any] | None) -> None:
        self["forward_env"] = value

    @property
    def tool_timeout(self) -> int | float | None:
        """Limit of one tool call, in seconds."""
        value: int | float | None = self._typed("tool_timeout", int | float)
        return value

    @tool_timeout.setter
    def tool_timeout(self, value: int | float | None) -> None:
        self["tool_timeout"] = value

    @property
    def disabled_tools(self) -> list[Any] | None:
        """Tools switched off."""
        value: list[Any] | None = self._typed("disabled_tools", None)
        return value

    @disabled_tools.setter
    def disabled_tools(self, value: list[Any] | None) -> None:
        self["disabled_tools"] = value

    @property
    def skills(self) -> list[Any] | None:
        """Skills offered: paths, or objects `{"runtime": path}`."""
        value: list[Any] | None = self._typed("skills", None)
        return value

    @skills.setter
    def skills(self, value: list[Any] | None) -> None:
        self["skills"] = value


class ClientConfig(OpenObject):
    """How a model endpoint is reached. Keys are named by variable, never written."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "type": "type",
        "base_url": "base_url",
        "api_key_var": "api_key_var",
        "headers": "headers",
        "headers_from_env": "headers_from_env",
    }
    known_type: ClassVar[str] = "ClientConfig"

    @property
    def type(self) -> str | None:
        """Kind of client."""
        value: str | None = self._typed("type", str)
        return value

    @type.setter
    def type(self, value: str | None) -> None:
        self["type"] = value

    @property
    def base_url(self) -> str | None:
        """Root of the endpoint's API."""
        value: str | None = self._typed("base_url", str)
        return value

    @base_url.setter
    def base_url(self, value: str | None) -> None:
        self["base_url"] = value

    @property
    def api_key_var(self) -> str | None:
        """Name of the environment variable that holds the key."""
        value: str | None = self._typed("api_key_var", str)
        return value

    @api_key_var.setter
    def api_key_var(self, value: str | None) -> None:
        self["api_key_var"] = value

    @property
    def headers(self) -> dict[str, Any] | None:
        """Extra request headers. May hold credentials: masked in run directories and uploads."""
        value: dict[str, Any] | None = self._typed("headers", None)
        return value

    @headers.setter
    def headers(self, value: dict[str, Any] | None) -> None:
        self["headers"] = value

    @property
    def headers_from_env(self) -> dict[str, Any] | None:
        """Header name to the name of the variable that holds its value."""
        value: dict[str, Any] | None = self._typed("headers_from_env", None)
        return value

    @headers_from_env.setter
    def headers_from_env(self, value: dict[str, Any] | None) -> None:
        self["headers_from_env"] = value


class Sampling(OpenObject):
    """Sampling settings of a model call; any setting of a provider is kept."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "reasoning_effort": "reasoning_effort",
        "max_tokens": "max_tokens",
    }
    known_type: ClassVar[str] = "Sampling"

    @property
    def temperature(self) -> int | float | None:
        """Softmax temperature."""
        value: int | float | None = self._typed("temperature", int | float)
        return value

    @temperature.setter
    def temperature(self, value: int | float | None) -> None:
        self["temperature"] = value

    @property
    def top_p(self) -> int | float | None:
        """Nucleus mass."""
        value: int | float | None = self._typed("top_p", int | float)
        return value

    @top_p.setter
    def top_p(self, value: int | float | None) -> None:
        self["top_p"] = value

    @property
    def reasoning_effort(self) -> str | None:
        """Effort asked of a reasoning model."""
        value: str | None = self._typed("reasoning_effort", str)
        return value

    @reasoning_effort.setter
    def reasoning_effort(self, value: str | None) -> None:
        self["reasoning_effort"] = value

    @property
    def max_tokens(self) -> int | None:
        """Most tokens of one reply."""
        value: int | None = self._typed("max_tokens", int)
        return value

    @max_tokens.setter
    def max_tokens(self, value: int | None) -> None:
        self["max_tokens"] = value


class AgentTimeout(OpenObject):
    """Time limits of an agent's stages, in seconds; null is no limit."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "setup": "setup",
        "rollout": "rollout",
        "finalize": "finalize",
        "scoring": "scoring",
    }
    known_type: ClassVar[str] = "AgentTimeout"

    @property
    def setup(self) -> int | float | None:
        """Limit of the setup stage, in seconds."""
        value: int | float | None = self._typed("setup", int | float)
        return value

    @setup.setter
    def setup(self, value: int | float | None) -> None:
        self["setup"] = value

    @property
    def rollout(self) -> int | float | None:
        """Limit of the rollout stage, in seconds."""
        value: int | float | None = self._typed("rollout", int | float)
        return value

    @rollout.setter
    def rollout(self, value: int | float | None) -> None:
        self["rollout"] = value

    @property
    def finalize(self) -> int | float | None:
        """Limit of the finalize stage, in seconds."""
        value: int | float | None = self._typed("finalize", int | float)
        return value

    @finalize.setter
    def finalize(self, value: int | float | None) -> None:
        self["finalize"] = value

    @property
    def scoring(self) -> int | float | None:
        """Limit of the scoring stage, in seconds."""
        value: int | float | None = self._typed("scoring", int | float)
        return value

    @scoring.setter
    def scoring(self, value: int | float | None) -> None:
        self["scoring"] = value


class RetryConfig(OpenObject):
    """When a failed rollout is tried again."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {"max_retries": "max_retries"}
    known_type: ClassVar[str] = "RetryConfig"

    @property
    def max_retries(self) -> int | None:
        """Most tries after the first."""
        value: int | None = self._typed("max_retries", int)
        return value

    @max_retries.setter
    def max_retries(self, value: int | None) -> None:
        self["max_retries"] = value


class Runtime(OpenObject):
    """A sandbox or process an agent runs in: its configuration, and once it exists its identity."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "type": "type",
        "id": "id",
        "borrowed": "borrowed",
        "image": "image",
        "workdir": "workdir",
    }
    known_type: ClassVar[str] = "Runtime"

    @property
    def type(self) -> str | None:
        """Kind of runtime."""
        value: str | None = self._typed("type", str)
        return value

    @type.setter
    def type(self, value: str | None) -> None:
        self["type"] = value

    @property
    def id(self) -> str | None:
        """Identity of the running instance."""
        value: str | None = self._typed("id", str)
        return value

    @id.setter
    def id(self, value: str | None) -> None:
        self["id"] = value

    @property
    def borrowed(self) -> bool | None:
        """Whether the instance belongs to somebody else and outlives the agent."""
        value: bool | None = self._typed("borrowed", bool)
        return value

    @borrowed.setter
    def borrowed(self, value: bool | None) -> None:
        self["borrowed"] = value

    @property
    def image(self) -> str | None:
        """Container image."""
        value: str | None = self._typed("image", str)
        return value

    @image.setter
    def image(self, value: str | None) -> None:
        self["image"] = value

    @property
    def workdir(self) -> str | None:
        """Working directory inside."""
        value: str | None = self._typed("workdir", str)
        return value

    @workdir.setter
    def workdir(self, value: str | None) -> None:
        self["workdir"] = value


class Tool(OpenObject):
    """A tool offered to the model. Open: providers add settings of their own."""

    __slots__ = ()

    known: ClassVar[Mapping[str, str]] = {
        "type": "type",
        "name": "name",
        "namespace": "namespace",
        "description": "description",
        "parameters": "parameters",
        "strict": "strict",
    }
    known_type: ClassVar[str] = "Tool"

    @property
    def type(self) -> str | None:
        """Kind of tool."""
        value: str | None = self._typed("type", str)
        return value

    @type.setter
    def type(self, value: str | None) -> None:
        self["type"] = value

    @property
    def name(self) -> str:
        """Name the model calls it by."""
        value: str = self._typed("name", str)
        return value

    @name.setter
    def name(self, value: str) -> None:
        self["name"] = value

    @property
    def namespace(self) -> str | None:
        """Group the name belongs to."""
        value: str | None = self._typed("namespace", str)
        return value

    @namespace.setter
    def namespace(self, value: str | None) -> None:
        self["namespace"] = value

    @property
    def description(self) -> str | None:
        """What it does, as the model is told."""
        value: str | None = self._typed("description", str)
        return value

    @description.setter
    def description(self, value: str | None) -> None:
        self["description"] = value

    @property
    def parameters(self) -> dict[str, Any] | None:
        """JSON Schema of the arguments."""
        value: dict[str, Any] | None = self._typed("parameters", dict)
        return value

    @parameters.setter
    def parameters(self, value: dict[str, Any] | None) -> None:
        self["parameters"] = value

    @property
    def strict(self) -> bool | None:
        """Whether arguments must follow the schema exactly."""
        value: bool | None = self._typed("strict", bool)
        return value

    @strict.setter
    def strict(self, value: bool | None) -> None:
        self["strict"] = value
