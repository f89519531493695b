"""What a consumer relies on, written down, and held against the schemas and this package.

    contract = load_contract("contract.toml")
    for found in check_contract(contract):
        print(found)        # /types/0/reads/3: /run/work/step is gone (run_info.json#/$defs/TrainWorkInfo)

Promise: what a contract says it reads or writes is found at its place in the schemas or told as a break, with the
pointer into the contract file and the place in the schema. A contract that says nothing of types or values is not
broken by them. What a contract does not name can change freely.
Policy: the wording. When it breaks: a release breaks a consumer that had told us what it needs.
"""

from __future__ import annotations

import difflib
import importlib
import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evh.errors import DecodeError, EvhError, SourceError, UsageError
from evh.testing._schema_paths import SchemaSet, Spot

if TYPE_CHECKING:
    from evh.protocol.models import Contract, ContractMember, ContractType

__all__ = ["Broken", "check_contract", "contract_text", "load_contract"]


class Broken(NamedTuple):
    """A thing that a consumer relies on and that is not so: `pointer` leads into the contract, `place` into the schemas
    (file and pointer; empty for a Python name); `kind` is `type`, `gone`, `types`, `optional`, `value`, `new-value`,
    `required` or `name`."""

    pointer: str
    kind: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" + (f" ({self.place})" if self.place else "")


def load_contract(path: str | Path) -> Contract:
    """Read a contract, JSON or (by its name) TOML. Raises `SourceError`, `DecodeError` or `SchemaError`."""
    from evh.protocol.codec import decode_strict
    from evh.protocol.models import Contract

    source = str(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot be read: {getattr(error, 'strerror', None) or error}", source=source) from error
    if source.endswith(".toml"):
        try:
            data = json.dumps(tomllib.loads(data.decode("utf-8"))).encode()
        except UnicodeDecodeError as error:
            raise DecodeError("this TOML is not UTF-8", source=source) from error
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise DecodeError(f"no TOML: {error}", source=source) from error
        except (TypeError, ValueError) as error:
            raise DecodeError("a contract holds no dates and no such numbers", source=source) from error
    try:
        return decode_strict(data, Contract)
    except EvhError as error:
        raise error.at(source, None) from None


def contract_text(contract: Contract, *, toml: bool = False) -> str:
    """A contract as it is kept in a file."""
    from evh.protocol.codec import encode

    document = _without_defaults(json.loads(encode(contract)))
    if not toml:
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    lines = [f"{key} = {_toml(document[key])}" for key in ("name", "about", "schema_version") if document.get(key)]
    if document.get("names"):
        lines += ["names = [", *(f"  {_toml(name)}," for name in document["names"]), "]"]
    for each in document.get("types", []):
        lines += ["", "[[types]]", f"type = {_toml(each['type'])}"]
        for use in ("reads", "writes"):
            if each.get(use):
                lines += [f"{use} = [", *(f"  {_toml(member)}," for member in each[use]), "]"]
    return "\n".join(lines) + "\n"


def check_contract(contract: Contract, schemas: SchemaSet | None = None, *, names: bool = True) -> list[Broken]:
    """Everything that the contract relies on and that is not so: in these schemas (default: the installed ones), and
    with `names` in the installed package."""
    schemas = SchemaSet.packaged() if schemas is None else schemas
    found: list[Broken] = []
    for number, each in enumerate(contract.types):
        found += _type(each, f"/types/{number}", schemas)
    if names:
        for number, name in enumerate(contract.names):
            if not _is_there(name):
                found.append(Broken(f"/names/{number}", "name", f"{name} cannot be imported{_near_name(name)}"))
    return found


def _type(used: ContractType, where: str, schemas: SchemaSet) -> Iterator[Broken]:
    if used.type not in schemas.definitions:
        near = _near(used.type, list(schemas.definitions))
        yield Broken(f"{where}/type", "type", f"there is no type {used.type}{near}")
        return
    for number, member in enumerate(used.reads):
        yield from _read(used.type, member, f"{where}/reads/{number}", schemas)
    for number, member in enumerate(used.writes):
        yield from _written(used.type, member, f"{where}/writes/{number}", schemas)
    if used.writes:
        yield from _missing(used, f"{where}/writes", schemas)


def _read(name: str, member: ContractMember, where: str, schemas: SchemaSet) -> Iterator[Broken]:
    spots = schemas.along(name, member.path)
    if not spots:
        yield _gone(name, member, where, schemas)
        return
    known: set[str] = {*member.types}
    for spot in spots:
        types = schemas.types(spot)
        surprising = {"any type"} if types is None else {each for each in types if not _takes(known, each)}
        if known and surprising:
            what = f"{name}{member.path} may be {' or '.join(sorted(surprising))}, which the consumer does not take"
            yield Broken(f"{where}/types", "types", what, spot.place)
        if member.needed and not spot.required:
            yield Broken(f"{where}/needed", "optional", f"{name}{member.path} may be left out", spot.place)
    yield from _values(name, member, where, schemas, spots)


def _values(
    name: str, member: ContractMember, where: str, schemas: SchemaSet, spots: Sequence[Spot]
) -> Iterator[Broken]:
    if not member.values and not member.exhaustive:
        return
    lists = [schemas.values(spot) for spot in spots]
    place = spots[0].place
    if any(each is None for each in lists):
        if member.exhaustive:
            what = f"{name}{member.path} may be any text, and the consumer takes {_listed(member.values)} alone"
            yield Broken(f"{where}/exhaustive", "new-value", what, place)
        return
    there = {value for each in lists for value in each or ()}
    for value in member.values:
        if value not in there:
            what = f"{name}{member.path} is never {value!r}: there is {_listed(sorted(there))}"
            yield Broken(f"{where}/values", "value", what, place)
    for value in sorted(there - set(member.values)) if member.exhaustive else ():
        what = f"{name}{member.path} may be {value!r}, which the consumer does not know"
        yield Broken(f"{where}/exhaustive", "new-value", what, place)


def _written(name: str, member: ContractMember, where: str, schemas: SchemaSet) -> Iterator[Broken]:
    spots = schemas.along(name, member.path)
    if not spots:
        yield _gone(name, member, where, schemas)
        return
    admitted = [schemas.types(spot) for spot in spots]
    if all(each is not None for each in admitted):
        taken = {kind for each in admitted for kind in each or ()}
        refused = [kind for kind in member.types if not _takes(taken, kind)]
        if refused:
            what = f"{name}{member.path} may not be {' or '.join(refused)}: it is {' or '.join(sorted(taken))}"
            yield Broken(f"{where}/types", "types", what, spots[0].place)
    lists = [schemas.values(spot) for spot in spots]
    if member.values and all(each is not None for each in lists):
        there = {value for each in lists for value in each or ()}
        for value in member.values:
            if value not in there:
                what = f"{name}{member.path} may not be {value!r}: there is {_listed(sorted(there))}"
                yield Broken(f"{where}/values", "value", what, spots[0].place)


def _missing(used: ContractType, where: str, schemas: SchemaSet) -> Iterator[Broken]:
    """Members that must stand beside the ones written, and that the contract does not write."""
    written: dict[str, dict[str, ContractMember]] = {}
    for member in used.writes:
        parent, _, name = member.path.rpartition("/")
        written.setdefault(parent, {})[name] = member
    for parent, members in written.items():
        arms = [arm for spot in schemas.along(used.type, parent) for arm in schemas.arms(spot)]
        owed = [
            (sorted(set(arm.schema.get("required", ())) - members.keys()), arm)
            for arm in arms
            if "properties" in arm.schema and _is_meant(arm, members)
        ]
        if owed and all(missing for missing, _ in owed):
            missing, arm = min(owed, key=lambda each: len(each[0]))
            what = f"{used.type}{parent} must also have {', '.join(missing)}, which the consumer does not write"
            yield Broken(where, "required", what, arm.place)


def _is_meant(arm: Spot, members: dict[str, ContractMember]) -> bool:
    """Whether an object type is one that the consumer writes: by the tags that it names."""
    for name, member in arm.schema["properties"].items():
        if "const" in member and name in members and members[name].values:
            return member["const"] in members[name].values
    return True


def _gone(name: str, member: ContractMember, where: str, schemas: SchemaSet) -> Broken:
    """The member is nowhere: say from which step on, and what is there instead."""
    steps = member.path.split("/")
    for count in range(len(steps) - 1, 0, -1):
        spots = schemas.along(name, "/".join(steps[:count]))
        arms = [arm for spot in spots for arm in schemas.arms(spot)]
        if not arms:
            continue
        there = sorted({each for arm in arms for each in arm.schema.get("properties", {})})
        owners = [owner for owner, spot in schemas.definitions.items() if spot in arms]
        advice = next((schemas.retired[o, steps[count]] for o in owners if (o, steps[count]) in schemas.retired), None)
        more = f": {advice}" if advice else _near(steps[count], there)
        gone = f"{name}{'/'.join(steps[: count + 1])}"
        return Broken(f"{where}/path", "gone", f"{gone} is gone{more}", arms[0].place)
    raise AssertionError("the type itself is there")


def _without_defaults(document: Any) -> Any:
    """What is worth keeping: empty lists and False are what their absence means."""
    if isinstance(document, dict):
        return {key: _without_defaults(each) for key, each in document.items() if each not in ([], False)}
    return [_without_defaults(each) for each in document] if isinstance(document, list) else document


def _takes(known: set[str], kind: str) -> bool:
    return kind in known or (kind == "integer" and "number" in known)


def _is_there(name: str) -> bool:
    """Whether a name can be imported as the contract spells it; only this package is ever loaded."""
    module, _, attributes = name.partition(":")
    if module.partition(".")[0] != "evh":
        raise UsageError(f"{name!r} is no name of this package")
    try:
        value: object = importlib.import_module(module)
        for attribute in attributes.split("."):
            value = getattr(value, attribute)
    except (ImportError, AttributeError):
        return False
    return True


def _near_name(name: str) -> str:
    module, _, attribute = name.partition(":")
    try:
        names = list(getattr(importlib.import_module(module), "__all__", []))
    except ImportError:
        return ""
    return _near(attribute, names)


def _near(name: str, names: Sequence[str]) -> str:
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f": did you mean {found[0]}?" if found else ""


def _listed(values: Sequence[str]) -> str:
    return ", ".join(repr(value) for value in values) or "nothing"


def _toml(value: object) -> str:
    """A value in one line of TOML. Its texts and arrays are those of JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
