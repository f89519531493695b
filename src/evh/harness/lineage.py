"""Where a derived run comes from: its chain of blocks, and the runs that they name as far as they are still there.

Promise: walked without recursion, with a bound; a chain that comes back to itself, in a record or over folders that
were edited or linked, is a fault that is told, never a loop. A source that is gone is no fault: what its record said
stands in the chain. Nothing is written.
Policy: `from` is resolved from the folder that holds the runs directory of the run that was derived.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evh.errors import EvhError
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store import layout
from evh.store.derived import MOST, Block, chain
from evh.store.run_dir import RunDir, open_run_dir

__all__ = [
    "Lineage", "Step", "block_members", "changed_since", "earlier_references", "file_sha256", "lineage", "parser_file",
    "rows_digest", "source_of",
]  # fmt: skip


class Step(NamedTuple):
    """One derivation, the newest first: the block's members, the folder of its source, and what is known of that.

    `source` is None when the source is gone; `note` says so, or what about it is odd.
    """

    block: dict[str, Any]
    path: Path
    source: models.RunRecord | None
    note: str | None = None
    adapter_sha256: str | None = None
    """The digest of the file that scored, as the derived run's record has it; None when that is gone."""


class Lineage(NamedTuple):
    """How a run came to be: its derivations (none: it was measured) and what is wrong with them."""

    steps: list[Step]
    faults: list[str]


def block_members(block: Block) -> dict[str, Any]:
    """A block as JSON has it, without its source's block."""
    if isinstance(block, models.UnknownDerived):
        return {name: value for name, value in block.value.items() if name != "source"}
    found: dict[str, Any] = msgspec.json.decode(encode(msgspec.structs.replace(block, source=None)))
    return {"kind": block.kind} | found


def source_of(run_path: Path, named: str) -> Path:
    """The folder that the `from` of a run's derived block names."""
    return Path(os.path.normpath(run_path.parent.parent / named))


def lineage(run: RunDir) -> Lineage:
    """The chain of a run, newest derivation first. Raises what reading the run's own record raises."""
    record = run.record
    if record is None or record.derived is None:
        return Lineage([], [])
    steps: list[Step] = []
    faults: list[str] = []
    try:
        blocks = chain(record)
    except EvhError as error:
        return Lineage([], [str(error)])
    at = Path(os.path.abspath(run.path))  # noqa: PTH100
    seen = {_real(at)}
    child = record
    known = True
    for block in blocks:
        members = block_members(block)
        at = source_of(at, str(members.get("from")))
        real = _real(at)
        source, note = _read(at)
        if real in seen:
            faults.append(f"the chain comes back to {at.name}: a folder was renamed, linked or edited")
            steps.append(Step(members, at, None, "stands in the chain before"))
            break
        seen.add(real)
        if source is not None and known:
            note = _odd(child, source, block)
        scored = child.fingerprint.instrument.adapter if known and child.fingerprint is not None else None
        known = source is not None
        child = source if source is not None else child
        steps.append(Step(members, at, source, note, None if scored is None else scored.sha256))
    if not faults and (again := _comes_back(run.path, record)) is not None:
        faults.append(f"the sources' own records lead back to {again.name}: one of them was edited or replaced")
    return Lineage(steps, faults)


def _comes_back(path: Path, record: models.RunRecord) -> Path | None:
    """The folder at which the records on the disk, each naming its source, come back; None when they end."""
    at = Path(os.path.abspath(path))  # noqa: PTH100
    seen = {_real(at)}
    found: models.RunRecord | None = record
    for _ in range(MOST + 1):
        if found is None or found.derived is None:
            return None
        at = source_of(at, str(block_members(found.derived).get("from")))
        if _real(at) in seen:
            return at
        seen.add(_real(at))
        found = _read(at)[0]
    return at


def rows_digest(directory: Path) -> str | None:
    """The digest of a run's rows as they are now; None when there are none to be read."""
    try:
        with (directory / layout.PREDICTIONS).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def earlier_references(run: RunDir, reference_id: str) -> str | None:
    """What the newest run of the chain that was scored against a set recorded as its digest."""
    for step in lineage(run).steps:
        fingerprint = None if step.source is None else step.source.fingerprint
        if fingerprint is not None and fingerprint.data.reference_id == reference_id:
            return fingerprint.data.references_sha256
    return None


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _read(path: Path) -> tuple[models.RunRecord | None, str | None]:
    try:
        if not path.is_dir():
            return None, "source gone"
        record = open_run_dir(path).record
    except (EvhError, OSError, ValueError) as error:
        return None, f"source unreadable: {error}"
    return (None, "source gone: its folder has no record") if record is None else (record, None)


def _odd(child: models.RunRecord, source: models.RunRecord, block: Block) -> str | None:
    """What the source's own record says otherwise than the run that was derived from it."""
    inner = block.value.get("source") if isinstance(block, models.UnknownDerived) else block.source
    if (inner is None) != (source.derived is None):
        return "the source's record tells another history: was the folder replaced?"
    if child.source_created_at is not None and child.source_created_at != source.created_at:
        return f"the source was made again at {source.created_at}, after it was derived from"
    return None


def changed_since(step: Step, root: Path) -> list[str]:
    """Why the numbers of a derivation would not come out again: what it names by digest and is another thing now.

    Files that are gone or cannot be read are named as such. `root` is the project's; no code runs.
    """
    with_ = step.block.get("with")
    if not isinstance(with_, dict):
        return []
    found = []
    for file, digest in _stated_files(step):
        now = file_sha256(root, file)
        if now is None:
            found.append(f"{file} is not there")
        elif now != digest:
            found.append(f"{file} was changed")
    rows = with_.get("rows_sha256")
    if rows is not None and step.source is not None and rows_digest(step.path) != rows:
        found.append("the rows of the source were changed")
    return found


def parser_file(with_: dict[str, Any]) -> str:
    """The file of a re-parse's parser, without the name of the function."""
    file, _, function = str(with_.get("parser", "")).rpartition(":")
    return file or function


def _stated_files(step: Step) -> list[tuple[str, str]]:
    """The files of a derivation with the digests of their bytes then: of a rescore's adapter, a judge's file, a parser
    and the adapter that scored what it parsed."""
    with_ = step.block["with"]
    pairs = {
        "rescore": [(with_.get("adapter"), with_.get("sha256"))],
        "judge": [(with_.get("file"), with_.get("file_sha256"))],
        "reparse": [
            (parser_file(with_), with_.get("parser_sha256")),
            (with_.get("adapter"), step.adapter_sha256),
        ],
    }.get(str(step.block.get("kind")), [])
    return [(file, digest) for file, digest in pairs if isinstance(file, str) and file and isinstance(digest, str)]


def file_sha256(root: Path, file: str) -> str | None:
    """The digest of an adapter's file now, below the root or its parent, or of an adapter of the harness; None when it
    is not there."""
    from evh.harness.adapters import load_adapter

    if file.startswith("evh:"):
        try:
            with load_adapter(file, config_dir=root, root=root) as adapter:
                return adapter.sha256
        except EvhError:
            return None
    for folder in (root, root.parent):
        try:
            return hashlib.sha256((folder / file).read_bytes()).hexdigest()
        except OSError:
            continue
    return None
