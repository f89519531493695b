/** What the package promises of itself: no code made at run time, no dependency, every type of the contract. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as evh from "../src/index.ts";

const root = new URL("..", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const sources = readdirSync(new URL("src", root), { recursive: true, encoding: "utf8" }).filter((each) => each.endsWith(".ts"));

test("no module makes code at run time, and none imports anything but its neighbours", () => {
  for (const name of sources) {
    const text = read(`src/${name}`);
    assert.doesNotMatch(text, /\beval\(|new Function|import\(/, name);
    for (const [, target] of text.matchAll(/from "([^"]+)"/g)) assert.match(target ?? "", /^\.\.?\//, name);
  }
});

test("there are no dependencies, and no side effects", () => {
  const described = JSON.parse(read("package.json")) as Record<string, unknown>;
  assert.equal(described["dependencies"], undefined);
  assert.equal(described["sideEffects"], false);
  for (const version of Object.values(described["devDependencies"] as Record<string, string>)) {
    assert.match(version, /^[0-9]+\.[0-9]+\.[0-9]+$/);
  }
});

test("every definition of the schemas is a type of the package", () => {
  const schemas = new URL("../../schema/v1/", root);
  const names = readdirSync(schemas)
    .filter((each) => each.endsWith(".json") && each !== "retired.json")
    .flatMap((each) => {
      const schema = JSON.parse(readFileSync(new URL(each, schemas), "utf8")) as Record<string, unknown>;
      const root = schema["properties"] === undefined ? [] : [schema["title"] as string];
      return [...root, ...Object.keys((schema["$defs"] as object | undefined) ?? {})];
    });
  assert.ok(names.length > 50);
  for (const name of names) {
    const type = (evh as unknown as Record<string, evh.Type<unknown> | undefined>)[name];
    assert.equal(type?.name, name);
  }
});

test("the README names every function and error that there is", () => {
  const readme = read("README.md");
  for (const [name, value] of Object.entries(evh)) {
    if (typeof value === "function" && name !== "RecordReader") assert.match(readme, new RegExp(`\\b${name}\\b`), name);
  }
});

test("every pattern of the schemas is an expression of JavaScript", () => {
  const patterns = [...sources.map((each) => read(`src/${each}`)).join().matchAll(/pattern: ("(?:[^"\\]|\\.)*")/g)];
  assert.ok(patterns.length >= 5);
  for (const [, pattern] of patterns) new RegExp(JSON.parse(pattern ?? '""') as string, "u");
});

test("modules are short enough to read", () => {
  for (const name of sources.filter((each) => !each.startsWith("types"))) {
    assert.ok(read(`src/${name}`).split("\n").length <= 301, name);
  }
});
