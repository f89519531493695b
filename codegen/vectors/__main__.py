"""`python -m codegen.vectors`: how much of the schemas the committed vectors reach; ends with 1 when it is not all."""

from __future__ import annotations

import json
import sys

from . import REPOSITORY, VECTORS
from .coverage import Coverage


def main() -> int:
    coverage = Coverage(REPOSITORY / VECTORS.parent)
    for path in sorted((REPOSITORY / VECTORS).glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            coverage.read(json.loads(line))
    print(f"{coverage.vectors} vectors")
    for kind, (reached, there) in coverage.counts().items():
        print(f"  {kind:<15} {reached:>5} of {there:>5}  {100 * reached / there:.1f} %")
    missing = coverage.missing()
    for point in missing:
        print(f"  not reached: {point}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
