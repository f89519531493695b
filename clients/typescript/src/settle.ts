/**
 * Large integers where a type asks for a number: a `bigint` there would surprise everybody, so it becomes the nearest
 * number. In free parts it stays, digit for digit.
 */

import { isObject, resolved, type Schema, variantsOf, withoutNull } from "./schema.ts";
import { typesOf } from "./values.ts";

/** The value with numbers where its schema asks for numbers; containers are changed in place. */
export function settle(value: unknown, schema: Schema): unknown {
  const target = resolved(withoutNull(schema));
  if (typeof value === "bigint") return typesOf(target)?.some((each) => each === "number") ? Number(value) : value;
  if (Array.isArray(value)) {
    const items = (target.oneOf?.find((branch) => branch.type === "array") ?? target).items;
    if (items !== undefined) for (const [index, each] of value.entries()) value[index] = settle(each, items);
  } else if (isObject(value)) {
    const tag = target.tag === undefined ? undefined : value[target.tag];
    const shape = typeof tag === "string" ? variantsOf(target).get(tag)?.schema : target;
    const { properties = {}, additionalProperties: rest } = shape ?? {};
    for (const [name, each] of Object.entries(value)) {
      const inner = Object.hasOwn(properties, name) ? properties[name] : rest || undefined;
      const made = inner === undefined ? each : settle(each, inner);
      if (made !== each) value[name] = made;
    }
  }
  return value;
}
