// Generated from schema/v1/derived.json by `make generate`, sha256 e5231eb3bc688c4aa18d6c10d8b3fe160509d1ea09f089fc0917b9773c820e4c.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Count, JsonObject, Sha256, Timestamp } from "./common.ts";

/** The provenance of a derived run, told apart by `kind`. */
export type Derived = RescoreDerived | JudgeDerived | ReparseDerived;

export const Derived: Type<Derived> = {
  name: "Derived",
  schema: {
    oneOf: [
      { ref: () => RescoreDerived },
      { ref: () => JudgeDerived },
      { ref: () => ReparseDerived },
    ],
    tag: "kind",
  },
};

/** Stored outputs were scored anew by an adapter's scorer; no model was called. */
export interface RescoreDerived {
  /** Always `rescore`. */
  kind: "rescore";
  /**
   * Directory of the source run, relative to the folder that holds this run's runs directory, with forward slashes;
   * never below a home folder. The source may be gone since.
   */
  from: string;
  /** When it was derived; the record's `created_at`. */
  at: Timestamp;
  /** What scored. */
  with: RescoreWith;
  /** The source's own block when the source was itself derived; null when it was measured. */
  source?: Derived | null;
}

export const RescoreDerived: Type<RescoreDerived> = {
  name: "RescoreDerived",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      kind: { type: "string", const: "rescore" },
      from: { type: "string", minLength: 1 },
      at: { ref: () => Timestamp },
      with: { ref: () => RescoreWith },
      source: { anyOf: [{ ref: () => Derived }, { type: "null" }] },
    },
    required: ["kind", "from", "at", "with"],
  },
};

/** A judge model was asked about stored outputs. */
export interface JudgeDerived {
  /** Always `judge`. */
  kind: "judge";
  /**
   * Directory of the source run, relative to the folder that holds this run's runs directory, with forward slashes;
   * never below a home folder. The source may be gone since.
   */
  from: string;
  /** When it was derived; the record's `created_at`. */
  at: Timestamp;
  /** The judge. */
  with: JudgeWith;
  /** The source's own block when the source was itself derived; null when it was measured. */
  source?: Derived | null;
}

export const JudgeDerived: Type<JudgeDerived> = {
  name: "JudgeDerived",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      kind: { type: "string", const: "judge" },
      from: { type: "string", minLength: 1 },
      at: { ref: () => Timestamp },
      with: { ref: () => JudgeWith },
      source: { anyOf: [{ ref: () => Derived }, { type: "null" }] },
    },
    required: ["kind", "from", "at", "with"],
  },
};

/** Outputs were rebuilt from stored raw replies by another parser and scored anew; no model was called. */
export interface ReparseDerived {
  /** Always `reparse`. */
  kind: "reparse";
  /**
   * Directory of the source run, relative to the folder that holds this run's runs directory, with forward slashes;
   * never below a home folder. The source may be gone since.
   */
  from: string;
  /** When it was derived; the record's `created_at`. */
  at: Timestamp;
  /** What parsed and scored. */
  with: ReparseWith;
  /** The source's own block when the source was itself derived; null when it was measured. */
  source?: Derived | null;
}

export const ReparseDerived: Type<ReparseDerived> = {
  name: "ReparseDerived",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      kind: { type: "string", const: "reparse" },
      from: { type: "string", minLength: 1 },
      at: { ref: () => Timestamp },
      with: { ref: () => ReparseWith },
      source: { anyOf: [{ ref: () => Derived }, { type: "null" }] },
    },
    required: ["kind", "from", "at", "with"],
  },
};

/** The scorer of a rescore. Which references it used is in the record's `fingerprint.data`. */
export interface RescoreWith {
  /** Id of the adapter that scored: the path of its file relative to the project's root, with forward slashes. */
  adapter: string;
  /** Digest of the bytes of the adapter's file. */
  sha256: Sha256;
  /**
   * Name of a part that decides a score (a parser, a word list) to the digest the adapter's `scorer_id` hook gave it.
   * Empty when the adapter has no such hook.
   * @defaultValue `{}`
   */
  scorer?: { [name: string]: Sha256 };
  /**
   * Digest of the bytes of the source's `predictions.jsonl` as it was read. The rows carry the digests of their
   * outputs, so this says whether the source changed since.
   */
  rows_sha256?: Sha256 | null;
  /** Version of the harness that aggregated the scores. */
  harness_version?: string | null;
}

export const RescoreWith: Type<RescoreWith> = {
  name: "RescoreWith",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      adapter: { type: "string", minLength: 1 },
      sha256: { ref: () => Sha256 },
      scorer: { type: "object", additionalProperties: { ref: () => Sha256 }, omitEmpty: true },
      rows_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      harness_version: { type: ["string", "null"] },
    },
    required: ["adapter", "sha256"],
  },
};

/**
 * The judge of a judged run. Its `sha256` covers all that decides a score, so two judged runs under one scorer id with
 * different digests are not one judge.
 */
export interface JudgeWith {
  /** Id of the judge's scorer; also the name of the folder its runs stand in, hence no separators. */
  scorer: string;
  /** Digest over all that decides a score: prompt, parser, parameters and model. */
  sha256: Sha256;
  /** The judge model, as it was asked for. */
  model: string;
  /**
   * The scorer's file, relative to the project's root with forward slashes, so that its digest can be computed again.
   */
  file?: string | null;
  /** Digest of the bytes of the scorer's file. */
  file_sha256?: Sha256 | null;
  /** Digest of what the judge is asked with: the code and the texts that make the prompt. */
  prompt_sha256?: Sha256 | null;
  /** Digest of the code that reads a verdict out of a reply. */
  parser_sha256?: Sha256 | null;
  /**
   * What else the judge was called with (base URL, temperature, token limit, name of the key's variable), with secrets
   * masked.
   * @defaultValue `{}`
   */
  params?: JsonObject;
  /**
   * Name of a model, as replies gave it, to the number of replies. A service may answer for one name with another
   * model, or change it in the middle of a pass.
   * @defaultValue `{}`
   */
  models_seen?: { [name: string]: Count };
  /**
   * Digest of the bytes of the source's `predictions.jsonl` as it was read. The rows carry the digests of their
   * outputs, so this says whether the source changed since.
   */
  rows_sha256?: Sha256 | null;
  /** Version of the harness that aggregated the scores. */
  harness_version?: string | null;
}

export const JudgeWith: Type<JudgeWith> = {
  name: "JudgeWith",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      scorer: {
        type: "string",
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?!\\n)$",
        maxLength: 100,
      },
      sha256: { ref: () => Sha256 },
      model: { type: "string", minLength: 1 },
      file: { type: ["string", "null"], minLength: 1 },
      file_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      prompt_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      parser_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      params: { ref: () => JsonObject, omitEmpty: true },
      models_seen: { type: "object", additionalProperties: { ref: () => Count }, omitEmpty: true },
      rows_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      harness_version: { type: ["string", "null"] },
    },
    required: ["scorer", "sha256", "model"],
  },
};

/** The parser and the scorer of a re-parse. */
export interface ReparseWith {
  /**
   * The parser: a file relative to the project's root with forward slashes, with the name of the function where one
   * file holds several.
   */
  parser: string;
  /** Digest of the bytes of the parser's file. */
  parser_sha256?: Sha256 | null;
  /**
   * Id of the adapter whose scorer scored what was parsed: the path of its file relative to the project's root, with
   * forward slashes.
   */
  adapter?: string | null;
  /** Digest of the scorer that scored what was parsed. */
  scorer_sha256: Sha256;
  /**
   * Digest of the bytes of the source's `predictions.jsonl` as it was read. The rows carry the raw replies, so this
   * says whether the source changed since.
   */
  rows_sha256?: Sha256 | null;
  /** Version of the harness that aggregated the scores. */
  harness_version?: string | null;
}

export const ReparseWith: Type<ReparseWith> = {
  name: "ReparseWith",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      parser: { type: "string", minLength: 1 },
      parser_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      adapter: { type: ["string", "null"], minLength: 1 },
      scorer_sha256: { ref: () => Sha256 },
      rows_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
      harness_version: { type: ["string", "null"] },
    },
    required: ["parser", "scorer_sha256"],
  },
};
