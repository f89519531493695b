/**
 * The built package (`npm run build`): it agrees with the vectors as the sources do, and compiles for its users.
 *
 * Users may have neither the types of a browser nor those of Node, and any of the compiler's strict settings.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { disagreements, vectors } from "./vectors.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const skip = existsSync(join(root, "dist")) ? false : "not built: make ts";
const folder = mkdtempSync(join(tmpdir(), "evh-built-"));
after(() => rmSync(folder, { recursive: true }));

const USER = `
import { decode, encode, Episode, is, type Notice, readEpisodes, Reward, validate } from "evh";

const notices: Notice[] = [];
const episode: Episode = decode("{}", Episode, { notices });
for (const trace of episode.traces ?? []) {
  for (const { message } of trace.nodes ?? []) {
    if (message.role === "assistant") message.tool_calls satisfies unknown[] | null | undefined;
    else if (message.role === "user") message.content satisfies string | unknown[];
  }
  trace.stop_condition satisfies string | null | undefined;
}
const reward: Reward = { score: 1 };
const value: unknown = reward;
if (is(value, Reward)) value.score satisfies number;
// @ts-expect-error: a member that the schema does not know
const wrong: Reward = { score: 1, mood: 2 };
export const text: string = encode(reward, Reward);
export const faults: number = validate(wrong, Reward).length;
export async function ids(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of readEpisodes(path, { mode: "strict" })) found.push(id);
  return found;
}
`;

test("the built package agrees with every vector", { skip }, async () => {
  const evh = await import("../dist/index.js");
  const hash = (text) => createHash("sha256").update(text).digest("hex");
  const found = [...vectors()].flatMap((vector) => disagreements(evh, vector, hash));
  assert.deepEqual(found.slice(0, 5).map((each) => each.slice(0, 400)), []);
});

test("a user's program compiles under the strictest settings", { skip }, () => {
  const modules = join(folder, "node_modules", "evh");
  mkdirSync(modules, { recursive: true });
  for (const name of ["dist", "schemas", "package.json"]) cpSync(join(root, name), join(modules, name), { recursive: true });
  writeFileSync(join(folder, "user.mts"), USER);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const names = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text], index) => {
    const name = `readme${index}.mts`;
    writeFileSync(join(folder, name), `declare const console: { log(...values: unknown[]): void };\n${text}`);
    return name;
  });
  assert.equal(names.length, 2);
  const flags = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const options = ["--lib", "es2023", "--target", "es2023", "--module", "nodenext", "--skipLibCheck", "false"];
  try {
    execFileSync(process.execPath, [compiler, ...flags, ...options, "user.mts", ...names], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
  writeFileSync(join(folder, "schemas.mjs"), 'console.log(import.meta.resolve("evh/schemas/episode.json"));');
  const said = execFileSync(process.execPath, ["schemas.mjs"], { cwd: folder, encoding: "utf8" });
  assert.ok(existsSync(fileURLToPath(said.trim())));
});
