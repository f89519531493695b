"""V6, V10 and R7: what runs and baselines were made from.

Promise: V6, the run behind every baseline is there; V10, every digest that a derived run states of what scored it is
that of the code that is here, and one that states none fails; R7, no chain of derivations comes back to itself. A
source that is gone breaks nothing: the chain in the record says what it was. Code that does not load is named and fails
nothing, and so are measured runs whose adapter was changed since: a measurement is not made again.
Policy: V10 looks at a run's own derivation; those before it are looked at where their runs are. Adapters are loaded
once each, for their `scorer_id()`; judges for their digests. Clocks that disagree are R5's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evh.errors import EvhError, RecordError, cut
from evh.harness.adapters import load_adapter
from evh.harness.lineage import block_members, file_sha256, lineage, parser_file
from evh.protocol import models
from evh.rules.outcome import Outcome
from evh.rules.tree import FoundRun, RunsFolder, Tree
from evh.store import layout
from evh.store.derived import chain
from evh.store.fingerprint import scorer_digest
from evh.store.run_dir import read_document

__all__ = ["r7", "v6", "v10"]

PART = "scorer/"
"""Before the name of a part that a `scorer_id` names."""
AGAIN = "derive the run again with the code that is here, or restore the file that scored it"


def v6(tree: Tree, outcome: Outcome) -> None:
    """The run behind every baseline exists."""
    for project in tree.projects:
        paths = tree.files(project.baselines, "*.json")
        if not paths:
            continue
        there = _run_ids(tree, project.root)
        for path in paths:
            try:
                baseline = read_document(path, models.Baseline)
            except EvhError:
                continue  # V1 says why
            outcome.looked("baselines")
            if baseline.promoted_from not in there:
                outcome.found(
                    tree.shown(path),
                    f"there is no run {cut(baseline.promoted_from)}, which it was promoted from",
                    "restore the run, or promote one that is there",
                    pointer="/promoted_from",
                )


def _run_ids(tree: Tree, root: Path) -> set[str]:
    found: set[str] = set()
    for folder, run in tree.runs():
        if folder.project is not None and folder.project.root == root:
            found |= {run.path.name, *([run.record.run_id] if run.record is not None else [])}
    return found


def v10(tree: Tree, outcome: Outcome) -> None:
    """The digests that derived runs state are those of the code that is here."""
    now: dict[tuple[Path, str, str], dict[str, str] | str] = {}
    for folder, run in tree.runs():
        record = run.record
        if record is None:
            continue
        root = _root(folder, run)
        file = tree.shown(run.path / layout.RECORD)
        if record.derived is None:
            _note_measured(outcome, file, record, root)
            continue
        outcome.looked("derived runs")
        block = block_members(record.derived)
        stated = _stated(block)
        if not stated:
            outcome.found(file, "states no digest of what scored it", AGAIN, pointer="/derived/with")
            continue
        code = _code(block)
        key = (root, str(block["kind"]), code)
        if key not in now:
            now[key] = _digests(block, root, code)
        found = now[key]
        if isinstance(found, str):
            outcome.noted(f"{file}: skipped, {found}")
            continue
        outcome.looked("digests", len(stated))
        for name, digest in stated.items():
            if found.get(name) != digest:
                what = "has no such part now" if name not in found else f"has {found[name][:12]}… now"
                outcome.found(
                    file,
                    f"states {digest[:12]}… for {cut(name)}, and {cut(code)} {what}",
                    AGAIN,
                    pointer=f"/derived/with/{name}",
                )


def _root(folder: RunsFolder, run: FoundRun) -> Path:
    return run.path.parent.parent.parent if folder.project is None else folder.project.root


def _note_measured(outcome: Outcome, file: str, record: models.RunRecord, root: Path) -> None:
    adapter = None if record.fingerprint is None else record.fingerprint.instrument.adapter
    if adapter is None or adapter.sha256 is None:
        return
    now = file_sha256(root, adapter.id)
    if now is not None and now != adapter.sha256:
        outcome.noted(f"{file}: measured with another {cut(adapter.id)} than the one that is here")


def _stated(block: dict[str, Any]) -> dict[str, str]:
    """The digests of code that a block states, by name; those of rows are of data."""
    with_ = block.get("with")
    if not isinstance(with_, dict):
        return {}
    found = {
        name: digest
        for name, digest in with_.items()
        if name.endswith("sha256") and name != "rows_sha256" and isinstance(digest, str)
    }
    scorer = with_.get("scorer")
    return found | ({f"{PART}{name}": digest for name, digest in scorer.items()} if isinstance(scorer, dict) else {})


def _code(block: dict[str, Any]) -> str:
    """What a block says scored it: the key under which its digests are computed once."""
    with_ = block["with"]
    if block["kind"] == "reparse":
        return f"{parser_file(with_)}, {with_.get('adapter')}"
    return str(with_.get("file") or with_.get("adapter") or with_.get("scorer"))


def _digests(block: dict[str, Any], root: Path, code: str) -> dict[str, str] | str:
    """The same digests of the code that is here; or why there are none."""
    try:
        if block["kind"] == "judge":
            return _of_judge(block, root)
        if block["kind"] == "rescore":
            return _of_adapter(block["with"]["adapter"], root)
        if block["kind"] == "reparse":
            return _of_reparse(block["with"], root)
    except (EvhError, LookupError, OSError) as error:
        return f"{code} does not load: {error}"
    return f"{block['kind']} derivations are not known to this release"


def _of_adapter(name: str, root: Path) -> dict[str, str]:
    beside = root.parent / name
    there = (root / name).is_file() or not beside.is_file()
    with load_adapter(name if there else str(beside), config_dir=root, root=root) as adapter:
        parts = {f"{PART}{part}": digest for part, digest in adapter.scorer_id().items()}
        return {"sha256": adapter.sha256, **parts}


def _of_reparse(with_: dict[str, Any], root: Path) -> dict[str, str]:
    parser = parser_file(with_)
    now = file_sha256(root, parser)
    if now is None:
        raise RecordError(f"{parser} is not there")
    if with_.get("adapter") is None:
        raise RecordError("the record does not say which adapter scored")
    found = _of_adapter(with_["adapter"], root)
    parts = {name.removeprefix(PART): digest for name, digest in found.items() if name.startswith(PART)}
    return {"parser_sha256": now, "scorer_sha256": scorer_digest(found["sha256"], parts)}


def _of_judge(block: dict[str, Any], root: Path) -> dict[str, str]:
    from evh.harness.judging.scorer import load_judge_scorer

    file = block["with"].get("file")
    if file is None:
        raise RecordError("the record does not say which file holds the judge")
    with load_judge_scorer(root / file, root=root, environ={}) as judge:
        names = ("sha256", "file_sha256", "prompt_sha256", "parser_sha256")
        return {name: digest for name in names if isinstance(digest := getattr(judge, name, None), str)}


def r7(tree: Tree, outcome: Outcome) -> None:
    """No chain of derivations comes back to itself; sources that are gone are noted."""
    for _, run in tree.runs():
        record = run.record
        if record is None or record.derived is None:
            continue
        file = tree.shown(run.path / layout.RECORD)
        outcome.looked("derived runs")
        try:
            chain(record)
        except RecordError as error:
            outcome.found(file, error.message, "derive the run again from one that was measured", pointer="/derived")
            continue
        found = lineage(run.run)
        for fault in found.faults:
            outcome.found(file, fault, "restore the folders as they were named", pointer="/derived/from")
        for depth, step in enumerate(found.steps):
            if step.note is not None:
                where = "/derived" + "/source" * depth
                outcome.noted(f"{file}: {where}: {cut(str(step.block.get('from')))}: {step.note}")
        if record.source_created_at is None:
            outcome.noted(f"{file}: does not say when its source was made (source_created_at)")
