// Generated from schema/v1/sync_refusal.json by `make generate`, sha256 6b50c1102fb4d8e069616529733e0ab34754c85337410a82cddadacdb1b78f5a.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Timestamp } from "./common.ts";

/**
 * A record that the platform does not take: a line of `sync/refused.jsonl`. The record stays in the run and is not sent
 * again until somebody asks for it (`evh sync --retry-refused`).
 */
export interface SyncRefusal {
  /**
   * The file of the run, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`,
   * `steps.jsonl`).
   */
  segment: string;
  /**
   * Where the record begins in that file, in bytes.
   * At least 0.
   */
  start: number;
  /**
   * Where it ends.
   * At least 0.
   */
  end: number;
  /**
   * Which row of the file it is, counted from 1.
   * At least 1.
   */
  row: number;
  /** Id of the episode; null where the record has none. */
  episode_id?: string | null;
  /**
   * HTTP status of the refusal; null when the record was not sent, because it is known what the service does not take.
   * At least 100.
   */
  status?: number | null;
  /** The service's own code, or ours: `line_too_long`, `sample_too_large`, `not_a_row`. */
  code?: string | null;
  /** What was said. */
  message: string;
  /** When it was refused. */
  at: Timestamp;
}

export const SyncRefusal: Type<SyncRefusal> = {
  name: "SyncRefusal",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      segment: { type: "string", minLength: 1 },
      start: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      end: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      row: { type: "integer", minimum: 1, maximum: 9007199254740991 },
      episode_id: { type: ["string", "null"] },
      status: { type: ["integer", "null"], minimum: 100, maximum: 9007199254740991 },
      code: { type: ["string", "null"], minLength: 1 },
      message: { type: "string", minLength: 1 },
      at: { ref: () => Timestamp },
    },
    required: ["segment", "start", "end", "row", "message", "at"],
  },
};
