/** The JSON layer: what `JSON.parse` changes without a word is told. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as evh from "../src/index.ts";

const faults = (text: string | Uint8Array): string[] =>
  evh.checkText(text).map(({ kind, pointer }) => `${kind} ${pointer}`);

test("a member that stands twice is told at its place, the last one counts", () => {
  assert.deepEqual(faults('{"a":{"b":1,"b":2},"a~/":0,"a~/":1}'), ["duplicate-key /a~0~1", "duplicate-key /a/b"]);
  assert.deepEqual(evh.parse('{"a":1,"a":2}').value, { a: 2 });
});

test("integers keep every digit, and those beyond 2^53 - 1 are told", () => {
  assert.deepEqual(faults("[9007199254740991, -9007199254740991, 1e300, 9007199254740993.0]"), []);
  assert.deepEqual(faults("[9007199254740992]"), ["big-integer /0"]);
  assert.deepEqual(evh.parse("[123456789012345678901]").value, [123456789012345678901n]);
});

test("numbers that JSON does not have are told", () => {
  assert.deepEqual(faults("[NaN, Infinity, -Infinity, 1e400]"), [0, 1, 2, 3].map((each) => `non-finite /${each}`));
});

test("lone surrogates are told in texts and names, pairs are not", () => {
  assert.deepEqual(faults('["\\ud83d\\ude00", "\\ud83d", "\\ude00x"]'), ["surrogate /1", "surrogate /2"]);
  assert.deepEqual(faults('{"\\ud800":1}'), ["surrogate /\ud800"]);
  assert.deepEqual(faults('["\\\\ud800"]'), []);
});

test("nesting is told beyond 128 levels and refused beyond 500", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  assert.deepEqual(faults(nested(128)), []);
  assert.deepEqual(faults(nested(129)), [`depth ${"/0".repeat(128)}`]);
  assert.throws(() => evh.checkText(nested(501)), evh.DecodeError);
  assert.throws(() => evh.checkText("[".repeat(100_000)), evh.DecodeError);
});

test("a byte order mark is told, text that is no UTF-8 is refused", () => {
  assert.deepEqual(faults(new Uint8Array([0xef, 0xbb, 0xbf, 0x31])), ["bom "]);
  assert.throws(() => evh.checkText(new Uint8Array([0x22, 0xff, 0x22])), evh.DecodeError);
});

test("what is no JSON is refused in words with the byte", () => {
  for (const [text, word] of [
    ["", "empty"],
    ['{"a":', "torn row"],
    ['"abc', "torn row"],
    ['{"a":1} x', "trailing"],
    ["{'a':1}", "unexpected"],
    ['"\u0001"', "control"],
    ['"\\x"', "escape"],
    ["\0\0", "NUL"],
    ["01", "trailing"],
    ["[1,]", "unexpected"],
    [`[${"1".repeat(4301)}]`, "digits"],
  ] as const) {
    assert.throws(
      () => evh.checkText(text),
      (error) => error instanceof evh.DecodeError && error.message.includes(word) && error.offset !== undefined,
      text,
    );
  }
});

test("a member named __proto__ is a member", () => {
  const { value } = evh.parse('{"__proto__":{"x":1}}');
  assert.deepEqual(Object.keys(value as object), ["__proto__"]);
  assert.equal(evh.canonical(value), '{"__proto__":{"x":1}}');
});

test("canonical text follows RFC 8785", () => {
  const value = evh.parse('{"\u20ac":"Euro","\\r":"CR","\u{1f600}":"face","\ufb33":"dalet","1":[1e21,1e-7,-0,4.50,1.0]}').value;
  const expected = '{"\\r":"CR","1":[1e+21,1e-7,0,4.5,1],"\u20ac":"Euro","\u{1f600}":"face","\ufb33":"dalet"}';
  assert.equal(evh.canonical(value), expected);
  for (const odd of [Number.NaN, [1n], { a: "\ud800" }, [() => 1]]) assert.throws(() => evh.canonical(odd), evh.EvhError);
});
