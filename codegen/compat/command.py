"""`python -m codegen compat [REF|FOLDER]`: what changed in the schemas, and whom it breaks.

Promise: exit code 0 when every break is acknowledged in `schema/CHANGELOG.md`, 1 when one is not (or an acknowledgement
covers nothing), 2 when there is nothing to compare with. Writes nothing, but for `--release`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from evh.errors import EvhError, UsageError

from .acknowledged import Acknowledgement, acknowledgements, idle, unacknowledged
from .findings import RULE, Finding
from .versions import CHANGES, Version, at_reference, in_folder, released, tree, write_release
from .walk import compare

__all__ = ["main"]

HOW = f"""\
A break that is meant is acknowledged below a new heading in {CHANGES}, by a line
  - Break for readers: `file.json#/pointer`: the reason, and what to do
(or: for writers, for readers and writers); see codegen/compat/acknowledged.py."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m codegen compat", description=__doc__)
    parser.add_argument(
        "version", nargs="?", metavar="REF|FOLDER",
        help="what to compare with: a commit, branch or tag, or a folder of schema files (default: the last release)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the differences as data")
    parser.add_argument("--quiet", action="store_true", help="print only what is to be done, and one line")
    parser.add_argument("--release", action="store_true", help="record the schemas of this tree as released")
    options = parser.parse_args(arguments)
    try:
        if options.release:
            return _release()
        old, new = _version(options.version), tree()
        findings = compare(old, new)
    except EvhError as error:
        print(f"compat: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    lines = acknowledgements(new.changes, before=old.changes) if old.changes else _since(new, old)
    open_breaks, useless = unacknowledged(findings, lines), idle(findings, lines)
    if options.json:
        print(_data(old, findings, open_breaks, useless))
    else:
        _show(old, findings, open_breaks, useless, quiet=options.quiet)
    return 1 if open_breaks or useless else 0


def _version(given: str | None) -> Version:
    if given is None or given == "":
        return released()
    folder = Path(given)
    return in_folder(folder) if folder.is_dir() else at_reference(given)


def _since(new: Version, old: Version) -> list[Acknowledgement]:
    """The acknowledgements above the heading of the version that was released."""
    above = new.changes.partition(f"\n## {old.number}\n")[0] if old.number else new.changes
    return acknowledgements(above)


def _release() -> int:
    version = tree()
    print(f"wrote {write_release(version)}: later changes are held against it")
    return 0


def _data(old: Version, findings: list[Finding], open_breaks: list[Finding], useless: list[Acknowledgement]) -> str:
    return json.dumps(
        {
            "ok": not open_breaks and not useless,
            "compared_with": old.label,
            "differences": [
                each.data() | ({"acknowledged": each not in open_breaks} if each.breaks else {}) for each in findings
            ],
            "acknowledgements_without_a_break": [line.place for line in useless],
        },
        indent=1,
        ensure_ascii=False,
    )


def _show(
    old: Version, findings: list[Finding], open_breaks: list[Finding], useless: list[Acknowledgement], *, quiet: bool
) -> None:
    for each in findings:
        if quiet and each not in open_breaks:
            continue
        note = " (acknowledged)" if each.breaks and each not in open_breaks else ""
        print(f"{each.place}{' (gone)' if each.gone else ''}\n  {each.what}\n  {each.kind}{note}: {each.why}")
    for line in useless:
        print(f"{CHANGES}: a break is acknowledged at {line.place}, and there is none")
    counted = Counter(each.kind for each in findings)
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items())) or "no difference"
    print(f"schemas compared with {old.label}: {said}")
    if open_breaks:
        breaches = sum(RULE in each.breaks for each in open_breaks)
        print(f"{len(open_breaks)} to answer for" + (f", {breaches} of them against the rules" if breaches else ""))
        print(HOW)
