"""Runs inside an environment with a released `verifiers`: writes the made rows with that release's own classes.

    made_rows.py JSONL MSGPACKS

MSGPACKS holds each episode after its length in eight bytes. The renderers are those that the environment has, but for
the one that would import code.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import get_args

import msgpack
from made_shapes import episodes, wire_episodes
from pydantic import TypeAdapter
from renderers.configs import RendererConfig
from verifiers.v1.configs.retries import RetryConfig
from verifiers.v1.episode import WireEpisode


def main() -> None:
    adapter = TypeAdapter(WireEpisode)
    newer = "rules" in RetryConfig.model_fields
    arms = get_args(get_args(RendererConfig)[0])
    renderers = [name for arm in arms if (name := arm.model_fields["name"].default) != "custom"]
    with Path(sys.argv[1]).open("wb") as out:
        for doc in episodes(newer, renderers):
            record = adapter.validate_python(json.loads(json.dumps(doc)))
            out.write(adapter.dump_json(record, exclude_none=True) + b"\n")
    with Path(sys.argv[2]).open("wb") as out:
        for doc in wire_episodes(newer, renderers):
            record = adapter.validate_python(doc).model_dump(mode="python")
            data = msgpack.packb(record, use_bin_type=True, default=str)
            out.write(len(data).to_bytes(8, "big") + data)


main()
