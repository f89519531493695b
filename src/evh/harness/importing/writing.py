"""The second reading of a source: each row masked, scored and written, an item's with its last rollout.

Promise: a row is written without the run's secrets and without its own: the values of its secret tables, wherever they
recur in it. What one row taught is forgotten with it, so the time is linear in the rows. What is scored is what is
stored. Memory is bounded by the numbers of rollouts that wait for others of their item.
When it breaks: what the scorer, the source or the disk says; the caller takes back what was written.
"""

from __future__ import annotations

from array import array

from evh.errors import SourceError
from evh.harness.dataset import Frozen
from evh.harness.importing.checking import Progress
from evh.harness.importing.found import Found, Reading
from evh.harness.importing.scoring import Scorer
from evh.store.episode_masking import mask_episode
from evh.store.masking import Masker
from evh.store.projection import Projected, project_rollouts
from evh.store.run_writer import RunWriter

__all__ = ["write_source"]


def write_source(
    reading: Reading,
    counts: array[int],
    frozen: Frozen,
    scorer: Scorer,
    writer: RunWriter,
    progress: Progress | None,
) -> int:
    """Write every item; returns how many neither failed nor have a score. `counts` are those of the first reading."""
    unscored = 0
    waiting: dict[int, list[Projected]] = {}
    for number, read in enumerate(reading.items(), 1):
        index = frozen.position.get(read.row.item_id)
        if index is None or not counts[index]:
            raise SourceError("was changed while it was imported: nothing was made of it", source=read.source)
        found = _masked(read, writer.masker)
        row = scorer.scored(found)
        if found.episode is not None:
            writer.write_episode(found.episode)
        if reading.several:
            held = waiting.setdefault(index, [])
            if held:
                row.output = ""  # the row's output is the first one's
            held.append(row)
            if len(held) < counts[index]:
                continue
            row = project_rollouts(row.item_id, waiting.pop(index))
        unscored += row.error is None and not row.metrics
        writer.write_item(row.item_id, row.output, row.members())
        if progress is not None:
            progress("written", number)
    return unscored


def _masked(found: Found, masker: Masker) -> Found:
    """An item without secrets, but for the names that the dataset gave it."""
    episode = found.episode
    if episode is not None:
        episode, _, masker = mask_episode(episode, masker)
    else:
        masker = masker.knowing(found.document)
    row = found.row
    output = masker.text(row.output)
    if output != row.output:
        row.output, row.output_words = output, len(output.split())
    row.metrics, row.extra = masker.names(row.metrics), masker.names(row.extra)
    row.meta = masker.value(row.meta)
    if row.error is not None:
        row.error = masker.text(row.error)
    return found._replace(episode=episode)
