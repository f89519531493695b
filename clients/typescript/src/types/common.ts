// Generated from schema/v1/common.json by `make generate`, sha256 3c448764f070fc9189cfbdc57a676000a9105ba217dd19c3745dfa72821104f1.
// Edit the schema, not this file.

import type { JsonValue, Type } from "../schema.ts";

/** A SHA-256 digest as 64 lowercase hexadecimal digits. What was hashed is said where the type is used. */
export type Sha256 = string;

export const Sha256: Type<Sha256> = {
  name: "Sha256",
  schema: { type: "string", pattern: "^[0-9a-f]{64}$", minLength: 64, maxLength: 64 },
};

/**
 * An instant in UTC, RFC 3339 with a `T` and a `Z`: `2025-03-14T09:26:53Z`, with up to nine digits of a second. Local
 * times, offsets and leap seconds are refused, so that timestamps written on different machines can be compared. The
 * pattern alone admits exactly the days of the calendar; `format` says what it is.
 */
export type Timestamp = string;

export const Timestamp: Type<Timestamp> = {
  name: "Timestamp",
  schema: {
    type: "string",
    format: "date-time",
    pattern: "^(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z(?!\\n)$",
    maxLength: 30,
  },
};

/**
 * A name one record uses for another (an item, a dataset, a configuration, a run): any text but the empty one. Compared
 * exactly, never folded or trimmed.
 */
export type Identifier = string;

export const Identifier: Type<Identifier> = { name: "Identifier", schema: { type: "string", minLength: 1 } };

/**
 * How many of something: an integer of at least 0, small enough to be exact in every JSON reader (2^53 - 1).
 * At least 0.
 */
export type Count = number;

export const Count: Type<Count> = { name: "Count", schema: { type: "integer", minimum: 0, maximum: 9007199254740991 } };

/** Metric name to its value, a finite number. An absent map means no metric, like an empty one. */
export type MetricMap = { [name: string]: number };

export const MetricMap: Type<MetricMap> = {
  name: "MetricMap",
  schema: { type: "object", additionalProperties: { type: "number" } },
};

/** An object whose members are the writer's own: any name, any JSON value, kept as given. */
export type JsonObject = { [name: string]: JsonValue };

export const JsonObject: Type<JsonObject> = { name: "JsonObject", schema: { type: "object", additionalProperties: {} } };

/** Name to text. */
export type TextMap = { [name: string]: string };

export const TextMap: Type<TextMap> = { name: "TextMap", schema: { type: "object", additionalProperties: { type: "string" } } };

/**
 * Who wrote the references that outputs were scored against: `gold`, written or reviewed by a human; `silver`, written
 * by a model.
 */
export type ReferenceTier = "gold" | "silver";

export const ReferenceTier: Type<ReferenceTier> = { name: "ReferenceTier", schema: { type: "string", enum: ["gold", "silver"] } };
