"""Rows that no release writes and that a converter must still hand over: one fault each, put into a made row."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

Doc = dict[str, Any]


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = {"d": [value]}
    return value


def node(doc: Doc, index: int) -> Doc:
    return doc["traces"][0]["nodes"][index]


def config(doc: Doc) -> Doc:
    return doc["traces"][0]["agent"]["config"]


def put(place: Callable[[Doc], Doc], **members: Any) -> Callable[[Doc], None]:
    return lambda doc: place(doc).update(copy.deepcopy(members))


def trace(doc: Doc) -> Doc:
    return doc["traces"][0]


def call(doc: Doc) -> Doc:
    return trace(doc)["calls"][0]


def unknown_everywhere(doc: Doc) -> None:
    def visit(value: Any, free: bool) -> None:
        if isinstance(value, dict):
            for name, item in list(value.items()):
                visit(item, free or name in ("info", "data", "parameters", "provider_state"))
            if not free:
                value["x_unknown"] = {"a": [1, None]}
        elif isinstance(value, list):
            for item in value:
                visit(item, free)

    for name in ("rewards", "metrics", "mm_token_type_id_map"):
        trace(doc)[name] = {}
    for item in trace(doc)["nodes"]:
        item.pop("loss_weights", None)
    config(doc).pop("harness", None)
    visit(doc, False)


def box(kind: str, **members: Any) -> Callable[[Doc], None]:
    def change(doc: Doc) -> None:
        runtime = {"type": kind, **members}
        config(doc)["runtime"] = runtime
        trace(doc)["agent"]["runtime"] = {**copy.deepcopy(runtime), "id": "i"}

    return change


def client(**members: Any) -> Callable[[Doc], None]:
    return lambda doc: config(doc).update(client={"base_url": "u", "api_key_var": "K", **copy.deepcopy(members)})


FAULTS: dict[str, Callable[[Doc], None]] = {
    "parent out of range": lambda doc: node(doc, 2).update(parent=99),
    "parent negative": lambda doc: node(doc, 2).update(parent=-1),
    "parent of itself": lambda doc: node(doc, 2).update(parent=2),
    "circle of two": lambda doc: (node(doc, 1).update(parent=3), node(doc, 3).update(parent=1)),
    "unknown role": lambda doc: node(doc, 1).update(message={"role": "developer", "content": "x", "extra": 1}),
    "unknown part": lambda doc: node(doc, 1)["message"].update(
        content=[{"type": "audio", "data": "x"}, {"type": "text", "text": "t"}]
    ),
    "unknown finish reason": lambda doc: call(doc).update(finish_reason="content_filter"),
    "unknown run": lambda doc: doc.update(run={"type": "serve", "id": "x"}),
    "run without type": lambda doc: doc.update(run={"id": "x"}),
    "span backwards": lambda doc: doc["run"].update(
        work={"type": "train", "step": 1, "policy": {"start": 5, "end": 2}}
    ),
    "both egress lists": box("docker", allow=["a"], block=["b"]),
    "egress in another spelling": box("docker", allow=["*"], block=["*", "a"]),
    "egress nothing allowed": box("docker", allow=[]),
    "prime with a scheme": box("prime", allow=["https://example.org"]),
    "prime with a bare port": box("prime", allow=["example.org:8000"]),
    "prime without a machine": box("prime", allow=["example.org"], vm=False),
    "modal deny list": box("modal", block=["example.org"]),
    "modal address": box("modal", allow=["10.0.0.1"]),
    "modal offline with a list": box("modal", allow=["example.org"], network_access=False),
    "modal machine with a gpu": box("modal", vm=True, gpu="A100"),
    "e2b blocks a name": box("e2b", block=["example.org"]),
    "e2b too small": box("e2b", cpu=0.5, memory=0.01),
    "apptainer in the root": box("apptainer", workdir="/"),
    "runtime of tomorrow": box("quantum", qubits=3),
    "docker without a place": box("docker", workdir=None),
    "runtime without type": lambda doc: config(doc).update(runtime={"image": "x"}),
    "timeouts of zero": lambda doc: config(doc).update(timeout={"setup": 0, "rollout": -1.0, "scoring": 3}),
    "client timeout of zero": client(type="eval", timeout={"connect": 0, "read": 1}),
    "client of tomorrow": client(type="proxy"),
    "renderer of tomorrow": client(type="train", renderer={"name": "qwen9", "x": 1}),
    "renderer with code": client(type="train", renderer={"name": "custom", "import_path": "os.path"}),
    "renderer that contradicts": client(
        type="train", renderer={"name": "glm-5", "thinking_retention": "all", "clear_thinking": True}
    ),
    "renderer with an earlier flag": client(type="train", renderer={"name": "default", "preserve_all_thinking": True}),
    "header that is no text": client(type="eval", headers={"a": 1, "b": "2"}),
    "number too big for a float": lambda doc: trace(doc)["metrics"].update(
        big=10**400, exact=2**60, not_exact=2**60 + 1
    ),
    "bool for a number": lambda doc: trace(doc)["rewards"].update(b={"score": True}, n={"score": None}),
    "text for a number": lambda doc: config(doc).update(max_turns="3", sampling={"temperature": "0.5"}),
    "None as text": lambda doc: config(doc).update(
        model="None", harness={"id": "None", "own": "None", "skills": ["None"]}
    ),
    "lone surrogates": lambda doc: (
        node(doc, 1)["message"].update(content="a\ud800b"),
        trace(doc)["info"].update({"k\udc00": "v\udfff"}),
    ),
    "surrogate in the task": lambda doc: doc["task"]["data"].update(answer="\ud83d"),
    "deep info": lambda doc: trace(doc)["info"].update(deep=deep(70)),
    "not finite": lambda doc: trace(doc)["metrics"].update(nan=float("nan"), inf=float("-inf")),
    "extra body": lambda doc: config(doc).update(
        sampling={"extra_body": {"top_k": 1, "temperature": 0.2}, "max_completion_tokens": 5}
    ),
    "extra body unfit": lambda doc: config(doc).update(sampling={"extra_body": {"temperature": "hot"}}),
    "extra body no object": lambda doc: call(doc).update(sampling={"extra_body": "x", "max_completion_tokens": "y"}),
    "paths": lambda doc: (
        doc["task"]["data"].update(skills=["a//b/./c"]),
        config(doc).update(harness={"skills": ["x/./y", ""]}),
    ),
    "skill of another kind": lambda doc: config(doc).update(harness={"skills": [{"host": "x"}]}),
    "foreign evh": lambda doc: trace(doc)["info"].update(evh="mine"),
    "kept by an upgrade": lambda doc: trace(doc)["info"].update(evh={"kept": {"/x": 1}}),
    "no info": lambda doc: trace(doc).pop("info"),
    "info of another kind": lambda doc: trace(doc).update(info=[1]),
    "state": put(trace, state={"artifacts": {"x": 5}}),
    "schema and info": lambda doc: doc.update(
        schema="evh:1.0:episode", info={"split": "test", "evh": {"kept": {"/a": None}}}
    ),
    "unknown members": unknown_everywhere,
    "tool without a description": lambda doc: trace(doc).update(tools=[{"name": "t"}]),
    "tool without a name": lambda doc: trace(doc).update(tools=[{"name": "t"}, {"description": "d"}]),
    "arguments as an object": lambda doc: node(doc, 2)["message"].update(
        tool_calls=[{"id": "c", "name": "n", "arguments": {"a": 1}}]
    ),
    "tool message without its call": lambda doc: node(doc, 3).update(message={"role": "tool", "content": None}),
    "null in logprobs": lambda doc: node(doc, 2).update(logprobs=[None, -1.0]),
    "nulls in open objects": lambda doc: (
        doc["task"]["data"].update(a=None),
        config(doc).update(harness={"own": None}),
    ),
    "link with a float": lambda doc: node(doc, 4).update(semantic_parents=[{"node": 1.0, "type": "x"}]),
    "reward null among others": lambda doc: trace(doc)["rewards"].update(z=None),
    "retries of both releases": lambda doc: config(doc).update(
        retries={"max_retries": 2, "include": ["A"], "rules": []}
    ),
    "retries with a bad pattern": lambda doc: config(doc).update(
        retries={"rules": [{"message": "(", "max_retries": 1}]}
    ),
    "usage without a count": lambda doc: call(doc).update(usage={"prompt_tokens": 1}),
    "id map with words": lambda doc: trace(doc).update(mm_token_type_id_map={"a": 1}),
}


def odd_rows(made: Doc) -> Iterator[tuple[str, Doc]]:
    """Each fault by its name, in a copy of one made row."""
    for name, change in FAULTS.items():
        doc = copy.deepcopy(made)
        change(doc)
        yield name, doc


POOL: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.0,
    0.5,
    -0.25,
    2**63,
    10**320,
    "",
    "x",
    "None",
    "*",
    "/",
    "a//b",
    "10.0.0.0/8",
    "https://example.org/x",
    "1",
    "prime",
    "train",
    "\ud800",
    [],
    {},
    ["*"],
    ["x"],
    [1],
    [None],
    {"a": 1},
    {"type": "x"},
    {"type": "eval"},
    {"runtime": "x"},
]


def mutated_rows(made: list[Doc], count: int, seed: int) -> Iterator[tuple[str, Doc]]:
    """Made rows with one to three of their values replaced, removed, or joined by an unknown member."""
    dice = random.Random(seed)
    for number in range(count):
        doc = copy.deepcopy(dice.choice(made))
        for _ in range(dice.randint(1, 3)):
            holder, key = dice.choice(list(places(doc)))
            value = copy.deepcopy(dice.choice(POOL))
            how = dice.random()
            if how < 0.7:
                holder[key] = value
            elif how < 0.85 and isinstance(holder, dict):
                del holder[key]
            elif isinstance(holder, dict):
                holder["x_new"] = value
            else:
                holder.append(value)
        yield f"mutated {seed}:{number}", doc


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from places(item)
