// Generated from schema/v1/platform_traces.json by `make generate`, sha256 f9dacc6aa18172d6c127242a79ab1d0668e41f5750cb41ab7e799f32ad189925.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { TextMap } from "./common.ts";

/** The `metadata` part of an upload. */
export interface UploadMetadata {
  /**
   * Version of the line format: 1.
   * At least 1.
   */
  schema_version: number;
  /**
   * Notes about the whole upload, kept with each of its traces and usable as a filter. Ours: `evh.run_id`,
   * `evh.segment`, `evh.range`.
   * @defaultValue `{}`
   */
  context?: TextMap;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const UploadMetadata: Type<UploadMetadata> = {
  name: "UploadMetadata",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      schema_version: { type: "integer", minimum: 1, maximum: 9007199254740991 },
      context: { ref: () => TextMap },
    },
    required: ["schema_version"],
  },
};

/**
 * The answer to an upload: every line of it is durable, or the answer is an error. The same bytes get the same receipt
 * again.
 */
export interface UploadReceipt {
  /** SHA-256 of the uncompressed bytes, 64 lowercase hexadecimal digits. */
  upload_id: string;
  /** `committed`. */
  status: "committed" | (string & {});
  /**
   * Lines stored now. A member of ours; the hosted service does not send it.
   * At least 0.
   */
  accepted?: number | null;
  /** True when the upload had been committed before. A member of ours; the hosted service does not send it. */
  replayed?: boolean | null;
  /**
   * Lines that the project held already, byte for byte. A member of ours; the hosted service does not send it.
   * At least 0.
   */
  duplicates?: number | null;
  /**
   * Lines whose episode the project held with other content; both are kept. A member of ours; the hosted service does
   * not send it.
   * At least 0.
   */
  new_versions?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const UploadReceipt: Type<UploadReceipt> = {
  name: "UploadReceipt",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      upload_id: { type: "string", minLength: 1 },
      status: { type: "string" },
      accepted: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      replayed: { type: ["boolean", "null"] },
      duplicates: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      new_versions: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
    },
    required: ["upload_id", "status"],
  },
};

/** The model of a trace. */
export interface TraceModel {
  /** Who served it. */
  provider: string | null;
  /** Its name there. */
  id: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TraceModel: Type<TraceModel> = {
  name: "TraceModel",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { provider: { type: ["string", "null"] }, id: { type: ["string", "null"] } },
    required: ["provider", "id"],
  },
};

/** The score of a trace. */
export interface TraceScore {
  /** The reward; null when the trace was not scored. */
  reward: number | null;
  /** The verdict in a word; null when there is none. */
  outcome: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TraceScore: Type<TraceScore> = {
  name: "TraceScore",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { reward: { type: ["number", "null"] }, outcome: { type: ["string", "null"] } },
    required: ["reward", "outcome"],
  },
};

/** How a trace went. */
export interface TraceExecution {
  /** True when it holds an error. */
  has_error: boolean;
  /** True when it was cut short. */
  is_truncated: boolean;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TraceExecution: Type<TraceExecution> = {
  name: "TraceExecution",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { has_error: { type: "boolean" }, is_truncated: { type: "boolean" } },
    required: ["has_error", "is_truncated"],
  },
};

/** What is known about a stored trace without reading it. */
export interface TraceSummary {
  /** Identity of the trace. */
  trace_id: string;
  /** The upload it came with. */
  upload_id: string;
  /** The episode it belongs to; null for a bare trace. */
  episode_id: string | null;
  /** When it began, RFC 3339. */
  created_at: string;
  /** When it was stored, RFC 3339. */
  ingested_at: string;
  /** The run it belongs to. */
  run_id: string | null;
  /** The environment that ran it. */
  environment_id: string | null;
  /** The model. */
  model: TraceModel;
  /** The task. */
  task_id: string | null;
  /** The agent. */
  agent_name: string | null;
  /** The score. */
  score: TraceScore;
  /** How it went. */
  execution: TraceExecution;
  /**
   * Milliseconds from start to end.
   * At least 0.
   */
  duration_ms: number;
  /**
   * Tokens, input counted once.
   * At least 0.
   */
  total_tokens: number;
  /**
   * Bytes of the stored document.
   * At least 0.
   */
  size_bytes: number;
  /** Notes of its upload. */
  context: TextMap;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TraceSummary: Type<TraceSummary> = {
  name: "TraceSummary",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      trace_id: { type: "string" },
      upload_id: { type: "string" },
      episode_id: { type: ["string", "null"] },
      created_at: { type: "string" },
      ingested_at: { type: "string" },
      run_id: { type: ["string", "null"] },
      environment_id: { type: ["string", "null"] },
      model: { ref: () => TraceModel },
      task_id: { type: ["string", "null"] },
      agent_name: { type: ["string", "null"] },
      score: { ref: () => TraceScore },
      execution: { ref: () => TraceExecution },
      duration_ms: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      total_tokens: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      size_bytes: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      context: { ref: () => TextMap },
    },
    required: [
      "trace_id",
      "upload_id",
      "episode_id",
      "created_at",
      "ingested_at",
      "run_id",
      "environment_id",
      "model",
      "task_id",
      "agent_name",
      "score",
      "execution",
      "duration_ms",
      "total_tokens",
      "size_bytes",
      "context",
    ],
  },
};

/** `GET /traces`: some of the traces, the newest first. */
export interface TracePage {
  /** The traces of this page. */
  items: TraceSummary[];
  /** Asks for the next page, with the same filters only; null on the last one. */
  next_cursor: string | null;
}

export const TracePage: Type<TracePage> = {
  name: "TracePage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { ref: () => TraceSummary } },
      next_cursor: { type: ["string", "null"] },
    },
    required: ["items", "next_cursor"],
  },
};

/** The error of an episode itself, not of its traces. */
export interface EpisodeFault {
  /** Its class. */
  type: string | null;
  /** What it says. */
  message: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EpisodeFault: Type<EpisodeFault> = {
  name: "EpisodeFault",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { type: { type: ["string", "null"] }, message: { type: ["string", "null"] } },
    required: ["type", "message"],
  },
};

/** What is known about a stored episode without reading it. */
export interface EpisodeSummary {
  /** Identity of the episode. */
  episode_id: string;
  /** The upload it came with. */
  upload_id: string;
  /**
   * Version of the line format.
   * At least 0.
   */
  schema_version: number;
  /** When it began, RFC 3339. */
  created_at: string;
  /** When it was stored, RFC 3339. */
  ingested_at: string;
  /** The run it belongs to. */
  run_id: string | null;
  /** The environment that ran it. */
  environment_id: string | null;
  /** The verdict in a word. */
  outcome: string | null;
  /** True when the episode itself holds an error. */
  has_error: boolean;
  /** That error. */
  error: EpisodeFault;
  /** Totals over its traces; only where one episode is asked for. */
  traces?: EpisodeTotals | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EpisodeSummary: Type<EpisodeSummary> = {
  name: "EpisodeSummary",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      episode_id: { type: "string" },
      upload_id: { type: "string" },
      schema_version: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      created_at: { type: "string" },
      ingested_at: { type: "string" },
      run_id: { type: ["string", "null"] },
      environment_id: { type: ["string", "null"] },
      outcome: { type: ["string", "null"] },
      has_error: { type: "boolean" },
      error: { ref: () => EpisodeFault },
      traces: { anyOf: [{ ref: () => EpisodeTotals }, { type: "null" }] },
    },
    required: [
      "episode_id",
      "upload_id",
      "schema_version",
      "created_at",
      "ingested_at",
      "run_id",
      "environment_id",
      "outcome",
      "has_error",
      "error",
    ],
  },
};

/** Totals over the traces of an episode. An episode may have none. */
export interface EpisodeTotals {
  /**
   * How many traces.
   * At least 0.
   */
  trace_count: number;
  /**
   * Their tokens.
   * At least 0.
   */
  total_tokens: number;
  /**
   * Their milliseconds, added up.
   * At least 0.
   */
  total_duration_ms: number;
  /** True when one of them holds an error. */
  any_trace_error: boolean;
  /** Their agents. */
  agent_names: string[];
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EpisodeTotals: Type<EpisodeTotals> = {
  name: "EpisodeTotals",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      trace_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      total_tokens: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      total_duration_ms: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      any_trace_error: { type: "boolean" },
      agent_names: { type: "array", items: { type: "string" } },
    },
    required: [
      "trace_count",
      "total_tokens",
      "total_duration_ms",
      "any_trace_error",
      "agent_names",
    ],
  },
};

/** `GET /episodes`: some of the episodes, the newest first. */
export interface EpisodePage {
  /** The episodes of this page. */
  items: EpisodeSummary[];
  /** Asks for the next page, with the same filters only; null on the last one. */
  next_cursor: string | null;
}

export const EpisodePage: Type<EpisodePage> = {
  name: "EpisodePage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { ref: () => EpisodeSummary } },
      next_cursor: { type: ["string", "null"] },
    },
    required: ["items", "next_cursor"],
  },
};

/** Totals over the traces of a run. */
export interface RunSummary {
  /** The run. */
  run_id: string;
  /** When its first trace began, RFC 3339. */
  first_trace_created_at: string;
  /** When its last trace began, RFC 3339. */
  last_trace_created_at: string;
  /** When its last trace was stored, RFC 3339. */
  last_trace_ingested_at: string;
  /**
   * How many traces.
   * At least 0.
   */
  trace_count: number;
  /**
   * How many episodes.
   * At least 0.
   */
  episode_count: number;
  /** Mean reward of the scored traces; null when none is scored. */
  avg_reward: number | null;
  /** First training step. */
  step_min: number | null;
  /** Last training step. */
  step_max: number | null;
  /**
   * How many training steps.
   * At least 0.
   */
  step_count: number;
  /** True when a trace holds an error. */
  has_error: boolean;
  /** Who uploaded its first trace. */
  first_user_id: string | null;
  /** Its environments. */
  environment_ids: string[];
  /** Its models. */
  model_ids: string[];
  /** Notes of the upload of its newest trace. */
  context: TextMap;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const RunSummary: Type<RunSummary> = {
  name: "RunSummary",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      run_id: { type: "string" },
      first_trace_created_at: { type: "string" },
      last_trace_created_at: { type: "string" },
      last_trace_ingested_at: { type: "string" },
      trace_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      episode_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      avg_reward: { type: ["number", "null"] },
      step_min: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      step_max: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      step_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      has_error: { type: "boolean" },
      first_user_id: { type: ["string", "null"] },
      environment_ids: { type: "array", items: { type: "string" } },
      model_ids: { type: "array", items: { type: "string" } },
      context: { ref: () => TextMap },
    },
    required: [
      "run_id",
      "first_trace_created_at",
      "last_trace_created_at",
      "last_trace_ingested_at",
      "trace_count",
      "episode_count",
      "avg_reward",
      "step_min",
      "step_max",
      "step_count",
      "has_error",
      "first_user_id",
      "environment_ids",
      "model_ids",
      "context",
    ],
  },
};

/** `GET /runs`: some of the runs, the most recently stored first. */
export interface RunPage {
  /** The runs of this page. */
  items: RunSummary[];
  /** Asks for the next page, with the same filters only; null on the last one. */
  next_cursor: string | null;
}

export const RunPage: Type<RunPage> = {
  name: "RunPage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { ref: () => RunSummary } },
      next_cursor: { type: ["string", "null"] },
    },
    required: ["items", "next_cursor"],
  },
};

/** Totals over one training step of a run. */
export interface RunStep {
  /** The step. */
  step: number;
  /**
   * How many traces.
   * At least 0.
   */
  trace_count: number;
  /**
   * How many episodes.
   * At least 0.
   */
  episode_count: number;
  /** Mean reward of the scored traces; null when none is scored. */
  avg_reward: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const RunStep: Type<RunStep> = {
  name: "RunStep",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      step: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      trace_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      episode_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      avg_reward: { type: ["number", "null"] },
    },
    required: ["step", "trace_count", "episode_count", "avg_reward"],
  },
};

/** `GET /runs/{id}/steps`: all training steps of a run, the oldest first. */
export interface RunSteps {
  /** The first. */
  step_min: number | null;
  /** The last. */
  step_max: number | null;
  /**
   * How many.
   * At least 0.
   */
  step_count: number;
  /** The steps. */
  items: RunStep[];
}

export const RunSteps: Type<RunSteps> = {
  name: "RunSteps",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      step_min: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      step_max: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      step_count: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      items: { type: "array", items: { ref: () => RunStep } },
    },
    required: ["step_min", "step_max", "step_count", "items"],
  },
};

/** The message of a node, as it was written; its `content` and `tool_calls` are whatever JSON they were. */
export interface IndexedMessage {
  /** Its role. */
  role: string | null;
  /** Its reasoning. */
  reasoning_content?: string | null;
  /** The call it answers. */
  tool_call_id?: string | null;
  /** A name. */
  name?: string | null;
  /** The tool. */
  tool_name?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const IndexedMessage: Type<IndexedMessage> = {
  name: "IndexedMessage",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      role: { type: ["string", "null"] },
      reasoning_content: { type: ["string", "null"] },
      tool_call_id: { type: ["string", "null"] },
      name: { type: ["string", "null"] },
      tool_name: { type: ["string", "null"] },
    },
    required: ["role"],
  },
};

/** A message node of a stored trace. */
export interface IndexedNode {
  /**
   * Position among the trace's nodes.
   * At least 0.
   */
  node_idx: number;
  /**
   * The node before it; null for the first.
   * At least 0.
   */
  parent_idx: number | null;
  /** When it was made, in seconds since 1970. */
  timestamp: number | null;
  /** True when the model wrote it. */
  sampled: boolean;
  /** The message. */
  message: IndexedMessage;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const IndexedNode: Type<IndexedNode> = {
  name: "IndexedNode",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      node_idx: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      parent_idx: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      timestamp: { type: ["number", "null"] },
      sampled: { type: "boolean" },
      message: { ref: () => IndexedMessage },
    },
    required: ["node_idx", "parent_idx", "timestamp", "sampled", "message"],
  },
};

/** `GET /traces/{id}/nodes`: some of a trace's nodes, in order. */
export interface NodePage {
  /** The nodes of this page. */
  items: IndexedNode[];
  /** Asks for the next page, with the same filters only; null on the last one. */
  next_cursor: string | null;
  /** True when the index stops before the trace does: the rest is in the document. */
  partial_index: boolean;
}

export const NodePage: Type<NodePage> = {
  name: "NodePage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { ref: () => IndexedNode } },
      next_cursor: { type: ["string", "null"] },
      partial_index: { type: "boolean" },
    },
    required: ["items", "next_cursor", "partial_index"],
  },
};

/** A model call of a stored trace. */
export interface IndexedCall {
  /**
   * Position among the trace's calls.
   * At least 0.
   */
  call_idx: number;
  /**
   * The node it made.
   * At least 0.
   */
  node_idx: number | null;
  /** When it began, in seconds since 1970. */
  time_start: number | null;
  /** When it ended. */
  time_end: number | null;
  /** The model. */
  model: string | null;
  /** The endpoint. */
  endpoint: string | null;
  /** Why it stopped. */
  finish_reason: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const IndexedCall: Type<IndexedCall> = {
  name: "IndexedCall",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      call_idx: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      node_idx: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      time_start: { type: ["number", "null"] },
      time_end: { type: ["number", "null"] },
      model: { type: ["string", "null"] },
      endpoint: { type: ["string", "null"] },
      finish_reason: { type: ["string", "null"] },
    },
    required: [
      "call_idx",
      "node_idx",
      "time_start",
      "time_end",
      "model",
      "endpoint",
      "finish_reason",
    ],
  },
};

/** `GET /traces/{id}/calls`: some of a trace's model calls, in order. */
export interface CallPage {
  /** The calls of this page. */
  items: IndexedCall[];
  /** Asks for the next page, with the same filters only; null on the last one. */
  next_cursor: string | null;
  /** True when the index stops before the trace does: the rest is in the document. */
  partial_index: boolean;
}

export const CallPage: Type<CallPage> = {
  name: "CallPage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { ref: () => IndexedCall } },
      next_cursor: { type: ["string", "null"] },
      partial_index: { type: "boolean" },
    },
    required: ["items", "next_cursor", "partial_index"],
  },
};

/** The first match in a node. Positions count code points from 0, the end excluded. */
export interface SearchMatch {
  /** The trace. */
  trace_id: string;
  /** The upload it came with. */
  upload_id: string;
  /**
   * Which of its stored versions.
   * At least 0.
   */
  generation: number;
  /** Its episode. */
  episode_id: string | null;
  /**
   * The node.
   * At least 0.
   */
  node_idx: number;
  /** The node's role. */
  role: string;
  /** Where in the message. */
  field: "content" | "reasoning_content" | "tool_calls";
  /** What the positions count in. */
  representation: "text" | "json";
  /**
   * Where the match begins.
   * At least 0.
   */
  match_start: number;
  /**
   * Where it ends.
   * At least 0.
   */
  match_end: number;
  /** The match with some text around it. */
  excerpt: string;
  /**
   * Where the excerpt begins.
   * At least 0.
   */
  excerpt_start: number;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SearchMatch: Type<SearchMatch> = {
  name: "SearchMatch",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      trace_id: { type: "string" },
      upload_id: { type: "string" },
      generation: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      episode_id: { type: ["string", "null"] },
      node_idx: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      role: { type: "string" },
      field: { type: "string", enum: ["content", "reasoning_content", "tool_calls"] },
      representation: { type: "string", enum: ["text", "json"] },
      match_start: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      match_end: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      excerpt: { type: "string" },
      excerpt_start: { type: "integer", minimum: 0, maximum: 9007199254740991 },
    },
    required: [
      "trace_id",
      "upload_id",
      "generation",
      "episode_id",
      "node_idx",
      "role",
      "field",
      "representation",
      "match_start",
      "match_end",
      "excerpt",
      "excerpt_start",
    ],
  },
};

/** What a search could not see when it began. */
export interface SearchCoverage {
  /**
   * Traces that were looked at.
   * At least 0.
   */
  examined_traces: number;
  /** Some of those that are not indexed yet. */
  unindexed_trace_ids: string[];
  /** True when the index of one stops before the trace does. */
  partial_index: boolean;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SearchCoverage: Type<SearchCoverage> = {
  name: "SearchCoverage",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      examined_traces: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      unindexed_trace_ids: { type: "array", items: { type: "string" } },
      partial_index: { type: "boolean" },
    },
    required: ["examined_traces", "unindexed_trace_ids", "partial_index"],
  },
};

/** `GET /runs/{id}/search`: some of the matches. */
export interface SearchPage {
  /** The matches of this page. */
  items: SearchMatch[];
  /** Asks for the next page, with the same filters only; null on the last one. */
  next_cursor: string | null;
  /** What could not be seen; on the first page only. */
  coverage?: SearchCoverage | null;
}

export const SearchPage: Type<SearchPage> = {
  name: "SearchPage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { ref: () => SearchMatch } },
      next_cursor: { type: ["string", "null"] },
      coverage: { anyOf: [{ ref: () => SearchCoverage }, { type: "null" }] },
    },
    required: ["items", "next_cursor"],
  },
};
