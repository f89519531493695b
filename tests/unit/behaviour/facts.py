"""What an episode's derived properties say, as plain JSON: the same function over our records and those of verifiers.

Run as a script in an environment with verifiers 0.4.0 it writes the golden file that our properties are held against:

    python facts.py DATA_DIR > behaviour-0.4.0.json
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

FILES = (
    "v0.4.0-branches/traces.jsonl",
    "v0.4.0-best-of-n/traces.jsonl",
    "v0.4.0-two-seat/traces.jsonl",
    "v0.4.0-eval/traces.jsonl",
    "v0.4.0-built/built.jsonl",
)
PHASES = ("boot", "setup", "agent", "finalize", "scoring")
STREAMS = ("token_ids", "sampled_mask", "logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies")


def digest(value: Any) -> str:
    """Long values are compared by a hash of their JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def plain(record: Any) -> Any:
    return None if record is None else record.model_dump(mode="json", exclude_none=True)


def tokens(record: Any) -> list[int]:
    return [record.num_input_tokens, record.num_output_tokens, record.num_total_tokens]


def branch_facts(branch: Any) -> dict[str, Any]:
    names = sorted({name for node in branch.nodes for name in node.loss_weights or {}})
    streams = {name: getattr(branch, name) for name in STREAMS}
    return {
        "trainable": branch.trainable,
        "nodes": len(branch.nodes),
        "calls": len(branch.calls),
        "messages": digest([plain(message) for message in branch.messages]),
        "streams": {name: None if values is None else digest(values) for name, values in streams.items()},
        "loss_weights": {name: digest(branch.loss_weights(name)) for name in names},
        "usage": plain(branch.usage),
        "last_usage": plain(branch.last_usage),
        "tokens": tokens(branch),
    }


def trace_facts(trace: Any) -> dict[str, Any]:
    return {
        "reward": float(getattr(trace, "reward_or_zero", trace.reward)),
        "has_error": trace.has_error,
        "is_truncated": trace.is_truncated,
        "turns": trace.num_turns,
        "tokens": tokens(trace),
        "usage": plain(trace.usage),
        "messages": digest([plain(message) for message in trace.messages]),
        "last_message": digest(plain(trace.last_message)) if trace.nodes else None,
        "assistant_messages": len(trace.assistant_messages),
        "tool_messages": len(trace.tool_messages),
        "last_reply": digest(trace.last_reply),
        "last_error": digest(plain(trace.last_error)),
        "transcript": digest(trace.transcript),
        "durations": [
            getattr(trace.timing, name).duration for name in ("boot", "setup", "agent", "finalize", "scoring")
        ],
        "branches": [branch_facts(branch) for branch in trace.branches],
    }


def episode_facts(episode: Any) -> dict[str, Any]:
    return {
        "id": episode.id,
        "usage": plain(episode.usage),
        "tokens": tokens(episode),
        "turns": episode.num_turns,
        "last_error": digest(plain(episode.last_error)),
        "by_agent": {name: len(traces) for name, traces in episode.by_agent.items()},
        "traces": [trace_facts(trace) for trace in episode.traces],
    }


def rows(data: Path) -> list[tuple[str, bytes]]:
    return [(name, line) for name in FILES for line in (data / name).read_bytes().split(b"\n") if line]


if __name__ == "__main__":
    from verifiers.v1.episode import WireEpisode

    facts = [episode_facts(WireEpisode.model_validate_json(line)) for _, line in rows(Path(sys.argv[1]))]
    sys.stdout.write("[\n" + ",\n".join(json.dumps(fact, separators=(",", ":")) for fact in facts) + "\n]\n")
