// Generated from schema/v1/run_manifest.json by `make generate`, sha256 df0bbd8c3b2d029acc99316836b02cf9aabd8c9c41d752ad851b85d02fe70635.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Identifier, JsonObject, Timestamp } from "./common.ts";
import { Build, Fingerprint, Imported } from "./run_record.ts";

/**
 * What a run set out to do: the `run.json` of a run directory, durable before the first item is measured or the first
 * episode logged, and never changed. With it a run that crashed can still be named, listed, resumed and uploaded. What
 * happened later is in the other files of the directory.
 */
export interface RunManifest {
  /**
   * Version of this schema that the writer knew, as `evh:<major>.<minor>:run_manifest`. Optional on reading.
   * @since 1.0
   */
  schema?: string | null;
  /** Identity of the run, ours from the first byte to the last; the name of its directory. */
  run_id: Identifier;
  /**
   * What kind of run the directory holds: `measured`, the items of a dataset (it ends with `metrics.json` and can be
   * resumed); `eval`, an evaluation held open by the program that runs it (it ends with `metrics.json` and `end.json`);
   * `train`, a training run (it ends with `end.json`). A reader that does not know a kind lists the run and leaves it
   * alone.
   * @defaultValue `"measured"`
   */
  kind?: "measured" | "eval" | "train" | (string & {});
  /**
   * The dataset, copied into the record. Given for `measured` and `eval`; null for a training run, which has no items.
   */
  dataset_id?: string | null;
  /** The configuration, copied into the record. Given for `measured` and `eval`; null for a training run. */
  config_id?: string | null;
  /** When the directory was made, by the wall clock. Not a metric: durations come from the monotonic clock. */
  started_at: Timestamp;
  /** Version of the harness that made the directory. A resume refuses a run by this, not by members it misses. */
  harness_version: string;
  /**
   * The configuration as it was resolved, defaults and parameters included, with secrets masked. A resume compares it.
   */
  config: JsonObject;
  /** Version of the system under test when the run began, copied into the record. */
  build?: Build | null;
  /** Fingerprint of a `measured` run when it began. A resume compares it and refuses by the path that differs. */
  fingerprint?: Fingerprint | null;
  /** Where the outputs come from when the run is an import. Such a run can't be resumed. */
  imported?: Imported | null;
  /** Items the run is to measure: the first so many of the dataset. */
  n_items_planned?: Count | null;
  /**
   * Which pass of its arm this run is, counted from 1.
   * At least 1.
   */
  repeat_index?: number | null;
  /**
   * Passes that were asked for; a resume finishes this one and then makes the rest.
   * At least 1.
   */
  repeats?: number | null;
  /** A name for people, shown where the run is uploaded; need not be unique. */
  name?: string | null;
  /** Ids of the environments whose episodes the run holds. */
  environments?: string[];
  /** The model that is evaluated or trained. */
  model?: string | null;
  /** The program that runs the episodes, as the platform is to show it. */
  framework?: string | null;
  /** What the run is for, in words, as the platform is to show it. */
  description?: string | null;
  /** Labels by which the platform is to find the run. */
  tags?: string[];
  /**
   * Tasks of the run; -1 when all of them are meant and their number is not known.
   * At least -1.
   */
  num_examples?: number | null;
  /**
   * Episodes per task.
   * At least 1.
   */
  rollouts_per_example?: number | null;
  /**
   * The file the run was launched from, word for word. Null when there was none, or when it could hold a secret and was
   * left out.
   */
  config_source?: ConfigSource | null;
  /** Name of the machine that made the directory. For messages only: who holds the run now is in `lease.json`. */
  host?: string | null;
  /**
   * Process that made the directory. For messages only.
   * At least 0.
   */
  pid?: number | null;
}

export const RunManifest: Type<RunManifest> = {
  name: "RunManifest",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      schema: {
        type: ["string", "null"],
        pattern: "^evh:1\\.(0|[1-9][0-9]{0,3}):run_manifest(?!\\n)$",
        maxLength: 32,
      },
      run_id: { ref: () => Identifier },
      kind: { type: "string" },
      dataset_id: { type: ["string", "null"], minLength: 1 },
      config_id: { type: ["string", "null"], minLength: 1 },
      started_at: { ref: () => Timestamp },
      harness_version: { type: "string", minLength: 1 },
      config: { ref: () => JsonObject },
      build: { anyOf: [{ ref: () => Build }, { type: "null" }] },
      fingerprint: { anyOf: [{ ref: () => Fingerprint }, { type: "null" }] },
      imported: { anyOf: [{ ref: () => Imported }, { type: "null" }] },
      n_items_planned: { anyOf: [{ ref: () => Count }, { type: "null" }] },
      repeat_index: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      repeats: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      name: { type: ["string", "null"] },
      environments: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
      model: { type: ["string", "null"] },
      framework: { type: ["string", "null"] },
      description: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
      num_examples: { type: ["integer", "null"], minimum: -1, maximum: 9007199254740991 },
      rollouts_per_example: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      config_source: { anyOf: [{ ref: () => ConfigSource }, { type: "null" }] },
      host: { type: ["string", "null"] },
      pid: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
    },
    required: ["run_id", "started_at", "harness_version", "config"],
  },
};

/** A launch file, word for word: at most 256 KiB of UTF-8. */
export interface ConfigSource {
  /** How to read `text`. */
  format: "toml" | "json" | "yaml" | (string & {});
  /** The file's text. */
  text: string;
  /** Name of the file, without its folder. */
  filename?: string | null;
}

export const ConfigSource: Type<ConfigSource> = {
  name: "ConfigSource",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      format: { type: "string" },
      text: { type: "string", maxLength: 262144 },
      filename: { type: ["string", "null"] },
    },
    required: ["format", "text"],
  },
};
