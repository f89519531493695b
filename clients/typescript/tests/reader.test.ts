/** `readEpisodes` over every kind of source, and what odd files do. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import * as evh from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "evh-ts-"));
after(() => rmSync(folder, { recursive: true }));

const row = (id: string): string => `{"id":"${id}","task":{"type":"T","data":{"text":"größe \u2028"}}}`;
const rows = `${row("a")}\n${row("b")}\n`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const ids = async (source: evh.Source, options?: evh.ReadOptions): Promise<string[]> =>
  (await evh.readEpisodes(source, options).toArray()).map(({ id }) => id);

function file(name: string, data: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, data);
  return path;
}

/** A source in chunks of a few bytes, which split rows and characters. */
async function* crumbs(data: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < data.length; start += 3) yield data.subarray(start, start + 3);
}

test("paths, URLs, streams of Node and of the web, blobs, responses, bytes and iterables give the same", async () => {
  const path = file("rows.jsonl", rows);
  const sources: [string, evh.Source][] = [
    ["path", path],
    ["URL", pathToFileURL(path)],
    ["bytes", bytes(rows)],
    ["Readable", Readable.from([Buffer.from(rows)])],
    ["ReadableStream", new Blob([rows]).stream()],
    ["Blob", new Blob([rows])],
    ["Response", new Response(rows)],
    ["texts", [rows.slice(0, 20), rows.slice(20)]],
    ["crumbs", crumbs(bytes(rows))],
    ["gzip path", file("rows.jsonl.gz", gzipSync(rows))],
    ["gzip crumbs", crumbs(gzipSync(rows))],
    ["a document", file("one.json", `${row("a")}\n`)],
  ];
  for (const [name, source] of sources) {
    assert.deepEqual(await ids(source), name === "a document" ? ["a"] : ["a", "b"], name);
  }
});

test("a file of one document may have any lines, one of rows may be named .json", async () => {
  const pretty = JSON.stringify(JSON.parse(row("a")), undefined, 2);
  assert.deepEqual(await ids(file("pretty.json", pretty)), ["a"]);
  assert.deepEqual(await ids(file("rows.json", rows)), ["a", "b"]);
});

test("rows are split at LF only; a BOM, CR and blank lines are told", async () => {
  const notices: string[] = [];
  const onNotice = ({ kind }: evh.Notice, line: number): void => void notices.push(`${kind} ${line}`);
  assert.deepEqual(await ids(bytes(`\ufeff${row("a")}\r\n\n \n${row("b")}\n\n`), { onNotice }), ["a", "b"]);
  assert.deepEqual(notices, ["bom 1", "crlf 1", "blank 4"]);
});

test("a bad row never hides the good ones behind it", async () => {
  const text = `${row("a")}\n{"id":5}\nnot json\n${row("b")}\n`;
  const reader = evh.readEpisodes(bytes(text));
  assert.deepEqual((await reader.toArray()).map(({ id }) => id), ["a", "b"]);
  assert.deepEqual([reader.read, reader.skipped], [2, 2]);
  assert.deepEqual(reader.errors.map(({ line, name }) => [line, name]), [[2, "SchemaError"], [3, "DecodeError"]]);
  const handed: evh.EvhError[] = [];
  assert.deepEqual(await ids(bytes(text), { onError: (error) => void handed.push(error) }), ["a", "b"]);
  assert.equal(handed.length, 2);
  await assert.rejects(ids(bytes(text), { onError: "throw" }), /<stream>:2: /);
});

test("a torn last row is told as such, a whole one without LF is read", async () => {
  assert.deepEqual(await ids(bytes(rows.slice(0, -1))), ["a", "b"]);
  const reader = evh.readEpisodes(bytes(rows.slice(0, -9)));
  assert.equal((await reader.toArray()).length, 1);
  assert.match(reader.errors[0]?.message ?? "", /:2: torn last row of [0-9]+ bytes/);
});

test("a broken source throws after the rows that stand before the fault", async () => {
  const packed = gzipSync(Array.from({ length: 500 }, (_, index) => `${row(`${index}-${Math.sin(index)}`)}\n`).join(""));
  const found: string[] = [];
  const reader = evh.readEpisodes(packed.subarray(0, packed.length >> 1));
  await assert.rejects(async () => {
    for await (const { id } of reader) found.push(id);
  }, evh.SourceError);
  assert.ok(found.length > 0);
  await assert.rejects(ids(join(folder, "missing.jsonl")), evh.SourceError);
  await assert.rejects(ids(new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0])), /Zstandard/);
  await assert.rejects(ids(5 as unknown as evh.Source), evh.UsageError);
});

test("leaving the loop lets go of the source", async () => {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes(rows)),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const _ of evh.readEpisodes(stream)) break;
  assert.ok(isCancelled);
});

test("strict mode skips what lenient mode takes with a notice", async () => {
  const text = `${row("a").slice(0, -1)},"mood":1}\n${row("b")}\n`;
  assert.deepEqual(await ids(bytes(text)), ["a", "b"]);
  assert.deepEqual(await ids(bytes(text), { mode: "strict" }), ["b"]);
});

test("records of any type are read", async () => {
  const found = await evh.readRecords(bytes('{"item_id":"i","accuracy":0.5}\n'), evh.PredictionRow).toArray();
  assert.deepEqual(found, [{ item_id: "i", accuracy: 0.5 }]);
});

test("memory is bounded by a row, not by the file", async () => {
  const block = bytes(`${row("a".repeat(8000))}\n`.repeat(100));
  async function* many(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 100; index += 1) yield block.slice();
  }
  const reader = evh.readEpisodes(many());
  const before = process.memoryUsage().rss;
  for await (const _ of reader);
  assert.equal(reader.read, 10_000);
  assert.ok(process.memoryUsage().rss - before < 60 * 2 ** 20, "80 MB were read");
});
