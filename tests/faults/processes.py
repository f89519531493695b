"""Real processes for tests of faults."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import evh.errors

SOURCES = str(Path(evh.errors.__file__).parents[1])


def start_python(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """A Python process that can import the package under test, with pipes at all three ends."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": SOURCES},
    )


def run_python(code: str, *arguments: str | Path, timeout: float = 20) -> str:
    """The output of a program that must end well."""
    with start_python("-c", code, *arguments) as process:
        out, error = process.communicate(timeout=timeout)
    assert process.returncode == 0, error.decode()
    return out.decode()


def run_on_small_disk(code: str, folder: Path) -> str:
    """The output of a program on a disk of 256 KiB, mounted for it alone; where that is not allowed, under a limit of
    the same size on its files."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "evh-test", str(folder)]
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rm", *mount], capture_output=True, check=False).returncode:
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 10, resource.RLIM_INFINITY))\n"
        return run_python(limit + code, folder)
    script = f'{" ".join(mount[:-1])} "$1" && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        [unshare, "-rm", "sh", "-c", script, "sh", str(folder), sys.executable, code],
        env=os.environ | {"PYTHONPATH": SOURCES},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def forked(action: object) -> str:
    """What `action()` returns, as text, when a forked child calls it."""
    assert callable(action)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, str(action()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return told
