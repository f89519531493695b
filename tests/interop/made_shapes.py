"""Rows with every member that a release has, as plain values: `newer` is 0.4.0, else 0.3.1.

The rows that real runs give have one runtime, one client or none, no timeouts and no retries. These have all of them:
every runtime and client, network lists, retries, timeouts, train runs, tokens, and on the wire tensors.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

CODES = {"int32": "i", "uint8": "B", "float32": "f"}


def nd(dtype: str, shape: list[int], values: list[Any]) -> dict[str, Any]:
    """An array as the wire has it."""
    return {"__nd__": True, "dtype": dtype, "shape": shape, "data": array(CODES[dtype], values).tobytes()}


def task(newer: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "idx": 3,
        "name": "made",
        "description": "every member",
        "prompt": [
            {"role": "system", "content": "s"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}],
            },
        ],
        "system_prompt": "be brief",
        "image": "python:3.12",
        "workdir": "/w",
        "network_allow": ["example.org"],
        "network_block": [],
        "artifacts": [{"source": "/out", "exclude": ["*.tmp"], "required": False}],
        "timeout": {"setup": 1.5, "agent": 60.0, "finalize": 2.0, "scoring": 3.0},
        "resources": {"cpu": 2.0, "memory": 4.0, "disk": 8.0, "gpu": "A100:2"},
        "answer": {"nested": [1, None, {"deep": None}]},
    }
    if newer:
        data |= {"id": "t-1", "agent_user": "me", "skills": ["a/b", {"runtime": "/skills"}], "artifact_max_bytes": 5}
    return {"type": "MadeTask", "data": data, "key": "k", "hash": "h"}


def trace(newer: bool, number: int, config: dict[str, Any], runtime: dict[str, Any] | None = None) -> dict[str, Any]:
    call: dict[str, Any] = {
        "node": 2,
        "model": "m",
        "sampling": {"temperature": 0.5, "top_k": 3},
        "endpoint": "/chat/completions",
        "finish_reason": "tool_calls",
        "usage": {
            "prompt_tokens": 5,
            "completion_tokens": 7,
            "cached_input_tokens": 2,
            "reasoning_tokens": 1,
            "cost": 0.25,
        },
        "time": {"start": 1.0, "end": 2.0},
        "error": {"type": "ProviderError", "message": "late", "status_code": 504},
        "policy": {"code": "blocked", "paths": ["/a"]},
    }
    tool: dict[str, Any] = {"name": "look", "description": "d", "parameters": {"type": "object"}, "strict": True}
    call_of_tool: dict[str, Any] = {"id": "c1", "name": "look", "arguments": "{bad json"}
    streams: dict[str, Any] = {
        "token_ids": [11, 12, 13],
        "mask": [False, True, True],
        "is_content": [False, True, True],
        "logprobs": [-0.123456789, -1.0],
        "advantages": [0.5, 0.25],
        "reference_logprobs": [-0.1, -0.2],
        "loss_weights": {"kl": [0.123456789, 0.0, 1.0]},
    }
    nodes: list[dict[str, Any]] = [
        {"message": {"role": "system", "content": "s"}, "timestamp": 1.0},
        {
            "parent": 0,
            "message": {"role": "user", "content": [{"type": "text", "text": "hi \u2028 \u00e9"}]},
            "timestamp": 2.0,
        },
        {
            "parent": 1,
            "message": {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [call_of_tool],
                "provider_state": [{"signature": "x", "n": None}],
            },
            "sampled": True,
            "timestamp": 3.0,
            **streams,
        },
        {
            "parent": 2,
            "message": {"role": "tool", "tool_call_id": "c1", "content": "ok", "name": "look"},
            "timestamp": 4.0,
        },
        {"parent": 0, "message": {"role": "user", "content": "a second branch"}, "timestamp": 5.0},
    ]
    doc: dict[str, Any] = {
        "version": 1,
        "id": f"{number:032x}",
        "verifiers": {"version": "made", "commit": "c"},
        "task": task(newer),
        "agent": {"config": config, "name": "seat", "trainable": False},
        "tools": [tool],
        "nodes": nodes,
        "calls": [call],
        "mm_token_type_id_map": {"7": 1},
        "request_rewrites": [{"handler": "a"}],
        "response_rewrites": [{"handler": "b"}],
        "rewards": {"r": {"score": 1.0, "weight": 0.5}, "none": None},
        "metrics": {"m": 2.5, "none": None},
        "info": {"judge": [{"text": "t", "parsed": None}], "deep": {"null": None}},
        "extra_usage": [{"prompt_tokens": 1, "completion_tokens": 2}],
        "is_completed": True,
        "ok": True,
        "stop_condition": "agent_completed",
        "errors": [{"type": "E", "message": "m", "traceback": "tb"}],
        "timing": {
            "start": 1.0,
            "boot": {"start": 1.0, "end": 2.0},
            "agent": {"start": 2.0, "end": 3.0, "model": {"duration": 0.5}},
        },
    }
    if runtime is not None:
        doc["agent"]["runtime"] = runtime
    if newer:
        call["acp"] = {"request_id": "q-1"}
        call_of_tool |= {"type": "custom", "namespace": "ns"}
        tool |= {"type": "custom", "namespace": "ns", "format": {"type": "grammar"}}
        nodes[0]["tools"] = [tool, {"name": "bare"}]
        nodes[2] |= {"trainer_logprobs": [-0.5, -0.25], "entropies": [0.1, 0.2]}
        nodes[4]["semantic_parents"] = [{"node": 2, "type": "subagent_return"}]
        doc |= {"root_reply": "done", "is_timeout": True}
    return doc


def episode(
    newer: bool, number: int, config: dict[str, Any], runtime: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A whole row, with every member of a record that the release has."""
    doc: dict[str, Any] = {
        "id": f"{number:032x}",
        "env": {"id": "made", "name": "Made"},
        "task": task(newer),
        "group": {"id": "g"},
        "run": {
            "type": "train",
            "id": "r",
            "name": "n",
            "work": {"type": "train", "step": 4, "policy": {"start": 1, "end": 3}},
        },
        "ok": True,
        "errors": [{"type": "E", "message": "m"}],
        "traces": [trace(newer, number, config, runtime)],
    }
    if newer:
        doc["is_timeout"] = True
    return doc | more


def runtimes(newer: bool) -> Iterator[dict[str, Any]]:
    container = {"image": "i", "workdir": "/w", "cpu": 1.5, "memory": 2.0, "gpu": "2", "disk": 3.0}
    prime = {
        "type": "prime",
        "image": "i",
        "workdir": "/w",
        "region": "r",
        "labels": ["l"],
        "gpu": "A100",
        "idle_timeout": 5.0,
        "creates_per_min": 2,
    }
    modal = {
        "type": "modal",
        "image": "i",
        "workdir": "/w",
        "region": "r",
        "network_access": True,
        "creates_per_sec": 2.0,
    }
    yield {"type": "subprocess"}
    lists: list[dict[str, Any]] = [
        {},
        {"allow": ["example.org", "*.example.net"]},
        {"block": ["example.org"]},
        {"allow": [], "block": ["*"]},
    ]
    for rules in lists:
        yield {"type": "docker", **container, **rules}
        yield {**prime, **rules}
    yield {**prime, "allow": ["10.0.0.0/8", "example.org:443", "10.1.2.3:8000-8010"]}
    yield modal
    if not newer:
        yield {**prime, "vm": False, "guaranteed": True}
        return
    yield {"type": "docker"}
    yield {"type": "prime", "checkpoint": "cp"}
    for rules in lists:
        yield {"type": "podman", **container, **rules}
        if "block" not in rules or not rules.get("allow", True):
            yield {**modal, **rules}
    yield {**modal, "allow": ["https://example.org", "example.net:443"], "vm": True}
    yield {"type": "apptainer", **container}
    yield {"type": "e2b", "allow": ["example.org", "10.0.0.0/8", "*.example.net"], "cpu": 4.0}
    yield {"type": "e2b", "block": ["10.0.0.1", "10.0.0.0/8"], "workdir": "/w", "creates_per_sec": 3.0}


def clients(newer: bool, renderers: list[str]) -> Iterator[dict[str, Any]]:
    base: dict[str, Any] = {"base_url": "http://127.0.0.1:1/v1", "api_key_var": "KEY_VAR", "headers": {"X-A": "1"}}
    if newer:
        base |= {
            "headers_from_env": {"X-B": "VAR"},
            "timeout": {"connect": 1.5, "read": 2.0, "write": 3.0, "pool": 4.0},
        }
    yield {**base, "type": "eval"}
    yield {**base, "type": "train", "renderer_model_name": "base", "multiplex": 3}
    for name in renderers:
        yield {**base, "type": "train", "renderer": {"name": name}}
    for renderer in (
        {"name": "default", "tool_parser": "hermes", "custom_knob": [1, None]},
        {"name": "qwen3.6", "thinking_retention": "all", "preserve_thinking": True},
        {"name": "gpt-oss", "reasoning_effort": "high", "model_identity": "x"},
        {"name": "inkling", "reasoning_effort": "medium"},
        {"name": "hy3", "preserved_thinking": False, "thinking_retention": "tool_cycle"},
    ):
        yield {**base, "type": "train", "renderer": renderer}


def retries(newer: bool) -> Iterator[dict[str, Any]]:
    yield {"max_retries": 2}
    if newer:
        yield {"max_retries": 1, "rules": [{"type": "TaskError", "max_retries": 0}]}
        rule = {"type": "ProviderError", "status_code": [429, "5xx"], "message": "over.*", "max_retries": 3}
        yield {"rules": [rule, {"type": "EnvError", "max_retries": 0}]}
    else:
        yield {"max_retries": 3, "exclude": ["TaskError"]}
        yield {"max_retries": 3, "include": ["ProviderError"], "exclude": ["TaskError", "EnvError"]}
        yield {"max_retries": 3, "include": ["ProviderError", "SandboxError"]}


def configs(newer: bool, renderers: list[str]) -> Iterator[dict[str, Any]]:
    harness: dict[str, Any] = {
        "id": "codex",
        "env": {"A": "0"},
        "forward_env": ["HOME"],
        "tool_timeout": 5.0,
        "disabled_tools": ["x"],
        "skills": ["a/b"],
        "own": {"k": [None]},
    }
    local = {"runtime": {"type": "subprocess"}}
    yield local
    yield {
        **local,
        "harness": harness,
        "model": "m",
        "max_turns": 1,
        "max_input_tokens": 2,
        "max_output_tokens": 3,
        "max_total_tokens": 4,
    }
    yield {
        **local,
        "sampling": {
            "temperature": 0.1,
            "top_p": 0.9,
            "reasoning_effort": "low",
            "max_tokens": 7,
            "top_k": 2,
            "stop": ["x"],
        },
    }
    yield {**local, "timeout": {"setup": 1.0, "rollout": 2.5, "finalize": 3.0, "scoring": 4.0}}
    if newer:
        yield {
            **local,
            "harness": {**harness, "skills": ["a", {"runtime": "/s"}], "mcp_header_env": {"srv": {"H": "VAR"}}},
        }
        yield {**local, "sampling": {"temperature": None, "max_tokens": None, "top_k": None}, "network_notice": False}
    else:
        yield {**local, "timeout": {"setup": 0.0, "rollout": -1.0}}
        yield {**local, "sampling": {"extra_body": {"top_k": 5}, "temperature": 1.0}}
    yield from ({**local, "retries": policy} for policy in retries(newer))
    yield from ({**local, "client": client} for client in clients(newer, renderers))


def episodes(newer: bool, renderers: list[str]) -> Iterator[dict[str, Any]]:
    number = 0
    for number, config in enumerate(configs(newer, renderers), 1):
        yield episode(newer, number, config)
    for runtime in runtimes(newer):
        number += 1
        info = {**runtime, "id": "box", "borrowed": True}
        info |= {"image_cached": True} if runtime["type"] == "prime" else {}
        info |= {"template": "tpl"} if runtime["type"] == "e2b" else {}
        yield episode(newer, number, {"runtime": runtime}, info)
    local = {"runtime": {"type": "subprocess"}}
    yield episode(newer, 901, local, run={"type": "eval", "id": "e"})
    yield episode(newer, 902, local, run={"type": "train", "id": "t", "work": {"type": "eval", "step": 9}}, group=None)
    yield episode(newer, 903, local, traces=[], ok=False)
    yield episode(newer, 904, local, traces=[trace(newer, 1, local), trace(newer, 2, local)])


def wire_episodes(newer: bool, renderers: list[str]) -> Iterator[dict[str, Any]]:
    mask = {"ids": nd("int32", [3], [1, 2, 3]), "counts": nd("int32", [2], [1, 2])}
    for number, doc in enumerate(episodes(newer, renderers)):
        if number % 8 == 0 and doc["traces"]:
            node = doc["traces"][0]["nodes"][2]
            node["routed_experts"] = nd("uint8", [3, 1, 2], [1, 2, 3, 200, 5, 6])
            node["sampling_mask" if newer else "kept_tokens"] = mask
            if not newer:
                node["multi_modal_data"] = {
                    "mm_hashes": {"image": ["h"]},
                    "mm_placeholders": {"image": [{"offset": 1, "length": 2}]},
                    "mm_items": {"image": [{"pixels": nd("float32", [2], [0.5, 1.5])}]},
                }
            yield doc
