// Generated from schema/v1/episode.json by `make generate`, sha256 62256ca0e94b6dda486001bf2fc96caf67d563b95caeb03149447dc51e2386db.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { JsonObject } from "./common.ts";
import { RunInfo } from "./run_info.ts";
import { Error, Trace, TraceTask } from "./trace.ts";

/**
 * One dispatched unit of work, with one Trace per agent that took part. One line of `traces.jsonl`. An episode may have
 * no traces at all (cancelled, or failed before any agent ran); it still says which run it belongs to.
 */
export interface Episode {
  /**
   * Version of this schema that the writer knew, as `evh:<major>.<minor>:episode`. Optional on reading.
   * @since 1.0
   */
  schema?: string | null;
  /** Identity of the episode, made once and kept for ever; 32 lower-case hexadecimal digits when made here. */
  id: string;
  /**
   * The environment that ran the episode.
   * @defaultValue `{}`
   */
  env?: EnvInfo;
  /** The task that was dispatched; present even when there are no traces. */
  task: TraceTask;
  /** The cohort a consumer put the episode in, such as the rollouts of one prompt; null when in none. */
  group?: GroupInfo | null;
  /** The run the episode belongs to, stamped by the consumer; null when nobody stamped it. */
  run?: RunInfo | null;
  /**
   * The verdict: true when every trace succeeded and no episode-level hook failed. The only signal of success.
   * @defaultValue `false`
   */
  ok?: boolean;
  /**
   * True when the episode ran past its deadline.
   * @defaultValue `false`
   */
  is_timeout?: boolean;
  /** Episode-level errors, oldest first; a retried success keeps its history. */
  errors?: Error[];
  /** One trace per agent, in order of completion. */
  traces?: Trace[];
  /**
   * Free notes about the episode as a whole, merged in by `record_run`. The key `evh` is reserved: `upgrade` and
   * `convert` keep there what has no other place.
   * @defaultValue `{}`
   * @since 1.0
   */
  info?: JsonObject;
}

export const Episode: Type<Episode> = {
  name: "Episode",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      schema: {
        type: ["string", "null"],
        pattern: "^evh:1\\.(0|[1-9][0-9]{0,3}):episode(?!\\n)$",
        maxLength: 32,
      },
      id: { type: "string" },
      env: { ref: () => EnvInfo },
      task: { ref: () => TraceTask },
      group: { anyOf: [{ ref: () => GroupInfo }, { type: "null" }] },
      run: { anyOf: [{ ref: () => RunInfo }, { type: "null" }] },
      ok: { type: "boolean" },
      is_timeout: { type: "boolean" },
      errors: { type: "array", items: { ref: () => Error } },
      traces: { type: "array", items: { ref: () => Trace } },
      info: { ref: () => JsonObject, omitEmpty: true },
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
    required: ["id", "task"],
  },
};

/** Identity of an environment. */
export interface EnvInfo {
  /**
   * Identity, such as `gsm8k` or `agentic-judge+gsm8k`; empty when unknown.
   * @defaultValue `""`
   */
  id?: string;
  /** The name a consumer gave it. */
  name?: string | null;
}

export const EnvInfo: Type<EnvInfo> = {
  name: "EnvInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { id: { type: "string" }, name: { type: ["string", "null"] } },
    required: [],
  },
};

/** A cohort of episodes. */
export interface GroupInfo {
  /** Identity of the cohort. */
  id: string;
}

export const GroupInfo: Type<GroupInfo> = {
  name: "GroupInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { id: { type: "string" } },
    required: ["id"],
  },
};
