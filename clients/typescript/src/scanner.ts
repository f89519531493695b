/**
 * The JSON layer read slowly: every oddity of a text is named, no digit is lost.
 *
 * `JSON.parse` keeps the last of two members, rounds large integers and takes lone surrogates, all without a word. This
 * scanner is for texts that may hold such a thing and for `checkText`.
 *
 * Promise: for any text a value with the faults met on the way, in document order, or a `DecodeError`.
 * Policy: the wording; the limits of depth and digits are those of the other readers.
 */

import { cut, DecodeError } from "./errors.ts";
import { type Place, spell } from "./pointer.ts";
import type { Members } from "./schema.ts";

/** Nesting beyond this is a fault: other readers may refuse it. */
export const NOTED_DEPTH = 128;
/** Nesting beyond this is refused. */
export const MAX_DEPTH = 500;
/** Integers of more digits are refused. */
export const MAX_DIGITS = 4300;

/**
 * Something in a text that strict readers refuse or may misread: `kind` is `duplicate-key`, `non-finite`, `surrogate`,
 * `big-integer`, `depth` or `bom`.
 */
export interface Fault {
  readonly kind: string;
  readonly pointer: string;
  readonly message: string;
  readonly value?: unknown;
}

/** Stands in a scanned tree for a number that JSON does not have; `token` is the text. */
export class NonFinite {
  readonly token: string;

  constructor(token: string) {
    this.token = token;
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const LITERALS: readonly (readonly [string, unknown])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
  ["NaN", undefined],
  ["Infinity", undefined],
  ["-Infinity", undefined],
];
const ESCAPES: { readonly [letter: string]: string } = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether a text holds half of a surrogate pair. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE.test(text);
}

/** The value of a JSON text and its faults, hidden members included. */
export function scan(text: string): { value: unknown; faults: Fault[] } {
  const scanner = new Scanner(text);
  const value = scanner.document();
  return { value, faults: scanner.faults };
}

class Scanner {
  readonly faults: Fault[] = [];
  private readonly text: string;
  private at = 0;
  private deepest = 0;
  private deepPlace: Place = null;

  constructor(text: string) {
    this.text = text;
  }

  document(): unknown {
    if (this.text.charCodeAt(0) === 0xfeff) {
      this.at = 1;
      this.note("bom", null, "the text begins with a byte order mark, which JSON does not have");
    }
    const value = this.value(null, 0);
    this.blanks();
    if (this.at < this.text.length) throw this.error("trailing data after the document");
    if (this.deepest > NOTED_DEPTH) {
      const message = `nested ${this.deepest} levels deep: readers may refuse more than ${NOTED_DEPTH}`;
      this.note("depth", this.deepPlace, message, this.deepest);
    }
    return value;
  }

  private value(place: Place, depth: number): unknown {
    this.blanks();
    const unit = this.text[this.at];
    if (unit === "{" || unit === "[") {
      this.deeper(place, depth + 1);
      return unit === "{" ? this.object(place, depth + 1) : this.array(place, depth + 1);
    }
    if (unit === '"') {
      const text = this.string();
      const lone = LONE.exec(text);
      if (lone !== null) {
        const code = lone[0].charCodeAt(0).toString(16).toUpperCase();
        this.note("surrogate", place, `lone surrogate U+${code} in a text`, text);
      }
      return text;
    }
    return this.scalar(place);
  }

  private deeper(place: Place, depth: number): void {
    if (depth > MAX_DEPTH) throw this.error(`nested too deeply: more than ${MAX_DEPTH} levels`, "depth");
    if (depth > this.deepest) {
      this.deepest = depth;
      if (depth === NOTED_DEPTH + 1) this.deepPlace = place;
    }
  }

  private object(place: Place, depth: number): Members {
    const made: Members = {};
    const counts = new Map<string, number>();
    const start = this.faults.length;
    this.at += 1;
    this.blanks();
    if (this.text[this.at] === "}") {
      this.at += 1;
      return made;
    }
    for (;;) {
      this.blanks();
      if (this.text[this.at] !== '"') throw this.unexpected();
      const key = this.string();
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      this.blanks();
      if (this.text[this.at] !== ":") throw this.unexpected();
      this.at += 1;
      put(made, key, this.value({ above: place, key }, depth));
      this.blanks();
      const next = this.text[this.at];
      if (next !== "," && next !== "}") throw this.unexpected();
      this.at += 1;
      if (next === "}") break;
    }
    this.keyFaults(counts, place, start);
    return made;
  }

  /** The faults of an object's names stand before those of its members. */
  private keyFaults(counts: ReadonlyMap<string, number>, place: Place, start: number): void {
    const twice: Fault[] = [];
    const lone: Fault[] = [];
    for (const [key, count] of counts) {
      const pointer = (): string => spell({ above: place, key });
      if (count > 1) {
        const message = `member ${cut(key)} stands ${count} times in one object; the last one counts`;
        twice.push({ kind: "duplicate-key", pointer: pointer(), message, value: key });
      }
      if (LONE.test(key)) {
        lone.push({ kind: "surrogate", pointer: pointer(), message: "lone surrogate in a member's name", value: key });
      }
    }
    if (twice.length + lone.length > 0) this.faults.splice(start, 0, ...twice, ...lone);
  }

  private array(place: Place, depth: number): unknown[] {
    const made: unknown[] = [];
    this.at += 1;
    this.blanks();
    if (this.text[this.at] === "]") {
      this.at += 1;
      return made;
    }
    for (;;) {
      made.push(this.value({ above: place, key: made.length }, depth));
      this.blanks();
      const next = this.text[this.at];
      if (next !== "," && next !== "]") throw this.unexpected();
      this.at += 1;
      if (next === "]") return made;
    }
  }

  private string(): string {
    let made = "";
    this.at += 1;
    for (;;) {
      PLAIN.lastIndex = this.at;
      const plain = PLAIN.exec(this.text)?.[0] ?? "";
      made += plain;
      this.at += plain.length;
      const unit = this.text[this.at];
      if (unit === undefined) throw this.error("torn row: the text ends inside a string");
      if (unit === '"') {
        this.at += 1;
        return made;
      }
      if (unit !== "\\") throw this.error("not JSON: a control character inside a string must be escaped");
      made += this.escaped();
    }
  }

  private escaped(): string {
    const letter = this.text[this.at + 1];
    if (letter === undefined) throw this.error("torn row: the text ends inside a string");
    if (letter === "u") {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.error("not JSON: an escape that JSON does not have");
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const found = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (found === undefined) throw this.error("not JSON: an escape that JSON does not have");
    this.at += 2;
    return found;
  }

  private scalar(place: Place): unknown {
    for (const [literal, value] of LITERALS) {
      if (this.text.startsWith(literal, this.at)) {
        this.at += literal.length;
        return value === undefined ? this.nonFinite(literal, place) : value;
      }
    }
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (found === null) throw this.unexpected();
    const token = found[0];
    if (found[1] === undefined && found[2] === undefined) return this.integer(token, place);
    this.at += token.length;
    const value = Number(token);
    return Number.isFinite(value) ? value : this.nonFinite(token, place);
  }

  private integer(token: string, place: Place): number | bigint {
    if (token.length > MAX_DIGITS + (token.startsWith("-") ? 1 : 0)) {
      throw this.error(`an integer with too many digits (over ${MAX_DIGITS})`);
    }
    this.at += token.length;
    const value = Number(token);
    if (Number.isSafeInteger(value)) return value;
    const message = `the integer ${cut(token)} is beyond ±(2^53 - 1): readers that use doubles change it`;
    this.note("big-integer", place, message, BigInt(token));
    return BigInt(token);
  }

  private nonFinite(token: string, place: Place): NonFinite {
    this.note("non-finite", place, `${cut(token)} is not a JSON number that a double can hold`, token);
    return new NonFinite(token);
  }

  private note(kind: string, place: Place, message: string, value?: unknown): void {
    this.faults.push({ kind, pointer: spell(place), message, value });
  }

  private blanks(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.at += 1;
    }
  }

  private unexpected(): DecodeError {
    const unit = this.text[this.at];
    if (this.text.trim() === "") return this.error("empty: there is no document");
    if (unit === undefined) return this.error("torn row: the text ends inside the document");
    if (unit === "\0") return this.error("not JSON: a NUL byte, as a crash or a full disk leaves them");
    return this.error(`not JSON: unexpected ${cut(unit)}`);
  }

  private error(message: string, keyword = "not-json"): DecodeError {
    const offset = new TextEncoder().encode(this.text.slice(0, this.at)).length;
    return new DecodeError(`${message} (byte ${offset})`, { keyword, offset });
  }
}

/** Set a member; `__proto__` is a name like any other. */
export function put(members: Members, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    members[key] = value;
  }
}
