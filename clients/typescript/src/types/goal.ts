// Generated from schema/v1/goal.json by `make generate`, sha256 87d79596df17bb69dd5dddce80001d575f6e2b341adbad0d07ba544dbd99473a.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Identifier, ReferenceTier, Timestamp } from "./common.ts";

/**
 * A goal policy: `data/goals/<goal_id>.json`. A run on its dataset whose own `created_at` is at or after the cut-over
 * must name the goal and meet what it requires; earlier runs are exempt. A rescore made after the cut-over is bound,
 * whenever its source was measured.
 */
export interface Goal {
  /** Name of the goal; also the stem of its file. */
  goal_id: Identifier;
  /** The goal in a sentence, for people. */
  statement: string;
  /** The dataset it is about. */
  dataset_id: Identifier;
  /** The metric it is about. */
  metric: string;
  /** Which way the metric is to move. */
  direction: "higher" | "lower";
  /** From when on runs are bound; the instant itself counts as after. */
  cut_over: Timestamp;
  /**
   * What a bound run must meet.
   * @defaultValue `{}`
   */
  requires?: GoalRequires;
}

export const Goal: Type<Goal> = {
  name: "Goal",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      goal_id: { ref: () => Identifier },
      statement: { type: "string", minLength: 1 },
      dataset_id: { ref: () => Identifier },
      metric: { type: "string", minLength: 1 },
      direction: { type: "string", enum: ["higher", "lower"] },
      cut_over: { ref: () => Timestamp },
      requires: { ref: () => GoalRequires },
    },
    required: ["goal_id", "statement", "dataset_id", "metric", "direction", "cut_over"],
  },
};

/** Conditions on a run; what is absent is not asked for. */
export interface GoalRequires {
  /** Tier the run must be scored against. */
  reference_tier?: ReferenceTier | null;
  /** Primary metric the run must declare. */
  primary_metric?: string | null;
  /**
   * Rows the run must have at least.
   * At least 1.
   */
  min_items?: number | null;
  /**
   * True when the run's build must be known and not dirty.
   * @defaultValue `false`
   */
  build_clean?: boolean;
}

export const GoalRequires: Type<GoalRequires> = {
  name: "GoalRequires",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      reference_tier: { anyOf: [{ ref: () => ReferenceTier }, { type: "null" }] },
      primary_metric: { type: ["string", "null"], minLength: 1 },
      min_items: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      build_clean: { type: "boolean" },
    },
    required: [],
  },
};
