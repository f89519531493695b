// Generated from schema/v1/attempt.json by `make generate`, sha256 4736fc5d655f0a6ed2910d3ad1093eeb269403bc635ef1cf74998ccf347e2bcd.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Timestamp } from "./common.ts";

/**
 * One launch of a run, the first or a resume: a line of `attempts.jsonl`, durable before that launch makes its first
 * call.
 */
export interface Attempt {
  /**
   * Number of the launch, counted from 1.
   * At least 1.
   */
  attempt: number;
  /** When it began, by the wall clock. */
  started_at: Timestamp;
  /** Version of the harness that was launched. */
  harness_version: string;
  /** Items whose rows were there when it began, so that it did not call them again. */
  items_done: Count;
  /** Items it set out to measure. */
  items_owed: Count;
  /** File of the config, relative to the project's root with forward slashes; a resume reads it again. */
  config_path?: string | null;
  /**
   * Calls that may run at once.
   * At least 1.
   */
  concurrency?: number | null;
  /** When rows are synced: `always`, `group` or `never`. */
  fsync?: "always" | "group" | "never" | (string & {}) | null;
  /**
   * True when items that failed before get a row with `_error` instead of another call.
   * @defaultValue `false`
   */
  accept_failures?: boolean;
  /** Paths of the fingerprint that differ from the manifest's and that the user said to pass over. */
  changed?: string[];
  /** What opening the files had to mend, and rows that were set aside, in sentences for people. */
  repairs?: string[];
  /** Name of the machine. */
  host?: string | null;
  /**
   * Process number.
   * At least 0.
   */
  pid?: number | null;
}

export const Attempt: Type<Attempt> = {
  name: "Attempt",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      attempt: { type: "integer", minimum: 1, maximum: 9007199254740991 },
      started_at: { ref: () => Timestamp },
      harness_version: { type: "string", minLength: 1 },
      items_done: { ref: () => Count },
      items_owed: { ref: () => Count },
      config_path: { type: ["string", "null"], minLength: 1 },
      concurrency: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      fsync: { type: ["string", "null"] },
      accept_failures: { type: "boolean" },
      changed: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
      repairs: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
      host: { type: ["string", "null"] },
      pid: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
    },
    required: ["attempt", "started_at", "harness_version", "items_done", "items_owed"],
  },
};
