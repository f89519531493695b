/**
 * JSON Pointers (RFC 6901), spelled only when something is said about a place.
 *
 * Promise: pointers and their order are those of every other reader: by code points, indexes as text.
 */

/** A place in a document: the place of its container and the key there; null is the root. */
export type Place = { readonly above: Place; readonly key: string | number } | null;

/** The pointer of a place. */
export function spell(place: Place): string {
  let text = "";
  for (let at = place; at !== null; at = at.above) text = step(at.key) + text;
  return text;
}

/** One step of a pointer. */
export function step(key: string | number): string {
  return typeof key === "number" ? `/${key}` : `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The unescaped parts of a pointer. */
export function partsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether a pointer is one of the pointers or leads below one of them. */
export function isWithin(pointer: string, pointers: ReadonlySet<string>): boolean {
  if (pointers.size === 0) return false;
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) if (pointers.has(at)) return true;
  return pointers.has("");
}

/** Text by code points, as other languages order it; JavaScript's own order is by UTF-16 units. */
export function compareText(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index += 1) {
    const a = one.charCodeAt(index);
    const b = other.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** Surrogates stand for what is beyond every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
