/**
 * Faults planted in copies of the sources, one at a time (`planted.json`): the shared vectors must catch each.
 *
 * A plant that its file no longer has is a failure too, so that none rots.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as evh from "../src/index.ts";
import { disagreements, type Evh, vectors } from "./vectors.ts";

interface Plant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** More replacements of the same fault: file, text, text instead. */
  readonly also?: readonly (readonly [string, string, string])[];
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const plants = JSON.parse(readFileSync(new URL("planted.json", import.meta.url), "utf8")) as Plant[];
const sources = fileURLToPath(new URL("../src", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "evh-planted-"));
// A vector that the package itself disagrees with would catch everything.
const all = [...vectors()].filter((vector) => disagreements(evh, vector, hash).length === 0);
// Those about texts first, because they are few and catch what no other does.
all.sort((one, other) => Number(other.name.startsWith("text/")) - Number(one.name.startsWith("text/")));
after(() => rmSync(folder, { recursive: true }));

/** Whether any vector sees a copy of the package disagree, or fall. */
function isCaught(planted: Evh): boolean {
  return all.some((vector) => {
    try {
      return disagreements(planted, vector, hash).length > 0;
    } catch {
      return true;
    }
  });
}

test("there are enough plants", () => assert.ok(plants.length >= 15));

for (const [index, { name, file, find, replace, also = [] }] of plants.entries()) {
  test(`caught: ${name}`, async () => {
    const copy = join(folder, String(index));
    cpSync(sources, copy, { recursive: true });
    for (const [each, text, instead] of [[file, find, replace] as const, ...also]) {
      const path = join(copy, each);
      const source = readFileSync(path, "utf8");
      assert.equal(source.split(text).length, 2, `${each} has not exactly one ${text}`);
      writeFileSync(path, source.replace(text, () => instead));
    }
    const planted = (await import(pathToFileURL(join(copy, "index.ts")).href)) as Evh;
    assert.ok(isCaught(planted), "no vector says otherwise");
  });
}
