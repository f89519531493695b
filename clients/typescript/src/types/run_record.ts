// Generated from schema/v1/run_record.json by `make generate`, sha256 b3daf326ecbc7a2457719216b04dd742ec38bb48c4c11dfda60c5406bc49b9d7.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, Identifier, JsonObject, MetricMap, ReferenceTier, Sha256, TextMap, Timestamp } from "./common.ts";
import { Derived } from "./derived.ts";

/**
 * What a whole run measured: the `metrics.json` of a run directory, written once and only on a clean exit. A measured
 * run called a system (or imported what one wrote); a derived run was computed from another run's stored outputs and
 * says so in `derived`. Closed: a record with any other member is not valid.
 */
export interface RunRecord {
  /** Identity of the run; the name of its directory. */
  run_id: Identifier;
  /** The dataset that was measured. Only runs of one dataset are compared. */
  dataset_id: Identifier;
  /** The configuration that produced the outputs. All runs of one config on one dataset are one arm. */
  config_id: Identifier;
  /** Version of the system under test. */
  build: Build;
  /**
   * When this record was made: for a measured run the end of its last attempt, for an import what its source's record
   * says (when it was imported is `imported.at`), for a derived run the moment of the derivation, never its source's
   * time.
   */
  created_at: Timestamp;
  /** `created_at` of the run that this one was derived from directly. Derived runs only. */
  source_created_at?: Timestamp | null;
  /**
   * Metric name to its mean over the rows that have the metric; totals, not means, for `total_cost_usd` (US dollars),
   * `total_tokens_in` and `total_tokens_out` (tokens). Stored unrounded; empty when no row has a metric.
   */
  scores: MetricMap;
  /** Rows in `predictions.jsonl`, rows with `_error` included. Not the number of items that were planned. */
  n_items: Count;
  /**
   * Rows that are failures the user accepted (`_error` set). Present only when there are such rows. The one member
   * beyond the list of RFC-002.
   */
  n_errors?: Count | null;
  /**
   * The knobs actually used, as they were handed to the adapter, with secrets masked.
   * @defaultValue `{}`
   */
  params?: JsonObject;
  /**
   * Id of the adapter: the path of its file relative to the project's root, with forward slashes; never absolute, never
   * below a home folder.
   */
  adapter?: string | null;
  /** What was measured with what: everything that can make two runs incomparable. */
  fingerprint?: Fingerprint | null;
  /** The metric the adapter wants its arms ranked by. */
  primary_metric?: string | null;
  /**
   * Metric name to what it is: `quality` of the output, `descriptive` (says something, is neither good nor bad), `cost`
   * or `speed`.
   * @defaultValue `{}`
   */
  metric_kinds?: { [name: string]: "quality" | "descriptive" | "cost" | "speed" };
  /**
   * Metric name to which way is better: `higher`, `lower`, or `none` when neither is. Read by the direction rule of
   * every command.
   * @defaultValue `{}`
   */
  metric_directions?: { [name: string]: "higher" | "lower" | "none" };
  /**
   * Metric name to what it means, in the adapter's words; refreshed by a rescore.
   * @defaultValue `{}`
   */
  metric_descriptions?: TextMap;
  /** Tier of the references that the outputs were scored against; null when there were none. */
  reference_tier?: ReferenceTier | null;
  /** How many items had a reference. Present only when some had one and some had none. */
  reference_coverage?: ReferenceCoverage | null;
  /** Id of the goal policy the run was made under, from the config. */
  goal?: string | null;
  /** Output format the arm was asked for, from the config. */
  format?: string | null;
  /** Round of a sweep, from the config. */
  round?: string | null;
  /**
   * Which pass of its arm this run is, counted from 1.
   * At least 1.
   */
  repeat_index?: number | null;
  /** That the run was stopped and continued; null when one launch measured it all. */
  resume?: Resume | null;
  /**
   * Name of a provider, as its replies gave it, to the number of rows it answered. More than one member means that the
   * arm was not one system.
   * @defaultValue `{}`
   */
  providers_seen?: { [name: string]: Count };
  /**
   * Milliseconds of the warm-up (an index build, a model load) before the first item of the last attempt; kept outside
   * `scores` because it is no metric of an item.
   * At least 0.
   */
  warmup_ms?: number | null;
  /** That the outputs were made elsewhere and imported; null when the harness called the system itself. */
  imported?: Imported | null;
  /** What derived the run, from which run, when and with what; null for a measured run. */
  derived?: Derived | null;
}

export const RunRecord: Type<RunRecord> = {
  name: "RunRecord",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      run_id: { ref: () => Identifier },
      dataset_id: { ref: () => Identifier },
      config_id: { ref: () => Identifier },
      build: { ref: () => Build },
      created_at: { ref: () => Timestamp },
      source_created_at: { anyOf: [{ ref: () => Timestamp }, { type: "null" }] },
      scores: { ref: () => MetricMap },
      n_items: { ref: () => Count },
      n_errors: { anyOf: [{ ref: () => Count }, { type: "null" }] },
      params: { ref: () => JsonObject, omitEmpty: true },
      adapter: { type: ["string", "null"], minLength: 1 },
      fingerprint: { anyOf: [{ ref: () => Fingerprint }, { type: "null" }] },
      primary_metric: { type: ["string", "null"] },
      metric_kinds: {
        type: "object",
        additionalProperties: { type: "string", enum: ["quality", "descriptive", "cost", "speed"] },
        omitEmpty: true,
      },
      metric_directions: {
        type: "object",
        additionalProperties: { type: "string", enum: ["higher", "lower", "none"] },
        omitEmpty: true,
      },
      metric_descriptions: { ref: () => TextMap, omitEmpty: true },
      reference_tier: { anyOf: [{ ref: () => ReferenceTier }, { type: "null" }] },
      reference_coverage: { anyOf: [{ ref: () => ReferenceCoverage }, { type: "null" }] },
      goal: { type: ["string", "null"] },
      format: { type: ["string", "null"] },
      round: { type: ["string", "null"] },
      repeat_index: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      resume: { anyOf: [{ ref: () => Resume }, { type: "null" }] },
      providers_seen: { type: "object", additionalProperties: { ref: () => Count }, omitEmpty: true },
      warmup_ms: { type: ["number", "null"], minimum: 0 },
      imported: { anyOf: [{ ref: () => Imported }, { type: "null" }] },
      derived: { anyOf: [{ ref: () => Derived }, { type: "null" }] },
    },
    required: ["run_id", "dataset_id", "config_id", "build", "created_at", "scores", "n_items"],
  },
  retired: {
    rescored_from: "read derived.from; run rescore again to have it",
    rescored_at: "read derived.at; run rescore again to have it",
    rescored_with: "read derived.with; run rescore again to have it",
    rescore_dropped_metrics: "compare scores with those of the run that derived.from names",
    judged_from: "read derived.from; run judge-score again to have it",
    judged_with: "read derived.with; run judge-score again to have it",
    judge_label: "read derived.with.scorer; run judge-score again to have it",
    reparsed_from: "read derived.from; re-parse again to have it",
    reparsed_at: "read derived.at; re-parse again to have it",
    reparsed_with: "read derived.with; re-parse again to have it",
    primary_metric_asc: "read metric_directions",
  },
};

/** Version of the system under test. A run whose `ref` is `unknown` can't be promoted without saying so. */
export interface Build {
  /** A commit, a tag or a version; `unknown` when nothing could be learned. */
  ref: string;
  /** True when the working tree differed from `ref`; null when that is not known, as for a declared ref. */
  dirty?: boolean | null;
  /** Where `ref` was learned: `git`, or the variable or option that declared it. */
  source?: "git" | "EVAL_BUILD_REF" | "--build-ref" | (string & {}) | null;
}

export const Build: Type<Build> = {
  name: "Build",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      ref: { type: "string", minLength: 1 },
      dirty: { type: ["boolean", "null"] },
      source: { type: ["string", "null"] },
    },
    required: ["ref"],
  },
};

/** How many of a run's items could be scored against a reference. */
export interface ReferenceCoverage {
  /** Items that have a reference. */
  items_with_reference: Count;
  /** Items of the run. */
  items: Count;
}

export const ReferenceCoverage: Type<ReferenceCoverage> = {
  name: "ReferenceCoverage",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: { items_with_reference: { ref: () => Count }, items: { ref: () => Count } },
    required: ["items_with_reference", "items"],
  },
};

/** How a run that was stopped came to its end. Its metrics cover all rows, whichever attempt wrote them. */
export interface Resume {
  /** Items whose rows were already there when the last attempt began, so that it did not call them again. */
  resumed_items: Count;
  /**
   * Launches of the run, the first one included.
   * At least 1.
   */
  attempts: number;
  /** When the last attempt began. */
  last_at: Timestamp;
}

export const Resume: Type<Resume> = {
  name: "Resume",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      resumed_items: { ref: () => Count },
      attempts: { type: "integer", minimum: 1, maximum: 9007199254740991 },
      last_at: { ref: () => Timestamp },
    },
    required: ["resumed_items", "attempts", "last_at"],
  },
};

/** Where an imported run's outputs came from. Such a run is measured, but not by this harness: it can't be resumed. */
export interface Imported {
  /**
   * The file or folder that was read: relative with forward slashes where possible, never below a home folder; `-` for
   * standard input.
   */
  from: string;
  /** When it was imported, by the importing machine's clock. */
  at: Timestamp;
  /**
   * Digest of what was read: the bytes of the file; for a folder, over its files in name order, each as name, byte
   * 0x00, content, byte 0x1E.
   */
  sha256: Sha256;
  /** What wrote the source, with its version where known, such as `verifiers 0.4.0`. */
  tool?: string | null;
  /**
   * What the source held and a run directory has no place for, one entry a member or feature. Empty when everything
   * fitted.
   */
  lossy?: string[];
}

export const Imported: Type<Imported> = {
  name: "Imported",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      from: { type: "string", minLength: 1 },
      at: { ref: () => Timestamp },
      sha256: { ref: () => Sha256 },
      tool: { type: ["string", "null"] },
      lossy: { type: "array", items: { type: "string", minLength: 1 }, omitEmpty: true },
    },
    required: ["from", "at", "sha256"],
  },
};

/**
 * Identity of a measurement, in parts that can be compared one by one. Two runs whose parts differ anywhere but in
 * `arm` differ for a reason other than the one under test.
 */
export interface Fingerprint {
  /**
   * Version of the fingerprint's rules. Hashes of different versions can't be compared.
   * At least 1.
   */
  version: number;
  /** What measured. */
  instrument: FingerprintInstrument;
  /** What was measured; null when the run was imported and nobody said. */
  system_under_test?: FingerprintSystem | null;
  /** What it was measured on. */
  data: FingerprintData;
  /** Where it ran; null when the run was imported and nobody said. */
  host?: FingerprintHost | null;
  /** What was varied on purpose. */
  arm: FingerprintArm;
  /**
   * Digest of the whole fingerprint without this member, as canonical JSON. Null in a derived run, whose scores no
   * longer belong to what the fingerprint describes.
   */
  hash?: Sha256 | null;
  /** Why a derived run has no `hash`, in a sentence for people. */
  hash_invalid_because?: string | null;
}

export const Fingerprint: Type<Fingerprint> = {
  name: "Fingerprint",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      version: { type: "integer", minimum: 1, maximum: 9007199254740991 },
      instrument: { ref: () => FingerprintInstrument },
      system_under_test: { anyOf: [{ ref: () => FingerprintSystem }, { type: "null" }] },
      data: { ref: () => FingerprintData },
      host: { anyOf: [{ ref: () => FingerprintHost }, { type: "null" }] },
      arm: { ref: () => FingerprintArm },
      hash: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      hash_invalid_because: { type: ["string", "null"] },
    },
    required: ["version", "instrument", "data", "arm"],
  },
};

/** The code that measured: the harness and the adapter. */
export interface FingerprintInstrument {
  /** The harness. */
  harness: FingerprintHarness;
  /** The adapter; in a derived run, the one that scored anew. */
  adapter: FingerprintAdapter;
}

export const FingerprintInstrument: Type<FingerprintInstrument> = {
  name: "FingerprintInstrument",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      harness: { ref: () => FingerprintHarness },
      adapter: { ref: () => FingerprintAdapter },
    },
    required: ["harness", "adapter"],
  },
};

/** State of the harness's source. */
export interface FingerprintHarness {
  /** First 12 hexadecimal digits of its commit; null when it is not run from a repository. */
  commit?: string | null;
  /** True when the source differed from `commit`; null when not known. */
  dirty?: boolean | null;
}

export const FingerprintHarness: Type<FingerprintHarness> = {
  name: "FingerprintHarness",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      commit: {
        type: ["string", "null"],
        pattern: "^[0-9a-f]{12}$",
        minLength: 12,
        maxLength: 12,
      },
      dirty: { type: ["boolean", "null"] },
    },
    required: [],
  },
};

/** Identity of the adapter. */
export interface FingerprintAdapter {
  /** Path of its file relative to the project's root, with forward slashes. */
  id: string;
  /** Digest of the bytes of its file; null when it has no file. */
  sha256?: Sha256 | null;
}

export const FingerprintAdapter: Type<FingerprintAdapter> = {
  name: "FingerprintAdapter",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      id: { type: "string", minLength: 1 },
      sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
    },
    required: ["id"],
  },
};

/** The system under test. */
export interface FingerprintSystem {
  /** What the adapter says the system is. */
  model: FingerprintModel;
  /**
   * Name of an installed distribution to its version, for those on the watch-list that are installed.
   * @defaultValue `{}`
   */
  libraries?: TextMap;
}

export const FingerprintSystem: Type<FingerprintSystem> = {
  name: "FingerprintSystem",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      model: { ref: () => FingerprintModel },
      libraries: { ref: () => TextMap, omitEmpty: true },
    },
    required: ["model"],
  },
};

/**
 * Identity of the system as the adapter's `fingerprint` hook returned it. Open: whatever else the hook returns stands
 * beside these members.
 */
export interface FingerprintModel {
  /** False when the adapter has no hook, or the hook failed or returned no object. */
  identity_declared: boolean;
  /** Revision of the model or service; null when it could not be learned. Never invented. */
  revision?: string | null;
  /** Where the revision was learned; `unavailable` when there is none. */
  revision_source?: "unavailable" | (string & {}) | null;
  /** What the hook failed with. */
  error?: string | null;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const FingerprintModel: Type<FingerprintModel> = {
  name: "FingerprintModel",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      identity_declared: { type: "boolean" },
      revision: { type: ["string", "null"] },
      revision_source: { type: ["string", "null"] },
      error: { type: ["string", "null"] },
    },
    required: ["identity_declared"],
  },
};

/** The data: items and references. */
export interface FingerprintData {
  /** The dataset. */
  dataset_id: Identifier;
  /** Digest over the dataset's items, in order: `item_id`, then `source_sha256`. */
  items_sha256: Sha256;
  /** Items in the dataset. */
  n_items: Count;
  /** The reference set scored against, as `<tier>/<dataset_id>`; null when none. */
  reference_id?: string | null;
  /** Tier of that set. */
  reference_tier?: ReferenceTier | null;
  /** Digest over that set's files in name order, each as name, byte 0x00, content, byte 0x1E. */
  references_sha256?: Sha256 | null;
  /**
   * The set the outputs were first scored against, when a derived run moved to another one. A rescore of a rescore
   * copies it.
   */
  reference_id_at_measurement?: string | null;
  /**
   * `references_sha256` of the source run, when the files of the same set changed since. That is the flag that the
   * references changed.
   */
  references_sha256_at_measurement?: Sha256 | null;
}

export const FingerprintData: Type<FingerprintData> = {
  name: "FingerprintData",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      dataset_id: { ref: () => Identifier },
      items_sha256: { ref: () => Sha256 },
      n_items: { ref: () => Count },
      reference_id: { type: ["string", "null"] },
      reference_tier: { anyOf: [{ ref: () => ReferenceTier }, { type: "null" }] },
      references_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      reference_id_at_measurement: { type: ["string", "null"] },
      references_sha256_at_measurement: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
    },
    required: ["dataset_id", "items_sha256", "n_items"],
  },
};

/** The machine, as far as it bears on speed and numerics. */
export interface FingerprintHost {
  /** Name the user gave the machine (`EVAL_HOST_LABEL`). */
  label?: string | null;
  /** Operating system and architecture, such as `Linux/x86_64`. */
  platform?: string | null;
  /** Release of the operating system. */
  release?: string | null;
  /** The processor, as the system names it. */
  processor?: string | null;
  /** Logical processors. */
  cpu_count?: Count | null;
  /** Version of Python. */
  python?: string | null;
}

export const FingerprintHost: Type<FingerprintHost> = {
  name: "FingerprintHost",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      label: { type: ["string", "null"] },
      platform: { type: ["string", "null"] },
      release: { type: ["string", "null"] },
      processor: { type: ["string", "null"] },
      cpu_count: { anyOf: [{ ref: () => Count }, { type: "null" }] },
      python: { type: ["string", "null"] },
    },
    required: [],
  },
};

/** What tells this arm from another on purpose. */
export interface FingerprintArm {
  /** The configuration. */
  config_id: Identifier;
  /**
   * Its knobs, with secrets masked.
   * @defaultValue `{}`
   */
  params?: JsonObject;
}

export const FingerprintArm: Type<FingerprintArm> = {
  name: "FingerprintArm",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      config_id: { ref: () => Identifier },
      params: { ref: () => JsonObject, omitEmpty: true },
    },
    required: ["config_id"],
  },
};
