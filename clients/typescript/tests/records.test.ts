/** Reading and writing records: what is kept, what is dropped, what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as evh from "../src/index.ts";

const minimal = '{"id":"e","task":{"type":"T","data":{}}}';

function read(members: string): { episode: evh.Episode; notices: string[] } {
  const notices: evh.Notice[] = [];
  const episode = evh.decode(`${minimal.slice(0, -1)},${members}}`, evh.Episode, { notices });
  return { episode, notices: notices.map(({ kind, pointer }) => `${kind} ${pointer}`) };
}

test("nothing is filled in on reading, and presence stays as it was", () => {
  const episode = evh.decode(minimal, evh.Episode);
  assert.equal(episode.traces, undefined);
  assert.equal(evh.encode(episode, evh.Episode), minimal);
});

test("an unknown member is kept, told and written back, unless a strict writer refuses it", () => {
  const { episode, notices } = read('"mood":"fine"');
  assert.deepEqual(notices, ["unknown /mood"]);
  assert.match(evh.encode(episode, evh.Episode), /"mood":"fine"/);
  assert.match(evh.encode({ ...episode, ok: true }, evh.Episode), /"ok":true,"mood":"fine"/);
  assert.throws(() => evh.encode(episode, evh.Episode, { strict: true }), evh.NotWritable);
});

test("a retired member is dropped with its advice", () => {
  const trace = '{"id":"t","task":{"type":"T","data":{}},"agent":{"config":{}},"timing":{"start":1},"run":{"id":"r"}}';
  const notices: evh.Notice[] = [];
  const record = evh.decode(trace, evh.Trace, { notices });
  assert.equal(Object.hasOwn(record, "run"), false);
  assert.match(notices[0]?.message ?? "", /read Episode.run/);
});

test("an object of an unknown variant is kept whole, one without a tag is refused", () => {
  const notices: evh.Notice[] = [];
  const node = evh.decode('{"message":{"role":"narrator","tale":[1]}}', evh.MessageNode, { notices });
  assert.deepEqual(notices.map(({ kind, pointer }) => [kind, pointer]), [["unknown-tag", "/message/role"]]);
  assert.equal(evh.encode(node, evh.MessageNode), '{"message":{"role":"narrator","tale":[1]}}');
  assert.throws(() => evh.decode('{"message":{"tale":[1]}}', evh.MessageNode), evh.SchemaError);
});

test("a NaN literal becomes null where null may stand, else the member around it goes", () => {
  const { episode, notices } = read('"info":{"x":NaN}');
  assert.deepEqual(episode.info, { x: null });
  assert.deepEqual(notices, ["non-finite /info/x"]);
  assert.deepEqual(evh.decode('{"score":1,"weight":NaN}', evh.Reward), { score: 1 });
  assert.throws(() => evh.decode('{"score":NaN}', evh.Reward), evh.SchemaError);
});

test("members that we compute are dropped, nulls are not written", () => {
  const { episode } = read('"num_input_tokens":5,"group":null');
  assert.equal(Object.hasOwn(episode, "num_input_tokens"), false);
  assert.equal(evh.encode(episode, evh.Episode), minimal);
});

test("large integers in free parts keep every digit, typed ones are numbers", () => {
  const { episode } = read('"info":{"id":12345678901234567890}');
  assert.equal(episode.info?.["id"], 12345678901234567890n);
  assert.match(evh.encode(episode, evh.Episode), /"id":12345678901234567890}/);
  assert.equal(evh.decode('{"score":12345678901234567890}', evh.Reward).score, 12345678901234567000);
});

test("a trace read as an episode is refused in words", () => {
  const trace = '{"id":"t","task":{"type":"T","data":{}},"nodes":[]}';
  assert.throws(() => evh.decode(trace, evh.Episode), /this is a trace/);
});

test("encode refuses what is not valid, with pointers", () => {
  const refused = (record: unknown, pointer: string, keyword: string): void => {
    assert.throws(
      () => evh.encode(record as evh.Episode, evh.Episode),
      (error) =>
        error instanceof evh.NotWritable &&
        error.violations.some((each) => each.pointer === pointer && each.keyword === keyword),
      pointer,
    );
  };
  const task = { type: "T", data: {} };
  refused({ id: 5, task }, "/id", "type");
  refused({ task }, "", "required");
  refused({ id: "e", task, info: { x: Number.NaN } }, "/info/x", "non-finite");
  refused({ id: "e", task, mood: Number.NaN }, "/mood", "non-finite");
  refused({ id: "e", task, info: { x: () => 1 } }, "/info/x", "not-json");
  refused({ id: "e", task: { type: "T", data: { idx: "x" } } }, "/task/data/idx", "type");
  const knot: Record<string, unknown> = {};
  knot["self"] = knot;
  refused({ id: "e", task, info: knot }, "", "depth");
});

test("lines that are written hold no character that a reader takes for a line end", () => {
  const text = evh.encode({ id: "e\u2028\u2029\u0085\ud800", task: { type: "T", data: {} } }, evh.Episode);
  assert.match(text, /"e\\u2028\\u2029\\u0085\\ud800"/);
});

test("members are written in the order of the schema, those of open objects as they stand", () => {
  const episode: evh.Episode = { task: { data: { z: 1, idx: 2 }, type: "T" }, id: "e" };
  assert.equal(evh.encode(episode, evh.Episode), '{"id":"e","task":{"type":"T","data":{"z":1,"idx":2}}}');
});

test("a derived chain may be 64 deep and no deeper", () => {
  const chain = (depth: number): string => {
    let block = "null";
    for (let index = 0; index < depth; index += 1) {
      const given = `{"adapter":"a.py","sha256":"${"0".repeat(64)}"}`;
      block = `{"kind":"rescore","from":"r","at":"2025-01-01T00:00:00Z","with":${given},"source":${block}}`;
    }
    return block;
  };
  evh.decodeStrict(chain(64), evh.Derived);
  assert.throws(() => evh.decodeStrict(chain(65), evh.Derived), /chain/);
  assert.throws(() => evh.decode(chain(65), evh.Derived), /chain/);
});

test("is and validate judge plain values", () => {
  const value: unknown = { score: 1 };
  assert.ok(evh.is(value, evh.Reward) && value.score === 1);
  assert.equal(evh.is({ score: Number.NaN }, evh.Reward), false);
  assert.deepEqual(evh.validate({ score: "1" }, evh.Reward).map(({ pointer, keyword }) => [pointer, keyword]), [
    ["/score", "type"],
  ]);
  assert.equal(evh.is({ score: 10n ** 20n }, evh.Reward), true);
});
