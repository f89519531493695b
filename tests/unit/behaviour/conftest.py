"""Small records for the tests of behaviour, and the lenient reader."""

from __future__ import annotations

from typing import Any

import pytest

from evh.protocol.codec import decode
from evh.protocol.models import (
    AgentInfo,
    AssistantMessage,
    Episode,
    MessageNode,
    ModelCall,
    SystemMessage,
    ToolMessage,
    Trace,
    TraceTask,
    Usage,
    UserMessage,
)


class Make:
    """Builders of records with as little in them as a test needs."""

    def task(self, **data: Any) -> TraceTask:
        return TraceTask(type="Sum", data=data)

    def node(self, parent: int | None = None, role: str = "user", text: str = "", **members: Any) -> MessageNode:
        message: Any = {
            "system": lambda: SystemMessage(content=text),
            "user": lambda: UserMessage(content=text),
            "assistant": lambda: AssistantMessage(content=text),
            "tool": lambda: ToolMessage(content=text, tool_call_id="t"),
        }[role]()
        return MessageNode(parent=parent, message=message, **members)

    def reply(self, parent: int | None, text: str = "", **members: Any) -> MessageNode:
        return self.node(parent, "assistant", text, sampled=True, **members)

    def call(self, node: int | None, prompt: int = 0, completion: int = 0, **members: Any) -> ModelCall:
        cached = members.pop("cached", None)
        cost = members.pop("cost", None)
        usage = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_input_tokens=cached, cost=cost)
        return ModelCall(node=node, usage=usage, **members)

    def trace(
        self, nodes: list[MessageNode] | None = None, calls: list[ModelCall] | None = None, **members: Any
    ) -> Trace:
        agent = members.pop("agent", AgentInfo(config={}))
        return Trace(task=self.task(), agent=agent, nodes=nodes or [], calls=calls or [], **members)

    def episode(self, *traces: Trace, **members: Any) -> Episode:
        return Episode(task=self.task(), traces=list(traces), **members)

    def forked(self) -> Trace:
        """0 system, 1 user, 2 reply, then two branches: 3 user, 4 reply and 5 user, 6 reply."""
        nodes = [
            self.node(None, "system", "rules"),
            self.node(0, "user", "first"),
            self.reply(1, "one"),
            self.node(2, "user", "second"),
            self.reply(3, "two"),
            self.node(2, "tool", "third"),
            self.reply(5, " three "),
        ]
        return self.trace(nodes, [self.call(2, 10, 5), self.call(4, 20, 7), self.call(6, 30, 3)])


@pytest.fixture
def make() -> Make:
    return Make()


@pytest.fixture(scope="session")
def read() -> Any:
    """A row as an episode, read leniently."""
    return decode
