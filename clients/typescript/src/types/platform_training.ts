// Generated from schema/v1/platform_training.json by `make generate`, sha256 b87e40b9fd2e54270b290e4f5b10b149da42600db8eb5624eccaa49e45874233.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { JsonObject } from "./common.ts";

/** An environment of a training run, by its id or its name on the hub. */
export interface TrainingEnvironment {
  /** Id or name of the environment. */
  id: string;
  /** Id of one version of it; null means the latest. */
  version_id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const TrainingEnvironment: Type<TrainingEnvironment> = {
  name: "TrainingEnvironment",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { id: { type: "string", minLength: 1 }, version_id: { type: ["string", "null"] } },
    required: ["id"],
  },
};

/** `POST /rft/external-runs`: registers a training run. Only for teams that the platform lets do so; others get 403. */
export interface ExternalRunCreate {
  /** The model that is trained. */
  base_model: string;
  /**
   * Steps the run is to make; 0 when that is not known.
   * At least 0.
   */
  max_steps: number;
  /** The environments it trains on. */
  environments?: TrainingEnvironment[];
  /** The team it belongs to. */
  team_id: string;
  /** A name for people. */
  name?: string | null;
  /**
   * Episodes of a step.
   * At least 0.
   */
  batch_size?: number | null;
  /**
   * Episodes per task.
   * At least 0.
   */
  rollouts_per_example?: number | null;
  /**
   * Tokens of a sequence at most.
   * At least 0.
   */
  seq_len?: number | null;
  /** The configuration, with secrets masked. */
  run_config?: JsonObject | null;
  /** Project of the run on Weights & Biases. */
  wandb_project?: string | null;
  /** Entity of the run there. */
  wandb_entity?: string | null;
  /** Name of the run there. */
  wandb_run_name?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ExternalRunCreate: Type<ExternalRunCreate> = {
  name: "ExternalRunCreate",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      base_model: { type: "string", minLength: 1 },
      max_steps: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      environments: { type: "array", items: { ref: () => TrainingEnvironment } },
      team_id: { type: "string", minLength: 1 },
      name: { type: ["string", "null"] },
      batch_size: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      rollouts_per_example: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      seq_len: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      run_config: { anyOf: [{ ref: () => JsonObject }, { type: "null" }] },
      wandb_project: { type: ["string", "null"] },
      wandb_entity: { type: ["string", "null"] },
      wandb_run_name: { type: ["string", "null"] },
    },
    required: ["base_model", "max_steps", "team_id"],
  },
};

/** A registered training run. */
export interface ExternalRun {
  /** Id of the run on the platform. */
  id: string;
  /** A name for people. */
  name?: string | null;
  /** How far it is. */
  status?: string | null;
  /** Why it failed. */
  error_message?: string | null;
  /** The team it belongs to. */
  team_id?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ExternalRun: Type<ExternalRun> = {
  name: "ExternalRun",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      id: { type: "string", minLength: 1 },
      name: { type: ["string", "null"] },
      status: { type: ["string", "null"] },
      error_message: { type: ["string", "null"] },
      team_id: { type: ["string", "null"] },
    },
    required: ["id"],
  },
};

/** The answer to a registration. */
export interface ExternalRunCreated {
  /** The run. */
  run: ExternalRun;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ExternalRunCreated: Type<ExternalRunCreated> = {
  name: "ExternalRunCreated",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { run: { ref: () => ExternalRun } },
    required: ["run"],
  },
};

/** `POST /rft/metrics`: numbers of a training run. `step` is among them. */
export interface RunMetrics {
  /** Id of the run on the platform. */
  run_id: string;
  /** Name to value. */
  metrics: JsonObject;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const RunMetrics: Type<RunMetrics> = {
  name: "RunMetrics",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { run_id: { type: "string", minLength: 1 }, metrics: { ref: () => JsonObject } },
    required: ["run_id", "metrics"],
  },
};

/** `POST /rft/samples/presign`: asks where the sample table of a step goes. */
export interface SamplesPresign {
  /** Id of the run on the platform. */
  run_id: string;
  /**
   * The training step.
   * At least 0.
   */
  step: number;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SamplesPresign: Type<SamplesPresign> = {
  name: "SamplesPresign",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      run_id: { type: "string", minLength: 1 },
      step: { type: "integer", minimum: 0, maximum: 9007199254740991 },
    },
    required: ["run_id", "step"],
  },
};

/** Where a sample table goes. */
export interface PresignedUpload {
  /** Address for one PUT of the table's bytes. It is a secret: whoever has it may write there. */
  presignedUrl: string;
  /** Name of the table for the confirmation. */
  s3Key: string;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const PresignedUpload: Type<PresignedUpload> = {
  name: "PresignedUpload",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      presignedUrl: { type: "string", minLength: 1 },
      s3Key: { type: "string", minLength: 1 },
    },
    required: ["presignedUrl", "s3Key"],
  },
};

/** The answer to a presign. */
export interface SamplesPresigned {
  /** Where the table goes. */
  data: PresignedUpload;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SamplesPresigned: Type<SamplesPresigned> = {
  name: "SamplesPresigned",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { data: { ref: () => PresignedUpload } },
    required: ["data"],
  },
};

/** `POST /rft/samples/confirm`: the sample table of a step has been put in its place. */
export interface SamplesConfirm {
  /** Id of the run on the platform. */
  run_id: string;
  /**
   * The training step.
   * At least 0.
   */
  step: number;
  /** Name of the table, as the presign gave it. */
  s3_key: string;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const SamplesConfirm: Type<SamplesConfirm> = {
  name: "SamplesConfirm",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      run_id: { type: "string", minLength: 1 },
      step: { type: "integer", minimum: 0, maximum: 9007199254740991 },
      s3_key: { type: "string", minLength: 1 },
    },
    required: ["run_id", "step", "s3_key"],
  },
};

/** `POST /rft/finalize`: closes a training run as completed. Closed twice is closed. */
export interface RftFinalize {
  /** Id of the run on the platform. */
  run_id: string;
  /** The trainer's exit code. */
  exit_code?: number | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const RftFinalize: Type<RftFinalize> = {
  name: "RftFinalize",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      run_id: { type: "string", minLength: 1 },
      exit_code: {
        type: ["integer", "null"],
        minimum: -9007199254740991,
        maximum: 9007199254740991,
      },
    },
    required: ["run_id"],
  },
};

/** `PUT /rft/external-runs/{id}/status`: closes a training run. A closed one answers 409. */
export interface ExternalRunStatus {
  /** How it ended. */
  status: "completed" | "failed";
  /** Why it failed. */
  error_message?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ExternalRunStatus: Type<ExternalRunStatus> = {
  name: "ExternalRunStatus",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      status: { type: "string", enum: ["completed", "failed"] },
      error_message: { type: ["string", "null"] },
    },
    required: ["status"],
  },
};
