# Generated from schema/v1 by `make generate` (contract.json, sha256 d2aa92615f89359c889b40e11abc4c37b6020c40a8bcf33126e4531d2216e46c). Edit the schema, not this file.
"""The closed types of `schema/v1/contract.json`: contract."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field

from evh.protocol._base import (
    Model,
    OverflowSlot,
    always,
    new_list,
)


class Contract(Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """What one consumer relies on: the types and members it reads and writes, the values it knows, the Python names it imports. Kept in the consumer's repository or in ours; `evh contract check` says which of it a change to the schemas would break. A file may be JSON, or TOML of the same shape."""

    name: Annotated[str, Meta(min_length=1)]
    """The consumer, as messages call it."""
    about: str | None = None
    """What it does with the records, in a sentence, and where it lives."""
    schema_version: Annotated[str, Meta(max_length=8, pattern="^1\\.(0|[1-9][0-9]{0,3})(?!\\n)$")] | None = None
    """The schema version it was written against, as `<major>.<minor>`."""
    types: list[ContractType] = field(default_factory=new_list)
    """Each type that it touches, once."""
    names: list[Name] = field(default_factory=new_list)
    """Python names that it imports, as `module:name`, such as `evh:Episode`; an attribute of a class as `evh:Trace.reward`."""
    additional: OverflowSlot = field(default=None, name="*")


class ContractMember(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """One member, and how far the consumer relies on it."""

    path: Annotated[str, Meta(pattern="^(/[A-Za-z0-9_*~.-]+)+(?!\\n)$")]
    """Where it is, from the type: a JSON Pointer in which `*` stands for every item of an array and every member of a map, such as `/traces/*/reward`. In a union any variant may have it."""
    types: list[Literal["string", "integer", "number", "boolean", "object", "array", "null"]] = field(
        default_factory=new_list
    )
    """The JSON types that the consumer can take (reading) or makes (writing); empty: it does not care. An integer is a `number` as well."""
    values: list[str] = field(default_factory=new_list)
    """Tags, or values of a closed list, that the consumer knows or makes."""
    needed: bool = field(default_factory=always(False))
    """Reading: the consumer cannot do without it, it must be required in every document."""
    exhaustive: bool = field(default_factory=always(False))
    """Reading: `values` are all that the consumer can take, so that another one breaks it."""
    additional: OverflowSlot = field(default=None, name="*")


class ContractType(
    Model, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, repr_omit_defaults=True, gc=False
):
    """One type of the contract and what the consumer does with it."""

    type: Annotated[str, Meta(min_length=1)]
    """Name of the type, such as `Episode` or `MessageNode`."""
    reads: list[ContractMember] = field(default_factory=new_list)
    """Members that it reads."""
    writes: list[ContractMember] = field(default_factory=new_list)
    """Members that it writes. With any of them, a member that the schema requires beside them must be there as well."""
    additional: OverflowSlot = field(default=None, name="*")


ModelModel: TypeAlias = Any


Name: TypeAlias = Annotated[
    str,
    Meta(
        max_length=200,
        pattern="^evh(\\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*(?!\\n)$",
    ),
]
