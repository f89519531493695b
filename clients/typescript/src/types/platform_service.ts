// Generated from schema/v1/platform_service.json by `make generate`, sha256 01aa583a2f7e3b3faf8ddb3ece370603ddd67f7c366927428d076622454582e2.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";

/** What went wrong. */
export interface ErrorDetail {
  /** One of the service's error codes; programs go by it. */
  code: string;
  /** What it says to people; it may change. */
  message: string;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ErrorDetail: Type<ErrorDetail> = {
  name: "ErrorDetail",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { code: { type: "string", minLength: 1 }, message: { type: "string" } },
    required: ["code", "message"],
  },
};

/** The answer of a call that failed. */
export interface ErrorEnvelope {
  /** What went wrong. */
  error: ErrorDetail;
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const ErrorEnvelope: Type<ErrorEnvelope> = {
  name: "ErrorEnvelope",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: { error: { ref: () => ErrorDetail } },
    required: ["error"],
  },
};

/**
 * `GET /api/v1/capabilities`: what a service takes. Ours; the hosted one answers 404, and a client then keeps to its
 * limits and to gzip.
 */
export interface Capabilities {
  /** The program and its version, such as `evh-0.5.0`. */
  server: string;
  /** Content encodings of the `traces` part, the best first. */
  encodings?: ("zstd" | "gzip" | (string & {}))[];
  /**
   * Uncompressed bytes of an upload at most.
   * At least 1.
   */
  max_upload_bytes?: number | null;
  /**
   * Bytes of a line at most.
   * At least 1.
   */
  max_line_bytes?: number | null;
  /**
   * Lines of an upload at most.
   * At least 1.
   */
  max_lines?: number | null;
  /** What it can do beyond the hosted service. */
  features?: string[];
  /** Any other member, kept as it is. */
  [name: string]: unknown;
}

export const Capabilities: Type<Capabilities> = {
  name: "Capabilities",
  schema: {
    type: "object",
    additionalProperties: {},
    properties: {
      server: { type: "string", minLength: 1 },
      encodings: { type: "array", items: { type: "string" } },
      max_upload_bytes: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      max_line_bytes: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      max_lines: { type: ["integer", "null"], minimum: 1, maximum: 9007199254740991 },
      features: { type: "array", items: { type: "string" } },
    },
    required: ["server"],
  },
};
