"""The reference pages, `docs/reference/*.md`: one for each schema file, and a list of all types.

Promise: a page says everything a schema says about its types (meaning, unit, since when, who writes and who reads
them), so that nobody needs to read JSON Schema to write a record; each object type has an example out of the valid
ones. Policy: its wording and form.
"""

from __future__ import annotations

import json
from pathlib import Path

from .page_examples import page_examples, users
from .shapes import Contract, Member, Schema, Shape, Union, is_union, reference_name

SCHEMAS = Path(__file__).resolve().parent.parent / "schema" / "v1"
REFERENCE = Path("docs/reference")
HEAD = "<!-- Generated from schema/v1 by `make generate`. Edit the schema, not this page. -->\n"
STORED_AS = {
    "episode": "a row of `traces.jsonl`",
    "trace": "the `traces` of an episode",
    "run_info": "the `run` of an episode",
    "run_record": "`metrics.json` of a run",
    "derived": "the `derived` of a run record",
    "run_manifest": "`run.json` of a run",
    "prediction_row": "a row of `predictions.jsonl`",
    "attempt": "a row of `attempts.jsonl`",
    "item_error": "a row of `errors.jsonl`",
    "lease": "`lease.json` of a run that is being written",
    "run_end": "`end.json` of a live run that was closed",
    "step_row": "a row of `steps.jsonl`",
    "dataset": "`data/datasets/<dataset_id>.json`",
    "config": "`data/configs/<name>.yaml`",
    "reference_manifest": "the `manifest.json` of a set of references",
    "baseline": "`data/baselines/<baseline_id>.json`",
    "contract": "a file of a consumer, `contract.toml` or `contract.json`",
    "goal": "`data/goals/<goal_id>.json`",
}


Examples = dict[str, str]
Users = dict[str, list[tuple[str, str]]]


def reference_pages(contract: Contract, folder: Path = SCHEMAS) -> dict[Path, str]:
    """Every reference page below the repository, with its text; `folder` has the examples."""
    examples, used = page_examples(contract, folder), users(contract)
    pages = {REFERENCE / f"{Path(file).stem}.md": _page(contract, file, examples, used) for file in contract.files}
    return {REFERENCE / "README.md": _index(contract), **pages}


def _index(contract: Contract) -> str:
    rows = [
        f"| [{name}]({_address(contract, name)}) | {_first_sentence(schema['description'])} |"
        for name, (_, schema) in sorted(contract.definitions.items())
    ]
    roots = [
        f"- [`{title}`]({stem}.md): {STORED_AS[stem]}" if stem in STORED_AS else f"- [`{title}`]({stem}.md)"
        for stem, title in contract.roots().items()
    ]
    lines = [
        HEAD,
        "# Reference",
        "",
        "Every type of the contract, from the schemas in [`schema/v1`](../../schema/v1). What holds for all of them is",
        "in [the format](../format.md).",
        "",
        "Documents of their own, and parts that have a file of their own:",
        "",
        *roots,
        "",
        "| type | what it is |",
        "|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _page(contract: Contract, file: str, examples: Examples, used: Users) -> str:
    document = contract.files[file]
    stem = Path(file).stem
    root = document["title"] if document["title"] in contract.definitions else None
    lines = [HEAD, f"# {document['title']}", ""]
    if document.get("$defs", {}).keys() >= {root} or root is None:
        lines += [document["description"], ""]
    source = f"[`schema/v1/{file}`](../../schema/v1/{file})"
    lines.append(f"Schema: {source}. Stored as {STORED_AS[stem]}." if stem in STORED_AS else f"Schema: {source}.")
    lines += ["", *_people(document)]
    names = list(document.get("$defs", {}))
    if root is not None and root not in names:
        names.insert(0, root)
    for name in names:
        lines += _section(contract, name, used.get(name, []))
        if name in examples:
            lines += ["Example:", "", "```json", examples[name], "```", ""]
    if root is not None:
        lines += _examples(root)
    return "\n".join(lines).rstrip() + "\n"


def _people(document: Schema) -> list[str]:
    """Who writes and who reads the documents of a file."""
    said = {"Written by": document.get("x-written-by"), "Read by": document.get("x-read-by")}
    lines = [f"{who} {text}." for who, text in said.items() if text]
    return [*lines, ""] if lines else []


def _section(contract: Contract, name: str, used: list[tuple[str, str]]) -> list[str]:
    _, schema = contract.definitions[name]
    since = f"Since schema {schema.get('x-since', '1.0')}."
    places = [f"[{owner}]({_address(contract, owner)})" + (f" `{member}`" if member else "") for owner, member in used]
    found = f" Found in {', '.join(places)}." if places else ""
    lines = [f"## {name}", "", schema["description"], "", since + found, ""]
    if name in contract.unions:
        return lines + _variants(contract, contract.unions[name])
    if "properties" not in schema:
        return [*lines, f"Type: {_type(contract, schema)}.", ""]
    return lines + (_members(contract, contract.shapes[name]) if name in contract.shapes else _raw(contract, schema))


def _variants(contract: Contract, union: Union) -> list[str]:
    lines = [f"One of these, told apart by `{union.tag}`:", ""]
    for name in union.variants:
        tag = contract.shapes[name].tag
        assert tag is not None, name
        lines.append(f"- `{tag[1]}`: [{name}]({_address(contract, name)})")
    lines += ["", f"A lenient reader keeps an object with any other `{union.tag}` whole, as `Unknown{union.name}`.", ""]
    return lines


def _members(contract: Contract, shape: Shape) -> list[str]:
    if shape.closed:
        lines = ["No other members: a strict reader refuses them, a lenient one keeps and reports them."]
    elif shape.extra == {}:
        lines = ["Open: any other member is kept as it is."]
    else:
        assert shape.extra is not None
        others = f"Open: any other member is {_nested(contract, shape.extra)}."
        lines = [" ".join([others, shape.extra.get("description", "")]).rstrip()]
    if shape.members:
        lines += ["", "| member | type | when absent | meaning |", "|---|---|---|---|"]
        lines += [_row(contract, member) for member in shape.members]
    retired = [entry for entry in contract.retired if entry["class"] == shape.name]
    if retired:
        lines += ["", "Retired members (a strict reader refuses them, a lenient one drops and reports them):", ""]
        lines += [f"- `{each['member']}`, retired in {each['since']}: {each['instead']}" for each in retired]
    return [*lines, ""]


def _raw(contract: Contract, schema: Schema) -> list[str]:
    """A type whose class is written by hand."""
    lines = ["| member | type | meaning |", "|---|---|---|"]
    for name, member in schema["properties"].items():
        lines.append(f"| `{name}` | {_cell(_type(contract, member))} | {_cell(member['description'])} |")
    return [*lines, ""]


def _row(contract: Contract, member: Member) -> str:
    name = f"`{member.name}`"
    if member.python != member.name:
        name += f" (Python: `{member.python}`)"
    meaning = " ".join([member.description, *_remarks(member.schema)])
    kind = _nested if member.required else _type
    cells = (name, kind(contract, member.schema), _absence(member), meaning)
    return "| " + " | ".join(_cell(each) for each in cells) + " |"


def _absence(member: Member) -> str:
    if member.required:
        return "made, in Python; else required" if "x-minted" in member.schema else "required"
    if member.nullable:
        return "null, which means the same"
    if "default" in member.schema and member.kind.what not in {"class", "map", "object"}:
        return f"`{json.dumps(member.schema['default'])}`"
    return "empty"


def _remarks(schema: Schema) -> list[str]:
    known = schema.get("x-open-vocabulary")
    remarks = {
        "x-since": f"Since schema {schema.get('x-since')}.",
        "x-stream": "A token stream: kept as raw JSON until it is read.",
        "x-computed": "Accepted, never kept.",
        "x-wire": "In MessagePack only; JSON leaves it out.",
        "x-secret": "Its values are masked in run directories and uploads.",
        "x-omit-empty": "An empty one is not written.",
        "x-open-vocabulary": f"Known values: {_values(known or [])}; others are taken as they are.",
    }
    return [text for key, text in remarks.items() if key in schema]


def _type(contract: Contract, schema: Schema) -> str:
    """A schema in words."""
    if "$ref" in schema:
        return _reference(contract, reference_name(schema))
    if "anyOf" in schema:
        return _type(contract, schema["anyOf"][0])
    if is_union(schema):
        return " or ".join(_type(contract, branch) for branch in schema["oneOf"])
    if "oneOf" in schema:
        return f"string, or {_type(contract, schema['oneOf'][1])}"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    types = schema.get("type", "any JSON value")
    names = [types] if isinstance(types, str) else [name for name in types if name != "null"]
    return " or ".join(_named_type(contract, name, schema) for name in names)


def _nested(contract: Contract, schema: Schema) -> str:
    """A schema in words where absence is not said elsewhere: with `or null` when null is allowed."""
    text = _type(contract, schema)
    types = schema.get("type", [])
    nullable = "null" in types if isinstance(types, list) else False
    return f"{text} or null" if nullable or "anyOf" in schema else text


def _named_type(contract: Contract, name: str, schema: Schema) -> str:
    match name:
        case "array":
            least = f", at least {schema['minItems']}" if "minItems" in schema else ""
            return f"array of {_nested(contract, schema['items'])}{least}"
        case "object":
            return f"object, each member {_nested(contract, schema['additionalProperties'])}"
        case "string":
            if "enum" in schema:
                return f"one of {_values(schema['enum'])}"
            return "string" + _length(schema) + (f" like `{schema['pattern']}`" if "pattern" in schema else "")
        case "integer" | "number":
            return name + _bounds(schema)
        case "boolean":
            return "true or false"
        case _:
            return name


def _length(schema: Schema) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least == most and least is not None:
        return f" of {least} characters"
    if least is not None and most is not None:
        return f" of {least} to {most} characters"
    if most is not None:
        return f" of at most {most} characters"
    return "" if least is None else " that is not empty" if least == 1 else f" of at least {least} characters"


def _bounds(schema: Schema) -> str:
    least, most, above = schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")
    safe = 2**53 - 1
    parts = []
    if least is not None and least != -safe:
        parts.append(f"≥ {least}")
    if above is not None:
        parts.append(f"> {above}")
    if most is not None and most != safe:
        parts.append(f"≤ {most}")
    return " " + ", ".join(parts) if parts else ""


def _reference(contract: Contract, name: str) -> str:
    return f"[{name}]({_address(contract, name)})"


def _address(contract: Contract, name: str) -> str:
    return f"{Path(contract.definitions[name][0]).stem}.md#{name.lower()}"


def _examples(root: str) -> list[str]:
    folder = "../../schema/v1/examples"
    return [
        "## Examples",
        "",
        f"[Valid ones]({folder}/valid/{root}), and [invalid ones]({folder}/invalid/{root}), each of these with the",
        "place and the keyword of its first violation.",
        "",
    ]


def _values(values: list[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _first_sentence(text: str) -> str:
    head, separator, _ = text.partition(". ")
    return _cell(head + separator.strip())
