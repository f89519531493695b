#!/usr/bin/env node
/**
 * The TypeScript reader as `evh conformance` drives it (docs/conformance.md): JSON lines on standard input and output.
 *
 * Takes the built package, or the sources where Node reads TypeScript (22.18 or newer). `EVH_READER` names another copy
 * of the sources, for tests that plant faults in one.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const evh = await load();

async function load() {
  const named = process.env["EVH_READER"];
  if (named !== undefined) return await import(pathToFileURL(named).href);
  const sources = new URL("../src/index.ts", import.meta.url);
  if (process.features.typescript && existsSync(sources)) return await import(sources.href);
  return await import("../dist/index.js");
}

function answer({ id, mode, type: name, input, input_base64: packed }) {
  const type = Object.hasOwn(evh, name) ? evh[name] : undefined;
  if (type?.schema === undefined) return { id, verdict: "unsupported" };
  const data = packed === undefined ? input : Buffer.from(packed, "base64");
  switch (mode) {
    case "strict":
      return { id, ...strict(data, type) };
    case "lenient":
      return { id, ...lenient(data, type) };
    case "canonical":
      return { id, ...canonical(data) };
    default:
      return { id, verdict: "unsupported" };
  }
}

function strict(data, type) {
  try {
    const [first] = evh.ordered(evh.checkText(data).map(({ kind, ...rest }) => ({ keyword: kind, ...rest })));
    if (first !== undefined) return refused("json", first);
    evh.decodeStrict(data, type);
    return { verdict: "accepted" };
  } catch (error) {
    // How long a chain of derivations may be is of the semantic layer, which is not asked of this reader.
    if (error instanceof evh.SchemaError && error.violations[0].keyword === "chain") return { verdict: "accepted" };
    if (error instanceof evh.SchemaError) return refused("schema", error.violations[0]);
    if (error instanceof evh.DecodeError) return refused("json", error);
    throw error;
  }
}

function refused(layer, { pointer, keyword }) {
  return { verdict: "refused", layer, pointer, keyword };
}

function lenient(data, type) {
  const notices = [];
  let record;
  try {
    record = evh.decode(data, type, { notices });
  } catch (error) {
    if (error instanceof evh.SchemaError) return refused("schema", error.violations[0]);
    if (error instanceof evh.DecodeError) return refused("json", error);
    throw error;
  }
  return {
    verdict: "accepted",
    notices: notices.map(({ kind, pointer }) => [kind, pointer]),
    ...written(record, type),
  };
}

/** What would be saved; nothing where a writer refuses what a lenient reader does not look into. */
function written(record, type) {
  try {
    return { written: evh.encode(record, type) };
  } catch (error) {
    if (error instanceof evh.NotWritable) return {};
    throw error;
  }
}

function canonical(data) {
  try {
    const bytes = evh.canonical(evh.parse(data).value);
    return { verdict: "accepted", sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    if (error instanceof evh.EvhError) return { verdict: "refused" };
    throw error;
  }
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

say({ evh_conformance: 1, name: "evh-typescript", modes: ["strict", "lenient", "canonical"], layers: ["json", "schema"] });
// Node's readline would also split at U+2028, which may stand in a JSON text.
let rest = "";
for await (const chunk of process.stdin.setEncoding("utf8")) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) if (line.trim() !== "") say(answer(JSON.parse(line)));
}
