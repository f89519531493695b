/** The package against the shared vectors: the same verdicts, pointers, keywords, notices and canonical bytes. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as evh from "../src/index.ts";
import { disagreements, vectors } from "./vectors.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

test("every vector gets the verdict, the notices and the bytes that it states", () => {
  let count = 0;
  const found: string[] = [];
  for (const vector of vectors()) {
    count += 1;
    found.push(...disagreements(evh, vector, hash));
  }
  assert.ok(count > 400, `only ${count} vectors`);
  assert.deepEqual(found.slice(0, 10).map((each) => each.slice(0, 400)), [], `${found.length} disagreements in ${count} vectors`);
});

test("what is valid is written, and what was written is valid and written the same", () => {
  for (const vector of vectors()) {
    if (vector.schema !== "ok" || (vector.json ?? "ok") !== "ok" || vector.name === "semantic/chain-too-long") continue;
    const type = (evh as unknown as Record<string, evh.Type<unknown>>)[vector.type] as evh.Type<unknown>;
    const once = evh.encode(evh.decodeStrict(vector.data, type), type);
    assert.equal(evh.encode(evh.decodeStrict(once, type), type), once, vector.name);
  }
});
