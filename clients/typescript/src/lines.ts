/**
 * Blocks of bytes as rows.
 *
 * Promise: rows are split at LF bytes and nowhere else, and memory is bounded by the longest one. `line` and `offset`
 * are exact. Nothing is dropped in silence: a byte order mark, a CR before the LF and blank lines are told by notices.
 * Policy: a last row without LF is marked `torn`, for the caller to judge.
 */

import { joined } from "./blocks.ts";
import type { Notice } from "./schema.ts";

/** A row as it stands in its source: its bytes without the LF, its line from 1, and where it begins in the file. */
export interface Line {
  readonly data: Uint8Array;
  readonly line: number;
  readonly offset: number;
  readonly notices: readonly Notice[];
  readonly torn: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const BOM = [0xef, 0xbb, 0xbf];
const NOTHING: readonly Notice[] = [];
const RETURN: Notice = { kind: "crlf", pointer: "", message: "the line ends in CR LF; the CR was dropped" };
const MARK: Notice = { kind: "bom", pointer: "", message: "the file begins with a byte order mark; it was dropped" };

/** The rows of blocks, those of one block at a time. */
export async function* linesOf(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  const splitter = new Splitter();
  try {
    for await (const block of blocks) {
      const rows = splitter.split(block);
      if (rows.length > 0) yield rows;
    }
  } catch (error) {
    // What stands before the fault comes first.
    const rest = splitter.rest();
    if (rest.length > 0) yield rest;
    throw error;
  }
  const rest = splitter.rest();
  if (rest.length > 0) yield rest;
}

class Splitter {
  private carry: Uint8Array[] = [];
  private line = 0;
  private offset = 0;
  private blank = 0;
  private hasMark = false;

  split(block: Uint8Array): Line[] {
    const rows: Line[] = [];
    let start = 0;
    for (let end = block.indexOf(LF); end >= 0; end = block.indexOf(LF, start)) {
      let data = block.subarray(start, end);
      if (this.carry.length > 0) {
        data = joined([...this.carry, data]);
        this.carry = [];
      }
      this.add(data, false, rows);
      this.offset += 1;
      start = end + 1;
    }
    if (start < block.length) this.carry.push(block.subarray(start));
    return rows;
  }

  rest(): Line[] {
    const rows: Line[] = [];
    const data = joined(this.carry);
    this.carry = [];
    if (data.length > 0) this.add(data, true, rows);
    return rows;
  }

  private add(whole: Uint8Array, torn: boolean, rows: Line[]): void {
    let data = whole;
    if (this.line === 0 && BOM.every((byte, index) => data[index] === byte)) {
      this.hasMark = true;
      this.offset += BOM.length;
      data = data.subarray(BOM.length);
    }
    this.line += 1;
    const { offset } = this;
    this.offset += data.length;
    if (isBlank(data)) {
      this.blank += 1;
      return;
    }
    let notices = this.told();
    if (data[data.length - 1] === CR) {
      data = data.subarray(0, -1);
      notices = [...notices, RETURN];
    }
    rows.push({ data, line: this.line, offset, notices, torn });
  }

  /** The notices that wait for the next row. */
  private told(): readonly Notice[] {
    if (!this.hasMark && this.blank === 0) return NOTHING;
    const found: Notice[] = this.hasMark ? [MARK] : [];
    if (this.blank > 0) {
      found.push({ kind: "blank", pointer: "", message: `${this.blank} blank lines were skipped`, value: this.blank });
    }
    this.hasMark = false;
    this.blank = 0;
    return found;
  }
}

/** Whether a line holds nothing but white space. */
function isBlank(data: Uint8Array): boolean {
  for (const byte of data) if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return false;
  return true;
}
