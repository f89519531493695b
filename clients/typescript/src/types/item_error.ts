// Generated from schema/v1/item_error.json by `make generate`, sha256 2f91729f07c839215b371eb568282016d2b112c36cb6f19c5665bed00fbe0afa.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Identifier, Timestamp } from "./common.ts";

/**
 * A failed attempt at an item, retries used up: a line of `errors.jsonl`. The item is owed until a later attempt
 * measures it or the user accepts the failure.
 */
export interface ItemError {
  /** The item, as the dataset names it. */
  item_id: Identifier;
  /**
   * Launch of the run in which it failed, as in `attempts.jsonl`.
   * At least 1.
   */
  attempt: number;
  /** When it failed. */
  at: Timestamp;
  /**
   * Calls that were made, the first one included.
   * At least 0.
   */
  tries?: number | null;
  /** Class of the last error. */
  type: string;
  /** What it said, with secrets masked. */
  message: string;
  /** Where in the adapter it came from, with secrets masked; cut in the middle when it is long. */
  traceback?: string | null;
}

export const ItemError: Type<ItemError> = {
  name: "ItemError",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      item_id: { ref: () => Identifier },
      attempt: { type: "integer", minimum: 1, maximum: 9007199254740991 },
      at: { ref: () => Timestamp },
      tries: { type: ["integer", "null"], minimum: 0, maximum: 9007199254740991 },
      type: { type: "string", minLength: 1 },
      message: { type: "string" },
      traceback: { type: ["string", "null"] },
    },
    required: ["item_id", "attempt", "at", "type", "message"],
  },
};
