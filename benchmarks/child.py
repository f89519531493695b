"""What the memory job runs in a process of its own: `python -m benchmarks.child MODE PATH` reads every episode."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

__all__ = ["main"]


def peak_bytes() -> int:
    """The most memory that this process held. `ru_maxrss` would count its parent's, which a child begins as."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    import evh

    mode, path = sys.argv[1:]
    reader = evh.read_episodes(path, mode=mode)  # type: ignore[arg-type]
    for _ in reader:
        pass
    print(json.dumps({"read": reader.read, "skipped": reader.skipped, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main()
