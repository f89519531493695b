"""`python -m benchmarks`: run the jobs, print the figures as they come, then every bar with ok or missed."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from benchmarks import jobs_compare, jobs_decode, jobs_files, jobs_live, jobs_rescore, jobs_runs, jobs_start
from benchmarks.data import Data
from benchmarks.report import Report
from benchmarks.timing import ROOT

JOBS: dict[str, Callable[[Data, Report, int], None]] = {
    "decode": jobs_decode.decode,
    "odd": jobs_decode.odd,
    "strict": jobs_decode.strict,
    "upgrade": jobs_decode.upgrade,
    "encode": jobs_decode.encode,
    "episodes": jobs_files.episodes,
    "hold": jobs_files.hold,
    "memory": jobs_files.memory,
    "summaries": jobs_files.summaries,
    "start": jobs_start.start,
    "measure": jobs_runs.measure,
    "append": jobs_runs.append,
    "big-run": jobs_runs.big_run,
    "rescore": jobs_rescore.rescore,
    "compare": jobs_compare.compare,
    "log": jobs_live.log,
    "upload": jobs_live.upload,
    "ingest": jobs_live.ingest,
}
PEERS = ("verifiers", "pydantic", "msgspec", "orjson", "duckdb", "jsonschema", "jsonschema-rs")
ROUNDS = {False: 31, True: 9}


def main() -> int:
    given = _parser().parse_args()
    versions = _versions()
    rounds = given.rounds or ROUNDS[given.quick]
    report = Report(quiet=given.json)
    report.say(f"# evh benchmarks: {', '.join(f'{name} {number}' for name, number in versions.items())}")
    report.say(
        f"# {rounds} rounds, candidates by turns; CPU time; medians of the rounds, quartiles of ratios in brackets"
    )
    data = Data(given.data.resolve(), quick=given.quick)
    data.make()
    for name, job in JOBS.items():
        if not given.only or name in given.only:
            job(data, report, rounds)
    if given.json:
        found = {"versions": versions, "rounds": rounds, "quick": given.quick, **report.as_json()}
        print(json.dumps(found, indent=2))
    report.say(report.summary())
    return 1 if given.strict and report.missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure evh beside its peers. A missed bar is reported; it fails the run only with --strict.",
    )
    parser.add_argument(
        "--only", action="append", choices=JOBS, metavar="JOB", help=f"one of {', '.join(JOBS)}; may repeat"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds, a file of 100 MB instead of 500")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of the short jobs (the long ones take fewer)")
    parser.add_argument(
        "--data", type=Path, default=ROOT / ".bench", metavar="DIR", help="where the rows are kept (.bench)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed")
    return parser


def _versions() -> dict[str, str]:
    if find_spec("evh") is None:
        raise _missing("evh")
    found = {"python": platform.python_version()}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            raise _missing(name) from None
    return found


def _missing(name: str) -> SystemExit:
    print(f"benchmarks: {name} is not installed; use `make bench`", file=sys.stderr)
    return SystemExit(2)


if __name__ == "__main__":
    sys.exit(main())
