/**
 * The rules for single values: types, bounds, lengths, patterns, dates.
 *
 * Promise: each means what JSON Schema says: lengths count code points, an integer may be spelled `3.0`, `format`
 * is RFC 3339 on a day of the calendar.
 */

import type { Schema } from "./schema.ts";

const DAY = /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]/;
const TIME = /^[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The names of the types that a schema takes; undefined for any. */
export function typesOf(schema: Schema): readonly string[] | undefined {
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

/** Whether a value is of a type of JSON Schema. */
export function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value);
    case "number":
      return typeof value === "bigint" || Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return value === null;
  }
}

/** The keywords about a text that it breaks. */
export function textFaults(text: string, schema: Schema): string[] {
  const found: string[] = [];
  if (schema.minLength !== undefined && isShorter(text, schema.minLength)) found.push("minLength");
  if (schema.maxLength !== undefined && isLonger(text, schema.maxLength)) found.push("maxLength");
  if (schema.pattern !== undefined && !patternOf(schema.pattern).test(text)) found.push("pattern");
  if (schema.format === "date-time" && !isDateTime(text)) found.push("format");
  return found;
}

/** The keywords about a number that it breaks. */
export function numberFaults(value: number | bigint, schema: Schema): string[] {
  const found: string[] = [];
  if (schema.minimum !== undefined && value < schema.minimum) found.push("minimum");
  if (schema.maximum !== undefined && value > schema.maximum) found.push("maximum");
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) found.push("exclusiveMinimum");
  return found;
}

/** Whether a text has fewer code points than a number. */
export function isShorter(text: string, least: number): boolean {
  return text.length < least || (text.length < 2 * least && codePoints(text) < least);
}

/** Whether a text has more code points than a number. */
export function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || codePoints(text) > most);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A pattern of the schemas as an expression, made once. */
export function patternOf(pattern: string): RegExp {
  let made = patterns.get(pattern);
  if (made === undefined) {
    made = new RegExp(pattern, "u");
    patterns.set(pattern, made);
  }
  return made;
}

const patterns: Map<string, RegExp> = /* @__PURE__ */ new Map();

/** Whether a text is an RFC 3339 date-time on a day that exists. */
export function isDateTime(text: string): boolean {
  const found = DAY.exec(text);
  if (found === null || !TIME.test(text.slice("0000-00-00".length))) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const days = DAYS[month - 1];
  if (year === 0 || days === undefined) return false;
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= days + (leap ? 1 : 0);
}
