// Generated from schema/v1/sync_cursor.json by `make generate`, sha256 79035ccfad540f156bc292cecbfd126b273cbba9b2766d18c2f302383ef4c327.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Sha256, Timestamp } from "./common.ts";

/**
 * How far a run was uploaded: the `sync/cursor.json` of a run directory, replaced whole after each batch. What lies
 * before a cursor has a receipt or a refusal; what lies behind it is pending.
 */
export interface SyncCursor {
  /** Cursor of each file of episodes and, for a training run, of metrics, by its path below the run's directory. */
  segments?: { [name: string]: SegmentCursor };
  /** Cursor of each file of episodes for the Parquet tables of a training run, which follow the episodes. */
  tables?: { [name: string]: SegmentCursor };
  /** How many tables of each training step were sent, by the step's number. */
  tables_sent?: { [name: string]: number };
  /** When it was written. */
  at: Timestamp;
}

export const SyncCursor: Type<SyncCursor> = {
  name: "SyncCursor",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      segments: {
        type: "object",
        additionalProperties: { ref: () => SegmentCursor },
        omitEmpty: true,
      },
      tables: {
        type: "object",
        additionalProperties: { ref: () => SegmentCursor },
        omitEmpty: true,
      },
      tables_sent: {
        type: "object",
        additionalProperties: { type: "integer", minimum: 0, maximum: 9007199254740991 },
        omitEmpty: true,
      },
      at: { ref: () => Timestamp },
    },
    required: ["at"],
  },
};

/** How far one file of a run was dealt with. */
export interface SegmentCursor {
  /**
   * Bytes of the file that were sent or refused: always the beginning of a line, and never beyond what is known to be
   * on disk.
   * At least 0.
   */
  offset: number;
  /** Rows in these bytes. */
  rows: Count;
  /**
   * Where the last batch begins in the file.
   * At least 0.
   */
  last_start: number;
  /**
   * SHA-256 of the file's bytes from `last_start` to `offset`. A file in which they are others was rewritten, and
   * nothing more of it is sent.
   */
  last_digest: Sha256;
}

export const SegmentCursor: Type<SegmentCursor> = {
  name: "SegmentCursor",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      offset: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      rows: { ref: () => Count },
      last_start: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      last_digest: { ref: () => Sha256 },
    },
    required: ["offset", "rows", "last_start", "last_digest"],
  },
};
