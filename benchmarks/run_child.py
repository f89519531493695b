"""One look at a large run, in a process of its own: prints its seconds and its largest memory in MB."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.child import peak_bytes


def main(what: str, root: Path) -> None:
    started = time.perf_counter()
    if what == "plan":
        from evh.harness.dataset import load_dataset
        from evh.harness.plan import plan_run
        from evh.harness.project import Project

        project = Project(root)
        frozen = load_dataset(project, "big")
        assert not plan_run(project.runs / "big", frozen, len(frozen)).owed
    else:
        from evh.rules import validate

        outcomes = validate([root / "data" / "runs"], {})
        assert all(outcome.status != "FAIL" for outcome in outcomes), outcomes
    print(time.perf_counter() - started, peak_bytes() / 1e6)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
