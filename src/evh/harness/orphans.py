"""Episodes on disk whose row was never written: they are paid for, so their rows are made from them.

Promise: an episode that a killed launch wrote before its row is neither called again nor written twice. The row is the
one that the launch would have written, but for the time a call took where the episode does not say it. An episode that
cannot be scored is a failed item, like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from evh.errors import WriteError
from evh.harness.dataset import source_text
from evh.harness.item import ITEM_KEY, row_of_episode
from evh.harness.progress import Listener
from evh.harness.setup import Setup
from evh.protocol._views import iter_views
from evh.protocol.codec import decode
from evh.store import layout
from evh.store.run_dir import RunDir
from evh.store.run_writer import RunWriter

__all__ = ["recover_episodes"]


class _Head(msgspec.Struct):
    info: dict[str, Any] = msgspec.field(default_factory=dict)


def recover_episodes(
    setup: Setup,
    run: RunDir,
    writer: RunWriter,
    owed: list[int],
    listener: Listener,
    failed: Callable[[int, Exception], None],
) -> list[int]:
    """Write the rows of owed items that have their episode; returns what is still owed. `failed` is told of those that
    make no row. Raises `WriteError`."""
    path = run.path / layout.TRACES
    if not owed or not path.exists():
        return owed
    wanted = {setup.frozen.item_ids[index]: index for index in owed}
    read_head = msgspec.json.Decoder(_Head).decode
    made = 0
    for line in iter_views(path):
        try:
            item_id = read_head(line.data).info.get(ITEM_KEY)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue  # a row that another reader explains; its item is owed
        if not isinstance(item_id, str) or item_id not in wanted:
            continue
        index = wanted.pop(item_id)
        try:
            text = source_text(setup.project, setup.frozen, index)
            measured = row_of_episode(setup, decode(bytes(line.data)), item_id, text, None)
            writer.write_item(item_id, measured.output, measured.members, masker=measured.masker)
        except WriteError:
            raise
        except Exception as error:
            failed(index, error)
            continue
        made += 1
    if made:
        listener.notice(f"{made} rows were made from episodes that were on disk without them; nothing was called")
    return [index for index in owed if setup.frozen.item_ids[index] in wanted]
