"""One child of the soak: its share of the inputs, under limits of memory and time. Prints its findings as JSON lines.

The number of the input at hand stands in a file, so that the parent knows which one took the child down.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from evh.testing import mangle, mangle_msgpack, mutate
from tests.soak.checks import check_document, check_string
from tests.soak.seeds import Seed

SECONDS = 1.0
MEGABYTES = 200
WARM_UP = 30
ROOM = 600 * 2**20
"""Address space beyond what the warm child has: more than the limit, as what is reserved is not what is resident."""


class TooSlow(BaseException):
    """Raised by the alarm; no handler of ours may take it for an error of the data."""


def bend(seeds: list[Seed], kind: str, seed: int, number: int) -> tuple[str, str, Any]:
    """Type, format and bent input of a number: a document, or bytes."""
    random = Random(f"{kind}:{seed}:{number}")
    while True:
        chosen = random.choice(seeds)
        if kind == "document":
            if chosen.text:
                return chosen.type, "json", mutate(json.loads(chosen.text), random)
        elif chosen.wire and (not chosen.text or random.random() < 0.3):
            data = mangle_msgpack(chosen.wire, random)
            return chosen.type, "msgpack", data if random.random() < 0.6 else mangle_msgpack(data, random)
        elif chosen.text:
            data = chosen.text
            if random.random() < 0.3:
                data = json.dumps(mutate(json.loads(data), random, 2), ensure_ascii=False).encode(
                    "utf-8", "surrogatepass"
                )
            for _ in range(random.choice((1, 1, 1, 2, 3))):
                data = mangle(data, random)
            return chosen.type, "json", data


def main() -> None:
    """Arguments: file of seeds, kind, seed, first number, end, step, file for the number at hand."""
    seeds = msgspec.msgpack.decode(Path(sys.argv[1]).read_bytes(), type=list[Seed])
    kind, (seed, first, end, step) = sys.argv[2], map(int, sys.argv[3:7])
    at_hand = os.open(sys.argv[7], os.O_WRONLY | os.O_CREAT, 0o644)
    check = _check_document if kind == "document" else check_string
    signal.signal(signal.SIGALRM, _too_slow)
    for seed_number in range(min(WARM_UP, len(seeds))):
        _warm(seeds[seed_number * len(seeds) // WARM_UP])
    _limit()
    before = _resident()
    for number in range(first, end, step):
        os.pwrite(at_hand, b"%-20d" % number, 0)
        name, format, value = bend(seeds, kind, seed, number)
        _report(number, _run(check, name, format, value))
        grown = _resident() - before
        if grown > MEGABYTES * 2**20:
            _report(number, f"memory: grew by {grown // 2**20} MB")
            before += grown
    print(json.dumps({"done": True, "grown": _resident() - before}), flush=True)


def _check_document(name: str, format: str, document: Any) -> None:
    check_document(name, document)


def _run(check: Callable[[str, str, Any], None], name: str, format: str, value: Any) -> str:
    started = time.thread_time()  # of this thread's CPU: other work on the machine is no finding
    signal.setitimer(signal.ITIMER_REAL, 10 * SECONDS)
    try:
        check(name, format, value)
    except TooSlow:
        return "time: stopped\n" + traceback.format_exc(limit=-6)
    except Exception:
        return traceback.format_exc(limit=-8)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    taken = time.thread_time() - started
    return f"time: {taken:.2f} s" if taken > SECONDS else ""


def _warm(seed: Seed) -> None:
    """Load what is loaded on first use; what a seed breaks is found later, with a number."""
    if seed.text:
        _run(check_string, seed.type, "json", seed.text)
    if seed.wire:
        _run(check_string, seed.type, "msgpack", seed.wire)


def _limit() -> None:
    statm = Path("/proc/self/statm")
    if statm.exists():
        size = int(statm.read_text().split()[0]) * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _resident() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _too_slow(*_: Any) -> None:
    raise TooSlow


def _report(number: int, finding: str) -> None:
    if finding:
        print(json.dumps({"number": number, "finding": finding}), flush=True)


if __name__ == "__main__":
    main()
