// Generated from schema/v1/platform_evaluations.json by `make generate`, sha256 37cf643b774ae34200bfe404ff87848e7bd157ae7f64efa097dae6889be182af.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { JsonObject } from "./common.ts";

/** An environment of an evaluation, by its id on the platform. */
export interface EnvironmentReference {
  /** Id of the environment on the platform. */
  id: string;
  /** Id of one version of it; null means the latest. */
  version_id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EnvironmentReference: Type<EnvironmentReference> = {
  name: "EnvironmentReference",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { id: { type: "string", minLength: 1 }, version_id: { type: ["string", "null"] } },
    required: ["id"],
  },
};

/** `POST /evaluations/`: opens an evaluation. It has either environments or the id of a run on the platform. */
export interface EvaluationCreate {
  /** A name for people; need not be unique. */
  name: string;
  /** The environments whose episodes it holds. */
  environments?: EnvironmentReference[];
  /** Id of the training run on the platform that the evaluation belongs to. */
  run_id?: string | null;
  /** Id of the suite that the evaluation belongs to. */
  suite_id?: string | null;
  /** Words to find it by. */
  tags?: string[];
  /** The model that is evaluated. */
  model_name?: string | null;
  /** The dataset, or the environment under another name. */
  dataset?: string | null;
  /** The program that runs the episodes. */
  framework?: string | null;
  /** The kind of the tasks. */
  task_type?: string | null;
  /** Text for people. */
  description?: string | null;
  /**
   * Free notes; a configuration, as a rule. `evh.run_id` in it is our id of the run: a second create with the same one
   * finds the first.
   */
  metadata?: JsonObject | null;
  /** Numbers about the whole evaluation, maps of numbers among them. */
  metrics?: JsonObject | null;
  /** True when everybody may read it. */
  is_public?: boolean | null;
  /** The team it belongs to; null means the owner of the key. */
  team_id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EvaluationCreate: Type<EvaluationCreate> = {
  name: "EvaluationCreate",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      name: { type: "string", minLength: 1 },
      environments: { type: "array", items: { ref: () => EnvironmentReference } },
      run_id: { type: ["string", "null"] },
      suite_id: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string" } },
      model_name: { type: ["string", "null"] },
      dataset: { type: ["string", "null"] },
      framework: { type: ["string", "null"] },
      task_type: { type: ["string", "null"] },
      description: { type: ["string", "null"] },
      metadata: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      metrics: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      is_public: { type: ["boolean", "null"] },
      team_id: { type: ["string", "null"] },
    },
    required: ["name"],
  },
};

/** The answer to a create. */
export interface EvaluationCreated {
  /** Id of the evaluation on the platform. */
  evaluation_id: string;
  /** The name it was given. */
  name?: string | null;
  /** Where people look at it. */
  viewer_url?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EvaluationCreated: Type<EvaluationCreated> = {
  name: "EvaluationCreated",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      evaluation_id: { type: "string", minLength: 1 },
      name: { type: ["string", "null"] },
      viewer_url: { type: ["string", "null"] },
    },
    required: ["evaluation_id"],
  },
};

/** `PUT /evaluations/{id}`: replaces the members that are given, each as a whole. A closed evaluation answers 409. */
export interface EvaluationUpdate {
  /** A name for people. */
  name?: string | null;
  /** Text for people. */
  description?: string | null;
  /** The model that is evaluated. */
  model_name?: string | null;
  /** The dataset. */
  dataset?: string | null;
  /** The program that runs the episodes. */
  framework?: string | null;
  /** The kind of the tasks. */
  task_type?: string | null;
  /** Words to find it by; null leaves them as they are, an empty list takes them away. */
  tags?: string[] | null;
  /** Free notes. They replace the old ones whole. */
  metadata?: JsonObject | null;
  /** Numbers about the whole evaluation. */
  metrics?: JsonObject | null;
  /** True when everybody may read it. */
  is_public?: boolean | null;
  /** Closes an evaluation that did not complete. */
  status?: EvaluationClosing | null;
  /** Why it did not complete. */
  error_message?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EvaluationUpdate: Type<EvaluationUpdate> = {
  name: "EvaluationUpdate",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      name: { type: ["string", "null"], minLength: 1 },
      description: { type: ["string", "null"] },
      model_name: { type: ["string", "null"] },
      dataset: { type: ["string", "null"] },
      framework: { type: ["string", "null"] },
      task_type: { type: ["string", "null"] },
      tags: { type: ["array", "null"], items: { type: "string" } },
      metadata: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      metrics: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      is_public: { type: ["boolean", "null"] },
      status: { anyOf: [{ ref: () => EvaluationClosing }, { type: "null" }] },
      error_message: { type: ["string", "null"], maxLength: 4096 },
    },
    required: [],
  },
};

/** How a producer may close an evaluation by an update; a complete one is finalized instead. */
export type EvaluationClosing = "FAILED" | "CANCELLED";

export const EvaluationClosing: Type<EvaluationClosing> = { name: "EvaluationClosing", schema: { type: "string", enum: ["FAILED", "CANCELLED"] } };

/** `POST /evaluations/{id}/finalize`: closes an evaluation as completed. */
export interface EvaluationFinalize {
  /** Numbers about the whole evaluation, maps of numbers among them. */
  metrics?: JsonObject | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EvaluationFinalize: Type<EvaluationFinalize> = {
  name: "EvaluationFinalize",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { metrics: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] } },
    required: [],
  },
};

/** An evaluation as the platform holds it: `GET /evaluations/{id}`. */
export interface Evaluation {
  /** Id of the evaluation on the platform. */
  evaluation_id: string;
  /** A name for people. */
  name: string;
  /** How far it is. */
  status?: "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED" | (string & {}) | null;
  /** Why it did not complete. */
  error_message?: string | null;
  /** The model that is evaluated. */
  model_name?: string | null;
  /** The dataset. */
  dataset?: string | null;
  /** The program that runs the episodes. */
  framework?: string | null;
  /** The kind of the tasks. */
  task_type?: string | null;
  /** The platform's own word for its kind. */
  eval_type?: string | null;
  /** Text for people. */
  description?: string | null;
  /** Ids of its environments on the platform. */
  environment_ids?: string[] | null;
  /** The suite it belongs to. */
  suite_id?: string | null;
  /** The training run it belongs to. */
  run_id?: string | null;
  /** The environment's version. */
  version_id?: string | null;
  /** Words to find it by. */
  tags?: string[];
  /** Free notes. */
  metadata?: JsonObject | null;
  /** Numbers about the whole evaluation. */
  metrics?: JsonObject | null;
  /**
   * How many samples it holds.
   * At least 0.
   */
  total_samples?: number | null;
  /** True when everybody may read it. */
  is_public?: boolean | null;
  /** When it was opened, RFC 3339. */
  created_at?: string | null;
  /** When it was last changed, RFC 3339. */
  updated_at?: string | null;
  /** When it was closed, RFC 3339. */
  finalized_at?: string | null;
  /** Who opened it. */
  user_id?: string | null;
  /** The team it belongs to. */
  team_id?: string | null;
  /** Where people look at it. */
  viewer_url?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const Evaluation: Type<Evaluation> = {
  name: "Evaluation",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      evaluation_id: { type: "string", minLength: 1 },
      name: { type: "string" },
      status: { type: ["string", "null"] },
      error_message: { type: ["string", "null"] },
      model_name: { type: ["string", "null"] },
      dataset: { type: ["string", "null"] },
      framework: { type: ["string", "null"] },
      task_type: { type: ["string", "null"] },
      eval_type: { type: ["string", "null"] },
      description: { type: ["string", "null"] },
      environment_ids: { type: ["array", "null"], items: { type: "string" } },
      suite_id: { type: ["string", "null"] },
      run_id: { type: ["string", "null"] },
      version_id: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string" } },
      metadata: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      metrics: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      total_samples: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      is_public: { type: ["boolean", "null"] },
      created_at: { type: ["string", "null"] },
      updated_at: { type: ["string", "null"] },
      finalized_at: { type: ["string", "null"] },
      user_id: { type: ["string", "null"] },
      team_id: { type: ["string", "null"] },
      viewer_url: { type: ["string", "null"] },
    },
    required: ["evaluation_id", "name"],
  },
};

/** `GET /evaluations/`: some of the evaluations, the newest first. */
export interface EvaluationPage {
  /** The evaluations of this page. */
  evaluations: Evaluation[];
  /**
   * How many there are in all.
   * At least 0.
   */
  total: number;
  /**
   * How many came before this page.
   * At least 0.
   */
  skip: number;
  /**
   * How many a page holds at most.
   * At least 0.
   */
  limit: number;
}

export const EvaluationPage: Type<EvaluationPage> = {
  name: "EvaluationPage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      evaluations: { type: "array", items: { ref: () => Evaluation } },
      total: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      skip: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      limit: { type: "integer", minimum: 0, maximum: 9007199254740991 },
    },
    required: ["evaluations", "total", "skip", "limit"],
  },
};

/**
 * `POST /evaluations/{id}/samples`: samples to append, at most 25 MiB a call. What a sample holds is its writer's
 * affair.
 */
export interface SamplesBody {
  /** The samples, in order. */
  samples: JsonObject[];
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SamplesBody: Type<SamplesBody> = {
  name: "SamplesBody",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { samples: { type: "array", items: { ref: () => JsonObject } } },
    required: ["samples"],
  },
};

/** The answer to appended samples; nothing in it is promised. */
export interface SamplesAppended {
  /**
   * How many were appended.
   * At least 0.
   */
  samples_pushed?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SamplesAppended: Type<SamplesAppended> = {
  name: "SamplesAppended",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      samples_pushed: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
    },
    required: [],
  },
};

/** `GET /evaluations/{id}/samples`: some of an evaluation's samples, in the order they were appended. */
export interface SamplesPage {
  /** The samples of this page. */
  samples: JsonObject[];
  /**
   * How many there are in all.
   * At least 0.
   */
  total: number;
  /**
   * Number of this page, counted from 1.
   * At least 0.
   */
  page: number;
  /**
   * How many a page holds at most.
   * At least 0.
   */
  limit: number;
  /** True when there is a next page. */
  hasMore: boolean;
}

export const SamplesPage: Type<SamplesPage> = {
  name: "SamplesPage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      samples: { type: "array", items: { ref: () => JsonObject } },
      total: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      page: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      limit: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      hasMore: { type: "boolean" },
    },
    required: ["samples", "total", "page", "limit", "hasMore"],
  },
};

/** `POST /environmentshub/resolve`: the environment of that name, made when there is none. */
export interface EnvironmentResolve {
  /** Name of the environment. */
  name: string;
  /** The team it belongs to; null means the owner of the key. */
  team_id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EnvironmentResolve: Type<EnvironmentResolve> = {
  name: "EnvironmentResolve",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { name: { type: "string", minLength: 1 }, team_id: { type: ["string", "null"] } },
    required: ["name"],
  },
};

/** `POST /environmentshub/lookup`: an environment by its id. */
export interface EnvironmentLookup {
  /** Id of the environment on the platform. */
  id: string;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EnvironmentLookup: Type<EnvironmentLookup> = {
  name: "EnvironmentLookup",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { id: { type: "string", minLength: 1 } },
    required: ["id"],
  },
};

/** An environment of the hub. */
export interface EnvironmentEntry {
  /** Id of the environment on the platform. */
  id: string;
  /** Its name. */
  name?: string | null;
  /** Who owns it. */
  owner?: string | null;
  /** Id of the version that was meant. */
  version_id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EnvironmentEntry: Type<EnvironmentEntry> = {
  name: "EnvironmentEntry",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      id: { type: "string", minLength: 1 },
      name: { type: ["string", "null"] },
      owner: { type: ["string", "null"] },
      version_id: { type: ["string", "null"] },
    },
    required: ["id"],
  },
};

/**
 * The answer of all three ways to find an environment. Older services answer with the environment itself instead of
 * `data`.
 */
export interface EnvironmentResolved {
  /** The environment. */
  data?: EnvironmentEntry | null;
  /** Id of the environment, where there is no `data`. */
  id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const EnvironmentResolved: Type<EnvironmentResolved> = {
  name: "EnvironmentResolved",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      data: { anyOf: [{ ref: () => EnvironmentEntry }, { type: "null" }] },
      id: { type: ["string", "null"] },
    },
    required: [],
  },
};
