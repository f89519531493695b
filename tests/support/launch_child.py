"""Launches of `evh run`, each in a forked child, so that a launch costs milliseconds and can be killed anywhere.

A launch is a line of JSON on standard input: `root` (the project, where the child works), `arguments`, `environ`, and
at most one of `kill_after` (seconds, from outside), `kill_at` (the number of a call of `evh.store._os`: the child kills
itself once that call is done) and `fault_at` with `fault` (a number of errno, or `short`: that call fails, or takes
half of what it was given; with `lasting` all later ones fail too). With `file_limit` no file may grow beyond so many
bytes, which is how the system itself refuses. The answer is a line: `status` (the exit code, or
minus the signal), `said` (what it printed), `calls` (how many calls of `evh.store._os` it made).
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import threading
from typing import Any

import evh.cli
import evh.cli._running
import evh.cli._terminal
import evh.cli.run
import evh.harness.launch
import evh.harness.setup
from evh.harness._yaml import read_yaml
from evh.store import _os
from evh.store.build import harness_state

CALLS = ("create", "write", "fsync", "truncate", "replace", "rename", "unlink", "mkdir", "rmdir")


def tampered(launch: dict[str, Any], counted: int) -> None:
    """Send every call of `_os` through a counter, which is the file `counted`, and through the fault that is asked."""
    guard = threading.Lock()
    number = 0
    kill_at, fault_at, fault = launch.get("kill_at"), launch.get("fault_at"), launch.get("fault")

    def through(name: str) -> Any:
        real = getattr(_os, name)

        def call(*given: Any) -> Any:
            nonlocal number
            with guard:
                number += 1
                mine = number
            os.pwrite(counted, b"%d" % mine, 0)
            if fault_at is not None and (mine == fault_at or (launch.get("lasting") and mine > fault_at)):
                if fault != "short":
                    raise OSError(fault, os.strerror(fault))
                if name == "write" and len(given[1]) > 1:
                    given = (given[0], bytes(given[1])[: len(given[1]) // 2])
            result = real(*given)
            if mine == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    for name in CALLS:
        setattr(_os, name, through(name))


def child(launch: dict[str, Any], said: int, counted: int) -> int:
    """What the forked child does."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor, number in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(descriptor, number)
    os.chdir(launch["root"])
    os.environ.update(launch["environ"])
    if "file_limit" in launch:
        resource.setrlimit(resource.RLIMIT_FSIZE, (launch["file_limit"], launch["file_limit"]))
    if "kill_at" in launch or "fault_at" in launch:
        tampered(launch, counted)
    return evh.cli.main(launch["arguments"])


def launched(launch: dict[str, Any]) -> dict[str, Any]:
    files = [os.open(f"{launch['root']}-{name}", os.O_RDWR | os.O_CREAT | os.O_TRUNC) for name in ("said", "counted")]
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.close(reading)
            status = child(launch, *files)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    if launch.get("kill_after") is not None and not select.select([reading], [], [], launch["kill_after"])[0]:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(reading)
    said, counted = (os.pread(file, 1 << 20, 0).decode("utf-8", "replace") for file in files)
    for file in files:
        os.close(file)
    return {"status": os.waitstatus_to_exitcode(status), "said": said, "calls": int(counted or 0)}


def main() -> None:
    read_yaml("a: 1", "warm")  # loads what the first launch would load
    state = harness_state()  # asks git: once is enough
    evh.harness.setup.harness_state = lambda: state
    for line in sys.stdin:
        print(json.dumps(launched(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
