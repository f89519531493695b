// Generated from schema/v1/reference_manifest.json by `make generate`, sha256 190b081d65f72acbbdf24adc3dc6df99de40ff3f034cadd6c3240bc13a4c6687.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Identifier, JsonObject, ReferenceTier, Timestamp } from "./common.ts";
import { FingerprintSystem } from "./run_record.ts";

/** Where a set of references comes from: the `manifest.json` beside them in `data/references/<tier>/<dataset_id>/`. */
export interface ReferenceManifest {
  /** The dataset whose items they answer. */
  dataset_id: Identifier;
  /** Who wrote them. */
  tier: ReferenceTier;
  /** When the set was made. */
  created_at: Timestamp;
  /** Items that have a reference. */
  n_items: Count;
  /**
   * The folder or file they were copied from, relative to the project's root with forward slashes; null when a config
   * wrote them.
   */
  source?: string | null;
  /** The config that wrote them; null when they were copied. */
  authored_by?: string | null;
  /** Id of the adapter that wrote them. */
  authored_with?: string | null;
  /** The model that wrote them, as it was asked for. */
  model?: string | null;
  /** Identity of what wrote them. */
  system_under_test?: FingerprintSystem | null;
  /**
   * Knobs it was called with, with secrets masked.
   * @defaultValue `{}`
   */
  params?: JsonObject;
  /**
   * US dollars they cost; null when that is not known.
   * At least 0.
   */
  cost_usd?: number | null;
  /** What a reader should know before trusting them. */
  caveat?: string | null;
}

export const ReferenceManifest: Type<ReferenceManifest> = {
  name: "ReferenceManifest",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      dataset_id: { ref: () => Identifier },
      tier: { ref: () => ReferenceTier },
      created_at: { ref: () => Timestamp },
      n_items: { ref: () => Count },
      source: { type: ["string", "null"], minLength: 1 },
      authored_by: { type: ["string", "null"], minLength: 1 },
      authored_with: { type: ["string", "null"], minLength: 1 },
      model: { type: ["string", "null"] },
      system_under_test: { anyOf: [{ ref: () => FingerprintSystem }, { type: "null" }] },
      params: { ref: () => JsonObject, omitEmpty: true },
      cost_usd: { type: ["number", "null"], minimum: 0 },
      caveat: { type: ["string", "null"] },
    },
    required: ["dataset_id", "tier", "created_at", "n_items"],
  },
};
