"""What `evh upgrade` and `evh convert` share: from a file or folder to a new one, with every row accounted for.

Promise: each row read is in the target, or verbatim in `<target>.refused.jsonl` with its line and reason in the report.
Targets appear when they are complete, or not at all; the source is only read. Memory is bounded by one unit of rows and
the report, which keeps counts, the first thousand refusals, and steps on disk.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evh.cli._data import json_text, plain
from evh.cli._documents import documents, is_msgpack, is_single
from evh.cli._files import Output, moved_in
from evh.cli._layers import read_text
from evh.cli._terminal import Progress, grouped
from evh.cli._types import type_by_content, type_by_name
from evh.cli._units import Unit
from evh.errors import EvhError, SourceError
from evh.protocol._folders import REFUSED, REFUSED_MSGPACK
from evh.protocol.sources import find_files
from evh.protocol.upgrade.step import Step

_INDEX = re.compile(r"/[0-9]+(?=/|$)")

__all__ = ["FileReport", "Job", "Made", "Run", "rewrite"]

KEPT_REFUSALS = 1000
KEPT_PLACES = 500
NOTE = 120


class Made(NamedTuple):
    """What a command made of a unit: the bytes to write, the steps to count, and steps `before` them to list only."""

    data: bytes
    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()


class Job(NamedTuple):
    """What a command does. `read` gives the units of a source that holds a type; `make` works on one of them, given the
    formats of source and target, and raises `EvhError` to refuse its rows."""

    verb: str
    read: Callable[[str, str], Iterator[Unit]]
    make: Callable[[Unit, str, str], Made]
    only_episodes: bool
    overwrite: bool


class FileReport:
    """What became of the rows of one file."""

    def __init__(self, source: str, target: str | None) -> None:
        self.source = source
        self.target = target
        self.type = "Episode"
        self.rows = self.written = self.unchanged = self.older = 0
        self.rules: Counter[str] = Counter()
        """Records that a rule did something to."""
        self.actions: Counter[str] = Counter()
        """Steps by action."""
        self.reasons: Counter[tuple[str, str, str]] = Counter()
        """Steps by action, place (`*` for an index) and note."""
        self.refused: list[tuple[int, str]] = []
        self.refused_count = 0
        self.refused_target: str | None = None
        self.failure: str | None = None

    @property
    def ok(self) -> bool:
        return not self.refused_count and self.failure is None

    @property
    def changed(self) -> int:
        return self.written - self.unchanged


class Run:
    """A whole run: a report a file, what was left out, and the steps (in a temporary file: they may be many)."""

    def __init__(self, *, keep_steps: bool, dry: bool) -> None:
        self.files: list[FileReport] = []
        self.left_out: list[str] = []
        self.dry = dry
        self._steps: Any = tempfile.TemporaryFile("w+", encoding="utf-8") if keep_steps else None  # noqa: SIM115

    @property
    def ok(self) -> bool:
        return all(file.ok for file in self.files)

    def note(self, file: FileReport, unit: Unit, steps: tuple[Step, ...], before: tuple[Step, ...] = ()) -> None:
        """Count the steps of a record, and keep them when they are to be listed, after those taken `before`."""
        file.rules.update({step.rule for step in steps})
        for step in steps:
            file.actions[step.action] += 1
            _count(file.reasons, (step.action, _general(step), step.note.split("; ")[0][:NOTE]))
        if self._steps is not None:
            for step in (*before, *steps):
                entry = {"file": file.source, "line": unit.lines[0].line, **step._asdict()}
                self._steps.write(json_text(plain(entry), indent=None) + "\n")

    def steps(self) -> Iterator[str]:
        """The kept steps, each as JSON text on one line."""
        if self._steps is not None:
            self._steps.seek(0)
            for line in self._steps:
                yield line.rstrip("\n")

    def close(self) -> None:
        if self._steps is not None:
            self._steps.close()


def _count(reasons: Counter[tuple[str, str, str]], key: tuple[str, str, str]) -> None:
    """Count a reason; once there are very many places, those to come are counted as one."""
    if key not in reasons and len(reasons) >= KEPT_PLACES:
        key = (key[0], "(other places)", "")
    reasons[key] += 1


def _general(step: Step) -> str:
    """Where a step is, for any row: `*` stands for an index."""
    restored = step.action == "moved" and step.to is not None and "/info/evh/" in step.pointer
    return _INDEX.sub("/*", (step.to or "") if restored else step.pointer) or "(root)"


def rewrite(run: Run, job: Job, source: str, target: str | None) -> None:
    """Rewrite a file, folder or `-` into `target`; without a target, and in a dry run, nothing is written."""
    progress = Progress(job.verb)
    name = None if run.dry else target
    if source != "-" and Path(source).is_dir() and target != "-":
        _folder(run, job, Path(source), name, target, progress)
        return
    report = FileReport("<stdin>" if source == "-" else source, target)
    run.files.append(report)
    report.type = _kind_of(source, job.only_episodes)
    _file(run, job, report, source, name, progress)


def _folder(run: Run, job: Job, source: Path, target: str | None, said: str | None, progress: Progress) -> None:
    """All files of records below a folder. `said` is the target that was named, also in a dry run."""
    files: list[tuple[Path, str]] = []
    for file in find_files(str(source)):
        kind = _kind_or_none(str(file))
        if kind is None or (job.only_episodes and kind not in ("Episode", "Trace")):
            continue
        files.append((file, kind))
    if not files:
        raise SourceError("holds no files of records", source=str(source))
    taken = {file for file, _ in files}
    run.left_out += [str(file.relative_to(source)) for file in _others(source) if file not in taken]
    with contextlib.ExitStack() as stack:
        folder = None if target is None else stack.enter_context(moved_in(Path(target)))
        for file, kind in files:
            below = file.relative_to(source)
            report = FileReport(str(file), None if said is None else str(Path(said) / below))
            report.type = "Episode" if kind == "Trace" else kind
            run.files.append(report)
            place = None if folder is None else folder / below
            if place is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
            _file(run, job, report, str(file), None if place is None else str(place), progress)
            if report.refused_target is not None and target is not None:
                report.refused_target = str(Path(target) / below.parent / Path(report.refused_target).name)


def _others(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _kind_of(source: str, only_episodes: bool) -> str:
    kind = "Episode" if source == "-" or Path(source).is_dir() else _kind_or_none(source) or "Episode"
    if only_episodes and kind not in ("Episode", "Trace"):
        raise SourceError(f"holds a {kind}: only episodes are converted", source=source)
    return "Episode" if kind == "Trace" else kind


def _kind_or_none(source: str) -> str | None:
    """The type of a file's records: by its name, else by the first that can be read. None for what is no record; a
    file without any readable row counts as one of episodes, so that its rows are reported."""
    found = type_by_name(source)
    if found is not None:
        return found
    with contextlib.suppress(EvhError):
        for line in documents(source):
            text = read_text(line.data, wire=is_msgpack(source))
            if text.error is None:
                return type_by_content(text.value)
    return "Episode"


def _file(run: Run, job: Job, report: FileReport, source: str, target: str | None, progress: Progress) -> None:
    formats = _format(source), _format(target or report.target or source, source)
    with contextlib.ExitStack() as stack:
        output = None if target is None else stack.enter_context(Output(target))
        refused: Output | None = None
        suffix = REFUSED if formats[0] == "json" else REFUSED_MSGPACK
        refused_name = None if target is None or target == "-" else target + suffix
        try:
            for unit in job.read(source, report.type):
                report.rows += len(unit.lines)
                progress.at(report.source, report.rows)
                made = _made(report, unit, job, formats)
                if made is None:
                    if refused_name is not None:
                        refused = refused or stack.enter_context(Output(refused_name))
                        _write_refused(refused, unit, formats[0])
                    continue
                run.note(report, unit, made.steps, made.before)
                report.older += any(step.rule == "schema" for step in unit.steps)
                report.written += 1
                if output is not None:
                    output.write(made.data if formats[1] == "msgpack" else made.data + b"\n")
        except SourceError as error:
            report.failure = error.message
        finally:
            progress.done()
        if report.failure is not None and not report.rows:
            raise SourceError(report.failure, source=report.source)
        if refused is not None:
            refused.commit()
            report.refused_target = refused_name
        if output is not None:
            output.commit()
        if refused is None and refused_name is not None and job.overwrite:
            # What an earlier run had refused is not refused any more.
            with contextlib.suppress(OSError):
                Path(refused_name).unlink(missing_ok=True)


def _made(report: FileReport, unit: Unit, job: Job, formats: tuple[str, str]) -> Made | None:
    error = unit.error
    if error is None:
        try:
            made = job.make(unit, *formats)
        except EvhError as refusal:
            error = refusal
        else:
            report.unchanged += not made.steps
            return made
    for line in unit.lines:
        report.refused_count += 1
        if len(report.refused) < KEPT_REFUSALS:
            report.refused.append((line.line, grouped(error.message)))
    return None


def _write_refused(output: Output, unit: Unit, format: str) -> None:
    for line in unit.lines:
        output.write(line.data if format == "msgpack" else line.data + b"\n")


def _format(name: str, otherwise: str = "") -> str:
    if name == "-" and otherwise and otherwise != "-":
        return "json"
    return "msgpack" if is_msgpack(name) and not is_single(name) else "json"
