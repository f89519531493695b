// Generated from schema/v1/dataset.json by `make generate`, sha256 c25482d72b7062997b1f4f61aad82505a64d474ce0b3447072779a0069a082b3.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Identifier, Sha256, Timestamp } from "./common.ts";

/**
 * A frozen, named list of items: `data/datasets/<dataset_id>.json`. The digests make it a contract: runs of one dataset
 * were measured on the same bytes.
 */
export interface Dataset {
  /** Name of the dataset; also the stem of its file. */
  dataset_id: string;
  /** Version of this file format, such as `1.0`. */
  version: string;
  /** When it was frozen; kept when it is made again from identical items. */
  created_at: Timestamp;
  /** What the items are, for people. */
  description?: string | null;
  /** Where the items were taken from, relative to the project's root; a label, never absolute. */
  source_dir?: string | null;
  /** The items, in the order they are measured. No two have one id. */
  items: DatasetItem[];
}

export const Dataset: Type<Dataset> = {
  name: "Dataset",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      dataset_id: { type: "string", pattern: "^[a-z0-9_]+(?!\\n)$", minLength: 1, maxLength: 250 },
      version: { type: "string", minLength: 1 },
      created_at: { ref: () => Timestamp },
      description: { type: ["string", "null"] },
      source_dir: { type: ["string", "null"] },
      items: { type: "array", minItems: 1, items: { ref: () => DatasetItem } },
    },
    required: ["dataset_id", "version", "created_at", "items"],
  },
};

/** One input. */
export interface DatasetItem {
  /**
   * Name of the item within the dataset; by default the path of its source without the last suffix, so it may hold
   * slashes. Never used as a file name as it stands.
   */
  item_id: Identifier;
  /** Digest of the bytes of the source when it was frozen. */
  source_sha256: Sha256;
  /**
   * The source's file below the materialized dataset, with forward slashes; null means that it is named like the item.
   */
  source_path?: string | null;
  /** Labels to select or group items by. */
  tags?: string[];
}

export const DatasetItem: Type<DatasetItem> = {
  name: "DatasetItem",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      item_id: { ref: () => Identifier },
      source_sha256: { ref: () => Sha256 },
      source_path: { type: ["string", "null"], minLength: 1 },
      tags: { type: "array", items: { type: "string" }, omitEmpty: true },
    },
    required: ["item_id", "source_sha256"],
  },
};
