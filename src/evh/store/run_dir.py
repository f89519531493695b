"""A run directory, read: `open_run_dir` is the one reader of runs, whoever wrote them and however they ended.

Promise: reading takes no lease, changes nothing and never blocks the writer; rows and episodes are streamed, those of
all segments of a live run. A last line that its writer is in the middle of is left out and told as torn. Records of
newer writers load (unknown members are kept apart), those of 0.3.0 derived runs load as measured ones. What cannot be
read is an error that names file and place; what is only odd is a notice in `notices`.
When it breaks: `SourceError`, `DecodeError` or `SchemaError`; other runs are not touched by it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from evh.errors import DecodeError, EvhError, Notice, RecordError, SchemaError, SourceError, cut
from evh.protocol import models
from evh.protocol.codec import decode
from evh.protocol.jsontext import check_text
from evh.protocol.reader import EpisodeReader, read_episodes
from evh.protocol.sources import iter_lines
from evh.store import layout
from evh.store.aggregate import Aggregate, aggregate
from evh.store.atomic import why
from evh.store.document_times import in_utc
from evh.store.lease import Holder, holder_of
from evh.store.outputs import read_regular
from evh.store.row_index import RowIndex
from evh.store.rows import StoredRow, read_metric_rows, read_predictions
from evh.store.segments import segment_files, step_files

__all__ = ["RunDir", "State", "open_run_dir", "read_document"]

NO_COMPONENT = re.compile(r"[/\\\0]" if os.name != "nt" else r"[/\\:\0]")
"""What no single name in a folder has."""

State = Literal["finished", "ended", "running", "stale", "unfinished"]
T = TypeVar("T")


def open_run_dir(directory: str | os.PathLike[str]) -> RunDir:
    """The run in a directory. Raises `SourceError` when there is none."""
    path = Path(directory)
    try:
        if not path.is_dir():
            raise SourceError("is no folder: a run is a directory", source=str(path))
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot be read: {why(error)}", source=str(path)[:200]) from None
    if not any((path / name).exists() for name in layout.RUN_FILES):
        raise SourceError(
            f"is no run: it holds neither {layout.MANIFEST} nor {layout.RECORD} nor {layout.PREDICTIONS}",
            source=str(path),
        )
    return RunDir(path)


class RunDir:
    """One run. `notices` gathers what was odd about the files read so far."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(path)
        self.notices: list[Notice] = []

    def __repr__(self) -> str:
        return f"RunDir({self._folder!r})"

    @cached_property
    def path(self) -> Path:
        return Path(self._folder)

    def file(self, name: str) -> str:
        """The path of one of its files, without the price of a `Path`: there may be thousands of runs."""
        return os.path.join(self._folder, name)  # noqa: PTH118

    @cached_property
    def manifest(self) -> models.RunManifest | None:
        """What the run set out to do; None for a run without `run.json` (written before 0.4.0)."""
        return self._document(layout.MANIFEST, models.RunManifest)

    @cached_property
    def record(self) -> models.RunRecord | None:
        """What the run measured; None while it is not finished."""
        return self._document(layout.RECORD, models.RunRecord)

    @cached_property
    def end(self) -> models.RunEnd | None:
        """How a live run ended; None while it is open, and for a measured run."""
        return self._document(layout.END, models.RunEnd)

    @property
    def run_id(self) -> str:
        """The run's id: the manifest's, else the record's, else the folder's name."""
        found = self.manifest or self.record
        return found.run_id if found is not None else self.path.name

    @property
    def holder(self) -> Holder | None:
        """Who holds the lease, if anybody does."""
        return holder_of(self.path)

    @property
    def state(self) -> State:
        """`finished` (it has its record, a live run its end as well), `ended` (a live or training run that was closed
        without a record), `running`, `stale` (its writer is silent but not proved dead) or `unfinished` (stopped; it
        can be resumed)."""
        ended = (self.path / layout.END).exists()
        if (self.path / layout.RECORD).exists() and (ended or not self.is_live):
            return "finished"
        if ended:
            return "ended"
        holder = self.holder
        if holder is None or holder.state == "gone":
            return "unfinished"
        return "running" if holder.state == "running" else "stale"

    @property
    def is_live(self) -> bool:
        """Whether its manifest says that it is held open by the program that runs it (`eval` or `train`)."""
        try:
            return self.manifest is not None and self.manifest.kind in layout.LIVE_KINDS
        except EvhError:
            return False  # whoever asks for the manifest is told

    def rows(self) -> Iterator[StoredRow]:
        """The rows as measured, streamed; nothing for a run that has none yet."""
        path = self.path / layout.PREDICTIONS
        return read_predictions(path, self.notices) if path.exists() else iter(())

    def index(self) -> RowIndex:
        """Where each row stands, to read single ones."""
        return RowIndex(self.path / layout.PREDICTIONS)

    def count(self) -> Aggregate:
        """The rows, counted: the numbers that the record has or will have. A record that says another number of rows is
        told in `notices`."""
        path = self.path / layout.PREDICTIONS
        try:
            counted = aggregate(read_metric_rows(path, self.notices)) if path.exists() else Aggregate()
        except RecordError as error:
            raise error.at(str(path), None) from None
        self.compare_count(counted.n_items)
        return counted

    def compare_count(self, rows: int) -> None:
        """Tell in `notices` when the record says another number of rows than there are."""
        if self.__dict__.get("record") is None and not (self.path / layout.RECORD).exists():
            return  # nor is it asked for, so that it is found once it is written
        try:
            record = self.record
        except EvhError:
            return  # whoever asks for the record is told
        if record is not None and record.n_items != rows:
            said = f"{self.path / layout.RECORD}: says n_items {record.n_items}, {layout.PREDICTIONS} has {rows} rows"
            self.notices.append(Notice("count", "/n_items", said, record.n_items))

    def episodes(self) -> EpisodeReader:
        """The episodes of all segments, streamed and upgraded; a bad row is raised, a torn last one is told in
        `notices`. Nothing for a run that has none."""
        return read_episodes(self.path if self.has_episodes else b"", on_error=self._tell_torn)

    def _tell_torn(self, error: EvhError) -> None:
        if not (isinstance(error, DecodeError) and error.message.startswith("torn last row")):
            raise error
        self.notices.append(Notice("torn", "", str(error)))

    def segments(self) -> list[Path]:
        """The files of its episodes, in reading order: the owner's, then those of other processes."""
        return segment_files(self.path)

    def steps(self) -> Iterator[models.StepRow]:
        """The metrics by step of a live run: the owner's, then those of other processes, each oldest first."""
        for path in step_files(self.path):
            yield from self._lines(path.relative_to(self.path).as_posix(), models.StepRow)

    @property
    def has_episodes(self) -> bool:
        files = [name + packed for name in (layout.TRACES, "results.jsonl") for packed in ("", ".gz", ".zst")]
        if any((self.path / name).exists() for name in files):
            return True
        try:
            return any(path.name[0] != "." for path in (self.path / layout.SEGMENTS).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True  # the reader says what is wrong

    def output(self, item_id: str) -> str:
        """What the arm wrote for an item. Raises `SourceError` when its file is missing, no plain file or no text."""
        path = self.output_path(item_id)
        try:
            return read_regular(path).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise SourceError(f"is no UTF-8 (byte {error.start})", source=str(path)) from None

    def output_path(self, item_id: str) -> Path:
        """The file of an item's output: the one that this harness names, or, when there is none such, the
        `<item_id>.txt` of older harnesses."""
        folder = self.path / layout.OUTPUTS
        ours, by_hand = folder / layout.output_name(item_id), f"{item_id}.txt"
        if by_hand != ours.name and not NO_COMPONENT.search(by_hand) and not os.path.lexists(ours):
            try:
                if stat.S_ISREG((folder / by_hand).lstat().st_mode):
                    return folder / by_hand
            except (OSError, ValueError):
                pass  # no such file: the one of ours is missing
        return ours

    def errors(self) -> Iterator[models.ItemError]:
        """The failed attempts at items, oldest first."""
        return self._lines(layout.ERRORS, models.ItemError)

    def attempts(self) -> list[models.Attempt]:
        """The launches of the run, oldest first."""
        return list(self._lines(layout.ATTEMPTS, models.Attempt))

    def _document(self, name: str, kind: type[T]) -> T | None:
        file = self.file(name)
        return read_document(file, kind, self.notices) if os.path.lexists(file) else None

    def _lines(self, name: str, kind: type[T]) -> Iterator[T]:
        path = self.path / name
        if not path.exists():
            return
        for line in iter_lines(path):
            try:
                yield decode(line.data, kind, notices=self.notices)
            except EvhError as error:
                if line.torn:
                    self.notices.append(Notice("torn", "", f"{path}:{line.line}: a torn last line"))
                    return
                raise error.at(line.source, line.line) from None


def read_document(path: str | os.PathLike[str], kind: type[T], notices: list[Notice] | None = None) -> T:
    """The one record of a file, read leniently; a member that stands twice is refused, for nobody knows which counts.
    A timestamp with an offset is converted to UTC and told in `notices`; one without a zone is refused.

    Raises `SourceError`, `DecodeError` or `SchemaError` with the file's name.
    """
    data = read_regular(path)
    found: list[Notice] = []
    try:
        if not _has_single_names(data):
            for fault in check_text(data):
                if fault.kind == "duplicate-key":
                    raise DecodeError(f"{fault.pointer}: {fault.message}: remove one of them", pointer=fault.pointer)
        try:
            record = decode(data, kind, notices=found)
        except SchemaError:
            converted = in_utc(data, found := [])
            if converted is None:
                raise
            record = decode(converted, kind, notices=found)
    except EvhError as error:
        _name_what_it_is_not(data, kind, path)
        raise error.at(str(path), None) from None
    if notices is not None:
        notices += found
    return record


def _has_single_names(data: bytes) -> bool:
    """Whether it is certain that no object has a name twice: as many names came out as there are texts before a colon.
    Texts that look like a name only make it uncertain, and so does space that is taken out of them."""
    import msgspec

    try:
        found = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    names = 0
    pending = [found]
    for value in pending:  # which grows
        if type(value) is dict:
            names += len(value)
            pending += value.values()
        elif type(value) is list:
            pending += value
    return names == data.translate(None, b" \t\r\n").count(b'":')


def _name_what_it_is_not(data: bytes, kind: Any, path: str | os.PathLike[str]) -> None:
    """A file of another sort under a record's name is told as such: `not a run record`, and what it lacks."""
    import msgspec

    from evh.protocol.tables import CLASSES

    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    words = {"RunRecord": "a run record", "RunManifest": "a run manifest", "RunEnd": "a run's end"}.get(kind.__name__)
    required = {name for name, member in CLASSES[kind.__name__].members.items() if member.required}
    if words is None or (isinstance(value, dict) and len(required & value.keys()) * 2 >= len(required)):
        return
    missing = sorted(required - value.keys()) if isinstance(value, dict) else []
    said = f"missing {', '.join(missing)}" if missing else f"it is {cut(value)}"
    raise SourceError(f"not {words}: {said}", source=str(path))
