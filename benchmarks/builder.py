"""Build the rows that the benchmarks read: `python -m benchmarks.builder DIR [--quick]`, in a process of its own.

Episodes go through the released verifiers library as a run would make them: each turn is committed to its message
graph, with token ids, logprobs and message spans where the set has streams, and rows are written by its own serializer.
The text is real: the docstrings of Python's standard library for what people and models say, its source for what tools
answer. Ids and times differ from build to build; sizes and shapes do not.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import secrets
import shutil
import struct
import sys
import sysconfig
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import BIG, Shape, sets, stamp, stamp_file

SHORTEST_PROSE = 120
VOCABULARY = 150_000
CHARACTERS_PER_TOKEN = 4
TURN_HEADER = (151_644, 77_091, 198)
TURN_FOOTER = (151_645, 198)


def _docstrings(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


class Writer:
    """Gives out stretches of real text, each about as long as asked."""

    def __init__(self) -> None:
        sources, prose = [], []
        for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
            source = path.read_text(encoding="utf-8", errors="replace")
            sources.append(source)
            prose += [text for text in _docstrings(ast.parse(source)) if len(text) >= SHORTEST_PROSE]
        self.code = "".join(sources)
        self.prose = "\n\n".join(prose)

    def prose_of(self, rng: random.Random, length: int) -> str:
        return self._stretch(self.prose, rng, length)

    def code_of(self, rng: random.Random, length: int) -> str:
        return self._stretch(self.code, rng, length)

    @staticmethod
    def _stretch(text: str, rng: random.Random, length: int) -> str:
        length = max(40, round(length * rng.lognormvariate(0, 0.35)))
        start = rng.randrange(len(text) - length)
        return text[start : start + length]


def tokens_of(text: str) -> list[int]:
    """One id for every few characters; equal text has equal ids, as a tokenizer's would."""
    step = CHARACTERS_PER_TOKEN
    return [zlib.crc32(text[at : at + step].encode()) % VOCABULARY for at in range(0, len(text), step)]


def single(value: float) -> float:
    """A value as an inference server reports it: single precision, widened."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


class Conversation:
    """One episode in the making."""

    def __init__(self, shape: Shape, number: int, writer: Writer) -> None:
        self.shape = shape
        self.number = number
        self.writer = writer
        self.rng = random.Random(f"{shape.name}-{number}")
        self.now = 1_790_000_000.0 + 60 * number
        self.prompt: list[Any] = []
        self.ids: list[int] = []
        self.spans: list[tuple[int, int] | None] = []

    def episode(self) -> Any:
        """The finished episode, of verifiers' own class."""
        from verifiers.v1 import State
        from verifiers.v1.configs.agent import WireAgentConfig
        from verifiers.v1.episode import EnvInfo, Episode, EvalRunInfo
        from verifiers.v1.task import WireTaskData
        from verifiers.v1.trace import AgentInfo, Trace, TraceTask
        from verifiers.v1.types import SystemMessage, UserMessage

        rng, say = self.rng, self.writer.prose_of
        question = say(rng, 600)
        data = WireTaskData.model_validate(
            {
                "idx": self.number,
                "name": f"task-{self.number:06d}",
                "prompt": question,
                "answer": say(rng, 60),
                "split": "test",
            }
        )
        task = TraceTask(type="BenchTask", data=data, key=f"task-{self.number}", hash=f"{rng.getrandbits(128):032x}")
        agent = AgentInfo[WireAgentConfig](config=WireAgentConfig(model="org/model-32b"))
        trace = Trace[WireTaskData, State, WireAgentConfig](task=task, agent=agent)
        shared = random.Random(f"system-{self.shape.name}")
        self.add(SystemMessage(content=say(shared, 900 if self.shape.tool_chars else 300)))
        self.add(UserMessage(content=question))
        tools = self.tools() if self.shape.tool_chars else None
        for turn in range(self.shape.turns):
            self.turn(trace, turn, tools)
        trace.record_reward("correct", float(rng.random() < 0.55))
        trace.record_reward("format", rng.random(), weight=0.2)
        trace.record_metrics({"num_turns": self.shape.turns, "tool_calls": self.shape.turns - 1, "parse_ok": 1.0})
        trace.ok = trace.is_completed = True
        trace.stop_condition = "agent_completed"
        made = Episode[WireTaskData, State, WireAgentConfig](
            env=EnvInfo(id="bench-env", name="bench"), task=task, traces=[trace], ok=rng.random() < 0.97
        )
        made.record_run(EvalRunInfo(id="run-0001", name="bench-env--model-32b"))
        return made

    def tools(self) -> list[Any]:
        from verifiers.v1.types import Tool

        parameters = {
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
            "required": ["command"],
        }
        return [
            Tool(name=name, description=self.writer.prose_of(random.Random(f"tool-{name}"), 200), parameters=parameters)
            for name in ("bash", "edit")
        ]

    def add(self, message: Any) -> None:
        """A message that the program supplies, with the tokens a chat template gives it."""
        self.prompt.append(message)
        if self.shape.tokens:
            start = len(self.ids)
            role = zlib.crc32(message.role.encode()) % VOCABULARY
            self.ids += [TURN_HEADER[0], role, TURN_HEADER[2], *tokens_of(message.content), *TURN_FOOTER]
            self.spans.append((start, len(self.ids)))

    def turn(self, trace: Any, turn: int, tools: list[Any] | None) -> None:
        """One call of the model, committed to the graph, and the tool's answer to it."""
        from verifiers.v1 import graph
        from verifiers.v1.trace import ModelCall, TimeSpan
        from verifiers.v1.types import AssistantMessage, Response, ToolCall, ToolMessage, Usage

        rng, shape = self.rng, self.shape
        calls = None
        if tools and turn < shape.turns - 1:
            command = {"command": f"sed -n {turn},{turn + 80}p src/module_{rng.randrange(99)}.py", "timeout": 30}
            calls = [ToolCall(id=f"call_{rng.getrandbits(64):016x}", name="bash", arguments=json.dumps(command))]
        message = AssistantMessage(
            content=self.writer.prose_of(rng, shape.reply_chars),
            reasoning_content=self.writer.prose_of(rng, shape.reply_chars) if turn % 2 == 0 else None,
            tool_calls=calls,
        )
        usage = Usage(
            prompt_tokens=1000 + 90 * turn, completion_tokens=len(message.content) // 4, cached_input_tokens=64 * turn
        )
        ended = "tool_calls" if calls else "stop"
        response = Response(
            id=f"reply-{turn}",
            created=int(self.now),
            model="org/model-32b",
            message=message,
            finish_reason=ended,
            usage=usage,
            tokens=self.sampled(message) if shape.tokens else None,
        )
        node = graph.prepare_turn(trace, list(self.prompt), tools).commit(response)
        trace.calls.append(
            ModelCall(
                node=node,
                model="org/model-32b",
                endpoint="/chat/completions",
                finish_reason=ended,
                usage=usage,
                time=TimeSpan(start=self.now, end=self.now + rng.uniform(0.4, 9.0)),
            )
        )
        self.now += 10
        self.prompt.append(message)
        for call in calls or ():
            answer = self.writer.code_of(rng, shape.tool_chars)
            self.add(ToolMessage(tool_call_id=call.id, name="bash", content=answer))

    def sampled(self, message: Any) -> Any:
        """The tokens of a turn; the prompt of the next one begins with them."""
        from verifiers.v1.types import TurnTokens

        prompt = [*self.ids, *TURN_HEADER]
        reply = tokens_of((message.reasoning_content or "") + message.content)
        made = TurnTokens(
            prompt_ids=prompt,
            completion_ids=reply,
            completion_logprobs=[single(-self.rng.expovariate(self.rng.choice((3.0, 400.0)))) for _ in reply],
            message_spans=list(self.spans),
            is_content=[at % 17 != 0 for at in range(len(prompt))],
        )
        self.spans.append((len(self.ids), len(prompt) + len(reply)))
        self.ids = prompt + reply
        return made


def build(shape: Shape, writer: Writer, folder: Path) -> None:
    """Write one set as verifiers writes a run."""
    from pydantic import TypeAdapter

    folder.mkdir(parents=True)
    with (folder / "traces.jsonl").open("wb") as file:
        for number in range(shape.rows):
            made = Conversation(shape, number, writer).episode()
            file.write(TypeAdapter(type(made)).dump_json(made, exclude_none=True) + b"\n")


def repeat(source: Path, folder: Path, size: int) -> None:
    """A file of the given size from the rows of a set, each time under ids of its own."""
    rows = [(line, json.loads(line)) for line in source.read_bytes().splitlines()]
    pool = [(line, [row["id"].encode(), *(trace["id"].encode() for trace in row["traces"])]) for line, row in rows]
    folder.mkdir(parents=True)
    written = at = 0
    with (folder / "traces.jsonl").open("wb") as file:
        while written < size:
            line, ids = pool[at % len(pool)]
            for each in ids:
                line = line.replace(each, secrets.token_hex(16).encode())
            written += file.write(line + b"\n")
            at += 1


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.builder", description="Build the rows of the benchmarks."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    writer = Writer()
    for shape in sets(quick=given.quick):
        folder = given.folder / shape.name
        shutil.rmtree(folder, ignore_errors=True)
        build(shape, writer, folder)
        size = (folder / "traces.jsonl").stat().st_size
        print(f"{shape.name}: {shape.rows} rows of {size / shape.rows / 1e3:.1f} KB", file=sys.stderr, flush=True)
    for name, (source, size) in BIG[given.quick].items():
        shutil.rmtree(given.folder / name, ignore_errors=True)
        repeat(given.folder / source / "traces.jsonl", given.folder / name, size)
        print(f"{name}: {size / 1e6:.0f} MB of rows of {source}", file=sys.stderr, flush=True)
    stamp_file(given.folder).write_text(stamp(quick=given.quick), encoding="utf-8")


if __name__ == "__main__":
    main()
