// Generated from schema/v1/step_row.json by `make generate`, sha256 e44a7ae3939a196a0a957c0b57c8a02e341018ef18f69108c21f6ba5a3f92186.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { MetricMap, Timestamp } from "./common.ts";

/**
 * Metrics of a live run at one moment, as a rule a training step: a line of `steps.jsonl`, or of `steps/<writer>.jsonl`
 * when a process other than the run's owner wrote it. Rows of one step add up: the last value of a name counts.
 */
export interface StepRow {
  /** The step that the metrics are of; null for metrics of none. */
  step?: number | null;
  /** Name to value; numbers that are not finite are never written. */
  metrics: MetricMap;
  /** When they were logged, by the wall clock. */
  at: Timestamp;
}

export const StepRow: Type<StepRow> = {
  name: "StepRow",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      step: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
      metrics: { ref: () => MetricMap },
      at: { ref: () => Timestamp },
    },
    required: ["metrics", "at"],
  },
};
