"""This machine, this boot, this process: what a lease needs to tell a dead writer from one that is silent.

Promise: `is_gone` is True only when it is proved: the process ran on this host in an earlier boot, or on this boot and
in this space of process numbers, and there is no such process or a younger one has its number. A host is known by its
name, and by the machine's own id where both sides have one: two machines of one name are two. Anything unknown is not
gone. Nothing is read before it is asked for.
Policy: the machine's id is one that its system keeps to itself, so only a digest of it is ever written.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

__all__ = ["boot_id", "host_name", "is_gone", "machine_id", "pid_space", "started"]


def host_name() -> str:
    """The machine's name; `unknown` when it has none."""
    return platform.node() or "unknown"


@cache
def machine_id() -> str | None:
    """What tells this machine from others of its name, through all its boots: a digest of the id that its system gave
    it; None where it has none."""
    found = _text("/etc/machine-id")
    if found is None or len(found) < 32:  # "uninitialized", say
        return None
    return hashlib.sha256(b"evh lease " + found.encode()).hexdigest()[:32]


@cache
def boot_id() -> str | None:
    """What tells this boot of the machine from any other."""
    if sys.platform == "darwin":
        return _said("sysctl", "-n", "kern.bootsessionuuid")
    return _text("/proc/sys/kernel/random/boot_id")


def pid_space() -> str | None:
    """What tells this space of process numbers (a container has its own) from others on the machine."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return None


def started(pid: int) -> str | None:
    """When a process began, in the system's own count; None when it is not there or the system does not say."""
    if sys.platform == "darwin":
        return _said("ps", "-o", "lstart=", "-p", str(pid))
    about = _text(f"/proc/{pid}/stat")
    if about is None:
        return None
    fields = about.rpartition(")")[2].split()  # the name in parentheses may hold anything
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return None  # dead, and only not waited for yet
    return fields[19]


def is_gone(
    host: str, boot: str | None, space: str | None, pid: int, pid_started: str | None, machine: str | None = None
) -> bool:
    """Whether a process that said this of itself has provably ended."""
    if host != host_name() or boot is None or boot_id() is None:
        return False
    if machine is not None and machine_id() is not None and machine != machine_id():
        return False
    if boot != boot_id():
        return True
    if space != pid_space() or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # it exists and belongs to somebody else
    found = started(pid)
    if found is None:
        return sys.platform == "linux" and Path("/proc/self/stat").exists()  # a zombie, or gone just now
    return pid_started is not None and found != pid_started


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text("utf-8", "replace").strip() or None
    except OSError:
        return None


def _said(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
