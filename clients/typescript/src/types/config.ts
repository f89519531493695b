// Generated from schema/v1/config.json by `make generate`, sha256 b23992c808d1301b82f44c8ab03e9281e4b212b29bf5fdb7847b6af62abfc61c.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";
import { Identifier, JsonObject } from "./common.ts";

/**
 * One way to produce outputs: the YAML file `data/configs/<name>.yaml`, read by the safe loader, as JSON. An unknown
 * key is a typing error and refused before the first call.
 */
export interface Config {
  /** Name of the instrument; a change that makes its numbers incomparable needs a new one. */
  config_id: Identifier;
  /** The dataset to measure. */
  dataset_id: Identifier;
  /**
   * The adapter's file, looked for in the config's folder first, then in the project's root; null means the one that
   * comes with the harness.
   */
  adapter?: string | null;
  /**
   * Knobs handed to the adapter as they stand, and published in the record; keys of services are named by variable
   * (`api_key_env`), never written here.
   * @defaultValue `{}`
   */
  params?: JsonObject;
  /** Id of the goal policy the runs are made under; copied into the record. */
  goal?: string | null;
  /** Output format the arm is asked for; copied into the record. */
  format?: string | null;
  /** Round of a sweep, a text (`"3"`, not `3`); copied into the record. */
  round?: string | null;
}

export const Config: Type<Config> = {
  name: "Config",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      config_id: { ref: () => Identifier },
      dataset_id: { ref: () => Identifier },
      adapter: { type: ["string", "null"], minLength: 1 },
      params: { ref: () => JsonObject, omitEmpty: true },
      goal: { type: ["string", "null"] },
      format: { type: ["string", "null"] },
      round: { type: ["string", "null"] },
    },
    required: ["config_id", "dataset_id"],
  },
};
