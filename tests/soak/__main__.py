"""The driver: shares the inputs out to a child a core, gathers their findings, writes the inputs down."""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.soak.child import bend
from tests.soak.seeds import Seed, seeds

ROOT = Path(__file__).parents[2]
STALLED = 60.0
"""Seconds on one input after which a child is ended: it hangs where no alarm reaches."""
CHILD = ["-m", "tests.soak.child"]
MOST_DEATHS = 20
"""Children that one core's share may lose before the rest of the share is given up."""


class Finding(NamedTuple):
    """An input that broke a promise."""

    kind: str
    number: int
    text: str

    @property
    def signature(self) -> tuple[str, ...]:
        """Equal for findings of one cause: where it happened, and what."""
        lines = self.text.strip().split("\n")
        places = [line for line in lines if line.startswith("  File ")]
        return (self.kind, *places[-1:], re.sub(r"[0-9'\"].*", "", lines[-1]))


def soak(
    documents: int, strings: int, seed: int, *, pool: int = 60, cores: int | None = None, failures: Path | None = None
) -> list[Finding]:
    """Run the soak; the findings, with their inputs written to the folder `failures`."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = seeds(seed, pool)
        file = Path(folder) / "seeds"
        file.write_bytes(msgspec.msgpack.encode(chosen))
        found: list[Finding] = []
        for kind, count in (("document", documents), ("string", strings)):
            workers = min(cores or os.cpu_count() or 1, max(1, count // 50))
            threads = [
                threading.Thread(target=_work, args=(Path(folder), file, kind, seed, first, count, workers, found))
                for first in range(min(workers, count))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    found.sort()
    if failures is not None:
        _write_down(failures, chosen, seed, found)
    return found


def _work(
    folder: Path, file: Path, kind: str, seed: int, worker: int, count: int, step: int, found: list[Finding]
) -> None:
    """One core's share. A child that dies is a finding, and another one goes on behind the input that took it down."""
    first = worker
    deaths = 0
    while first < count and deaths < MOST_DEATHS:
        at_hand = folder / f"at-hand-{kind}-{worker}"
        at_hand.write_bytes(b"%-20d" % first)
        command = [sys.executable, *CHILD, str(file), kind, *map(str, (seed, first, count, step))]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), *_paths()])}
        with (folder / f"errors-{kind}-{worker}").open("w+b") as errors:
            with subprocess.Popen(
                [*command, str(at_hand)], stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=ROOT, text=True
            ) as child:
                ended = threading.Event()
                watcher = threading.Thread(target=_watch, args=(child, at_hand, ended))
                watcher.start()
                done = _gather(child, kind, found)
                code = child.wait()
                ended.set()
                watcher.join()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")[-2000:]
        if done:
            return
        deaths += 1
        number = int(at_hand.read_bytes())
        found.append(Finding(kind, number, f"the child ended with code {code}\n{said}"))
        first = number + step


def _gather(child: subprocess.Popen[str], kind: str, found: list[Finding]) -> bool:
    done = False
    for line in child.stdout or ():
        message = json.loads(line)
        if "done" in message:
            done = True
        else:
            found.append(Finding(kind, message["number"], message["finding"]))
    return done


def _watch(child: subprocess.Popen[str], at_hand: Path, ended: threading.Event) -> None:
    """End a child that stays at one input."""
    last, since = b"", time.monotonic()
    while not ended.wait(1.0):
        now = at_hand.read_bytes()
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > STALLED:
            child.kill()
            return


def _paths() -> list[str]:
    given = os.environ.get("PYTHONPATH", "")
    return [part for part in given.split(os.pathsep) if part]


def _write_down(folder: Path, chosen: list[Seed], seed: int, found: list[Finding]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        name, format, value = bend(chosen, each.kind, seed, each.number)
        stem = folder / f"{each.kind}-{seed}-{each.number}-{name}.{format}"
        stem.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        stem.with_name(stem.name + ".finding.txt").write_text(each.text, "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description="Bent inputs through everything that reads."
    )
    parser.add_argument("--documents", type=int, default=20_000, help="mutated documents for the strict verdict")
    parser.add_argument("--strings", type=int, default=200_000, help="mutated byte strings through everything")
    parser.add_argument("--seed", type=int, default=None, help="a seed to run again; a new one by default")
    parser.add_argument("--pool", type=int, default=150, help="documents of a type to bend")
    parser.add_argument("--failures", type=Path, default=None, help="folder for the inputs that broke a promise")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    print(f"soak: {options.documents} documents, {options.strings} strings, seed {seed}", flush=True)
    started = time.monotonic()
    found = soak(options.documents, options.strings, seed, pool=options.pool, failures=options.failures)
    alike = Counter(each.signature for each in found)
    for signature, times in alike.most_common(20):
        example = next(each for each in found if each.signature == signature)
        print(f"\n{times} × {example.kind}, such as number {example.number}:\n{example.text}")
    print(f"soak: {len(found)} findings in {time.monotonic() - started:.0f} s (seed {seed})")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
