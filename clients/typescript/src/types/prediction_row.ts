// Generated from schema/v1/prediction_row.json by `make generate`, sha256 4650b35069a82be25ff89d8e77f4ae1841ea2ac0eeea765d35b979e0ce6e47ed.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Identifier, JsonObject, MetricMap, Sha256 } from "./common.ts";

/**
 * One item as it was measured: a line of `predictions.jsonl`, appended once the item's output is on disk. Every member
 * that is not named here is a metric of the item: its name is the adapter's or the scorer's, its value a finite number.
 * A metric that an item does not have is left out; it is never null and never counted as 0. Members with a leading
 * underscore never enter an average.
 */
export interface PredictionRow {
  /** The item, as the dataset names it; at most one row per item. */
  item_id: Identifier;
  /**
   * Milliseconds the call took, by the monotonic clock, warm-up excluded.
   * At least 0.
   */
  latency_ms?: number | null;
  /**
   * US dollars the call cost: the provider's bill where there is one, else by the config's prices. A judge's money is
   * another metric.
   * At least 0.
   */
  cost_usd?: number | null;
  /**
   * Tokens of the prompt. Not always whole: the mean when several rollouts make one row.
   * At least 0.
   */
  tokens_in?: number | null;
  /**
   * Tokens of the reply. Not always whole: the mean when several rollouts make one row.
   * At least 0.
   */
  tokens_out?: number | null;
  /**
   * Words of the output.
   * At least 0.
   */
  output_words?: number | null;
  /**
   * Name to number: what the adapter attached when the item was called and nothing can compute again, such as
   * `truncated` or `reasoning_tokens`. They are metrics of the row as well, and rescore and judge-score carry them.
   * Every row since version 0.4.0 has it, be it empty; a row without it is older, can be read, and can't be resumed or
   * rescored.
   */
  _extra?: MetricMap | null;
  /**
   * What the provider said about the call, kept as it came: `usage` (with the bill in `usage.cost`), `finish_reason`,
   * `provider`, `model` and the rest.
   * @defaultValue `{}`
   */
  _meta?: JsonObject;
  /** The item failed, and the user accepted that: type and message of the last failure. Such a row has no score. */
  _error?: string | null;
  /**
   * Digest of the bytes of the item's file in `outputs/`. When the file is missing or differs, the item is owed again.
   */
  _output_sha256?: Sha256 | null;
  /** Value of the metric named by the member; its unit is the metric's own. */
  [name: string]: number | Identifier | null | MetricMap | JsonObject | string | Sha256 | undefined;
}

export const PredictionRow: Type<PredictionRow> = {
  name: "PredictionRow",
  schema: {
    type: "object",
    additionalProperties: { type: "number" },
    properties: {
      item_id: { ref: () => Identifier },
      latency_ms: { type: ["number", "null"], minimum: 0 },
      cost_usd: { type: ["number", "null"], minimum: 0 },
      tokens_in: { type: ["number", "null"], minimum: 0 },
      tokens_out: { type: ["number", "null"], minimum: 0 },
      output_words: { type: ["number", "null"], minimum: 0 },
      _extra: { anyOf: [{ ref: () => MetricMap }, { type: "null" }] },
      _meta: { ref: () => JsonObject, omitEmpty: true },
      _error: { type: ["string", "null"] },
      _output_sha256: { anyOf: [{ ref: () => Sha256 }, { type: "null" }] },
    },
    required: ["item_id"],
  },
};
