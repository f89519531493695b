// Generated from schema/v1/lease.json by `make generate`, sha256 8a213e5a1953601753414402da51c9a229c22528aa112ca5f34a9dbe08c85799.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Timestamp } from "./common.ts";

/**
 * Who writes a run directory now: its `lease.json`, replaced whole at every beat and removed when the writer closes the
 * run. A lease is taken over only when its process is provably gone: another boot of the same host, or no such process
 * (or a younger one of the same number) on this boot. A silent one is stale, never presumed dead; an explicit flag
 * takes over all the same. Readers need no lease.
 */
export interface Lease {
  /** Random name of this hold. A writer that finds another token at a beat has been replaced, and stops. */
  token: string;
  /** Name of the writer's machine. */
  host: string;
  /**
   * What tells the machine from others of its name, through all its boots: a digest of the id that its system gave it;
   * null where it has none.
   */
  machine_id?: string | null;
  /** What tells this boot of the machine from any other; null where the system has no such thing. */
  boot_id?: string | null;
  /** What tells the machine's process numbers from those of its containers; null where the system has no such thing. */
  pid_space?: string | null;
  /**
   * Process number of the writer.
   * At least 0.
   */
  pid: number;
  /**
   * When that process began, in the system's own count, which is compared and not read: a number used again for a
   * younger process is told by it. Null where the system does not say.
   */
  pid_started?: string | null;
  /** When the writer took the lease. */
  acquired_at: Timestamp;
  /** When the writer last said that it lives. */
  beat_at: Timestamp;
}

export const Lease: Type<Lease> = {
  name: "Lease",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      token: { type: "string", minLength: 1 },
      host: { type: "string", minLength: 1 },
      machine_id: { type: ["string", "null"], minLength: 1 },
      boot_id: { type: ["string", "null"], minLength: 1 },
      pid_space: { type: ["string", "null"], minLength: 1 },
      pid: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      pid_started: { type: ["string", "null"], minLength: 1 },
      acquired_at: { ref: () => Timestamp },
      beat_at: { ref: () => Timestamp },
    },
    required: ["token", "host", "pid", "acquired_at", "beat_at"],
  },
};
