// Generated from schema/v1/sync_remote.json by `make generate`, sha256 2f329dee96e5e451bac92c849cb3a458c81a238cf10e4f996bf49344640e2c71.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Timestamp } from "./common.ts";

/**
 * What a platform calls a run: the `sync/remote.json` of a run directory. Written before the run is opened there, so
 * that a try whose answer is lost is asked about before another one is made.
 */
export interface SyncRemote {
  /**
   * `creating`: the platform was or is about to be asked to open the run. `open`: it has. `closed`: it was told how the
   * run ended.
   */
  state: "creating" | "open" | "closed" | (string & {});
  /** What the run is there. */
  kind: "evaluation" | "training" | (string & {});
  /** Address of the platform. Records of the run go nowhere else. */
  base_url: string;
  /** The team that the run belongs to there; null means the owner of the key. */
  team_id?: string | null;
  /** The platform's own id of the run; null until it answered. */
  remote_id?: string | null;
  /** Where people look at it; null when the platform did not say. */
  url?: string | null;
  /** When this state was written. */
  at: Timestamp;
  /**
   * How episodes go there: `traces`, whole and compressed, or `samples`, as rows of its sample table, for an account
   * that has no traces service.
   * @defaultValue `"traces"`
   */
  transport?: "traces" | "samples" | (string & {});
  /**
   * The status that the run has there since it was closed, as the platform says it (`COMPLETED`, `FAILED`,
   * `CANCELLED`).
   */
  status?: string | null;
  /**
   * Tries to open a training run whose answer was lost and that nobody can ask about: so many runs without any records
   * may stand there as well.
   * At least 0.
   * @defaultValue `0`
   */
  doubts?: number;
}

export const SyncRemote: Type<SyncRemote> = {
  name: "SyncRemote",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      state: { type: "string", minLength: 1 },
      kind: { type: "string", minLength: 1 },
      base_url: { type: "string", minLength: 1 },
      team_id: { type: ["string", "null"] },
      remote_id: { type: ["string", "null"], minLength: 1 },
      url: { type: ["string", "null"] },
      at: { ref: () => Timestamp },
      transport: { type: "string" },
      status: { type: ["string", "null"] },
      doubts: { type: "integer", minimum: 0, maximum: 9007199254740991 },
    },
    required: ["state", "kind", "base_url", "at"],
  },
};
