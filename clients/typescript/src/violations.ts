/**
 * Everything that is wrong with a value, by pointer, then keyword: the slow answer, for values that `fits` refused.
 *
 * Promise: the same violations, in the same order, as the other readers give. A failed union is reported as the one
 * variant that was meant, and as itself (`oneOf`, `anyOf`) when none or several were. What JSON cannot hold is a
 * violation of its own, and the rest of the document is judged too.
 */

import { cut } from "./errors.ts";
import { compareText, type Place, spell } from "./pointer.ts";
import { hasLoneSurrogate, MAX_DEPTH, NonFinite, put } from "./scanner.ts";
import { isObject, type Members, resolved, type Schema, type Type, type Violation } from "./schema.ts";
import { isOfType, numberFaults, textFaults, typesOf } from "./values.ts";

/** Every violation of a type's schema, ordered; none for a valid value. */
export function violationsOf(value: unknown, type: Type<unknown>): Violation[] {
  const odd: Violation[] = [];
  const plain = plainOf(value, null, 0, odd);
  if (odd.some((each) => each.keyword === "depth")) return odd.filter((each) => each.keyword === "depth").slice(0, 1);
  const found: Violation[] = [];
  judge(plain, type.schema, null, found);
  const places = new Set(odd.map((each) => each.pointer));
  return ordered([...odd, ...found.filter((each) => !places.has(each.pointer))]);
}

/** Violations without repetition, by pointer, then keyword, then message. */
export function ordered(violations: readonly Violation[]): Violation[] {
  const seen = new Map(violations.map((each) => [JSON.stringify([each.pointer, each.keyword, each.message]), each]));
  return [...seen.values()].sort(
    (one, other) =>
      compareText(one.pointer, other.pointer) ||
      compareText(one.keyword, other.keyword) ||
      compareText(one.message, other.message),
  );
}

// --- what JSON cannot hold --------------------------------------------------------------------------------------

/** The value with a stand-in for all that JSON has no form for, which is noted; members that are undefined are gone. */
function plainOf(value: unknown, place: Place, depth: number, odd: Violation[]): unknown {
  const note = (keyword: string, message: string): void => {
    odd.push({ pointer: spell(place), keyword, message });
  };
  switch (typeof value) {
    case "string":
      if (!hasLoneSurrogate(value)) return value;
      note("surrogate", `text with a lone surrogate: ${cut(value)}`);
      return value.replace(/[\ud800-\udfff]/g, "\ufffd");
    case "boolean":
    case "bigint":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      note("non-finite", `${value} is not a number that JSON has`);
      return 0;
    case "object":
      break;
    default:
      note("not-json", `JSON has no form for a value of type ${typeof value}`);
      return null;
  }
  if (value === null) return null;
  if (value instanceof NonFinite) {
    note("non-finite", `${cut(value.token)} is not a number that JSON has`);
    return 0;
  }
  if (depth >= MAX_DEPTH) {
    note("depth", `nested more than ${MAX_DEPTH} levels deep, or within itself`);
    return null;
  }
  if (Array.isArray(value)) return value.map((each, key) => plainOf(each, { above: place, key }, depth + 1, odd));
  const made: Members = {};
  for (const [key, each] of Object.entries(value)) {
    if (each === undefined) continue;
    const below = { above: place, key };
    put(made, String(plainOf(key, below, depth, odd)), plainOf(each, below, depth + 1, odd));
  }
  return made;
}

// --- one schema -------------------------------------------------------------------------------------------------

function judge(value: unknown, schema: Schema, place: Place, found: Violation[]): void {
  const target = resolved(schema);
  if (target.anyOf !== undefined) return judgeUnion(value, target.anyOf, "anyOf", place, found);
  if (target.oneOf !== undefined) return judgeUnion(value, target.oneOf, "oneOf", place, found);
  const note = (keyword: string, message: string): void => {
    found.push({ pointer: spell(place), keyword, message });
  };
  const types = typesOf(target);
  if (types !== undefined && !types.some((type) => isOfType(value, type))) {
    note("type", `expected ${types.join(" or ")}, found ${cut(value)}`);
  }
  if (target.enum !== undefined && !target.enum.some((each) => each === value)) {
    note("enum", `expected one of ${target.enum.map((each) => cut(each)).join(", ")}; found ${cut(value)}`);
  }
  if (target.const !== undefined && value !== target.const) {
    note("const", `expected ${cut(target.const)}, found ${cut(value)}`);
  }
  if (typeof value === "string") {
    for (const keyword of textFaults(value, target)) note(keyword, `the rule ${keyword} is broken by ${cut(value)}`);
  } else if (typeof value === "number" || typeof value === "bigint") {
    for (const keyword of numberFaults(value, target)) note(keyword, `the rule ${keyword} is broken by ${cut(value)}`);
  } else if (Array.isArray(value)) {
    judgeItems(value, target, place, found);
  } else if (isObject(value)) {
    judgeMembers(value, target, place, found);
  }
}

function judgeItems(value: unknown[], schema: Schema, place: Place, found: Violation[]): void {
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    const message = `expected at least ${schema.minItems} items, found ${value.length}`;
    found.push({ pointer: spell(place), keyword: "minItems", message });
  }
  const { items } = schema;
  if (items === undefined) return;
  for (const [key, each] of value.entries()) judge(each, items, { above: place, key }, found);
}

function judgeMembers(value: Members, schema: Schema, place: Place, found: Violation[]): void {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      found.push({ pointer: spell(place), keyword: "required", message: `member ${cut(name)} is missing` });
    }
  }
  const { properties = {}, additionalProperties: rest } = schema;
  for (const [key, each] of Object.entries(value)) {
    const below = { above: place, key };
    const inner = Object.hasOwn(properties, key) ? properties[key] : rest;
    if (inner === false) {
      const message = `unexpected member ${cut(key)}`;
      found.push({ pointer: spell(below), keyword: "additionalProperties", message });
    } else if (inner !== undefined) {
      judge(each, inner, below, found);
    }
  }
}

// --- unions -----------------------------------------------------------------------------------------------------

function judgeUnion(
  value: unknown,
  branches: readonly Schema[],
  keyword: string,
  place: Place,
  found: Violation[],
): void {
  const meant: Violation[][] = [];
  for (const branch of branches) {
    if (isOther(value, resolved(branch))) continue;
    const faults: Violation[] = [];
    judge(value, branch, place, faults);
    if (faults.length === 0) return;
    meant.push(faults);
  }
  const [only] = meant;
  if (only !== undefined && meant.length === 1) {
    for (const each of only) found.push(each);
  } else {
    const message = `fits none of ${branches.length} variants: ${cut(value)}`;
    found.push({ pointer: spell(place), keyword, message });
  }
}

/** Whether a branch is certainly not the one that was meant: the type or the tag is another. */
function isOther(value: unknown, branch: Schema): boolean {
  const types = typesOf(branch);
  if (types !== undefined && !types.some((type) => isOfType(value, type))) return true;
  if (!isObject(value) || branch.properties === undefined) return false;
  for (const name of branch.required ?? []) {
    const tag = branch.properties[name]?.const;
    if (tag !== undefined && Object.hasOwn(value, name) && value[name] !== tag) return true;
  }
  return false;
}
