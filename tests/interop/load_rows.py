"""Runs inside an environment with a released `verifiers`: loads converted rows and writes them again.

    load_rows.py IN OUT

IN is a JSONL file, or (`.msgpacks`) MessagePack episodes, each after its length in eight bytes. OUT gets one JSON
line, or one MessagePack map framed alike, for each row: `dict` and `json` are what the release writes after it read the
row as a Python value and as JSON text, `error` is what it raised. The last line of a JSONL job says how many rows
`read_episodes` gave.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from verifiers.v1.episode import WireEpisode
from verifiers.v1.trace import Trace

try:
    from verifiers.v1.utils.trace_store import read_episodes
except ImportError:
    from verifiers.v1.cli.output import read_episodes

ADAPTER = TypeAdapter(WireEpisode)


def dumped(episode: Any) -> str:
    return ADAPTER.dump_json(episode, exclude_none=True).decode()


def answer(line: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    errors = []
    for way, load in (
        ("dict", lambda: ADAPTER.validate_python(json.loads(line))),
        ("json", lambda: ADAPTER.validate_json(line)),
    ):
        try:
            out[way] = dumped(load())
        except Exception as error:  # whatever the release raises is the finding
            errors.append(f"{way}: {type(error).__name__}: {error}"[:600])
    if errors:
        out["error"] = "; ".join(errors)
    return out


def rows_read(text: str) -> dict[str, Any]:
    from verifiers.v1.configs.agent import WireAgentConfig
    from verifiers.v1.state import State
    from verifiers.v1.task import WireTaskData

    trace_type = Trace[WireTaskData, State, WireAgentConfig]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "traces.jsonl").write_text(text, encoding="utf-8")
        try:
            return {"read_episodes": len(read_episodes(Path(folder), trace_type))}
        except Exception as error:
            return {"read_episodes": -1, "error": f"{type(error).__name__}: {error}"[:600]}


def wire(source: Path, target: Path) -> None:
    import msgpack

    data = source.read_bytes()
    at = 0
    with target.open("wb") as out:
        while at < len(data):
            size = int.from_bytes(data[at : at + 8], "big")
            doc = msgpack.unpackb(data[at + 8 : at + 8 + size], raw=False)
            at += 8 + size
            try:
                reply = {"dict": ADAPTER.validate_python(doc).model_dump(mode="python")}
            except Exception as error:
                reply = {"error": f"{type(error).__name__}: {error}"[:600]}
            packed = msgpack.packb(reply, use_bin_type=True, default=str)
            out.write(len(packed).to_bytes(8, "big") + packed)


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    if source.suffix == ".msgpacks":
        wire(source, target)
        return
    text = source.read_text(encoding="utf-8")
    with target.open("w", encoding="utf-8") as out:
        for line in text.split("\n"):
            if line:
                out.write(json.dumps(answer(line)) + "\n")
                out.flush()
        out.write(json.dumps(rows_read(text)) + "\n")


main()
