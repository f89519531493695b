/**
 * Values taken out where a schema does not allow them, with as little around them as possible.
 *
 * Promise: a number that JSON does not have makes its nearest nullable ancestor null or its nearest optional one absent,
 * as in every other lenient reader; in free objects it becomes null itself. An episode never loses its `traces` whole.
 */

import { partsOf, step } from "./pointer.ts";
import { put } from "./scanner.ts";
import {
  isNullable,
  isObject,
  type Members,
  resolved,
  type Schema,
  type Type,
  variantsOf,
  withoutNull,
} from "./schema.ts";
import { typesOf } from "./values.ts";

const WHOLES = new Set(["/traces"]);

interface Step {
  readonly container: Members | unknown[];
  readonly key: string | number;
  readonly pointer: string;
  readonly nullable: boolean;
  readonly optional: boolean;
}

interface Below {
  readonly schema: Schema | undefined;
  readonly nullable: boolean;
  readonly optional: boolean;
}

/** Take out the values at the pointers, in place; false when one cannot go without the whole document. */
export function takeOut(document: unknown, type: Type<unknown>, pointers: readonly string[]): boolean {
  for (const pointer of pointers) {
    const steps = stepsTo(document, type, partsOf(pointer));
    if (steps === undefined) continue;
    const found = steps.findLast((each) => each.nullable || each.optional);
    if (found === undefined || (WHOLES.has(found.pointer) && found.pointer !== pointer)) return false;
    const { container, key } = found;
    if (found.nullable) {
      if (Array.isArray(container)) container[Number(key)] = null;
      else put(container, String(key), null);
    } else if (Array.isArray(container)) {
      container.splice(Number(key), 1);
    } else {
      delete container[key];
    }
  }
  return true;
}

/** The steps from the root to a place; undefined when the place is gone. */
function stepsTo(document: unknown, type: Type<unknown>, parts: readonly string[]): Step[] | undefined {
  const steps: Step[] = [];
  let schema: Schema | undefined = { ref: () => type };
  let value = document;
  let pointer = "";
  for (const part of parts) {
    pointer += step(part);
    const below: Below = descend(schema, value, part);
    schema = below.schema;
    if (Array.isArray(value)) {
      const key = /^[0-9]+$/.test(part) ? Number(part) : value.length;
      if (key >= value.length) return undefined;
      steps.push({ container: value, key, pointer, nullable: below.nullable, optional: below.optional });
      value = value[key];
    } else if (isObject(value) && Object.hasOwn(value, part)) {
      steps.push({ container: value, key: part, pointer, nullable: below.nullable, optional: below.optional });
      value = value[part];
    } else {
      return undefined;
    }
  }
  return steps;
}

/** What stands at a member or item, whether it may be null, whether it may be absent; no schema where all is free. */
function descend(schema: Schema | undefined, value: unknown, part: string): Below {
  const free: Below = { schema: undefined, nullable: true, optional: isObject(value) };
  if (schema === undefined) return free;
  const inner = withoutNull(schema);
  let target = resolved(inner);
  if (target.oneOf !== undefined && target.tag !== undefined) {
    const tag = isObject(value) ? value[target.tag] : undefined;
    const type = typeof tag === "string" ? variantsOf(target).get(tag) : undefined;
    if (type === undefined) return { schema: undefined, nullable: true, optional: part !== target.tag };
    target = type.schema;
  }
  if (target.properties !== undefined) return isObject(value) && !target.exact ? member(target, part) : free;
  const array = target.oneOf?.find((branch) => branch.type === "array") ?? target;
  switch ((typesOf(array) ?? []).filter((each) => each !== "null").join()) {
    case "array":
      return { schema: array.items, nullable: false, optional: false };
    case "object": {
      const items = target.additionalProperties || {};
      if (inner.ref !== undefined && Object.keys(items).length === 0) return free;
      return { schema: items, nullable: isNullable(items), optional: true };
    }
    default:
      return free;
  }
}

function member(schema: Schema, part: string): Below {
  const { properties = {}, additionalProperties: rest = false } = schema;
  const known = Object.hasOwn(properties, part) ? properties[part] : undefined;
  if (known !== undefined) {
    return { schema: known, nullable: isNullable(known), optional: !(schema.required ?? []).includes(part) };
  }
  if (rest !== false && Object.keys(rest).length > 0) return { schema: rest, nullable: false, optional: true };
  return { schema: undefined, nullable: rest !== false, optional: true };
}
