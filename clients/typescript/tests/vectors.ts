/** The shared vectors as this package's tests read them: `schema/v1/examples` and `schema/v1/vectors`. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import type * as Package from "../src/index.ts";
import { parse } from "../src/index.ts";
import { partsOf } from "../src/pointer.ts";
import { hasLoneSurrogate } from "../src/scanner.ts";

/** The package under test: the sources, or a copy with a planted fault. */
export type Evh = typeof Package;

export interface Fault {
  readonly pointer: string;
  readonly keyword: string;
}

export type Lenient = { readonly notices: readonly [string, string][] } | { readonly refused: Fault };

/** A document with what readers must say of it; what is absent is not stated. */
export interface Vector {
  readonly name: string;
  readonly type: string;
  readonly data: string | Uint8Array;
  readonly json?: "ok" | Fault;
  readonly schema?: "ok" | Fault;
  readonly lenient?: Lenient;
  readonly sha256?: string;
}

const SCHEMAS = new URL("../../../schema/v1/", import.meta.url);

export function* vectors(): Generator<Vector> {
  yield* examples("valid");
  yield* examples("invalid");
  const folder = new URL("vectors/", SCHEMAS);
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    if (!name.endsWith(".jsonl")) continue;
    for (const line of readFileSync(new URL(name, folder), "utf8").split("\n")) {
      if (line !== "") yield vector(parse(line).value as Row);
    }
  }
}

/** A vector as its file has it. `fill` stands for one very long text, which is empty in the document. */
type Row = Omit<Vector, "data"> & {
  readonly document?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly fill?: { readonly pointer: string; readonly text: string; readonly times: number };
};

function vector({ document, text, base64, fill, ...rest }: Row): Vector {
  if (fill !== undefined) put(document, partsOf(fill.pointer), fill.text.repeat(fill.times));
  if (base64 !== undefined) return { ...rest, data: Buffer.from(base64, "base64") };
  // As bytes where it can be, because rows come as bytes; a lone surrogate has none.
  const whole = text ?? textOf(document);
  return { ...rest, data: hasLoneSurrogate(whole) ? whole : new TextEncoder().encode(whole) };
}

function put(document: unknown, parts: readonly string[], value: string): void {
  const [name = "", ...rest] = parts;
  const owner = document as Record<string, unknown>;
  if (rest.length === 0) owner[name] = value;
  else put(owner[name], rest, value);
}

/** JSON of a scanned value: integers stay integers, floats floats. */
function textOf(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return value.toExponential();
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${textOf(each)}`);
  return `{${members.join(",")}}`;
}

function* examples(kind: "valid" | "invalid"): Generator<Vector> {
  const root = new URL(`examples/${kind}/`, SCHEMAS);
  for (const type of readdirSync(root).sort()) {
    const folder = new URL(`${type}/`, root);
    for (const file of readdirSync(folder).sort()) {
      if (!file.endsWith(".json") || file.endsWith(".expect.json")) continue;
      const expect = new URL(file.replace(/\.json$/, ".expect.json"), folder);
      const schema = kind === "valid" ? "ok" : (JSON.parse(readFileSync(expect, "utf8")) as Fault);
      yield { name: `${kind}/${type}/${file}`, type, data: readFileSync(new URL(file, folder)), schema };
    }
  }
}

/** What a reader says otherwise than a vector; empty when it agrees. */
export function disagreements(evh: Evh, vector: Vector, hash: (text: string) => string): string[] {
  const found: string[] = [];
  const expect = (what: string, expected: unknown, said: unknown): void => {
    const [one, other] = [JSON.stringify(expected), JSON.stringify(said)];
    if (one !== other) found.push(`${vector.name}: ${what}: expected ${one}, got ${other}`);
  };
  const type = typeNamed(evh, vector.type);
  if (vector.json !== undefined) expect("json", vector.json, jsonVerdict(evh, vector.data));
  if (vector.schema !== undefined && (vector.json ?? "ok") === "ok") {
    expect("schema", vector.schema, schemaVerdict(evh, vector.data, type));
  }
  if (vector.lenient !== undefined) {
    expect("lenient", inOrder(vector.lenient), inOrder(lenientResult(evh, vector.data, type)));
  }
  if (vector.sha256 !== undefined) expect("sha256", vector.sha256, hash(evh.canonical(evh.parse(vector.data).value)));
  return found;
}

export function typeNamed(evh: Evh, name: string): Package.Type<unknown> {
  const type = (evh as unknown as Record<string, Package.Type<unknown> | undefined>)[name];
  if (type?.schema === undefined) throw new Error(`no type is named ${name}`);
  return type;
}

function faultOf({ pointer, keyword }: Fault): Fault {
  return { pointer, keyword };
}

function jsonVerdict(evh: Evh, data: string | Uint8Array): "ok" | Fault {
  try {
    const faults = evh.checkText(data).map(({ kind, pointer, message }) => ({ pointer, keyword: kind, message }));
    const [first] = evh.ordered(faults);
    return first === undefined ? "ok" : faultOf(first);
  } catch (error) {
    if (error instanceof evh.DecodeError) return faultOf(error);
    throw error;
  }
}

function schemaVerdict(evh: Evh, data: string | Uint8Array, type: Package.Type<unknown>): "ok" | Fault {
  try {
    evh.decodeStrict(data, type);
    return "ok";
  } catch (error) {
    // How long a chain may be is no matter of the schema.
    if (error instanceof evh.SchemaError && error.violations[0]?.keyword === "chain") return "ok";
    if (error instanceof evh.SchemaError) return faultOf(error.violations[0] as Fault);
    if (error instanceof evh.DecodeError) return faultOf(error);
    throw error;
  }
}

function lenientResult(evh: Evh, data: string | Uint8Array, type: Package.Type<unknown>): Lenient {
  const notices: Package.Notice[] = [];
  try {
    evh.decode(data, type, { notices });
    return { notices: notices.map(({ kind, pointer }) => [kind, pointer]) };
  } catch (error) {
    if (error instanceof evh.SchemaError) return { refused: faultOf(error.violations[0] as Fault) };
    if (error instanceof evh.DecodeError) return { refused: faultOf(error) };
    throw error;
  }
}

function inOrder(lenient: Lenient): unknown {
  if ("refused" in lenient) return { refused: faultOf(lenient.refused) };
  return { notices: [...new Set(lenient.notices.map((each) => JSON.stringify(each)))].sort() };
}
