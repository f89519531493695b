/**
 * The quick answer: whether a value fits a type, compiled once per type into closures (no code is made at run time).
 *
 * Promise: `strict` says exactly what the schema says. `quick` says true only for a document that a lenient reader
 * takes without a word; false means: look closer. `forgiving` is the lenient verdict on a document whose oddities were
 * noticed already. `written` is what a writer asks. `known` is strict about what was scanned and settled already.
 * Policy: streams are not looked into by lenient readers, nor are the members of open objects, but for numbers that
 * JavaScript cannot hold.
 */

import { MAX_DEPTH } from "./scanner.ts";
import { isNullable, isObject, type Members, type Schema, type Type, variantsOf, withoutNull } from "./schema.ts";
import { isOfType, numberFaults, textFaults, typesOf } from "./values.ts";

/** Who asks. */
export type Mode = "strict" | "quick" | "forgiving" | "written" | "known";

/** Objects with members that are to be dropped, as a check found them; undefined when nobody wants to know. */
export type Computed = { readonly owner: Members; readonly member: string }[];

type Check = (value: unknown, computed: Computed) => boolean;

const SAFE = Number.MAX_SAFE_INTEGER;
/** What a quick look into free values goes down to; deeper ones are scanned, which counts exactly. */
const QUICK_DEPTH = MAX_DEPTH - 100;

/** Whether a value fits a type; members to drop are appended to `computed`. */
export function fits(value: unknown, type: Type<unknown>, mode: Mode, computed: Computed = []): boolean {
  return checkOf(type.schema, mode)(value, computed);
}

const compiled: { readonly [mode in Mode]: WeakMap<Schema, Check> } = {
  strict: /* @__PURE__ */ new WeakMap(),
  quick: /* @__PURE__ */ new WeakMap(),
  forgiving: /* @__PURE__ */ new WeakMap(),
  written: /* @__PURE__ */ new WeakMap(),
  known: /* @__PURE__ */ new WeakMap(),
};

function checkOf(schema: Schema, asked: Mode): Check {
  const mode = schema.exact ? exactly(asked) : asked;
  let check = compiled[mode].get(schema);
  if (check === undefined) {
    check = compile(schema, mode);
    compiled[mode].set(schema, check);
  }
  return check;
}

/** The mode that is strict where a mode is lenient. */
function exactly(mode: Mode): Mode {
  return mode === "forgiving" ? "known" : mode === "quick" ? "strict" : mode;
}

function compile(schema: Schema, mode: Mode): Check {
  if (schema.ref !== undefined) {
    const { ref } = schema;
    let check: Check | undefined;
    return (value, computed) => (check ??= checkOf(ref().schema, mode))(value, computed);
  }
  if (schema.anyOf !== undefined) {
    const check = compile(withoutNull(schema), mode);
    const nullable = isNullable(schema);
    return (value, computed) => (value === null ? nullable : check(value, computed));
  }
  if (schema.oneOf !== undefined) return schema.tag === undefined ? any(schema.oneOf, mode) : union(schema, mode);
  const types = typesOf(schema);
  if (types === undefined) return free(mode);
  const checks = types.map((type) => typed(type, schema, mode));
  const [first, second] = checks;
  if (first !== undefined && checks.length === 1) return first;
  if (first !== undefined && second !== undefined && checks.length === 2 && types[1] === "null") {
    return (value, computed) => value === null || first(value, computed);
  }
  return (value, computed) => checks.some((check) => check(value, computed));
}

function typed(type: string, schema: Schema, mode: Mode): Check {
  switch (type) {
    case "string":
      return string(schema);
    case "integer":
    case "number":
      return number(type, schema, mode);
    case "array":
      return array(schema, mode);
    case "object":
      if (schema.properties === undefined) return map(schema, mode);
      return schema.additionalProperties === false ? closed(schema, mode) : open(schema, mode);
    default:
      return (value) => isOfType(value, type);
  }
}

function string(schema: Schema): Check {
  if (schema.const !== undefined) return (value) => value === schema.const;
  if (schema.enum !== undefined) {
    const values = new Set<unknown>(schema.enum);
    return (value) => values.has(value);
  }
  const plain = [schema.minLength, schema.maxLength, schema.pattern, schema.format].every((each) => each === undefined);
  if (plain) return (value) => typeof value === "string";
  return (value) => typeof value === "string" && textFaults(value, schema).length === 0;
}

function number(type: "integer" | "number", schema: Schema, mode: Mode): Check {
  const least = schema.minimum ?? -Infinity;
  const most = schema.maximum ?? Infinity;
  if (type === "integer") {
    return (value) => (typeof value === "number" ? Number.isInteger(value) && value >= least && value <= most : false);
  }
  const above = schema.exclusiveMinimum;
  const quick = mode === "quick";
  return (value) => {
    if (typeof value === "number") {
      return value >= least && value <= most && Number.isFinite(value) && (above === undefined || value > above);
    }
    return !quick && typeof value === "bigint" && numberFaults(value, schema).length === 0;
  };
}

function array(schema: Schema, mode: Mode): Check {
  const item = checkOf(schema.items ?? {}, mode);
  const least = schema.minItems ?? 0;
  return (value, computed) => {
    if (!Array.isArray(value) || value.length < least) return false;
    for (let index = 0; index < value.length; index += 1) if (!item(value[index], computed)) return false;
    return true;
  };
}

function map(schema: Schema, mode: Mode): Check {
  const item = checkOf(schema.additionalProperties || {}, mode);
  return (value, computed) => {
    if (!isObject(value)) return false;
    for (const name in value) {
      const each = value[name];
      if (each !== undefined && !item(each, computed)) return false;
    }
    return true;
  };
}

function closed(schema: Schema, mode: Mode): Check {
  const { members, dropped } = memberChecks(schema, mode);
  const required = schema.required ?? [];
  const forgiving = mode === "forgiving" || mode === "written";
  return (value, computed) => {
    if (!isObject(value)) return false;
    for (const name of required) if (value[name] === undefined) return false;
    for (const name in value) {
      const each = value[name];
      if (each === undefined) continue;
      const check = members.get(name);
      if (check !== undefined) {
        if (!check(each, computed)) return false;
        if (dropped !== undefined && dropped.has(name)) computed.push({ owner: value, member: name });
      } else if (!forgiving) {
        return false;
      }
    }
    return true;
  };
}

function memberChecks(schema: Schema, mode: Mode): { members: Map<string, Check>; dropped: Set<string> | undefined } {
  const members = new Map<string, Check>();
  const dropped = new Set<string>();
  const lenient = mode === "quick" || mode === "forgiving";
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    members.set(name, lenient && (inner.stream || inner.computed) ? free(mode) : checkOf(inner, mode));
    if (inner.computed) dropped.add(name);
  }
  return { members, dropped: dropped.size > 0 ? dropped : undefined };
}

/** An open object. Lenient readers look into those whose other members are typed, and at no others. */
function open(schema: Schema, mode: Mode): Check {
  const rest = schema.additionalProperties || {};
  const isTyped = Object.keys(rest).length > 0;
  const isLenient = mode === "quick" || mode === "forgiving";
  const everything = free(mode);
  if (isLenient && !isTyped) return (value, computed) => isObject(value) && everything(value, computed);
  const inner = exactly(mode);
  const { members } = memberChecks(schema, inner);
  const other = checkOf(rest, inner);
  const required = schema.required ?? [];
  return (value, computed) => {
    if (!isObject(value)) return false;
    for (const name of required) if (value[name] === undefined) return false;
    for (const name in value) {
      const each = value[name];
      if (each !== undefined && !(members.get(name) ?? other)(each, computed)) return false;
    }
    return mode !== "quick" || everything(value, computed);
  };
}

function union(schema: Schema, mode: Mode): Check {
  const { tag = "" } = schema;
  const checks = new Map<string, Check>();
  const forgiving = mode === "forgiving" || mode === "written";
  let made = false;
  return (value, computed) => {
    if (!made) {
      for (const [name, type] of variantsOf(schema)) checks.set(name, checkOf(type.schema, mode));
      made = true;
    }
    if (!isObject(value)) return false;
    const name = value[tag];
    if (typeof name !== "string") return false;
    const check = checks.get(name);
    return check === undefined ? forgiving : check(value, computed);
  };
}

function any(branches: readonly Schema[], mode: Mode): Check {
  const checks = branches.map((branch) => checkOf(branch, mode));
  return (value, computed) => checks.some((check) => check(value, computed));
}

/** Any JSON value. Quick readers and strict ones ask for a closer look at what `JSON.parse` may have changed. */
function free(mode: Mode): Check {
  return mode === "forgiving" || mode === "known" ? () => true : (value) => isExact(value, 0);
}

/** Whether a value came through `JSON.parse` whole: no number that may have been rounded, not nested too deeply. */
export function isExact(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return value <= SAFE && value >= -SAFE;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > QUICK_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const each: unknown = value[index];
      if (typeof each === "number" ? !(each <= SAFE && each >= -SAFE) : !isExact(each, depth + 1)) return false;
    }
    return true;
  }
  const members = value as Members;
  for (const name in members) if (!isExact(members[name], depth + 1)) return false;
  return true;
}
