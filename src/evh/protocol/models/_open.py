# Generated from schema/v1 by `make generate` (all files, sha256 fd111b4c66d2d66dc2ecdb934f95a0d28d2074f1e6f9fb02ac59c13b55fb02a4). Edit the schema, not this file.
"""Open objects of the contract: typed access to the members that the schema names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from evh.protocol._open import OpenObject

__all__ = [
    "AgentConfig",
    "AgentTimeout",
    "Artifact",
    "ClientConfig",
    "FingerprintModel",
    "HarnessConfig",
    "PredictionRow",
    "RetryConfig",
    "Runtime",
    "Sampling",
    "TaskData",
    "TaskResources",
    "TaskTimeout",
    "Tool",
]


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
