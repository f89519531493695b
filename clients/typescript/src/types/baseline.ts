// Generated from schema/v1/baseline.json by `make generate`, sha256 fa972773c0552769fc13a02d9a46f73af2aef9ebe2a43c5f3f8426da8bb95116.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Identifier, MetricMap, Timestamp } from "./common.ts";
import { Build } from "./run_record.ts";

/**
 * A run that others are compared with: `data/baselines/<baseline_id>.json`, a copy of what it scored when it was
 * promoted. The baseline it replaced is kept in the folder `superseded`.
 */
export interface Baseline {
  /** Name of the baseline; also the stem of its file. */
  baseline_id: Identifier;
  /** The dataset it was measured on. */
  dataset_id: Identifier;
  /** Id of the run that was promoted. */
  promoted_from: Identifier;
  /** When it was promoted. */
  promoted_at: Timestamp;
  /** The run's scores, unrounded. */
  scores: MetricMap;
  /** The run's build. */
  build: Build;
  /** Why it was promoted, in at least three words. */
  reason?: string | null;
  /** Id of the run behind the baseline that this one replaced; null for the first. */
  supersedes?: string | null;
}

export const Baseline: Type<Baseline> = {
  name: "Baseline",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      baseline_id: { ref: () => Identifier },
      dataset_id: { ref: () => Identifier },
      promoted_from: { ref: () => Identifier },
      promoted_at: { ref: () => Timestamp },
      scores: { ref: () => MetricMap },
      build: { ref: () => Build },
      reason: { type: ["string", "null"] },
      supersedes: { type: ["string", "null"], minLength: 1 },
    },
    required: ["baseline_id", "dataset_id", "promoted_from", "promoted_at", "scores", "build"],
  },
};
