"""S0 and v0: the message graph, rebuilt from lists of messages or of turns.

Promise: following the parents from a node gives the messages that the turn had, in order; a message that two turns
share in the same place is one node. Tokens go to nodes only when a branch's concatenation is exactly what the turn
says; otherwise they are kept aside. Policy: the tokens that a turn's new prompt messages add all stand on the last of
them, because old rows do not say which message a token belongs to.
"""

from __future__ import annotations

from typing import Any

from evh.protocol.upgrade.detect import is_number, items, members
from evh.protocol.upgrade.messages import Draft, draft_message, draft_usage, json_text
from evh.protocol.upgrade.step import Record, token

__all__ = ["Graph", "rebuild_turns"]

REPLY_FACTS = ("finish_reason", "is_truncated", "tokens")


class Graph:
    """The nodes and calls of one trace, being built; shared prefixes become shared nodes."""

    __slots__ = ("_known", "_paths", "calls", "nodes", "rec", "rule")

    def __init__(self, rec: Record, rule: str) -> None:
        self.rec = rec
        self.rule = rule
        self.nodes: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        self._known: dict[tuple[int | None, str], int] = {}

    def add(self, tail: str, value: Any, parent: int | None, *, sampled: bool | None) -> int | None:
        """The node of the message at `tail` below `parent`, made when there is none; None when it is no message.

        `sampled` None means that an assistant's message is a sampled one (a completion says no more).
        """
        if isinstance(value, str):
            role = "assistant" if sampled or sampled is None else "user"
            draft = Draft({"role": role, "content": value})
            index = self._place(draft, parent, sampled=role == "assistant")
            self.rec.moved(self.rule, tail, f"/nodes/{index}/message/content", f"a bare text: taken as the {role}'s")
            return index
        drafted = draft_message(value)
        if drafted is None:
            self.rec.keep(self.rule, tail, value, "not a message that today's roles can hold")
            return None
        by_model = drafted.value["role"] == "assistant" if sampled is None else sampled
        index = self._place(drafted, parent, sampled=by_model)
        drafted.report(self.rec, self.rule, tail, f"/nodes/{index}/message")
        return index

    def _place(self, draft: Draft, parent: int | None, *, sampled: bool) -> int:
        key = (parent, json_text(draft.value))
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = len(self.nodes)
            node: dict[str, Any] = {} if parent is None else {"parent": parent}
            self.nodes.append({**node, "message": draft.value, "sampled": sampled})
        elif sampled:
            self.nodes[index]["sampled"] = True
        return index

    def chain(self, tail: str, value: Any, parent: int | None, *, sampled: bool | None) -> int | None:
        """The last node of a list of messages (or of one bare text) below `parent`."""
        if isinstance(value, str):
            return self.add(tail, value, parent, sampled=sampled)
        if not isinstance(value, list):
            if value is None:
                self.rec.dropped(self.rule, tail, None, "a null says nothing")
            else:
                self.rec.keep(self.rule, tail, value, "not a list of messages")
            return parent
        if not value:
            self.rec.dropped(self.rule, tail, value, "no messages")
        for place, message in enumerate(value):
            index = self.add(f"{tail}/{place}", message, parent, sampled=sampled)
            parent = parent if index is None else index
        return parent

    def path(self, index: int | None) -> list[int]:
        """The indexes from the root to a node."""
        found: list[int] = []
        while index is not None:
            found.append(index)
            index = self.nodes[index].get("parent")
        return found[::-1]

    def tokens_before(self, index: int | None) -> list[int]:
        """The token ids from the root up to and including a node."""
        return [number for node in self.path(index) for number in self.nodes[node].get("token_ids", ())]


def rebuild_turns(graph: Graph, tail: str, turns: list[Any]) -> None:
    """Rebuild nodes and calls from the turns at `tail`."""
    if not turns:
        graph.rec.dropped(graph.rule, tail, turns, "no turns")
    for place, turn in enumerate(turns):
        at = f"{tail}/{place}"
        if isinstance(turn, dict):
            _turn(graph, at, turn)
        elif turn is None:
            graph.rec.dropped(graph.rule, at, turn, "a null says nothing")
        else:
            graph.rec.keep(graph.rule, at, turn, "not a turn")


def _turn(graph: Graph, at: str, turn: dict[str, Any]) -> None:
    if not turn:
        graph.rec.dropped(graph.rule, at, turn, "a turn without content")
        return
    before = len(graph.nodes)
    last = graph.chain(at + "/prompt", turn["prompt"], None, sampled=False) if "prompt" in turn else None
    end = last
    response, tokens, tokens_at = turn.get("response"), turn.get("tokens"), at + "/tokens"
    if tokens is None and isinstance(members(response).get("tokens"), dict):
        tokens, tokens_at = members(response)["tokens"], at + "/response/tokens"
        response = {name: value for name, value in members(response).items() if name != "tokens"}
    if "completion" in turn:
        end = graph.chain(at + "/completion", turn["completion"], last, sampled=None)
    call: dict[str, Any] = {}
    if "response" in turn:
        reply = _response(graph, at + "/response", response, last, call)
        end = end if reply is None else reply
    if end is not None and end != last:
        call = {"node": end, **call}
        graph.rec.added(graph.rule, f"/calls/{len(graph.calls)}/node", end, "the call that gave the turn's reply")
    if call:
        graph.calls.append(call)
    if tokens is not None:
        # Prompt messages that this turn was the first to have take the tokens that they add.
        owner = last if last is not None and last >= before else None
        _tokens(graph, tokens_at, tokens, (last, end), owner)
    if "tokens" in turn and (turn["tokens"] is None or tokens is not turn["tokens"]):
        _leave(graph, at + "/tokens", None)
    for name, value in turn.items():
        if name not in ("prompt", "completion", "response", "tokens"):
            _leave_of_call(graph, at, name, value, call)


def _leave_of_call(graph: Graph, at: str, name: str, value: Any, call: dict[str, Any]) -> None:
    """Leave a member of a turn or response; that it was cut short is said by why its call ended."""
    ended = call.get("finish_reason")
    if name == "is_truncated" and isinstance(value, bool) and ended is not None and value is (ended == "length"):
        graph.rec.dropped(graph.rule, at + token(name), value, "why the call ended says it")
    else:
        _leave(graph, at + token(name), value)


def _leave(graph: Graph, at: str, value: Any) -> None:
    if value is None or value in ({}, []):
        graph.rec.dropped(graph.rule, at, value, "says nothing")
    else:
        graph.rec.keep(graph.rule, at, value, "no such member today")


def _response(graph: Graph, at: str, response: Any, last: int | None, call: dict[str, Any]) -> int | None:
    """The node of a response's message, if it has one; why the model stopped and what it used go to `call`."""
    if not isinstance(response, dict) or not response:
        _leave(graph, at, response)
        return None
    reply = None
    message = response.get("message")
    inner = members(message)
    facts = dict(response)
    where = dict.fromkeys(response, at)
    if isinstance(message, dict):
        # The first generation writes why the model stopped inside the message.
        for name in REPLY_FACTS:
            if name in inner and facts.get(name) is None:
                if name in response:
                    _leave(graph, at + token(name), response[name])
                facts[name], where[name] = inner[name], at + "/message"
            elif name in inner:
                _leave(graph, f"{at}/message/{name}", inner[name])
        plain = {name: value for name, value in inner.items() if name not in REPLY_FACTS}
        reply = graph.add(at + "/message", plain, last, sampled=True)
    to = f"/calls/{len(graph.calls)}"
    if isinstance(facts.get("model"), str):
        call["model"] = facts["model"]
        graph.rec.moved(graph.rule, where["model"] + "/model", to + "/model")
    if isinstance(facts.get("finish_reason"), str):
        call["finish_reason"] = facts["finish_reason"]
        graph.rec.moved(graph.rule, where["finish_reason"] + "/finish_reason", to + "/finish_reason")
    usage = draft_usage(facts.get("usage"))
    if usage is not None:
        call["usage"] = usage.value
        usage.report(graph.rec, graph.rule, at + "/usage", to + "/usage")
    for name, value in facts.items():
        taken = name in call or (name == "message" and isinstance(message, dict))
        if not taken:
            _leave_of_call(graph, where[name], name, value, call)
    return reply


def _tokens(graph: Graph, at: str, tokens: Any, ends: tuple[int | None, int | None], owner: int | None) -> None:
    """Give a turn's tokens to its nodes, when they fit; what does not fit is kept aside as it is."""
    last, end = ends
    split = _split(graph, members(tokens), last, end)
    if split is None or end is None:
        _leave(graph, at, tokens)
        return
    scaffold, ids, mask, logprobs = split
    node = graph.nodes[end]
    # With no new prompt message, what the prompt added is the scaffold before the reply.
    if owner is not None and scaffold:
        graph.nodes[owner].update(token_ids=scaffold, mask=[False] * len(scaffold))
        scaffold = []
    node.update(token_ids=scaffold + ids, mask=[False] * len(scaffold) + mask, logprobs=logprobs)
    note = "split over the nodes that the turn added"
    for name, value in tokens.items():
        if name in ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "completion_logprobs"):
            graph.rec.repaired(graph.rule, f"{at}/{name}", f"/nodes/{end}", value, note)
        elif value is False and name in ("overlong_prompt", "is_truncated"):
            graph.rec.dropped(graph.rule, f"{at}/{name}", value, "the default")
        else:
            _leave(graph, at + token(name), value)


def _split(
    graph: Graph, tokens: dict[str, Any], last: int | None, end: int | None
) -> tuple[list[int], list[int], list[bool], list[Any]] | None:
    """The ids that the prompt added, and ids, mask and log-probabilities of the reply; None when they do not fit."""
    prompt, ids = tokens.get("prompt_ids"), tokens.get("completion_ids")
    if end is None or end == last or "token_ids" in graph.nodes[end]:
        return None
    if not isinstance(prompt, list) or not isinstance(ids, list) or not all(map(_is_id, (*prompt, *ids))):
        return None
    held = graph.tokens_before(graph.nodes[end].get("parent"))
    if prompt[: len(held)] != held:
        return None
    mask = [bool(flag) for flag in items(tokens.get("completion_mask"))] or [True] * len(ids)
    logprobs = items(tokens.get("completion_logprobs"))
    if len(mask) != len(ids) or any(items(tokens.get("prompt_mask"))):
        return None
    # One log-probability for each sampled token, or none at all.
    if logprobs and (len(logprobs) != sum(mask) or not all(map(is_number, logprobs))):
        return None
    return prompt[len(held) :], ids, mask, logprobs


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
