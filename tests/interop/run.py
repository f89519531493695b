"""Interop: converted rows against the released libraries' own loaders, on real, made and odd rows.

    python tests/interop/run.py [--venv-040 DIR] [--venv-031 DIR] [--only TEXT] [--mutated N] [--verbose]

Without `--venv-…` the two environments are built below `.interop/`. Every row is converted for every target; the
release (both, for `common`) loads it as a value, as JSON text and through `read_episodes`, in a child with a memory
limit and a deadline; it writes the row again; every value that was not reported comes back equal; the stash is put
back, and the outcome is the source again but for the losses that no stash can mend. Rows of 0.4.0 must survive
untouched to the byte. Ends with 1 when anything fails.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "src"), str(HERE)]

from compare import differences, leaves_lost  # noqa: E402
from odd_rows import mutated_rows, odd_rows  # noqa: E402

import evh  # noqa: E402
from evh.errors import RecordError  # noqa: E402
from evh.protocol.convert import TARGETS, Counts, convert_document, restore_document  # noqa: E402
from evh.protocol.converted import counts_of  # noqa: E402
from evh.protocol.jsontext import parse  # noqa: E402
from evh.protocol.upgrade import Step  # noqa: E402
from evh.protocol.upgraded import upgrade_plain  # noqa: E402
from evh.protocol.wire import parse_wire  # noqa: E402

VERSIONS = {"0.4": "0.4.0", "0.3.1": "0.3.1"}
READERS = {"verifiers-0.4": ("0.4",), "verifiers-0.3.1": ("0.3.1",), "common": ("0.3.1", "0.4")}
HOMES = {"v0.4.0": "verifiers-0.4", "v0.3.1": "verifiers-0.3.1"}
COMPUTED = ("num_input_tokens", "num_output_tokens", "num_total_tokens")
MEMORY = 4 << 30
DEADLINE = 240
SHOWN = 6


class Source(NamedTuple):
    """A row to convert. `home` is the target that wrote `line` itself and must take it as it is."""

    name: str
    doc: dict[str, Any]
    line: bytes
    home: str
    counts: Counts | None


class Job(NamedTuple):
    source: Source
    target: str
    converted: dict[str, Any]
    steps: list[Step]


def upgraded(line: bytes) -> dict[str, Any]:
    """A row of any historical shape as a plain value of today's: the one place that knows how.

    The public way, `evh.convert`, must shape it as `converted` does: that is shown here for every real row.
    """
    made, doc = upgrade_plain(parse(line)[0])
    if "schema" not in parse(line)[0]:
        doc.pop("schema", None)
    for target in TARGETS:
        expected, _steps = convert_document(json.loads(json.dumps(doc)), target, counts_of(made.record))
        if evh.convert(line, target).document != expected:
            raise SystemExit(f"evh.convert and convert_document disagree for {target} on {line[:60]!r}")
    return doc


def converted(doc: dict[str, Any], target: str, counts: Counts | None) -> tuple[dict[str, Any], list[Step]]:
    """A row shaped for a release: the one place that knows how."""
    return convert_document(doc, target, counts)


def stored_counts(line: bytes) -> Counts | None:
    """The token counts that a row of 0.4.0 carries."""
    row = json.loads(line)
    if "num_input_tokens" not in row:
        return None
    one, two, three = COMPUTED
    return Counts((row[one], row[two], row[three]), [(t[one], t[two], t[three]) for t in row["traces"]])


def real_rows(only: str) -> Iterator[Source]:
    for path in sorted((ROOT / "tests" / "data" / "verifiers").rglob("*.json*")):
        name = path.relative_to(ROOT / "tests" / "data" / "verifiers").as_posix()
        if path.suffix == ".jsonl" and only in name:
            for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
                text = line.strip(b"\r")
                if text and whole(text):
                    written = "" if "to_record" in name else HOMES.get(name.split("-")[0], "")
                    yield Source(f"{name}:{number}", upgraded(text), text, written, stored_counts(text))


def whole(line: bytes) -> bool:
    """A torn line is not a row."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def made(python: Path, release: str, work: Path) -> tuple[list[Source], list[Source]]:
    rows, wire = work / f"made-{release}.jsonl", work / f"made-{release}.msgpacks"
    child(python, "made_rows.py", rows, wire)
    on_disk = [
        Source(f"made {release}:{number}", upgraded(line), line, f"verifiers-{release}", stored_counts(line))
        for number, line in enumerate(rows.read_bytes().splitlines(), 1)
    ]
    on_wire = [
        Source(f"wire {release}:{number}", upgraded_wire(packed), b"", "", None)
        for number, packed in enumerate(unpacked(wire.read_bytes()), 1)
    ]
    return on_disk, on_wire


def upgraded_wire(packed: bytes) -> dict[str, Any]:
    """A wire episode of any historical shape as a plain value of today's, tensors as bytes."""
    doc = upgrade_plain(parse_wire(packed)[0])[1]
    doc.pop("schema", None)
    return doc


def unpacked(data: bytes) -> Iterator[bytes]:
    """MessagePack documents, each after its length in eight bytes."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "big")
        yield data[at + 8 : at + 8 + size]
        at += 8 + size


def packed(doc: dict[str, Any]) -> bytes:
    data = msgspec.msgpack.encode(doc)
    return len(data).to_bytes(8, "big") + data


def child(python: Path, script: str, *arguments: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PRIME_", "PYTHON"))}
    clean["OPENBLAS_NUM_THREADS"] = "1"
    command = [str(python), str(HERE / script), *map(str, arguments)]
    try:
        subprocess.run(command, check=True, timeout=DEADLINE, preexec_fn=limited, env=clean, cwd=HERE)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        sys.exit(f"{script} failed: {error}")


def environment(given: str | None, version: str) -> Path:
    folder = Path(given) if given else ROOT / ".interop" / version
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"building an environment with verifiers {version} …", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", f"verifiers=={version}"], check=True)
    return python


class Tally:
    """Counts for one line of the table, and the faults below it."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.faults: list[str] = []

    def add(self, name: str, passed: bool, fault: str = "") -> None:
        self.counts[name] = self.counts.get(name, 0) + passed
        if not passed:
            self.faults.append(fault)


def check_replies(jobs: list[Job], replies: list[dict[str, Any]], release: str, *, wire: bool, tally: Tally) -> None:
    for job, reply in zip(jobs, replies, strict=True):
        name = f"{job.source.name} for {job.target}"
        tally.add("loads", "error" not in reply, f"{name}: {reply.get('error')}")
        for way in ("dict",) if wire else ("dict", "json"):
            if way not in reply:
                continue
            resaved = reply[way] if wire else json.loads(reply[way])
            found = differences(job.converted, resaved, job.steps, rounded=release == "0.4" and not wire)
            tally.add(f"re-save ({way})", not found, f"{name} ({way}): re-save changed {found[:SHOWN]}")
            back, _ = restore_document(resaved)
            lost = leaves_lost(job.source.doc, back, job.steps, rounded=release == "0.4" and not wire)
            tally.add(f"put back ({way})", not lost, f"{name} ({way}): not put back {lost[:SHOWN]}")
        if job.source.home == job.target and "dict" in reply:
            exact = reply["dict"].encode() == job.source.line
            tally.add("bytes", exact, f"{name}: the re-saved line differs")


def convertible(doc: dict[str, Any]) -> bool:
    """A mutation may break what no stash can mend; then the row is refused, with a place."""
    try:
        converted(doc, "common", None)
    except RecordError:
        return False
    return True


def check_own(sources: list[Source], tally: Tally) -> None:
    """What needs no release: bytes, idempotence, and the way back without a re-save."""
    for source in sources:
        for target in TARGETS:
            shaped, steps = converted(source.doc, target, source.counts)
            again, _ = converted(shaped, target, source.counts)
            tally.add("idempotent", again == shaped, f"{source.name} for {target}: converting again changes it")
            back, _ = restore_document(shaped)
            if not source.doc.get("traces") or any(step.rule == "non-finite" for step in steps):
                exact = not leaves_lost(source.doc, back, steps, rounded=False)
            else:
                exact = without_counts(back) == without_counts(source.doc)
            tally.add("restored", exact, f"{source.name} for {target}: not restored")
        if source.home:
            same = msgspec.json.encode(converted(json.loads(source.line), source.home, source.counts)[0])
            equal = same == source.line or (b"e+" in source.line and json.loads(same) == json.loads(source.line))
            tally.add("own bytes", equal, f"{source.name}: a clean row is not byte-equal")


def without_counts(doc: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in doc.items() if name not in COMPUTED}
    return bare | {"traces": [without_counts(trace) for trace in doc.get("traces", [])]} if "traces" in bare else bare


def run_jobs(sources: list[Source], pythons: dict[str, Path], work: Path, *, wire: bool) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for target in TARGETS:
        jobs = [Job(source, target, *converted(source.doc, target, source.counts)) for source in sources]
        for release in READERS[target]:
            tally = tallies[f"{target} read by {VERSIONS[release]}"] = Tally()
            rows = work / ("rows.msgpacks" if wire else "rows.jsonl")
            encode = packed if wire else msgspec.json.encode
            rows.write_bytes((b"" if wire else b"\n").join(encode(job.converted) for job in jobs))
            child(pythons[release], "load_rows.py", rows, work / "replies")
            if wire:
                replies = [msgspec.msgpack.decode(each) for each in unpacked((work / "replies").read_bytes())]
            else:
                *replies, last = map(json.loads, (work / "replies").read_text(encoding="utf-8").splitlines())
                tally.counts["read_episodes"] = max(last["read_episodes"], 0)
                if last["read_episodes"] != len(jobs):
                    tally.faults.append(
                        f"read_episodes gave {last['read_episodes']} of {len(jobs)}: {last.get('error')}"
                    )
            check_replies(jobs, replies, release, wire=wire, tally=tally)
    return tallies


def main() -> int:
    options = argparse.ArgumentParser(description="Converted rows against the released libraries.")
    options.add_argument("--venv-040", help="an environment with verifiers 0.4.0")
    options.add_argument("--venv-031", help="an environment with verifiers 0.3.1")
    options.add_argument("--only", default="", help="real rows of files whose path holds this text")
    options.add_argument("--mutated", type=int, default=300, help="how many mutated rows to try")
    options.add_argument("--seed", type=int, default=1, help="of the mutations")
    options.add_argument("--verbose", action="store_true", help="show every fault")
    given = options.parse_args()
    pythons = {"0.4": environment(given.venv_040, "0.4.0"), "0.3.1": environment(given.venv_031, "0.3.1")}
    work = ROOT / ".interop" / "work"
    work.mkdir(parents=True, exist_ok=True)
    groups: list[tuple[str, list[Source], bool]] = [("real rows", list(real_rows(given.only)), False)]
    for release in VERSIONS:
        on_disk, on_wire = made(pythons[release], release, work)
        groups += [(f"made rows of {release}", on_disk, False), (f"wire episodes of {release}", on_wire, True)]
        if release == "0.4":
            odd = [Source(f"odd: {name}", doc, b"", "", None) for name, doc in odd_rows(on_disk[1].doc)]
            groups.append(("odd rows", odd, False))
        mutations = mutated_rows([source.doc for source in on_disk], given.mutated, given.seed)
        rows = [Source(name, doc, b"", "", None) for name, doc in mutations if convertible(doc)]
        groups.append((f"mutated rows of {release}", rows, False))
    faults = 0
    for title, sources, wire in groups:
        tallies = run_jobs(sources, pythons, work, wire=wire)
        if not wire:
            tallies["without a release"] = Tally()
            check_own(sources, tallies["without a release"])
        print(f"\n{title}: {len(sources)}")
        for line, tally in tallies.items():
            print(f"  {line:32} " + "  ".join(f"{name} {count}" for name, count in tally.counts.items()), flush=True)
            shown = tally.faults if given.verbose else tally.faults[:SHOWN]
            for fault in shown:
                print(f"      {fault[:900]}")
            if len(tally.faults) > len(shown):
                print(f"      … and {len(tally.faults) - len(shown)} more")
            faults += len(tally.faults)
    print("\nall equal" if not faults else f"\n{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
