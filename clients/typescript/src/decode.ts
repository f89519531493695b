/**
 * Records from JSON: `decode` forgives, `decodeStrict` gives the schema's verdict.
 *
 * Promise: the verdicts, notices and violations of the Python package's `decode` and `decode_strict`. Nothing is filled
 * in: what a document leaves out is absent, and absent and null mean the same in a nullable member. Members that other
 * writers compute are dropped.
 * Policy: the common path is one `JSON.parse` and one walk of the compiled check; a document that is odd in any way is
 * scanned and explained.
 */

import { setApart } from "./apart.ts";
import { DecodeError, SchemaError } from "./errors.ts";
import { takeOut } from "./fit.ts";
import { isWithin, partsOf } from "./pointer.ts";
import { NonFinite } from "./scanner.ts";
import { isObject, type Members, type Notice, type Type, type Violation } from "./schema.ts";
import { settle } from "./settle.ts";
import { type Data, hidesSurrogates, refusedFault, scanned, textOf } from "./text.ts";
import { type Computed, fits } from "./verdict.ts";
import { violationsOf } from "./violations.ts";

/** Derivations that one derived block may nest. */
export const MAX_CHAIN = 64;
const CHAINED = new Set(["RunRecord", "RescoreDerived", "JudgeDerived", "ReparseDerived", "Derived"]);
/** Notices of what was set apart: no violation there counts. */
const FORGIVEN = new Set(["unknown", "unknown-tag", "retired", "non-finite"]);
/** Unknown members, up to which another reader looks at nothing else. */
const GUIDED = 4;

/**
 * A record read leniently. Retired members are dropped, unknown ones kept and written back, objects of unknown variants
 * kept whole, NaN literals become null; each of these is appended to `notices`. Types, required members and bounds hold;
 * token streams and open objects are not looked into. Throws `DecodeError` for what is no document at all and
 * `SchemaError`, with every violation, for one that does not fit.
 */
export function decode<T>(data: Data, type: Type<T>, options: { notices?: Notice[] | undefined } = {}): T {
  const text = textOf(data);
  const quick = parsedQuickly(text, type, "quick");
  if (quick !== undefined) return withinChain(quick.value, type) as T;
  const notices: Notice[] = [];
  const record = withinChain(explain(text, type, notices), type) as T;
  options.notices?.push(...notices);
  return record;
}

/**
 * A record read with exactly the verdict of the schema. Throws `SchemaError` with every violation, `DecodeError` for
 * what is not JSON (NaN, lone surrogates, a BOM, torn text). Members that stand twice, large integers in free parts and
 * deep nesting are no matter of the schema: `checkText` finds them.
 */
export function decodeStrict<T>(data: Data, type: Type<T>): T {
  const text = textOf(data);
  const quick = parsedQuickly(text, type, "strict");
  if (quick !== undefined) return withinChain(quick.value, type) as T;
  const { value, faults } = scanned(text);
  const refused = refusedFault(faults);
  if (refused !== undefined) {
    const message = `not JSON: ${refused.pointer || "(root)"}: ${refused.message}`;
    throw new DecodeError(message, { keyword: refused.kind, pointer: refused.pointer });
  }
  const violations = violationsOf(value, type);
  if (violations.length > 0) throw new SchemaError(type.name, violations);
  return withinChain(finished(value, type), type) as T;
}

/** Every violation of a value by the schema of a type; none for a valid one. */
export function validate(value: unknown, type: Type<unknown>): Violation[] {
  return fits(value, type, "strict") ? [] : violationsOf(value, type);
}

/** Whether a value is valid by the schema of a type. */
export function is<T>(value: unknown, type: Type<T>): value is T {
  return validate(value, type).length === 0;
}

function parsedQuickly(text: string, type: Type<unknown>, mode: "quick" | "strict"): { value: unknown } | undefined {
  if (hidesSurrogates(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const computed: Computed = [];
  if (!fits(value, type, mode, computed)) return undefined;
  drop(computed);
  return { value };
}

function drop(computed: Computed): void {
  for (const { owner, member } of computed) delete owner[member];
}

/** A document that the quick path did not take: read with notices, or refused in words. */
function explain(text: string, type: Type<unknown>, notices: Notice[]): unknown {
  const { value, faults, isNative } = scanned(text);
  const numbers = faults.filter((each) => each.kind === "non-finite").map((each) => each.pointer);
  if (numbers.length > 0 && !takeOut(value, type, numbers)) {
    const message = "a finite number is required here";
    throw new SchemaError(
      type.name,
      numbers.map((pointer) => ({ pointer, keyword: "non-finite", message })),
    );
  }
  refuseOtherShape(value, type);
  const apart: Notice[] = [];
  setApart(value, type, apart);
  for (const { kind, pointer } of apart) if (kind === "retired") remove(value, partsOf(pointer));
  const isGuided = isNative && apart.length <= GUIDED && apart.every((each) => each.kind === "unknown");
  notices.push(...(isGuided ? [] : faults), ...apart);
  if (!fits(value, type, "forgiving")) throw new SchemaError(type.name, refusals(text, value, type, notices));
  return finished(value, type);
}

/** Remove the member at a pointer. */
function remove(value: unknown, parts: readonly string[]): void {
  let owner = value;
  for (const part of parts.slice(0, -1)) owner = (owner as Members)[part];
  delete (owner as Members)[parts.at(-1) ?? ""];
}

/** A bare trace read as an episode would be an episode without traces: refuse it in words. */
function refuseOtherShape(value: unknown, type: Type<unknown>): void {
  if (type.name !== "Episode" || !isObject(value) || Object.hasOwn(value, "traces")) return;
  if (Object.hasOwn(value, "nodes") || Object.hasOwn(value, "trajectory")) {
    const message = "this is a trace, not an episode: decode it as a Trace";
    throw new SchemaError(type.name, [{ pointer: "", keyword: "shape", message }]);
  }
}

/** The violations of a document, less those that a lenient reader forgives. */
function refusals(text: string, value: unknown, type: Type<unknown>, notices: readonly Notice[]): Violation[] {
  const forgiven = new Set<string>();
  for (const { kind, pointer } of notices) {
    if (FORGIVEN.has(kind)) forgiven.add(pointer);
    if (kind === "unknown-tag") forgiven.add(pointer.slice(0, pointer.lastIndexOf("/")));
  }
  // `value` lacks what was taken out of it: the document as it came is judged first.
  const violations = violationsOf(scanned(text).value, type).filter((each) => !isWithin(each.pointer, forgiven));
  if (violations.length > 0) return violations;
  const left = violationsOf(value, type);
  if (left.length > 0) return left;
  return [{ pointer: "", keyword: "type", message: "does not fit once what a reader forgives is set apart" }];
}

/** A scanned value as records hold it: computed members dropped, large integers as numbers where a type says number. */
function finished(value: unknown, type: Type<unknown>): unknown {
  const computed: Computed = [];
  fits(value, type, "forgiving", computed);
  drop(computed);
  return value instanceof NonFinite ? null : settle(value, type.schema);
}

/** The record, unless its derived block nests too deeply. */
function withinChain(record: unknown, type: Type<unknown>): unknown {
  if (!CHAINED.has(type.name) || !isObject(record)) return record;
  const root = type.name === "RunRecord" ? "/derived" : "";
  let block = type.name === "RunRecord" ? record["derived"] : record;
  for (let depth = 0; isObject(block); depth += 1) {
    if (depth === MAX_CHAIN) {
      const message = `the derived chain is more than ${MAX_CHAIN} deep: is it repeated?`;
      throw new SchemaError(type.name, [{ pointer: root + "/source".repeat(MAX_CHAIN), keyword: "chain", message }]);
    }
    block = block["source"];
  }
  return record;
}
