// Generated from schema/v1/run_end.json by `make generate`, sha256 d96cd322c2e492c7451b76d2ecd75f5df22d67fdc4558994a6fcafd58b7b922e.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, JsonObject, Timestamp } from "./common.ts";

/**
 * How a run that was held open ended: the `end.json` of a live or training run, written last, when everything that it
 * counts is in place. A live run without it is not closed: it is being written, or its process died.
 */
export interface RunEnd {
  /**
   * `completed`: the program said so. `failed`: it met an error. `cancelled`: it was stopped on purpose (Ctrl-C, a
   * cancelled task, SIGTERM). `crashed`: its process ended without closing the run.
   */
  status: "completed" | "failed" | "cancelled" | "crashed" | (string & {});
  /** When the run was closed, by the wall clock. */
  ended_at: Timestamp;
  /** What the run holds, counted from its files. */
  counts: RunCounts;
  /**
   * Records that the writer was given and that are not in the run, because they cannot be written at all or the disk
   * refused them. Records that a platform refused are in the run and do not count.
   * At least 0.
   * @defaultValue `0`
   */
  lost?: number;
  /** Which records were lost and why, in sentences for people: the first ones when there are many. */
  losses?: string[];
  /** Why the run did not complete: the error's message, without secrets and cut to 4096 characters. */
  error?: string | null;
  /** What the program said of the run as a whole when it closed it; null when it said nothing. */
  summary?: JsonObject | null;
}

export const RunEnd: Type<RunEnd> = {
  name: "RunEnd",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      status: { type: "string" },
      ended_at: { ref: () => Timestamp },
      counts: { ref: () => RunCounts },
      lost: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      losses: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
      error: { type: ["string", "null"], maxLength: 4096 },
      summary: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
    },
    required: ["status", "ended_at", "counts"],
  },
};

/** What a run holds. */
export interface RunCounts {
  /** Rows of episodes, in all segments. */
  episodes: Count;
  /** Rows of metrics by step. */
  steps: Count;
  /** Rows of each file of episodes, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`). */
  segments?: { [name: string]: number };
}

export const RunCounts: Type<RunCounts> = {
  name: "RunCounts",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      episodes: { ref: () => Count },
      steps: { ref: () => Count },
      segments: {
        type: "object",
        additionalProperties: { type: "integer", minimum: 0, maximum: 9007199254740991 },
        omitEmpty: true,
      },
    },
    required: ["episodes", "steps"],
  },
};
