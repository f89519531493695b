// Generated from schema/v1/sync_receipt.json by `make generate`, sha256 34be92f7693bb94a447dd858f0103b9a4aba193c46a82e23b622baa8ebff85f4.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Sha256, Timestamp } from "./common.ts";

/**
 * A batch that the platform has: a line of `sync/receipts.jsonl`, written when the answer said so and before the cursor
 * moves.
 */
export interface SyncReceipt {
  /** What was sent; see the intent. */
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
   * Where it ends.
   * At least 0.
   */
  end: number;
  /** Rows in it. */
  rows: Count;
  /** SHA-256 of the bytes that were sent, before compression. */
  digest: Sha256;
  /**
   * How many bytes that were.
   * At least 0.
   */
  bytes?: number | null;
  /** The name that the platform has for it. */
  upload_id?: string | null;
  /** True when the platform had it already: an earlier answer was lost. Null where it does not say. */
  replayed?: boolean | null;
  /**
   * True for a record that had been refused and was taken now.
   * @defaultValue `false`
   */
  retry?: boolean;
  /** The training step of a table. */
  step?: number | null;
  /** When the answer came. */
  at: Timestamp;
}

export const SyncReceipt: Type<SyncReceipt> = {
  name: "SyncReceipt",
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
      bytes: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      upload_id: { type: ["string", "null"] },
      replayed: { type: ["boolean", "null"] },
      retry: { type: "boolean" },
      step: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      at: { ref: () => Timestamp },
    },
    required: ["kind", "segment", "start", "end", "rows", "digest", "at"],
  },
};
