"""The working folder of a judging pass: every reply of the judge, kept from the moment it was paid.

Promise: a reply that `add` returned for survives a kill, so a pass that goes on never asks for it again. One pass at a
time works in a folder; a second one is refused. Replies of another prompt, model or setting, or about other rows,
references, source texts or episodes, are never taken up: the folder is refused by name. Only the parser may be another
one, for replies are kept as they came. A folder without a reply says nothing and stops nobody.
Policy: the folder stands beside the run that it will become, under a hidden name, so no reader takes it for one.
When it breaks: a torn last line is set aside, and that one reply is paid again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from evh.errors import EvhError, RecordError, SourceError, cut
from evh.harness.project import make_folders, remove_folder
from evh.protocol.jsontext import dumps, parse
from evh.protocol.sources import iter_lines
from evh.store.atomic import why, write_file
from evh.store.clock import now
from evh.store.journal import Journal
from evh.store.outputs import read_regular

__all__ = ["About", "Verdict", "Verdicts", "holds_replies", "refuse_other_replies", "working_folder"]

ABOUT = "judge.json"
REPLIES = "verdicts.jsonl"


class About(msgspec.Struct, frozen=True):
    """What the replies of a folder answer: which judge was asked, about which rows, with what beside them."""

    scorer: str
    asked_sha256: str
    rows_sha256: str
    beside_sha256: str
    """Of the references, source texts and episodes, as far as the judge is shown them."""
    began_at: str = msgspec.field(default_factory=now)


class Verdict(msgspec.Struct, omit_defaults=True):
    """A reply of the judge, as it came."""

    item_id: str
    reply: str
    cost_usd: float | int | None = None
    model: str | None = None
    meta: dict[str, Any] = {}


def working_folder(out: Path, name: str) -> Path:
    """Where the pass over the run `name` keeps its replies."""
    return out / f".{name}.judging"


class Verdicts:
    """The replies of one pass, being written. `close` it; `discard` it when the run that they make stands."""

    def __init__(self, folder: Path, about: About) -> None:
        self.folder = folder
        make_folders(folder)
        self._journal = Journal(folder / REPLIES)
        try:
            refuse_other_replies(folder, about)
            if not holds_replies(folder):
                write_file(folder / ABOUT, dumps(msgspec.to_builtins(about)) + b"\n")
        except BaseException:
            self._journal.close()
            raise

    @property
    def repaired(self) -> str | None:
        """What was done to a torn last line, in words."""
        return None if self._journal.repaired is None else str(self._journal.repaired)

    def add(self, verdict: Verdict) -> None:
        """Keep a reply. Raises `WriteError`."""
        self._journal.append(dumps(msgspec.to_builtins(verdict)))

    def __iter__(self) -> Iterator[Verdict]:
        """The replies so far, streamed. Raises `RecordError` for a second one of an item."""
        seen: set[str] = set()
        path = self.folder / REPLIES
        for line in iter_lines(path):
            try:
                value, _ = parse(line.data)  # a reply may hold half a surrogate pair, which other readers refuse
                verdict = msgspec.convert(value, Verdict)
            except (EvhError, msgspec.MsgspecError) as error:
                raise RecordError(f"is no reply of a judge: {error}", source=str(path), line=line.line) from None
            if verdict.item_id in seen:
                raise RecordError(
                    f"the item {cut(verdict.item_id)} has two replies: remove one", source=str(path), line=line.line
                )
            seen.add(verdict.item_id)
            yield verdict

    @property
    def replies(self) -> Path:
        """The file of the replies."""
        return self.folder / REPLIES

    def sync(self) -> None:
        """Return once every reply is on the disk."""
        self._journal.sync()

    def close(self) -> None:
        self._journal.close()

    def discard(self) -> None:
        """Remove the folder: the run that the replies made stands."""
        self._journal.close()
        remove_folder(self.folder)

    def __enter__(self) -> Verdicts:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()


def holds_replies(folder: Path) -> bool:
    """Whether a pass that stopped left replies, whole or torn, in a working folder."""
    try:
        return (folder / REPLIES).stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(folder)) from None


def refuse_other_replies(folder: Path, about: About) -> None:
    """Raise `SourceError` when a working folder holds replies that answer something else than `about`."""
    if not holds_replies(folder):
        return
    then = read_about(folder)
    other = [
        what
        for name, what in (
            ("asked_sha256", "with another prompt, model or setting"),
            ("rows_sha256", "about other rows"),
            ("beside_sha256", "with other references, source texts or episodes"),
        )
        if getattr(then, name) != getattr(about, name)
    ]
    if other:
        raise SourceError(
            f"holds replies that were asked for {' and '.join(other)}: give the judge a new SCORER_ID, or remove the "
            "folder (its replies were paid for)",
            source=str(folder),
        )


def read_about(folder: Path) -> About:
    """What a working folder says of its replies. Raises `SourceError`."""
    data = read_regular(folder / ABOUT)
    try:
        return msgspec.json.decode(data, type=About)
    except msgspec.MsgspecError as error:
        raise SourceError(f"is not what a judging pass wrote: {error}", source=str(folder / ABOUT)) from None
