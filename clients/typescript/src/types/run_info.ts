// Generated from schema/v1/run_info.json by `make generate`, sha256 1f7166fa3f6465a25aa5f66f491d14ad647da7cef3f730c17609ef9a651c5244.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";

/** A stand-alone evaluation run or a training run, told apart by `type`. */
export type RunInfo = EvalRunInfo | TrainRunInfo;

export const RunInfo: Type<RunInfo> = {
  name: "RunInfo",
  schema: { oneOf: [{ ref: () => EvalRunInfo }, { ref: () => TrainRunInfo }], tag: "type" },
};

/** A stand-alone evaluation run. */
export interface EvalRunInfo {
  /** Always `eval`. */
  type: "eval";
  /** Identity of the run: stable from its first byte, never reused. */
  id: string;
  /** A name for people; may change and need not be unique. */
  name?: string | null;
}

export const EvalRunInfo: Type<EvalRunInfo> = {
  name: "EvalRunInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string", const: "eval" },
      id: { type: "string" },
      name: { type: ["string", "null"] },
    },
    required: ["type", "id"],
  },
};

/** A training run, with what the episode was dispatched for. */
export interface TrainRunInfo {
  /** Always `train`. */
  type: "train";
  /** Identity of the run: stable from its first byte, never reused. */
  id: string;
  /** A name for people; may change and need not be unique. */
  name?: string | null;
  /** What the episode was dispatched for. */
  work: WorkInfo;
}

export const TrainRunInfo: Type<TrainRunInfo> = {
  name: "TrainRunInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string", const: "train" },
      id: { type: "string" },
      name: { type: ["string", "null"] },
      work: { ref: () => WorkInfo },
    },
    required: ["type", "id", "work"],
  },
};

/** Work of a training run: episodes to train on, or an evaluation inside the run. */
export type WorkInfo = TrainWorkInfo | EvalWorkInfo;

export const WorkInfo: Type<WorkInfo> = {
  name: "WorkInfo",
  schema: { oneOf: [{ ref: () => TrainWorkInfo }, { ref: () => EvalWorkInfo }], tag: "type" },
};

/** Episodes dispatched to be trained on. */
export interface TrainWorkInfo {
  /** Always `train`. */
  type: "train";
  /** Training step at dispatch. */
  step: number;
  /** Versions of the policy that sampled the episode; null for a frozen policy. */
  policy?: PolicySpan | null;
}

export const TrainWorkInfo: Type<TrainWorkInfo> = {
  name: "TrainWorkInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string", const: "train" },
      step: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      policy: { anyOf: [{ ref: () => PolicySpan }, { type: "null" }] },
    },
    required: ["type", "step"],
  },
};

/** Episodes of an evaluation inside a training run. */
export interface EvalWorkInfo {
  /** Always `eval`. */
  type: "eval";
  /** Training step at dispatch. */
  step: number;
  /** Versions of the policy that sampled the episode; null for a frozen policy. */
  policy?: PolicySpan | null;
}

export const EvalWorkInfo: Type<EvalWorkInfo> = {
  name: "EvalWorkInfo",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string", const: "eval" },
      step: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      policy: { anyOf: [{ ref: () => PolicySpan }, { type: "null" }] },
    },
    required: ["type", "step"],
  },
};

/** The policy versions in use while an episode was sampled, both ends included. `end` is never before `start`. */
export interface PolicySpan {
  /** Version at the first sampled token. */
  start: number;
  /** Version at the last sampled token. */
  end: number;
}

export const PolicySpan: Type<PolicySpan> = {
  name: "PolicySpan",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      start: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      end: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
    },
    required: ["start", "end"],
  },
};
