"""Interop: the released clients of the hosted platform against our server, unmodified.

    python tests/interop/live.py [--python FILE] [--verbose]

prime-runs 0.1.4, prime-traces 0.0.10, prime-evals 0.2.4 and the eval push of verifiers 0.4.0 use each of their calls
against an `evh serve` of this checkout, once under each profile; what they sent is read back by them, and must be
equal. Afterwards everything that is stored is held against its digests. The environment is `.interop/live`
(`scripts/setup interop`; `make interop` makes it). Ends with 1 when anything fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "src")]

from evh.testing.live import Server  # noqa: E402

RELEASES = {"prime-runs": "0.1.4", "prime-traces": "0.0.10", "prime-evals": "0.2.4", "verifiers": "0.4.0"}
ASK = "import sys\nfrom importlib.metadata import version\nprint(*map(version, sys.argv[1:]))"
DEADLINE = 300


def main() -> int:
    options = argparse.ArgumentParser(description="The released clients against our server.")
    options.add_argument("--python", type=Path, default=ROOT / ".interop" / "live" / "bin" / "python")
    options.add_argument("--verbose", action="store_true", help="show what the server said")
    given = options.parse_args()
    if not given.python.exists():
        print(f"{given.python} is not there: make it with `VENV=.interop/live scripts/setup interop`", file=sys.stderr)
        return 2
    found = subprocess.run([given.python, "-c", ASK, *RELEASES], capture_output=True, text=True, check=True)
    if found.stdout.split() != [*RELEASES.values()]:
        print(f"expected {RELEASES}, {given.python} has {found.stdout.strip()}", file=sys.stderr)
        return 2
    faults = 0
    with tempfile.TemporaryDirectory(prefix="evh-interop-") as folder:
        for profile in ("evh", "prime"):
            print(f"\nreleased clients, profile {profile}")
            for name, wrong in checks(given.python, Path(folder), profile, verbose=given.verbose):
                print(f"  {name:44} {'equal' if wrong is None else 'FAILED'}", flush=True)
                if wrong is not None:
                    faults += 1
                    print("      " + wrong.strip().replace("\n", "\n      "))
    print("\nall equal" if not faults else f"\n{faults} faults")
    return 1 if faults else 0


def checks(python: Path, folder: Path, profile: str, *, verbose: bool) -> Iterator[tuple[str, str | None]]:
    """The checks of one profile, and what was wrong with each."""
    rows = folder / "rows.jsonl"
    rows.write_bytes(b"\n".join(real_rows()) + b"\n")
    with Server(folder / f"server-{profile}", profile=profile, tokens=True) as server:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PRIME_", "PYTHON", "EVH_"))}
        home = folder / "home"
        home.mkdir(exist_ok=True)
        child = subprocess.run(
            [python, HERE / "live_clients.py", rows, folder],
            env={**clean, **server.environ, "HOME": str(home)}, capture_output=True, text=True, timeout=DEADLINE,
            check=False, cwd=folder,
        )  # fmt: skip
        done = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        yield from done
        if child.returncode or not done:
            yield "all checks were made", child.stderr[-2000:]
        stored = server.evh("serve", "verify", "--json")
        yield f"{stored['lines']} stored lines are whole", json.dumps(stored["damages"]) if stored["damages"] else None
        if "Traceback" in server.said:
            yield "the server raised nothing", server.said[-3000:]
        if verbose:
            print(server.said)


def real_rows() -> Iterator[bytes]:
    """Episodes with traces, as verifiers 0.4.0 wrote them."""
    for path in sorted((ROOT / "tests" / "data" / "verifiers").glob("v0.4.0*/**/traces.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row.get("traces") and all(trace.get("nodes") for trace in row["traces"]):
                yield line


if __name__ == "__main__":
    raise SystemExit(main())
