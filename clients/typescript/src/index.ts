/**
 * Records of AI evaluation and RL runs: types, validators and readers, from the same schemas as the Python package.
 *
 * @packageDocumentation
 */

export type { ByteStream, Source } from "./blocks.ts";
export { decode, decodeStrict, is, MAX_CHAIN, validate } from "./decode.ts";
export { canonical, encode } from "./encode.ts";
export { DecodeError, EvhError, NotWritable, SchemaError, SourceError, UsageError } from "./errors.ts";
export { type ReadOptions, readEpisodes, readRecords, RecordReader } from "./reader.ts";
export { type Fault, MAX_DEPTH, NOTED_DEPTH } from "./scanner.ts";
export type { JsonValue, Notice, Schema, Type, Violation } from "./schema.ts";
export { checkText, type Data, parse } from "./text.ts";
export { ordered } from "./violations.ts";
export * from "./types/index.ts";
