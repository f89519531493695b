/**
 * The errors of this package; nothing else is thrown for a fault of data.
 *
 *     EvhError
 *     ├─ DecodeError     not JSON, not UTF-8, nested too deeply
 *     ├─ SchemaError     does not fit its type; `violations` says where
 *     │  └─ NotWritable  the same, from `encode`
 *     ├─ SourceError     a file or stream that cannot be read
 *     └─ UsageError      an argument that makes no sense
 */

import type { Violation } from "./schema.ts";

const SHOWN = 20;

/** The base of all errors. `source` and `line` say where the row stands, when it came from a reader of rows. */
export class EvhError extends Error {
  source: string | undefined;
  line: number | undefined;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }

  /** The same error with the place of its row. */
  at(source: string, line: number): this {
    this.source = source;
    this.line = line;
    this.message = `${source}:${line}: ${this.message}`;
    return this;
  }
}

/** Data that is no document at all. `keyword` names the kind of fault, `offset` is in bytes where it is known. */
export class DecodeError extends EvhError {
  readonly keyword: string;
  readonly pointer: string;
  readonly offset: number | undefined;

  constructor(message: string, where: { keyword?: string; pointer?: string; offset?: number | undefined } = {}) {
    super(message);
    this.keyword = where.keyword ?? "not-json";
    this.pointer = where.pointer ?? "";
    this.offset = where.offset;
  }
}

/** A document that does not fit its type, with every violation. */
export class SchemaError extends EvhError {
  readonly type: string;
  readonly violations: readonly Violation[];

  constructor(type: string, violations: readonly Violation[], what = "not a valid") {
    const shown = violations.slice(0, SHOWN).map((each) => `${each.pointer || "(root)"}: ${each.message}`);
    const more = violations.length > SHOWN ? [`and ${violations.length - SHOWN} more`] : [];
    super([`${what} ${type}`, ...shown, ...more].join("\n  "));
    this.type = type;
    this.violations = violations;
  }
}

/** A record that `encode` refuses to write. */
export class NotWritable extends SchemaError {
  constructor(type: string, violations: readonly Violation[]) {
    super(type, violations, "not written: not a valid");
  }
}

/** A file or stream that cannot be read. */
export class SourceError extends EvhError {}

/** An argument that makes no sense. */
export class UsageError extends EvhError {}

/** A value for a message, cut short; an object or array is never shown. */
export function cut(value: unknown, limit = 60): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object" && value !== null) return `an object of ${Object.keys(value).length}`;
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
