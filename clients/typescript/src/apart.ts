/**
 * The lenient reader's walk: what a type does not know, and members that it no longer has, are noticed.
 *
 * Promise: the notices of every other lenient reader, in the same order: what stands deeper first, then an object's own
 * members. Nothing here changes a document or refuses it: unknown members and objects of unknown variants stay where they
 * are and are written back, retired ones are for the caller to drop.
 */

import { cut } from "./errors.ts";
import { type Place, spell } from "./pointer.ts";
import {
  isObject,
  type Members,
  type Notice,
  resolved,
  type Schema,
  targetOf,
  type Type,
  variantsOf,
  withoutNull,
} from "./schema.ts";
import { typesOf } from "./values.ts";

/** Walk over a document of a type. */
export function setApart(value: unknown, type: Type<unknown>, notices: Notice[]): void {
  walk(value, { ref: () => type }, null, notices);
}

function walk(value: unknown, schema: Schema, place: Place, notices: Notice[]): void {
  const inner = withoutNull(schema);
  const target = resolved(inner);
  if (target.exact) return;
  if (target.oneOf !== undefined && target.tag !== undefined) return variant(value, target, inner, place, notices);
  const array = target.oneOf?.find((branch) => branch.type === "array") ?? target;
  if (Array.isArray(value)) {
    const { items } = array;
    if (items === undefined || !isListOnly(array)) return;
    for (const [key, each] of value.entries()) walk(each, items, { above: place, key }, notices);
  } else if (isObject(value)) {
    if (target.properties !== undefined) {
      const type = targetOf(inner);
      if (target.additionalProperties === false && type !== undefined) members(value, type, place, notices);
    } else if (target.additionalProperties) {
      for (const [key, each] of Object.entries(value)) {
        if (each !== null) walk(each, target.additionalProperties, { above: place, key }, notices);
      }
    }
  }
}

/** Whether a schema takes arrays and nothing else but null. */
function isListOnly(schema: Schema): boolean {
  return (typesOf(schema) ?? []).every((each) => each === "array" || each === "null");
}

function members(value: Members, type: Type<unknown>, place: Place, notices: Notice[]): void {
  const { properties = {} } = type.schema;
  const unknown: string[] = [];
  for (const [key, each] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (inner === undefined) unknown.push(key);
    else if (each !== null && !inner.stream) walk(each, inner, { above: place, key }, notices);
  }
  const { retired = {} } = type;
  for (const key of unknown) {
    const pointer = spell({ above: place, key });
    if (Object.hasOwn(retired, key)) {
      const message = `${type.name}.${key} is retired: ${retired[key]}`;
      notices.push({ kind: "retired", pointer, message, value: value[key] });
    } else {
      const message = `${type.name} has no member ${cut(key)}; kept as it is`;
      notices.push({ kind: "unknown", pointer, message, value: value[key] });
    }
  }
}

function variant(value: unknown, union: Schema, schema: Schema, place: Place, notices: Notice[]): void {
  const { tag = "" } = union;
  const name = isObject(value) ? value[tag] : undefined;
  if (!isObject(value) || typeof name !== "string") return;
  const type = variantsOf(union).get(name);
  if (type !== undefined) return members(value, type, place, notices);
  const pointer = spell({ above: place, key: tag });
  const known = [...variantsOf(union).keys()].join(", ");
  const title = targetOf(schema)?.name ?? "variant";
  const message = `no ${title} of ${tag} ${cut(name)} (known: ${known}); kept whole`;
  notices.push({ kind: "unknown-tag", pointer, message, value: name });
}
