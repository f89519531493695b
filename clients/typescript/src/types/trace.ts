// Generated from schema/v1/trace.json by `make generate`, sha256 e32aef5d91892e424a218d7ac5555ab39795c2b05e1dd07e3c45e51d822e86f3.
// Edit the schema, not this file.

import type { JsonValue, Type } from "../schema.ts";
import { JsonObject } from "./common.ts";

/** What one agent did in an episode: its message graph, model calls, rewards and timing. */
export interface Trace {
  /**
   * Version number of the format as verifiers counts it; it went down as well as up, so nothing is decided by it.
   * @defaultValue `1`
   */
  version?: number;
  /** Identity of the trace, made once and kept; 32 lower-case hexadecimal digits when made here. */
  id: string;
  /** The build that made the trace. */
  verifiers?: VersionInfo | null;
  /** The task, repeated from the episode so that a trace can stand alone. */
  task: TraceTask;
  /** Who acted. */
  agent: AgentInfo;
  /** Tools on offer at the last turn. */
  tools?: Tool[];
  /** The message graph. */
  nodes?: MessageNode[];
  /** Model calls in order. */
  calls?: ModelCall[];
  /** Token id, as text, to the multi-modal type of its tokens. */
  mm_token_type_id_map?: { [name: string]: number };
  /** Rewrites of requests, in order. */
  request_rewrites?: InterceptRecord[];
  /** Rewrites of responses, in order. */
  response_rewrites?: InterceptRecord[];
  /** Rewards by name; null when scoring never ran. */
  rewards?: { [name: string]: Reward | null };
  /** Metrics by name; null when not measured. */
  metrics?: { [name: string]: number | null };
  /**
   * Free notes. The key `evh` is reserved: `upgrade` and `convert` keep there what has no other place.
   * @defaultValue `{}`
   */
  info?: JsonObject;
  /** The reply of the root agent, when it is not the last sampled message. */
  root_reply?: string | null;
  /** Spending outside the message graph, such as judges. */
  extra_usage?: Usage[];
  /**
   * True once the trace was closed, for whatever reason.
   * @defaultValue `false`
   */
  is_completed?: boolean;
  /**
   * True when the trace ended without error. The only signal of success.
   * @defaultValue `false`
   */
  ok?: boolean;
  /** Why the trace ended. An open vocabulary: custom conditions are named after their functions. */
  stop_condition?:
    | "agent_completed"
    | "user_closed"
    | "error"
    | "max_turns"
    | "max_input_tokens"
    | "max_output_tokens"
    | "max_total_tokens"
    | "context_length"
    | "compaction_failed"
    | "empty_action"
    | (string & {})
    | null;
  /**
   * True when the trace ran past its deadline.
   * @defaultValue `false`
   */
  is_timeout?: boolean;
  /** Errors of all attempts, oldest first. */
  errors?: Error[];
  /** When its stages ran. */
  timing: Timing;
}

export const Trace: Type<Trace> = {
  name: "Trace",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      version: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      id: { type: "string" },
      verifiers: { anyOf: [{ ref: () => VersionInfo }, { type: "null" }] },
      task: { ref: () => TraceTask },
      agent: { ref: () => AgentInfo },
      tools: { type: "array", items: { ref: () => Tool } },
      nodes: { type: "array", items: { ref: () => MessageNode } },
      calls: { type: "array", items: { ref: () => ModelCall } },
      mm_token_type_id_map: {
        type: "object",
        additionalProperties: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      },
      request_rewrites: { type: "array", items: { ref: () => InterceptRecord } },
      response_rewrites: { type: "array", items: { ref: () => InterceptRecord } },
      rewards: {
        type: "object",
        additionalProperties: { anyOf: [{ ref: () => Reward }, { type: "null" }] },
      },
      metrics: { type: "object", additionalProperties: { type: ["number", "null"] } },
      info: { ref: () => JsonObject },
      root_reply: { type: ["string", "null"] },
      extra_usage: { type: "array", items: { ref: () => Usage } },
      is_completed: { type: "boolean" },
      ok: { type: "boolean" },
      stop_condition: { type: ["string", "null"] },
      is_timeout: { type: "boolean" },
      errors: { type: "array", items: { ref: () => Error } },
      timing: { ref: () => Timing },
      num_input_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
        computed: true,
      },
      num_output_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
        computed: true,
      },
      num_total_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
        computed: true,
      },
    },
    required: ["id", "task", "agent", "timing"],
  },
  retired: { run: "read Episode.run" },
};

/** The build of the library that made a trace. */
export interface VersionInfo {
  /** Version text, such as `0.4.0` or `evh-1.0.0`; `unknown` when the writer did not say. */
  version: string;
  /** Commit of the build, when it came from a checkout. */
  commit?: string | null;
}

export const VersionInfo: Type<VersionInfo> = {
  name: "VersionInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { version: { type: "string" }, commit: { type: ["string", "null"] } },
    required: ["version"],
  },
};

/** The task an agent was given: which kind, its data, and its identity. */
export interface TraceTask {
  /** Name of the task's class in its task set; empty when unknown. */
  type: string;
  /** The task itself: the columns of its dataset row. */
  data: TaskData;
  /** Stable identity of the task across runs; the content hash unless a task set says otherwise. */
  key?: string | null;
  /** Content hash of `data`, as the writing library computed it; never recomputed here. */
  hash?: string | null;
}

export const TraceTask: Type<TraceTask> = {
  name: "TraceTask",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string" },
      data: { ref: () => TaskData },
      key: { type: ["string", "null"] },
      hash: { type: ["string", "null"] },
    },
    required: ["type", "data"],
  },
};

/**
 * A task's data. What a task set declares is named here; every other member is a column of the dataset and is kept
 * verbatim.
 */
export interface TaskData {
  /** Position of the task in its task set, from 0. */
  idx?: number | null;
  /** Identity the dataset gave the task. */
  id?: string | null;
  /** A name for people. */
  name?: string | null;
  /** What the task is about, for people. */
  description?: string | null;
  /** What the agent is asked: a text, or a list of message objects. */
  prompt?: string | JsonObject[] | null;
  /** Instructions that stand before the prompt. */
  system_prompt?: string | null;
  /** Container image the task runs in. */
  image?: string | null;
  /** Working directory inside the runtime. */
  workdir?: string | null;
  /** User the agent runs as inside the runtime. */
  agent_user?: string | null;
  /** Skills offered to the agent: paths, or objects `{"runtime": path}`. */
  skills?: JsonValue[];
  /** Hosts the runtime may reach; `*` stands for all. */
  network_allow?: string[];
  /** Hosts the runtime may not reach. */
  network_block?: string[];
  /** Files to collect when the task ends. */
  artifacts?: Artifact[];
  /** Largest artifact that is collected, in bytes. */
  artifact_max_bytes?: number | null;
  /** Time limits of the task's stages. */
  timeout?: TaskTimeout | null;
  /** What the task's runtime needs. */
  resources?: TaskResources | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TaskData: Type<TaskData> = {
  name: "TaskData",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      idx: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      id: { type: ["string", "null"] },
      name: { type: ["string", "null"] },
      description: { type: ["string", "null"] },
      prompt: { type: ["string", "array", "null"], items: { ref: () => JsonObject } },
      system_prompt: { type: ["string", "null"] },
      image: { type: ["string", "null"] },
      workdir: { type: ["string", "null"] },
      agent_user: { type: ["string", "null"] },
      skills: { type: "array", items: {} },
      network_allow: { type: "array", items: { type: "string" } },
      network_block: { type: "array", items: { type: "string" } },
      artifacts: { type: "array", items: { ref: () => Artifact } },
      artifact_max_bytes: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      timeout: { anyOf: [{ ref: () => TaskTimeout }, { type: "null" }] },
      resources: { anyOf: [{ ref: () => TaskResources }, { type: "null" }] },
    },
    required: [],
  },
};

/** A file to collect from the runtime when a task ends. */
export interface Artifact {
  /** Path inside the runtime. */
  source?: string | null;
  /** Patterns of what to leave out. */
  exclude?: string[];
  /** Whether a missing file is an error; absent means yes. */
  required?: boolean | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const Artifact: Type<Artifact> = {
  name: "Artifact",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      source: { type: ["string", "null"] },
      exclude: { type: "array", items: { type: "string" } },
      required: { type: ["boolean", "null"] },
    },
    required: [],
  },
};

/** Time limits of a task's stages, in seconds; null is no limit. */
export interface TaskTimeout {
  /** Limit of the setup stage, in seconds. */
  setup?: number | null;
  /** Limit of the agent stage, in seconds. */
  agent?: number | null;
  /** Limit of the finalize stage, in seconds. */
  finalize?: number | null;
  /** Limit of the scoring stage, in seconds. */
  scoring?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TaskTimeout: Type<TaskTimeout> = {
  name: "TaskTimeout",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      setup: { type: ["number", "null"] },
      agent: { type: ["number", "null"] },
      finalize: { type: ["number", "null"] },
      scoring: { type: ["number", "null"] },
    },
    required: [],
  },
};

/** Resources a task needs. */
export interface TaskResources {
  /** Processors, in cores. */
  cpu?: number | null;
  /** Memory, in GiB. */
  memory?: number | null;
  /** Accelerator, as the runtime names it. */
  gpu?: string | null;
  /** Disk, in GiB. */
  disk?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TaskResources: Type<TaskResources> = {
  name: "TaskResources",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      cpu: { type: ["number", "null"] },
      memory: { type: ["number", "null"] },
      gpu: { type: ["string", "null"] },
      disk: { type: ["number", "null"] },
    },
    required: [],
  },
};

/** Who acted in a trace: the seat, its configuration and where it ran. */
export interface AgentInfo {
  /** The resolved configuration, passed through as it came. */
  config: AgentConfig;
  /** Where the agent ran. */
  runtime?: Runtime | null;
  /**
   * Name of the seat in the environment; several agents of an episode may share it.
   * @defaultValue `"agent"`
   */
  name?: string;
  /**
   * Whether the agent's tokens are trained on.
   * @defaultValue `true`
   */
  trainable?: boolean;
}

export const AgentInfo: Type<AgentInfo> = {
  name: "AgentInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      config: { ref: () => AgentConfig },
      runtime: { anyOf: [{ ref: () => Runtime }, { type: "null" }] },
      name: { type: "string" },
      trainable: { type: "boolean" },
    },
    required: ["config"],
  },
};

/**
 * An agent's resolved configuration. It belongs to the library that ran the agent and changes with its releases, so it
 * is open at every level and written back as it came.
 */
export interface AgentConfig {
  /** The program that drives the agent. */
  harness?: HarnessConfig | null;
  /** Where the agent was told to run. */
  runtime?: Runtime | null;
  /** Model the agent calls. */
  model?: string | null;
  /** How the model is reached. */
  client?: ClientConfig | null;
  /** How the model samples. */
  sampling?: Sampling | null;
  /** Most turns allowed. */
  max_turns?: number | null;
  /** Most input tokens allowed. */
  max_input_tokens?: number | null;
  /** Most output tokens allowed. */
  max_output_tokens?: number | null;
  /** Most input and output tokens allowed. */
  max_total_tokens?: number | null;
  /** Time limits of the agent's stages. */
  timeout?: AgentTimeout | null;
  /** When a failed rollout is tried again. */
  retries?: RetryConfig | null;
  /** Whether the agent is told about its network limits. */
  network_notice?: boolean | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const AgentConfig: Type<AgentConfig> = {
  name: "AgentConfig",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      harness: { anyOf: [{ ref: () => HarnessConfig }, { type: "null" }] },
      runtime: { anyOf: [{ ref: () => Runtime }, { type: "null" }] },
      model: { type: ["string", "null"] },
      client: { anyOf: [{ ref: () => ClientConfig }, { type: "null" }] },
      sampling: { anyOf: [{ ref: () => Sampling }, { type: "null" }] },
      max_turns: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      max_input_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      max_output_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      max_total_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      timeout: { anyOf: [{ ref: () => AgentTimeout }, { type: "null" }] },
      retries: { anyOf: [{ ref: () => RetryConfig }, { type: "null" }] },
      network_notice: { type: ["boolean", "null"] },
    },
    required: [],
  },
};

/** Configuration of the program that drives an agent. */
export interface HarnessConfig {
  /** Which harness. */
  id?: string | null;
  /** Environment variables given to the harness. May hold credentials: masked in run directories and uploads. */
  env?: { [name: string]: JsonValue } | null;
  /** Names of variables passed on from the host. */
  forward_env?: string[];
  /** Limit of one tool call, in seconds. */
  tool_timeout?: number | null;
  /** Tools switched off. */
  disabled_tools?: string[] | null;
  /** Skills offered: paths, or objects `{"runtime": path}`. */
  skills?: JsonValue[];
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const HarnessConfig: Type<HarnessConfig> = {
  name: "HarnessConfig",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      id: { type: ["string", "null"] },
      env: { type: ["object", "null"], additionalProperties: {} },
      forward_env: { type: "array", items: { type: "string" } },
      tool_timeout: { type: ["number", "null"] },
      disabled_tools: { type: ["array", "null"], items: { type: "string" } },
      skills: { type: "array", items: {} },
    },
    required: [],
  },
};

/** How a model endpoint is reached. Keys are named by variable, never written. */
export interface ClientConfig {
  /** Kind of client. */
  type?: "eval" | "train" | (string & {}) | null;
  /** Root of the endpoint's API. */
  base_url?: string | null;
  /** Name of the environment variable that holds the key. */
  api_key_var?: string | null;
  /** Extra request headers. May hold credentials: masked in run directories and uploads. */
  headers?: { [name: string]: JsonValue } | null;
  /** Header name to the name of the variable that holds its value. */
  headers_from_env?: { [name: string]: JsonValue } | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ClientConfig: Type<ClientConfig> = {
  name: "ClientConfig",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      type: { type: ["string", "null"] },
      base_url: { type: ["string", "null"] },
      api_key_var: { type: ["string", "null"] },
      headers: { type: ["object", "null"], additionalProperties: {} },
      headers_from_env: { type: ["object", "null"], additionalProperties: {} },
    },
    required: [],
  },
};

/** Sampling settings of a model call; any setting of a provider is kept. */
export interface Sampling {
  /** Softmax temperature. */
  temperature?: number | null;
  /** Nucleus mass. */
  top_p?: number | null;
  /** Effort asked of a reasoning model. */
  reasoning_effort?: string | null;
  /** Most tokens of one reply. */
  max_tokens?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const Sampling: Type<Sampling> = {
  name: "Sampling",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      temperature: { type: ["number", "null"] },
      top_p: { type: ["number", "null"] },
      reasoning_effort: { type: ["string", "null"] },
      max_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
    },
    required: [],
  },
};

/** Time limits of an agent's stages, in seconds; null is no limit. */
export interface AgentTimeout {
  /** Limit of the setup stage, in seconds. */
  setup?: number | null;
  /** Limit of the rollout stage, in seconds. */
  rollout?: number | null;
  /** Limit of the finalize stage, in seconds. */
  finalize?: number | null;
  /** Limit of the scoring stage, in seconds. */
  scoring?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const AgentTimeout: Type<AgentTimeout> = {
  name: "AgentTimeout",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      setup: { type: ["number", "null"] },
      rollout: { type: ["number", "null"] },
      finalize: { type: ["number", "null"] },
      scoring: { type: ["number", "null"] },
    },
    required: [],
  },
};

/** When a failed rollout is tried again. */
export interface RetryConfig {
  /** Most tries after the first. */
  max_retries?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const RetryConfig: Type<RetryConfig> = {
  name: "RetryConfig",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      max_retries: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
    },
    required: [],
  },
};

/** A sandbox or process an agent runs in: its configuration, and once it exists its identity. */
export interface Runtime {
  /** Kind of runtime. */
  type?: "subprocess" | "docker" | "podman" | "apptainer" | "prime" | "modal" | "e2b" | (string & {}) | null;
  /** Identity of the running instance. */
  id?: string | null;
  /** Whether the instance belongs to somebody else and outlives the agent. */
  borrowed?: boolean | null;
  /** Container image. */
  image?: string | null;
  /** Working directory inside. */
  workdir?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const Runtime: Type<Runtime> = {
  name: "Runtime",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      type: { type: ["string", "null"] },
      id: { type: ["string", "null"] },
      borrowed: { type: ["boolean", "null"] },
      image: { type: ["string", "null"] },
      workdir: { type: ["string", "null"] },
    },
    required: [],
  },
};

/** A tool offered to the model. Open: providers add settings of their own. */
export interface Tool {
  /** Kind of tool. */
  type?: "function" | "custom" | (string & {}) | null;
  /** Name the model calls it by. */
  name: string;
  /** Group the name belongs to. */
  namespace?: string | null;
  /** What it does, as the model is told. */
  description?: string | null;
  /** JSON Schema of the arguments. */
  parameters?: JsonObject | null;
  /** Whether arguments must follow the schema exactly. */
  strict?: boolean | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const Tool: Type<Tool> = {
  name: "Tool",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      type: { type: ["string", "null"] },
      name: { type: "string" },
      namespace: { type: ["string", "null"] },
      description: { type: ["string", "null"] },
      parameters: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      strict: { type: ["boolean", "null"] },
    },
    required: ["name"],
  },
};

/**
 * One message in a trace's message graph: a forest in which `parent` points to the message before. Token streams hold
 * only what this message adds.
 */
export interface MessageNode {
  /**
   * Index of the message before, in the same trace's `nodes` and always smaller than the node's own; null for a root.
   * At least 0.
   */
  parent?: number | null;
  /** Tools on offer from here on; on roots only. */
  tools?: Tool[];
  /** Links that are not conversation order, such as a compaction. */
  semantic_parents?: ParentLink[];
  /** The message. */
  message: Message;
  /**
   * True only for a message that a model call produced.
   * @defaultValue `false`
   */
  sampled?: boolean;
  /** When the message was added, epoch seconds. */
  timestamp?: number | null;
  /** Tokens this message adds. */
  token_ids?: number[];
  /** Parallel to `token_ids`: true where the token was sampled. */
  mask?: boolean[];
  /** Parallel to `token_ids`, or empty: true where the token is content rather than template. */
  is_content?: boolean[];
  /** Log-probability of each sampled token: as many as `mask` has true. */
  logprobs?: number[];
  /** Advantage of each sampled token, laid out as `logprobs`; null when never assigned, which is not zero. */
  advantages?: number[] | null;
  /** Log-probability of each sampled token under the reference model, laid out as `logprobs`. */
  reference_logprobs?: number[] | null;
  /** Log-probability of each sampled token as the trainer recomputed it, laid out as `logprobs`. */
  trainer_logprobs?: number[] | null;
  /** Entropy at each sampled token, laid out as `logprobs`. */
  entropies?: number[] | null;
  /** Named weights of the loss, each as long as `token_ids`. */
  loss_weights?: { [name: string]: number[] } | null;
  /**
   * Processed image and other inputs, for training.
   * On the MessagePack wire only: `encode` leaves it out.
   */
  multi_modal_data?: JsonObject | null;
  /**
   * Experts each token was routed to: uint8 of shape (tokens, layers, top-k).
   * On the MessagePack wire only: `encode` leaves it out.
   */
  routed_experts?: Tensor | null;
  /**
   * Tokens that sampling kept at each sampled position.
   * On the MessagePack wire only: `encode` leaves it out.
   */
  sampling_mask?: SamplingMask | null;
}

export const MessageNode: Type<MessageNode> = {
  name: "MessageNode",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      parent: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      tools: { type: "array", items: { ref: () => Tool }, omitEmpty: true },
      semantic_parents: { type: "array", items: { ref: () => ParentLink } },
      message: { ref: () => Message },
      sampled: { type: "boolean" },
      timestamp: { type: ["number", "null"] },
      token_ids: {
        type: "array",
        items: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
        stream: true,
      },
      mask: { type: "array", items: { type: "boolean" }, stream: true },
      is_content: { type: "array", items: { type: "boolean" }, stream: true },
      logprobs: { type: "array", items: { type: "number" }, stream: true },
      advantages: { type: ["array", "null"], items: { type: "number" }, stream: true },
      reference_logprobs: { type: ["array", "null"], items: { type: "number" }, stream: true },
      trainer_logprobs: { type: ["array", "null"], items: { type: "number" }, stream: true },
      entropies: { type: ["array", "null"], items: { type: "number" }, stream: true },
      loss_weights: {
        type: ["object", "null"],
        additionalProperties: { type: "array", items: { type: "number" } },
        stream: true,
      },
      multi_modal_data: { anyOf: [{ ref: () => JsonObject }, { type: "null" }], wire: true },
      routed_experts: { anyOf: [{ ref: () => Tensor }, { type: "null" }], wire: true },
      sampling_mask: { anyOf: [{ ref: () => SamplingMask }, { type: "null" }], wire: true },
    },
    required: ["message"],
  },
};

/** An array of numbers as raw bytes, for the MessagePack wire. */
export interface Tensor {
  /** Marks the object as an array; always true. */
  __nd__: boolean;
  /** Element type, as numpy writes it, such as `uint8` or `<f4`. */
  dtype: string;
  /** Length of each axis. */
  shape: number[];
  /** The elements in C order, host byte order: bytes in MessagePack, base64 in JSON. */
  data: string;
}

export const Tensor: Type<Tensor> = {
  name: "Tensor",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      __nd__: { type: "boolean" },
      dtype: { type: "string" },
      shape: {
        type: "array",
        items: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      },
      data: {
        type: "string",
        pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?!\\n)$",
      },
    },
    required: ["__nd__", "dtype", "shape", "data"],
    exact: true,
  },
};

/** Which tokens sampling could choose from, at each sampled position. */
export interface SamplingMask {
  /** Token ids, positions one after the other: int32. */
  ids: Tensor;
  /** How many ids each sampled position has; 0 means no mask: int32. */
  counts: Tensor;
}

export const SamplingMask: Type<SamplingMask> = {
  name: "SamplingMask",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { ids: { ref: () => Tensor }, counts: { ref: () => Tensor } },
    required: ["ids", "counts"],
  },
};

/** A link between messages that is not conversation order. */
export interface ParentLink {
  /**
   * Index of the other message in the same trace's `nodes`.
   * At least 0.
   */
  node: number;
  /** What the link means, such as `compaction`. */
  type: string;
}

export const ParentLink: Type<ParentLink> = {
  name: "ParentLink",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      node: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      type: {
        type: "string",
        pattern: "^[A-Za-z][A-Za-z0-9._:-]{0,127}(?!\\n)$",
        minLength: 1,
        maxLength: 128,
      },
    },
    required: ["node", "type"],
  },
};

/** A chat message, told apart by `role`. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export const Message: Type<Message> = {
  name: "Message",
  schema: {
    oneOf: [
      { ref: () => SystemMessage },
      { ref: () => UserMessage },
      { ref: () => AssistantMessage },
      { ref: () => ToolMessage },
    ],
    tag: "role",
  },
};

/** Instructions to the model. */
export interface SystemMessage {
  /** Always `system`. */
  role: "system";
  /** The text, or its parts. */
  content: string | ContentPart[];
}

export const SystemMessage: Type<SystemMessage> = {
  name: "SystemMessage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      role: { type: "string", const: "system" },
      content: {
        oneOf: [{ type: "string" }, { type: "array", items: { ref: () => ContentPart } }],
      },
    },
    required: ["role", "content"],
  },
};

/** What a user, or the environment, said. */
export interface UserMessage {
  /** Always `user`. */
  role: "user";
  /** The text, or its parts. */
  content: string | ContentPart[];
}

export const UserMessage: Type<UserMessage> = {
  name: "UserMessage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      role: { type: "string", const: "user" },
      content: {
        oneOf: [{ type: "string" }, { type: "array", items: { ref: () => ContentPart } }],
      },
    },
    required: ["role", "content"],
  },
};

/** What the model replied. */
export interface AssistantMessage {
  /** Always `assistant`. */
  role: "assistant";
  /** The text of the reply; null when it is only tool calls. */
  content?: string | null;
  /** The reasoning text, where the provider shows it. */
  reasoning_content?: string | null;
  /** Tool calls the reply asks for. */
  tool_calls?: ToolCall[] | null;
  /** Opaque items of the provider that replay its reasoning; passed back unread. */
  provider_state?: JsonObject[] | null;
}

export const AssistantMessage: Type<AssistantMessage> = {
  name: "AssistantMessage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      role: { type: "string", const: "assistant" },
      content: { type: ["string", "null"] },
      reasoning_content: { type: ["string", "null"] },
      tool_calls: { type: ["array", "null"], items: { ref: () => ToolCall } },
      provider_state: { type: ["array", "null"], items: { ref: () => JsonObject } },
    },
    required: ["role"],
  },
};

/** What a tool answered. */
export interface ToolMessage {
  /** Always `tool`. */
  role: "tool";
  /** The call that is answered. */
  tool_call_id: string;
  /** The text, or its parts. */
  content: string | ContentPart[];
  /** Name of the tool. */
  name?: string | null;
}

export const ToolMessage: Type<ToolMessage> = {
  name: "ToolMessage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      role: { type: "string", const: "tool" },
      tool_call_id: { type: "string" },
      content: {
        oneOf: [{ type: "string" }, { type: "array", items: { ref: () => ContentPart } }],
      },
      name: { type: ["string", "null"] },
    },
    required: ["role", "tool_call_id", "content"],
  },
};

/** A part of a message's content, told apart by `type`. */
export type ContentPart = TextPart | ImageUrlPart;

export const ContentPart: Type<ContentPart> = {
  name: "ContentPart",
  schema: { oneOf: [{ ref: () => TextPart }, { ref: () => ImageUrlPart }], tag: "type" },
};

/** A text part. */
export interface TextPart {
  /** Always `text`. */
  type: "text";
  /** The text. */
  text: string;
}

export const TextPart: Type<TextPart> = {
  name: "TextPart",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { type: { type: "string", const: "text" }, text: { type: "string" } },
    required: ["type", "text"],
  },
};

/** An image part. */
export interface ImageUrlPart {
  /** Always `image_url`. */
  type: "image_url";
  /** Where the image is. */
  image_url: ImageSource;
}

export const ImageUrlPart: Type<ImageUrlPart> = {
  name: "ImageUrlPart",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string", const: "image_url" },
      image_url: { ref: () => ImageSource },
    },
    required: ["type", "image_url"],
  },
};

/** Where an image is. */
export interface ImageSource {
  /** A URL; `data:` URLs carry the image itself. */
  url: string;
}

export const ImageSource: Type<ImageSource> = {
  name: "ImageSource",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { url: { type: "string" } },
    required: ["url"],
  },
};

/** A tool call a reply asks for. */
export interface ToolCall {
  /** Identity of the call, quoted by the answer. */
  id: string;
  /**
   * Kind of tool.
   * @defaultValue `"function"`
   */
  type?: "function" | "custom" | (string & {});
  /** Name of the tool. */
  name: string;
  /** Group the name belongs to. */
  namespace?: string | null;
  /** The arguments as the model wrote them: JSON text that may be broken. */
  arguments: string;
}

export const ToolCall: Type<ToolCall> = {
  name: "ToolCall",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      id: { type: "string" },
      type: { type: "string" },
      name: { type: "string" },
      namespace: { type: ["string", "null"] },
      arguments: { type: "string" },
    },
    required: ["id", "name", "arguments"],
  },
};

/** One call of a model, whether or not it led to a message. */
export interface ModelCall {
  /**
   * Index of the assistant message it committed; null when it committed none.
   * At least 0.
   */
  node?: number | null;
  /** Model that was called. */
  model?: string | null;
  /** Settings of the call. */
  sampling?: Sampling | null;
  /** Path of the endpoint. */
  endpoint?: string | null;
  /** Why the reply ended. */
  finish_reason?: "stop" | "length" | "tool_calls" | "content_filter" | (string & {}) | null;
  /** Tokens and cost of the call. */
  usage?: Usage | null;
  /**
   * From request to reply.
   * @defaultValue `{}`
   */
  time?: TimeSpan;
  /** What went wrong. */
  error?: Error | null;
  /** A policy decision about the call. */
  policy?: PolicyEvent | null;
  /** The agent protocol's view of the call. */
  acp?: ACPInfo | null;
}

export const ModelCall: Type<ModelCall> = {
  name: "ModelCall",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      node: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      model: { type: ["string", "null"] },
      sampling: { anyOf: [{ ref: () => Sampling }, { type: "null" }] },
      endpoint: { type: ["string", "null"] },
      finish_reason: { type: ["string", "null"] },
      usage: { anyOf: [{ ref: () => Usage }, { type: "null" }] },
      time: { ref: () => TimeSpan },
      error: { anyOf: [{ ref: () => Error }, { type: "null" }] },
      policy: { anyOf: [{ ref: () => PolicyEvent }, { type: "null" }] },
      acp: { anyOf: [{ ref: () => ACPInfo }, { type: "null" }] },
    },
    required: [],
  },
};

/**
 * Tokens and cost of one or more calls. `prompt_tokens` leaves cache reads out, unlike the OpenAI member of that name:
 * input is prompt plus cached.
 */
export interface Usage {
  /** Prompt tokens, without those read from a cache. */
  prompt_tokens: number;
  /** Reply tokens, reasoning included. */
  completion_tokens: number;
  /** Prompt tokens read from a cache. */
  cached_input_tokens?: number | null;
  /** Part of the reply tokens that was reasoning. */
  reasoning_tokens?: number | null;
  /** Cost, in US dollars. */
  cost?: number | null;
}

export const Usage: Type<Usage> = {
  name: "Usage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      prompt_tokens: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      completion_tokens: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      cached_input_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      reasoning_tokens: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      cost: { type: ["number", "null"] },
    },
    required: ["prompt_tokens", "completion_tokens"],
  },
};

/** A stage's start and end, epoch seconds. An end of 0 means not finished, or never begun. */
export interface TimeSpan {
  /**
   * Start, epoch seconds.
   * @defaultValue `0.0`
   */
  start?: number;
  /**
   * End, epoch seconds.
   * @defaultValue `0.0`
   */
  end?: number;
}

export const TimeSpan: Type<TimeSpan> = {
  name: "TimeSpan",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { start: { type: "number" }, end: { type: "number" } },
    required: [],
  },
};

/** A share of a stage's time. */
export interface TimeSplit {
  /**
   * Seconds.
   * @defaultValue `0.0`
   */
  duration?: number;
}

export const TimeSplit: Type<TimeSplit> = {
  name: "TimeSplit",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { duration: { type: "number" } },
    required: [],
  },
};

/** The agent's stage, with its time split between model and harness. */
export interface AgentSpan {
  /**
   * Start, epoch seconds.
   * @defaultValue `0.0`
   */
  start?: number;
  /**
   * End, epoch seconds.
   * @defaultValue `0.0`
   */
  end?: number;
  /**
   * Time spent waiting for the model.
   * @defaultValue `{}`
   */
  model?: TimeSplit;
  /**
   * Time spent in the harness.
   * @defaultValue `{}`
   */
  harness?: TimeSplit;
}

export const AgentSpan: Type<AgentSpan> = {
  name: "AgentSpan",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      start: { type: "number" },
      end: { type: "number" },
      model: { ref: () => TimeSplit },
      harness: { ref: () => TimeSplit },
    },
    required: [],
  },
};

/** When the stages of a trace ran. */
export interface Timing {
  /** When the trace was begun, epoch seconds. */
  start: number;
  /**
   * The boot stage.
   * @defaultValue `{}`
   */
  boot?: TimeSpan;
  /**
   * The setup stage.
   * @defaultValue `{}`
   */
  setup?: TimeSpan;
  /**
   * The agent stage.
   * @defaultValue `{}`
   */
  agent?: AgentSpan;
  /**
   * The finalize stage.
   * @defaultValue `{}`
   */
  finalize?: TimeSpan;
  /**
   * The scoring stage.
   * @defaultValue `{}`
   */
  scoring?: TimeSpan;
}

export const Timing: Type<Timing> = {
  name: "Timing",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      start: { type: "number" },
      boot: { ref: () => TimeSpan },
      setup: { ref: () => TimeSpan },
      agent: { ref: () => AgentSpan },
      finalize: { ref: () => TimeSpan },
      scoring: { ref: () => TimeSpan },
    },
    required: ["start"],
  },
};

/** A policy decision about a call. */
export interface PolicyEvent {
  /** What was decided. */
  code: string;
  /** Where in the request it applied. */
  paths: string[];
}

export const PolicyEvent: Type<PolicyEvent> = {
  name: "PolicyEvent",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { code: { type: "string" }, paths: { type: "array", items: { type: "string" } } },
    required: ["code", "paths"],
  },
};

/** The agent client protocol's view of a call. */
export interface ACPInfo {
  /** Identity of the request. */
  request_id: string;
}

export const ACPInfo: Type<ACPInfo> = {
  name: "ACPInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      request_id: {
        type: "string",
        pattern: "^[A-Za-z0-9._:-]{1,128}(?!\\n)$",
        minLength: 1,
        maxLength: 128,
      },
    },
    required: ["request_id"],
  },
};

/** A rewrite of a request or response on its way. */
export interface InterceptRecord {
  /** What rewrote it. */
  handler: string;
}

export const InterceptRecord: Type<InterceptRecord> = {
  name: "InterceptRecord",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { handler: { type: "string" } },
    required: ["handler"],
  },
};

/** One reward: it counts `score` times `weight`. */
export interface Reward {
  /** The score. */
  score: number;
  /**
   * Its weight.
   * @defaultValue `1.0`
   */
  weight?: number;
}

export const Reward: Type<Reward> = {
  name: "Reward",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { score: { type: "number" }, weight: { type: "number" } },
    required: ["score"],
  },
};

/** An error, as the writing program saw it. */
export interface Error {
  /** Name of the exception's class. */
  type: string;
  /** Its text. */
  message: string;
  /** HTTP status, for provider errors. */
  status_code?: number | null;
  /** Stack trace, where one was kept. */
  traceback?: string | null;
}

export const Error: Type<Error> = {
  name: "Error",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string" },
      message: { type: "string" },
      status_code: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      traceback: { type: ["string", "null"] },
    },
    required: ["type", "message"],
  },
};
