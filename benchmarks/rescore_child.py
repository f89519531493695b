"""One rescore in a process of its own: `python -m benchmarks.rescore_child ROOT OUT` prints the MB of the largest
process, itself or a worker."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from benchmarks.child import peak_bytes


def main(root: Path, out: Path) -> None:
    from evh.harness import Project
    from evh.harness.rescore import rescore_run
    from evh.store import open_run_dir

    rescore_run(Project(root), open_run_dir(root / "data" / "runs" / "arm"), out)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(max(peak_bytes(), workers) / 1e6)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
