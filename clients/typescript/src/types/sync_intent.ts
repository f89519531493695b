// Generated from schema/v1/sync_intent.json by `make generate`, sha256 e9d09a165e00e5c7588807e0b1cfe19a1e8bd64181f3ebd13c0800054cf352e9.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Sha256, Timestamp } from "./common.ts";

/**
 * The batch that is about to be sent, or was and got no answer yet: the `sync/intent.json` of a run directory, durable
 * before the first byte of the batch leaves. `sync/intent.body` holds the exact bytes. After a crash the same bytes are
 * sent under the same name, so that a service that has them already says so.
 */
export interface SyncIntent {
  /**
   * What is sent: `traces` (lines of episodes), `samples` (rows of the sample table), `metrics` (metrics by step),
   * `table` (a Parquet table of one training step).
   */
  kind: "traces" | "samples" | "metrics" | "table" | (string & {});
  /**
   * The file of the run, by its path below the run's directory (`traces.jsonl`, `traces/<writer>.jsonl`,
   * `steps.jsonl`).
   */
  segment: string;
  /**
   * Where the batch begins in that file, in bytes.
   * At least 0.
   */
  start: number;
  /**
   * Where it ends: the byte behind its last line end.
   * At least 0.
   */
  end: number;
  /** Rows in it. */
  rows: Count;
  /** SHA-256 of `intent.body`: the name under which it is sent. */
  digest: Sha256;
  /** When it was written. */
  at: Timestamp;
  /**
   * True for a record that was refused before and is sent again on demand: the cursor does not move for it.
   * @defaultValue `false`
   */
  retry?: boolean;
  /** The training step of a table. */
  step?: number | null;
  /** The name that the platform has for a table once it said where the bytes go. */
  place?: string | null;
}

export const SyncIntent: Type<SyncIntent> = {
  name: "SyncIntent",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      kind: { type: "string", minLength: 1 },
      segment: { type: "string", minLength: 1 },
      start: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      end: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      rows: { ref: () => Count },
      digest: { ref: () => Sha256 },
      at: { ref: () => Timestamp },
      retry: { type: "boolean" },
      step: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      place: { type: ["string", "null"], minLength: 1 },
    },
    required: ["kind", "segment", "start", "end", "rows", "digest", "at"],
  },
};
