/**
 * Text to plain values: the common path is one `JSON.parse`; a text that may hide something is scanned.
 *
 * Promise: bytes are UTF-8 or refused; what `parse` gives has every digit and every fault told that a reader needs.
 */

import { cut, DecodeError, UsageError } from "./errors.ts";
import { type Fault, hasLoneSurrogate, scan } from "./scanner.ts";

/** A document: UTF-8 bytes or text. */
export type Data = string | Uint8Array | ArrayBuffer;

const SURROGATE_ESCAPE =
  /\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]|\\\\u[dD]/;
/** Faults that no strict reader takes, and that other readers' native decoders refuse. */
const REFUSED = new Set(["bom", "non-finite", "surrogate"]);

/** The text of a document; `DecodeError` for bytes that are no UTF-8. */
export function textOf(data: Data): string {
  if (typeof data === "string") return data;
  if (!(data instanceof Uint8Array || data instanceof ArrayBuffer)) {
    throw new UsageError(`a document is text or bytes, not ${cut(data)}; for files there is readEpisodes`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new DecodeError("invalid UTF-8");
  }
}

/** Whether `JSON.parse` would change text in the document without a word: half a surrogate pair. */
export function hidesSurrogates(text: string): boolean {
  return (text.includes("\\u") && SURROGATE_ESCAPE.test(text)) || hasLoneSurrogate(text);
}

/**
 * The value of a JSON text, integers beyond ±(2^53 − 1) as `bigint`, and every fault of the text in document order.
 * A number that JSON does not have is a `NonFinite` in the value. Throws `DecodeError` for what is no JSON.
 */
export function parse(data: Data): { value: unknown; faults: Fault[] } {
  return scan(textOf(data));
}

/** Every fault of a JSON text: duplicate members, large integers, NaN, lone surrogates, deep nesting, a BOM. */
export function checkText(data: Data): Fault[] {
  return parse(data).faults;
}

/** A scanned document as readers judge it. `faults` are those that are told: all, when one is no reader's JSON. */
export interface Scanned {
  readonly value: unknown;
  readonly faults: readonly Fault[];
  /** Whether another reader's native decoder takes the text. */
  readonly isNative: boolean;
}

/** A text scanned for a reader of records, which says nothing of duplicates and large integers in a clean text. */
export function scanned(text: string): Scanned {
  const { value, faults } = scan(text);
  const isNative = !faults.some((each) => REFUSED.has(each.kind));
  const isClean = isNative && !faults.some((each) => each.kind === "depth");
  return { value, faults: isClean ? [] : faults, isNative };
}

/** The first fault that a strict reader refuses before any schema is asked. */
export function refusedFault(faults: readonly Fault[]): Fault | undefined {
  return faults.find((each) => REFUSED.has(each.kind));
}
