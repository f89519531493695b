// Generated from schema/v1/contract.json by `make generate`, sha256 d2aa92615f89359c889b40e11abc4c37b6020c40a8bcf33126e4531d2216e46c.
// Edit the schema, not this file.

import type { Type } from "../schema.ts";

/**
 * What one consumer relies on: the types and members it reads and writes, the values it knows, the Python names it
 * imports. Kept in the consumer's repository or in ours; `evh contract check` says which of it a change to the schemas
 * would break. A file may be JSON, or TOML of the same shape.
 */
export interface Contract {
  /** The consumer, as messages call it. */
  name: string;
  /** What it does with the records, in a sentence, and where it lives. */
  about?: string | null;
  /** The schema version it was written against, as `<major>.<minor>`. */
  schema_version?: string | null;
  /** Each type that it touches, once. */
  types?: ContractType[];
  /**
   * Python names that it imports, as `module:name`, such as `evh:Episode`; an attribute of a class as
   * `evh:Trace.reward`.
   */
  names?: ImportedName[];
}

export const Contract: Type<Contract> = {
  name: "Contract",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      name: { type: "string", minLength: 1 },
      about: { type: ["string", "null"] },
      schema_version: {
        type: ["string", "null"],
        pattern: "^1\\.(0|[1-9][0-9]{0,3})(?!\\n)$",
        maxLength: 8,
      },
      types: { type: "array", items: { ref: () => ContractType } },
      names: { type: "array", items: { ref: () => ImportedName } },
    },
    required: ["name"],
  },
};

/** A name of the package: the module, a colon, the name in it, which may have dots. */
export type ImportedName = string;

export const ImportedName: Type<ImportedName> = {
  name: "ImportedName",
  schema: {
    type: "string",
    pattern: "^evh(\\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*(?!\\n)$",
    maxLength: 200,
  },
};

/** One type of the contract and what the consumer does with it. */
export interface ContractType {
  /** Name of the type, such as `Episode` or `MessageNode`. */
  type: string;
  /** Members that it reads. */
  reads?: ContractMember[];
  /** Members that it writes. With any of them, a member that the schema requires beside them must be there as well. */
  writes?: ContractMember[];
}

export const ContractType: Type<ContractType> = {
  name: "ContractType",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      type: { type: "string", minLength: 1 },
      reads: { type: "array", items: { ref: () => ContractMember } },
      writes: { type: "array", items: { ref: () => ContractMember } },
    },
    required: ["type"],
  },
};

/** One member, and how far the consumer relies on it. */
export interface ContractMember {
  /**
   * Where it is, from the type: a JSON Pointer in which `*` stands for every item of an array and every member of a
   * map, such as `/traces/*\/reward`. In a union any variant may have it.
   */
  path: string;
  /**
   * The JSON types that the consumer can take (reading) or makes (writing); empty: it does not care. An integer is a
   * `number` as well.
   */
  types?: JsonType[];
  /** Tags, or values of a closed list, that the consumer knows or makes. */
  values?: string[];
  /**
   * Reading: the consumer cannot do without it, it must be required in every document.
   * @defaultValue `false`
   */
  needed?: boolean;
  /**
   * Reading: `values` are all that the consumer can take, so that another one breaks it.
   * @defaultValue `false`
   */
  exhaustive?: boolean;
}

export const ContractMember: Type<ContractMember> = {
  name: "ContractMember",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      path: { type: "string", pattern: "^(/[A-Za-z0-9_*~.-]+)+(?!\\n)$" },
      types: { type: "array", items: { ref: () => JsonType } },
      values: { type: "array", items: { type: "string" } },
      needed: { type: "boolean" },
      exhaustive: { type: "boolean" },
    },
    required: ["path"],
  },
};

/** A type of JSON, with integers told from other numbers. */
export type JsonType = "string" | "integer" | "number" | "boolean" | "object" | "array" | "null";

export const JsonType: Type<JsonType> = {
  name: "JsonType",
  schema: {
    type: "string",
    enum: ["string", "integer", "number", "boolean", "object", "array", "null"],
  },
};
