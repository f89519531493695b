/**
 * Where rows come from: files, streams and bytes of Node and browsers, as blocks of bytes, unpacked.
 *
 * Promise: blocks are read one at a time, when they are asked for. Gzip is known by its first bytes, whatever the name.
 * Policy: how large blocks are. A path needs Node (or a program that has its modules); nothing here is loaded in a
 * browser that a browser does not have.
 * When it breaks: `SourceError` says what cannot be read.
 */

import { cut, SourceError, UsageError } from "./errors.ts";

/** A stream of bytes as browsers, Node and others have it. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** A `URL` of a file, said so that nobody needs a browser's types to compile against this package. */
export interface FileUrl {
  readonly href: string;
  readonly pathname: string;
}

/**
 * A path or file URL, bytes, a web stream, a `Blob` or `Response`, a Node stream, or anything else that gives chunks of
 * bytes or text one after the other. A string is a path; give rows that are in memory as bytes.
 */
export type Source =
  | string
  | FileUrl
  | Uint8Array
  | ArrayBuffer
  | ByteStream
  | { stream(): ByteStream }
  | { readonly body: ByteStream | null }
  | AsyncIterable<Uint8Array | string>
  | Iterable<Uint8Array | string>;

const BLOCK = 1 << 18;
const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** The name of a source in errors. */
export function nameOf(source: Source): string {
  if (typeof source === "string") return source;
  return isFileUrl(source) ? source.pathname : "<stream>";
}

function isFileUrl(source: Source): source is FileUrl {
  return typeof source === "object" && source !== null && "href" in source && "pathname" in source;
}

/** The blocks of a source, unpacked. */
export async function* blocksOf(source: Source): AsyncGenerator<Uint8Array> {
  const raw = rawBlocks(source);
  try {
    const head: Uint8Array[] = [];
    let length = 0;
    while (length < ZSTD.length) {
      const next = await raw.next();
      if (next.done) break;
      head.push(next.value);
      length += next.value.length;
    }
    const start = joined(head);
    if (ZSTD.every((byte, index) => start[index] === byte)) {
      throw new SourceError(`${nameOf(source)}: Zstandard is not read here: unpack it first, or use gzip`);
    }
    const whole = chained(start, raw);
    yield* GZIP.every((byte, index) => start[index] === byte) ? unpacked(whole, nameOf(source)) : whole;
  } finally {
    await raw.return(undefined);
  }
}

async function* chained(start: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (start.length > 0) yield start;
  yield* rest;
}

async function* rawBlocks(source: Source): AsyncGenerator<Uint8Array> {
  if (typeof source === "string" || isFileUrl(source)) return yield* fileBlocks(source);
  if (source instanceof Uint8Array) return yield* pieces(source);
  if (source instanceof ArrayBuffer) return yield* pieces(new Uint8Array(source));
  if (typeof source !== "object" || source === null) throw noSource(source);
  try {
    if ("getReader" in source) return yield* streamBlocks(source);
    if ("stream" in source) return yield* streamBlocks(source.stream());
    if ("body" in source) {
      if (source.body === null) return;
      return yield* streamBlocks(source.body);
    }
    if (Symbol.asyncIterator in source || Symbol.iterator in source) {
      for await (const chunk of source) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
      return;
    }
  } catch (error) {
    throw failed(error, nameOf(source));
  }
  throw noSource(source);
}

function noSource(value: unknown): UsageError {
  return new UsageError(`${cut(value)} is no source of rows: give a path, a stream, a Blob, a Response or bytes`);
}

function* pieces(data: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < data.length; start += BLOCK) yield data.subarray(start, start + BLOCK);
}

async function* streamBlocks(stream: ByteStream): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      if (done) return;
      if (value !== undefined) yield value;
    }
  } finally {
    if (!isDone) await reader.cancel();
  }
}

/** What this package needs of Node, so that nobody needs Node's types to compile against it. */
interface FileSystem {
  promises: {
    open(path: string | FileUrl): Promise<{
      read(into: Uint8Array, offset: number, length: number): Promise<{ bytesRead: number }>;
      close(): Promise<void>;
    }>;
  };
}

async function* fileBlocks(path: string | FileUrl): AsyncGenerator<Uint8Array> {
  const found = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  const fs = found?.getBuiltinModule?.("node:fs") as FileSystem | undefined;
  if (fs === undefined) throw new UsageError("a path is read in Node (20.16 or newer) only: give a stream or a Blob");
  try {
    const file = await fs.promises.open(path);
    try {
      for (;;) {
        // Rows may still point into the last block.
        const block = new Uint8Array(BLOCK);
        const { bytesRead } = await file.read(block, 0, BLOCK);
        if (bytesRead === 0) return;
        yield bytesRead === BLOCK ? block : block.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw failed(error, nameOf(path));
  }
}

async function* unpacked(packed: AsyncGenerator<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const gzip = new DecompressionStream("gzip");
  const writer = gzip.writable.getWriter();
  const feeding = (async (): Promise<unknown> => {
    try {
      for await (const block of packed) await writer.write(block as Uint8Array<ArrayBuffer>);
      await writer.close();
      return undefined;
    } catch (error) {
      await writer.abort(error).catch(() => undefined);
      return error;
    }
  })();
  try {
    yield* streamBlocks(gzip.readable);
  } catch (error) {
    throw new SourceError(`${name}: the gzip data is broken: ${String(error)}`, { cause: (await feeding) ?? error });
  }
}

function failed(error: unknown, name: string): Error {
  if (error instanceof SourceError || error instanceof UsageError) return error;
  return new SourceError(`${name}: cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });
}

/** Blocks as one. */
export function joined(blocks: readonly Uint8Array[]): Uint8Array {
  const [first] = blocks;
  if (first !== undefined && blocks.length === 1) return first;
  const made = new Uint8Array(blocks.reduce((length, each) => length + each.length, 0));
  let at = 0;
  for (const block of blocks) {
    made.set(block, at);
    at += block.length;
  }
  return made;
}
