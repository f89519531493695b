"""Files of other projects that lie beside the checkout but may not be part of it: `EVH_PEERS` names their folder.

`.ci/run` sets it when the folder is there. Without it there is nothing to read, and nothing is claimed.
"""

from __future__ import annotations

import os
from pathlib import Path

import evh


def first_generation() -> list[Path]:
    folder = os.environ.get("EVH_PEERS")
    return sorted(Path(folder, "verifiers_v0").rglob("results.jsonl")) if folder else []


def test_first_generation_runs_of_others_become_valid_episodes() -> None:
    for path in first_generation():
        rows = sum(1 for line in path.read_bytes().split(b"\n") if line.strip())
        episodes = list(evh.read_episodes(path, on_error="raise"))
        assert rows > 0 and len(episodes) == rows, path
        for episode in episodes:
            assert evh.decode_strict(evh.encode(episode)) == episode
            assert evh.verify(episode) == []
