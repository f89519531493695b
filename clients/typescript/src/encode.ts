/**
 * Records to JSON: `encode`, the one writer, and `canonical`, the bytes that hashes are made of.
 *
 * Promise: what `encode` gives is valid and on one line, with the members that a type names in the order of its schema
 * and the others behind them; or nothing is given and `NotWritable` says why, with pointers. Unknown members and objects
 * of unknown variants are written back, unless `strict` refuses them; null is not written where absent means the same.
 * U+0085, U+2028, U+2029 and lone surrogates are written as escapes, so that no reader splits or refuses the line.
 */

import { setApart } from "./apart.ts";
import { EvhError, NotWritable } from "./errors.ts";
import { isWithin, type Place, spell } from "./pointer.ts";
import { hasLoneSurrogate, MAX_DEPTH } from "./scanner.ts";
import {
  isNullable,
  isObject,
  type Members,
  type Notice,
  resolved,
  type Schema,
  type Type,
  variantsOf,
  withoutNull,
} from "./schema.ts";
import { fits, isExact } from "./verdict.ts";
import { violationsOf } from "./violations.ts";

/** A record as one line of JSON, without its newline. */
export function encode<T>(record: T, type: Type<T>, options: { strict?: boolean } = {}): string {
  const { strict = false } = options;
  let plain: unknown;
  try {
    plain = plainOf(record, type.schema, 0);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    throw new NotWritable(type.name, [{ pointer: "", keyword: "depth", message: error.message }]);
  }
  const isPlain = isExact(plain, 0);
  if (!isPlain || !fits(plain, type, strict ? "strict" : "written")) refuse(plain, type, strict);
  const text = isPlain ? JSON.stringify(plain) : piecewise(plain);
  if (strict && text.includes("\\ud")) refuse(plain, type, true);
  return text.replace(/[\u0085\u2028\u2029]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

class TooDeep extends Error {}

/** Throws `NotWritable` for what a writer does not let pass; returns when a closer look finds nothing. */
function refuse(plain: unknown, type: Type<unknown>, strict: boolean): void {
  let violations = violationsOf(plain, type);
  if (!strict) {
    const apart: Notice[] = [];
    setApart(plain, type, apart);
    const covered = new Set<string>();
    for (const { kind, pointer } of apart) {
      if (kind === "unknown") covered.add(pointer);
      if (kind === "unknown-tag") covered.add(pointer.slice(0, pointer.lastIndexOf("/")));
    }
    violations = violations.filter(
      ({ keyword, pointer }) =>
        keyword === "non-finite" ||
        keyword === "not-json" ||
        (keyword !== "surrogate" && !isWithin(pointer, covered)),
    );
  }
  if (violations.length > 0) throw new NotWritable(type.name, violations);
}

/** What is written of a value: members in order, without those that are not written. */
function plainOf(value: unknown, schema: Schema | undefined, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new TooDeep(`nested more than ${MAX_DEPTH} levels deep, or within itself`);
  const target = schema === undefined ? {} : resolved(withoutNull(schema));
  if (Array.isArray(value)) {
    const { items } = target.oneOf?.find((branch) => branch.type === "array") ?? target;
    return value.map((each: unknown) => plainOf(each, items, depth + 1));
  }
  if (!isObject(value)) return value;
  const tag = target.tag === undefined ? undefined : value[target.tag];
  const shape = (typeof tag === "string" ? variantsOf(target).get(tag)?.schema : target) ?? {};
  const { properties = {}, additionalProperties: rest, required = [] } = shape;
  const isClosed = rest === false;
  const made: [string, unknown][] = [];
  // An open object belongs to somebody else: it keeps its order and its nulls.
  for (const name of isClosed ? Object.keys(properties) : []) {
    const inner = properties[name];
    const each = Object.hasOwn(value, name) ? value[name] : undefined;
    if (inner === undefined || each === undefined || isLeftOut(each, inner, required.includes(name))) continue;
    made.push([name, plainOf(each, inner, depth + 1)]);
  }
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    const isNamed = Object.hasOwn(properties, name);
    if (!(isClosed && isNamed)) {
      made.push([name, plainOf(each, isNamed ? properties[name] : rest || undefined, depth + 1)]);
    }
  }
  return Object.fromEntries(made);
}

function isLeftOut(value: unknown, schema: Schema, isRequired: boolean): boolean {
  if (schema.computed || schema.wire) return true;
  if (value === null) return isNullable(schema) && !isRequired;
  return schema.omitEmpty === true && typeof value === "object" && Object.keys(value).length === 0;
}

/** JSON of plain values: large integers digit by digit, large floats with an exponent, as other languages tell them. */
function piecewise(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return value.toExponential();
  if (Array.isArray(value)) return `[${value.map(piecewise).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}:${piecewise(each)}`)
    .join(",")}}`;
}

/**
 * The canonical text of a JSON value by RFC 8785. Throws `EvhError`, naming the place, for what has no canonical form:
 * numbers that are not finite, integers beyond ±(2^53 − 1), lone surrogates, values that JSON does not have.
 */
export function canonical(value: unknown): string {
  return canonicalAt(value, null, 0);
}

function canonicalAt(value: unknown, place: Place, depth: number): string {
  const refused = (why: string): EvhError => new EvhError(`${spell(place) || "(root)"}: ${why}`);
  switch (typeof value) {
    case "boolean":
      return String(value);
    case "string":
      if (hasLoneSurrogate(value)) throw refused("text with a lone surrogate has no canonical form");
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw refused(`${value} is not a number that JSON has`);
      return JSON.stringify(value);
    case "object":
      break;
    default:
      throw refused(`a value of type ${typeof value} has no canonical form`);
  }
  if (value === null) return "null";
  if (depth >= MAX_DEPTH) throw refused(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    return `[${value.map((each, key) => canonicalAt(each, { above: place, key }, depth + 1)).join(",")}]`;
  }
  const members = value as Members;
  // RFC 8785 orders names by UTF-16 units, which is JavaScript's own order.
  const names = Object.keys(members).filter((name) => members[name] !== undefined);
  const parts = names.sort().map((name) => {
    const below = { above: place, key: name };
    return `${canonicalAt(name, below, depth + 1)}:${canonicalAt(members[name], below, depth + 1)}`;
  });
  return `{${parts.join(",")}}`;
}
