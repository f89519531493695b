/**
 * Records from files and streams, one at a time: `readEpisodes` and `readRecords`.
 *
 * Promise: memory is bounded by one row and one block. A bad row never hides the good ones behind it: it is skipped and
 * counted, thrown, or handed to a function, as the caller says. Every error names source and line. A last row that was
 * torn is told as such. A source that cannot be read always throws, after the rows that stand before the fault.
 * Policy: rows of old shapes are not upgraded here: `evh upgrade` does that.
 */

import { blocksOf, joined, nameOf, type Source } from "./blocks.ts";
import { decode, decodeStrict } from "./decode.ts";
import { DecodeError, EvhError, UsageError } from "./errors.ts";
import { type Line, linesOf } from "./lines.ts";
import type { Notice, Type } from "./schema.ts";
import { Episode } from "./types/episode.ts";

const KEPT_ERRORS = 100;

/** How rows are read, and what is done with what is odd. */
export interface ReadOptions {
  /** `lenient` (the default) or `strict`. */
  readonly mode?: "lenient" | "strict";
  /** What a bad row does: `skip` (the default), `throw`, or a function that is called with the error. */
  readonly onError?: "skip" | "throw" | ((error: EvhError) => void);
  /** Called with each notice and the line it is about. */
  readonly onNotice?: (notice: Notice, line: number) => void;
}

/** The episodes of a source, one at a time: `for await (const episode of readEpisodes("traces.jsonl")) …`. */
export function readEpisodes(source: Source, options: ReadOptions = {}): RecordReader<Episode> {
  return new RecordReader(source, Episode, options);
}

/** The records of a source of rows of any type, one at a time. */
export function readRecords<T>(source: Source, type: Type<T>, options: ReadOptions = {}): RecordReader<T> {
  return new RecordReader(source, type, options);
}

/** An iterator over records that counts: `read`, `skipped`, and the first hundred `errors` of skipped rows. */
export class RecordReader<T> implements AsyncIterableIterator<T, undefined> {
  read = 0;
  skipped = 0;
  readonly errors: EvhError[] = [];
  private readonly name: string;
  private readonly rows: AsyncGenerator<Line[]>;
  private readonly type: Type<T>;
  private readonly options: ReadOptions;
  private batch: Line[] = [];
  private at = 0;

  constructor(source: Source, type: Type<T>, options: ReadOptions) {
    const { mode = "lenient", onError = "skip" } = options;
    if (mode !== "lenient" && mode !== "strict") throw new UsageError("mode must be 'lenient' or 'strict'");
    if (onError !== "skip" && onError !== "throw" && typeof onError !== "function") {
      throw new UsageError("onError must be 'skip', 'throw' or a function");
    }
    this.name = nameOf(source);
    this.type = type;
    this.options = options;
    this.rows = this.name.endsWith(".json") ? documentOf(source) : linesOf(blocksOf(source));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      while (this.at < this.batch.length) {
        const row = this.batch[this.at] as Line;
        this.at += 1;
        const found = this.record(row);
        if (found !== undefined) {
          this.read += 1;
          return { done: false, value: found.record };
        }
      }
      const batch = await this.rows.next();
      if (batch.done) return { done: true, value: undefined };
      this.batch = batch.value;
      this.at = 0;
    }
  }

  /** Stops reading and lets go of the source. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.batch = [];
    await this.rows.return(undefined);
    return { done: true, value: undefined };
  }

  /** All records that are left. */
  async toArray(): Promise<T[]> {
    const found: T[] = [];
    for await (const record of this) found.push(record);
    return found;
  }

  private record(row: Line): { record: T } | undefined {
    const { mode, onNotice } = this.options;
    const notices: Notice[] | undefined = onNotice === undefined ? undefined : [...row.notices];
    try {
      const record = mode === "strict" ? decodeStrict(row.data, this.type) : decode(row.data, this.type, { notices });
      for (const notice of notices ?? []) onNotice?.(notice, row.line);
      return { record };
    } catch (error) {
      if (!(error instanceof EvhError)) throw error;
      this.failed(row.torn && error instanceof DecodeError ? torn(error, row) : error, row);
      return undefined;
    }
  }

  private failed(error: EvhError, row: Line): void {
    const { onError = "skip" } = this.options;
    error.at(this.name, row.line);
    this.skipped += 1;
    if (onError === "throw") throw error;
    if (onError !== "skip") onError(error);
    else if (this.errors.length < KEPT_ERRORS) this.errors.push(error);
  }
}

function torn(error: DecodeError, row: Line): DecodeError {
  const why = error.message.replace(/^torn row: /, "");
  return new DecodeError(`torn last row of ${row.data.length} bytes: ${why}`, error);
}

/** A file named `.json` is one document, whatever lines it has, unless only its lines are documents. */
async function* documentOf(source: Source): AsyncGenerator<Line[]> {
  const blocks: Uint8Array[] = [];
  for await (const block of blocksOf(source)) blocks.push(block);
  const data = joined(blocks);
  try {
    JSON.parse(new TextDecoder().decode(data));
    yield [{ data, line: 1, offset: 0, notices: [], torn: false }];
  } catch {
    yield* linesOf(blocksOf(data));
  }
}
