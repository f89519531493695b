// Generated from schema/v1/sync_state.json by `make generate`, sha256 cc4f5b0ad60122b161fd4b345005f2d45770bbf8d577ff8548f92c9bcfbb133e.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Timestamp } from "./common.ts";

/**
 * What the uploader of a run does now: the `sync/state.json` of a run directory, replaced whole. For people and
 * progress bars; nothing is decided by it.
 */
export interface SyncState {
  /**
   * `starting`, `sending`, `waiting` (for records), `retrying` (the platform does not answer), `paused` (it answers no,
   * to everything), `finished` (everything is sent and the run is closed there), `stopped`.
   */
  state: "starting" | "sending" | "waiting" | "retrying" | "paused" | "finished" | "stopped" | (string & {});
  /** When it was written. */
  at: Timestamp;
  /** What keeps the upload from going on, in a sentence for people; null when nothing does. */
  error?: string | null;
  /** When it is tried again. */
  next_try_at?: Timestamp | null;
  /** Files of the run as the uploader last saw them, so that nobody has to count their rows from the start. */
  seen?: { [name: string]: SeenRows };
  /** What was odd, in sentences for people: a torn last line, say. */
  notes?: string[];
  /** Name of the uploader's machine. */
  host: string;
  /** What tells the machine from others of its name; null where it has no such thing. */
  machine_id?: string | null;
  /** What tells this boot of the machine from any other. */
  boot_id?: string | null;
  /** What tells the machine's process numbers from those of its containers. */
  pid_space?: string | null;
  /**
   * Process number of the uploader.
   * At least 0.
   */
  pid: number;
  /** When that process began, in the system's own count. */
  pid_started?: string | null;
}

export const SyncState: Type<SyncState> = {
  name: "SyncState",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      state: { type: "string", minLength: 1 },
      at: { ref: () => Timestamp },
      error: { type: ["string", "null"], maxLength: 4096 },
      next_try_at: { anyOf: [{ ref: () => Timestamp }, { type: "null" }] },
      seen: { type: "object", additionalProperties: { ref: () => SeenRows }, omitEmpty: true },
      notes: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
      host: { type: "string", minLength: 1 },
      machine_id: { type: ["string", "null"], minLength: 1 },
      boot_id: { type: ["string", "null"], minLength: 1 },
      pid_space: { type: ["string", "null"], minLength: 1 },
      pid: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      pid_started: { type: ["string", "null"], minLength: 1 },
    },
    required: ["state", "at", "host", "pid"],
  },
};

/** How much of a file was counted. */
export interface SeenRows {
  /**
   * Bytes that were counted: the beginning of a line.
   * At least 0.
   */
  offset: number;
  /** Rows in them. */
  rows: Count;
}

export const SeenRows: Type<SeenRows> = {
  name: "SeenRows",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      offset: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      rows: { ref: () => Count },
    },
    required: ["offset", "rows"],
  },
};
