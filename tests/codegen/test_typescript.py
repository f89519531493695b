"""The generated TypeScript types say what the schemas say."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path

import pytest

from codegen.__main__ import SCHEMAS
from codegen.shapes import Contract
from codegen.typescript import TYPESCRIPT, typescript_modules


def modules(contract: Contract) -> dict[Path, str]:
    return typescript_modules(contract, dict.fromkeys(contract.files, "0"))


@cache
def whole() -> tuple[Contract, str]:
    contract = Contract(SCHEMAS)
    return contract, "\n".join(modules(contract).values())


def test_every_definition_is_a_type_and_a_constant() -> None:
    contract, text = whole()
    for name in contract.definitions:
        assert re.search(rf"^export (interface|type) {name}\b", text, re.MULTILINE), name
        assert f"export const {name}: Type<{name}> = {{" in text


def test_every_member_has_its_wire_name_and_its_description() -> None:
    contract, text = whole()
    for name, (_, schema) in contract.definitions.items():
        if "properties" not in schema:
            continue
        body = text.split(f"export interface {name} {{")[1].split("\n}\n")[0]
        words = " ".join(re.sub(r"[\s*/]+", " ", body).split())
        for member, inner in schema["properties"].items():
            declared = re.search(rf'^  "?{re.escape(member)}"?(\??):', body, re.MULTILINE)
            assert (declared is None) == ("x-computed" in inner), f"{name}.{member}"
            if declared is not None:
                assert declared[1] == ("" if member in schema["required"] else "?")
                assert " ".join(re.sub(r"[\s*/]+", " ", inner["description"]).split())[:60] in words, member


def test_a_new_optional_member_is_in_type_and_constant() -> None:
    contract = copy.deepcopy(whole()[0])
    trace = contract.definitions["Trace"][1]
    trace["properties"]["mood"] = {"description": "How it felt.", "type": ["string", "null"], "x-since": "1.9"}
    text = modules(contract)[TYPESCRIPT / "trace.ts"]
    assert "  /**\n   * How it felt.\n   * @since 1.9\n   */\n  mood?: string | null;\n" in text
    assert 'mood: { type: ["string", "null"] },' in text


def test_open_vocabularies_show_what_is_known_and_take_any_text() -> None:
    assert 'finish_reason?: "stop" | "length" | "tool_calls" | "content_filter" | (string & {}) | null;' in whole()[1]


def test_a_union_is_told_apart_by_its_tag() -> None:
    text = whole()[1]
    assert "export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;" in text
    assert '  role: "assistant";' in text


def test_retired_members_have_their_advice() -> None:
    contract, text = whole()
    for entry in contract.retired:
        assert f"{entry['member']}: {json.dumps(entry['instead'])}" in text


def test_a_keyword_that_no_reader_follows_is_refused() -> None:
    contract = copy.deepcopy(whole()[0])
    contract.definitions["Reward"][1]["properties"]["score"]["multipleOf"] = 2
    with pytest.raises(ValueError, match="multipleOf"):
        modules(contract)
