/**
 * What the generated constants say, and what every reader answers.
 *
 * Promise: `Type`, `Violation` and `Notice`. Policy: the form of `Schema`, which only generated modules write.
 */

/** A JSON value. An integer beyond ±(2^53 − 1) in a free part of a record is a `bigint`, so that no digit is lost. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [name: string]: JsonValue };

/** A type of the contract: handed to `decode`, `encode`, `validate` and `readRecords` to say what is meant. */
export interface Type<T> {
  /** Its name in the schemas. */
  readonly name: string;
  /** What it asks of a value. */
  readonly schema: Schema;
  /** Members it used to have, with advice for each. */
  readonly retired?: { readonly [member: string]: string };
  /** Never there: it tells a compiler which interface belongs to the type. */
  readonly record?: T;
}

/** The part of JSON Schema that the contract uses (`schema/PROFILE.md`), references resolved. */
export interface Schema {
  readonly ref?: () => Type<unknown>;
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [member: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  /** The member that tells the variants of a `oneOf` apart. */
  readonly tag?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  /** Read strictly by every reader. */
  readonly exact?: boolean;
  /** A token stream: a lenient reader does not look into it. */
  readonly stream?: boolean;
  /** Other writers store it, we compute it: accepted and dropped. */
  readonly computed?: boolean;
  /** On the MessagePack wire only. */
  readonly wire?: boolean;
  /** An empty one is not written. */
  readonly omitEmpty?: boolean;
}

/** A fault: where (a JSON Pointer), the keyword that was broken, and a sentence, whose wording may change. */
export interface Violation {
  readonly pointer: string;
  readonly keyword: string;
  readonly message: string;
}

/** Something that a reader passed over: where, what kind of thing, a sentence, and the value. */
export interface Notice {
  readonly kind: string;
  readonly pointer: string;
  readonly message: string;
  readonly value?: unknown;
}

/** An object whose members are looked at one by one. */
export type Members = { [name: string]: unknown };

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schema behind references. */
export function resolved(schema: Schema): Schema {
  let found = schema;
  while (found.ref !== undefined) found = found.ref().schema;
  return found;
}

/** The branch of an `anyOf` that is not null; the schema itself when it is none. */
export function withoutNull(schema: Schema): Schema {
  return schema.anyOf?.find((branch) => branch.type !== "null") ?? schema;
}

/** Whether null may stand where the schema stands. */
export function isNullable(schema: Schema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some((branch) => branch.type === "null");
  return Array.isArray(schema.type) && schema.type.includes("null");
}

/** The type that a reference leads to, a chain of references followed to its end. */
export function targetOf(schema: Schema): Type<unknown> | undefined {
  let type = schema.ref?.();
  while (type?.schema.ref !== undefined) type = type.schema.ref();
  return type;
}

/** The types of a union by their tag, made once. */
export function variantsOf(union: Schema): Map<string, Type<unknown>> {
  let made = variants.get(union);
  if (made === undefined) {
    made = new Map();
    for (const branch of union.oneOf ?? []) {
      const type = targetOf(branch);
      const tag = type?.schema.properties?.[union.tag ?? ""]?.const;
      if (type !== undefined && tag !== undefined) made.set(tag, type);
    }
    variants.set(union, made);
  }
  return made;
}

const variants: WeakMap<Schema, Map<string, Type<unknown>>> = /* @__PURE__ */ new WeakMap();
