"""Episodes of any age: a verifiers run directory or a file of its rows, each an item or one rollout of it.

Promise: every episode is kept, upgraded, in `traces.jsonl`; its row is projected from it. A row that is no episode is
refused with file and line.
Policy: an item is what `item_id_of` says.
When it breaks: `DecodeError`, `SchemaError`, `RecordError` or `SourceError`; nothing was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

from evh.errors import EvhError, Notice, RecordError
from evh.harness.importing.found import Found, Reading
from evh.harness.importing.source import Source
from evh.protocol import models
from evh.protocol._folders import row_files
from evh.protocol.codec import encode
from evh.protocol.reader import read_episodes
from evh.store.projection import EPISODE_METRICS, project_episode

__all__ = ["Episodes"]

INDEX = re.compile(r"/[0-9]+(?=/|$)")
METADATA = "metadata.json"
OURS = "evh-"


class Episodes(Reading):
    """The episodes of a source."""

    several = True

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._builds: set[str] = set()
        self.declared = EPISODE_METRICS
        if source.is_folder and source.path is not None:
            tops = {file.relative_to(source.path).parts[0] for file in row_files(source.path)}
            legacy = "results.jsonl" in {top.partition(".")[0] + ".jsonl" for top in tops}
            known = tops | ({METADATA} if legacy else set())
            self.lossy.update(name.partition("/")[0] for name in source.files() if name.partition("/")[0] not in known)

    def items(self, *, first: bool = False) -> Iterator[Found]:
        with ExitStack() as stack:
            source = self._source
            episodes = read_episodes(
                source.path if source.path is not None else stack.enter_context(source.binary()), on_error="raise"
            )
            seen: dict[str, int] = {}
            for number, episode in enumerate(episodes, 1):
                try:
                    if first:
                        self._look(episode)
                        if seen.setdefault(episode.id, number) != number:
                            raise RecordError(f"stands there twice, as episode {seen[episode.id]} before")
                    row = project_episode(episode)
                except EvhError as error:
                    error.message = f"episode {number} ({episode.id}): {error.message}"
                    raise error.at(source.label, None) from None
                yield Found(row, f"episode {number}", None, episode)
        if first and self._builds:
            self.tool = ", ".join(sorted(self._builds))

    def _look(self, episode: models.Episode) -> None:
        notices: list[Notice] = []
        encode(episode, notices=notices)
        self.lossy.update(INDEX.sub("/*", notice.pointer) for notice in notices if notice.kind == "wire-only")
        for trace in episode.traces:
            if trace.verifiers is not None and trace.verifiers.version != "unknown":
                version = trace.verifiers.version
                self._builds.add(
                    f"evh {version.removeprefix(OURS)}" if version.startswith(OURS) else f"verifiers {version}"
                )
