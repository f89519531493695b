/**
 * How fast `readEpisodes` is beside `JSON.parse` of every line, and how much memory it takes.
 *
 *     node bench/episodes.mjs [--megabytes 100] [--rounds 5] [--strict] [--json] [--keep FILE] [--bar 0.5]
 *
 * Makes its own file of episodes (chat, tool calls, token streams; 2 to 120 KB a row). Both sides read the same blocks of
 * the same file, in turns, in processes of their own; the ratio is the median of the rounds. A ratio of 0.5 means that
 * reading records takes twice as long as parsing them to plain values.
 */

import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const BLOCK = 1 << 18;
const WORDS = "the model reads a question, thinks — and answers \"so\" or calls a tool\n with größe 日本".split(" ");
const { values: options } = parseArgs({
  options: {
    megabytes: { type: "string", default: "100" },
    rounds: { type: "string", default: "5" },
    strict: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    keep: { type: "string" },
    bar: { type: "string", default: "0" },
    side: { type: "string" },
    file: { type: "string" },
  },
});

if (options.side !== undefined) await one(options.side, options.file);
else compare();

function compare() {
  const folder = options.keep === undefined ? mkdtempSync(join(tmpdir(), "evh-bench-")) : undefined;
  const file = options.keep ?? join(folder, "traces.jsonl");
  try {
    make(file, Number(options.megabytes) * 2 ** 20);
    const rounds = [];
    for (let round = 0; round < Number(options.rounds); round += 1) {
      rounds.push({ parse: child("parse", file), read: child("read", file) });
    }
    const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
    const result = {
      megabytes: Math.round(statSync(file).size / 2 ** 20),
      rows: rounds[0].read.rows,
      parse_seconds: median(rounds.map((each) => each.parse.seconds)),
      read_seconds: median(rounds.map((each) => each.read.seconds)),
      ratio: median(rounds.map((each) => each.parse.seconds / each.read.seconds)),
      parse_peak_megabytes: median(rounds.map((each) => each.parse.peak)),
      read_peak_megabytes: median(rounds.map((each) => each.read.peak)),
    };
    if (options.json) console.log(JSON.stringify(result));
    else {
      const { megabytes, rows } = result;
      console.log(`${megabytes} MB in ${rows} rows, Node ${process.version}, median of ${rounds.length}`);
      console.log(`JSON.parse per line  ${result.parse_seconds.toFixed(2)} s  peak ${result.parse_peak_megabytes} MB`);
      console.log(`readEpisodes         ${result.read_seconds.toFixed(2)} s  peak ${result.read_peak_megabytes} MB`);
      console.log(`ratio                ${result.ratio.toFixed(2)}`);
    }
    if (result.ratio < Number(options.bar)) process.exitCode = 1;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
}

function child(side, file) {
  const flags = options.strict ? ["--strict"] : [];
  const self = fileURLToPath(import.meta.url);
  const done = spawnSync(process.execPath, [self, "--side", side, "--file", file, ...flags], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout);
}

async function one(side, file) {
  const evh = side === "read" ? await load() : undefined;
  const start = process.cpuUsage();
  let rows = 0;
  if (evh === undefined) {
    for await (const line of lines(file)) rows += JSON.parse(line) === null ? 0 : 1;
  } else {
    const mode = options.strict ? "strict" : "lenient";
    for await (const _ of evh.readEpisodes(file, { mode, onError: "throw" })) rows += 1;
  }
  const { user, system } = process.cpuUsage(start);
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(JSON.stringify({ rows, seconds: (user + system) / 1e6, peak }));
}

async function load() {
  try {
    return await import("../dist/index.js");
  } catch {
    return await import("../src/index.ts");
  }
}

async function* lines(path) {
  const file = await open(path);
  let carry = "";
  const decoder = new TextDecoder();
  for (;;) {
    const block = new Uint8Array(BLOCK);
    const { bytesRead } = await file.read(block, 0, BLOCK);
    if (bytesRead === 0) break;
    const parts = (carry + decoder.decode(block.subarray(0, bytesRead), { stream: true })).split("\n");
    carry = parts.pop();
    yield* parts;
  }
  if (carry !== "") yield carry;
  await file.close();
}

function make(path, size) {
  const file = openSync(path, "w");
  const random = generator(7);
  for (let written = 0, number = 0; written < size; number += 1) {
    const row = Buffer.from(`${JSON.stringify(episode(number, random))}\n`);
    writeSync(file, row);
    written += row.length;
  }
  closeSync(file);
}

function generator(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function text(words, random) {
  return Array.from({ length: words }, () => WORDS[random(WORDS.length)]).join(" ");
}

function episode(number, random) {
  const turns = 1 + random(12);
  const tokens = random(3) === 0 ? 400 : 0;
  const task = { type: "Arithmetic", data: { idx: number, prompt: text(60, random), answer: String(number), level: 3 } };
  const nodes = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const ids = Array.from({ length: tokens }, () => random(150_000));
    const sampled = turn % 2 === 1;
    nodes.push({
      parent: turn === 0 ? null : turn - 1,
      message: message(turn, random),
      sampled,
      timestamp: 1735689600.25 + turn,
      token_ids: ids,
      mask: ids.map(() => sampled),
      logprobs: sampled ? ids.map(() => -random(1000) / 997) : [],
    });
  }
  const calls = nodes
    .map((node, index) => ({ node, index }))
    .filter(({ node }) => node.sampled)
    .map(({ index }) => ({
      node: index,
      model: "org/model-7b",
      sampling: { temperature: 0.7, max_tokens: 1024 },
      finish_reason: "stop",
      usage: { prompt_tokens: 100 + index, completion_tokens: 50, cost: 0.0012 },
      time: { start: 1735689600.5, end: 1735689601.75 },
    }));
  const trace = {
    id: number.toString(16).padStart(32, "0"),
    task,
    agent: { name: "solver", config: { model: "org/model-7b", max_turns: 12 } },
    tools: [],
    nodes,
    calls,
    rewards: { correct: { score: random(2), weight: 1 } },
    metrics: { words: 12.5 },
    info: { note: text(5, random) },
    is_completed: true,
    ok: true,
    stop_condition: "agent_completed",
    errors: [],
    timing: { start: 1735689600, agent: { start: 1735689600, end: 1735689660 } },
  };
  return { id: (number + 2 ** 40).toString(16).padStart(32, "0"), env: { id: "gsm8k" }, task, ok: true, traces: [trace] };
}

function message(turn, random) {
  if (turn === 0) return { role: "user", content: text(200, random) };
  if (turn % 2 === 0) return { role: "tool", tool_call_id: `call_${turn}`, content: text(150, random) };
  const call = { id: `call_${turn + 1}`, name: "calculate", arguments: JSON.stringify({ expression: "2 + 2", turn }) };
  return { role: "assistant", content: text(120, random), reasoning_content: text(300, random), tool_calls: [call] };
}
