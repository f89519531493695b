"""Random operations against each database, with plain dicts as the oracle."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from server_support import batch_key, body, episode, principal, taken, trace

from evh.server.catalog import Catalog
from evh.server.faults import ServerFault
from evh.server.filters import Compare
from evh.server.records import CLOSED, LineFormat, Placement, Receipt

_projects = itertools.count()
RUNS = st.sampled_from(["r1", "r2", None])
RECORD = st.tuples(st.sampled_from("abc"), RUNS, st.integers(0, 2), st.sampled_from(["own", "shared", "none"]))
STATUSES = st.sampled_from(["PENDING", "RUNNING", "FAILED", "CANCELLED"])


class CatalogMachine(RuleBasedStateMachine):
    """One project of a catalog beside a model of it."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self.catalog = catalog
        self.who = principal(catalog, f"p{next(_projects)}")
        self.other = principal(catalog, f"p{next(_projects)}")
        self.receipts: dict[bytes, Receipt] = {}
        self.formats: dict[bytes, LineFormat] = {}
        self.versions: dict[tuple[str, str | None], list[str]] = {}
        self.latest: dict[tuple[str, str | None], str] = {}
        self.traces: dict[tuple[str, str | None], dict[str, Any]] = {}
        self.evaluations: dict[str, dict[str, Any]] = {}
        self.by_run: dict[str, str] = {}

    @rule(records=st.lists(RECORD, min_size=1, max_size=3, unique_by=lambda record: record[0]))
    def upload_episodes(self, records: list[tuple[str, str | None, int, str]]) -> None:
        made, shared = [], 0
        for name, run, variant, kind in records:
            shared += kind == "shared"
            members = {"own": [f"t-{name}"], "shared": ["x"] if shared == 1 else [], "none": []}[kind]
            made.append(episode(name, run, [trace(each) for each in members], ok=bool(variant)))
            made[-1]["info"] = {"variant": variant}
        self.upload(body(*made), "episode")

    @rule(name=st.sampled_from(["x", "y"]), run=RUNS, variant=st.integers(0, 1))
    def upload_trace(self, name: str, run: str | None, variant: int) -> None:
        members = {} if run is None else {"run": {"type": "eval", "id": run}}
        self.upload(body(trace(name, info={"variant": variant}, **members)), "trace")

    @precondition(lambda self: self.receipts)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        again = data.draw(st.sampled_from(sorted(self.receipts)))
        self.upload(again, self.formats[again])

    def upload(self, data: bytes, line_format: LineFormat) -> None:
        lines, places = taken(data, line_format)
        receipt = self.catalog.uploads.commit(self.who, batch_key(data, line_format), lines, places, {}, len(data))
        if data in self.receipts:
            first = self.receipts[data]
            assert receipt.replayed and (receipt.accepted, receipt.duplicates) == (first.accepted, first.duplicates)
            return
        accepted = duplicates = new = 0
        for line in lines:
            if line.episode is None:
                key = (line.traces[0]["trace_id"], line.traces[0]["run_id"])
                held = self.traces.setdefault(key, {"digests": set(), "shown": None})
                known, digests = bool(held["digests"]), held["digests"]
            else:
                key = (line.episode["episode_id"], line.episode["run_id"])
                seen = self.versions.setdefault(key, [])
                known, digests = bool(seen), set(seen)
            if line.digest in digests:
                duplicates += 1
                continue
            accepted += 1
            new += known
            if line.episode is not None:
                self.versions[key].append(line.digest)
                self.latest[key] = line.digest
            for each in line.traces:
                place = self.traces.setdefault((each["trace_id"], each["run_id"]), {"digests": set(), "shown": None})
                place["digests"].add(line.digest)
                place["shown"] = line.digest
        assert (receipt.accepted, receipt.duplicates, receipt.new_versions) == (accepted, duplicates, new)
        self.receipts[data] = receipt
        self.formats[data] = line_format

    @rule(name=st.sampled_from(["x", "y", "t-a", "t-b"]))
    def delete_trace(self, name: str) -> None:
        gone = [key for key, held in self.traces.items() if key[0] == name and held["digests"]]
        self.expect(bool(gone), "trace_not_found", lambda: self.catalog.heads.delete_trace(self.who, name))
        for key in gone:
            del self.traces[key]

    @rule(run=st.sampled_from(["r1", "r2"]))
    def delete_run(self, run: str) -> None:
        gone = [key for key, held in self.traces.items() if key[1] == run and held["digests"]]
        self.expect(bool(gone), "run_not_found", lambda: self.catalog.heads.delete_run_traces(self.who, run))
        for key in gone:
            del self.traces[key]

    @rule(run=st.sampled_from(["o1", "o2", None]))
    def create_evaluation(self, run: str | None) -> None:
        metadata = {} if run is None else {"evh": {"run_id": run}}
        made, fresh = self.catalog.evaluations.create(self.who, {"name": "n", "metadata": metadata})
        assert fresh == (run is None or run not in self.by_run)
        if fresh:
            self.evaluations[made.id] = {"status": "RUNNING", "samples": 0, "metrics": None}
        if run is not None:
            assert self.by_run.setdefault(run, made.id) == made.id

    @precondition(lambda self: self.evaluations)
    @rule(data=st.data(), status=st.none() | STATUSES, metrics=st.none() | st.just({"m": 1}), end=st.booleans())
    def change_evaluation(self, data: st.DataObject, status: str | None, metrics: Any, end: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.evaluations)))
        held = self.evaluations[name]
        change = {key: value for key, value in (("status", status), ("metrics", metrics)) if value is not None}
        if end:
            change["status"] = "COMPLETED"
        allowed = "status" not in change or held["status"] not in CLOSED
        table = self.catalog.evaluations
        self.expect(
            allowed,
            "evaluation_closed",
            lambda: table.finalize(self.who, name, metrics) if end else table.update(self.who, name, change),
        )
        if allowed:
            held |= change

    @precondition(lambda self: self.evaluations)
    @rule(data=st.data(), count=st.integers(0, 3))
    def add_samples(self, data: st.DataObject, count: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.evaluations)))
        self.evaluations[name]["samples"] += count
        total = self.catalog.evaluations.add_samples(self.who, name, [Placement("s", 0, 1)] * count)
        assert total == self.evaluations[name]["samples"]

    @staticmethod
    def expect(works: bool, code: str, call: Any) -> None:
        try:
            call()
        except ServerFault as fault:
            assert not works and fault.code == code
        else:
            assert works

    @invariant()
    def listings_show_the_newest_of_each_and_nothing_else(self) -> None:
        heads = self.catalog.heads
        shown = heads.episodes(self.who, limit=1000).items
        assert {(head.episode_id, head.run_id): head.digest for head in shown} == self.latest
        assert len(shown) == len(self.latest)
        for head in shown:
            assert head.versions == len(self.versions[head.episode_id, head.run_id])
        traces = heads.traces(self.who, limit=1000).items
        assert {(head.trace_id, head.run_id): head.digest for head in traces} == {
            key: held["shown"] for key, held in self.traces.items()
        }
        assert len(traces) == len(self.traces)
        some = heads.traces(self.who, Compare("run_id", "eq", "r1"), limit=1000).items
        assert len(some) == sum(run == "r1" for _, run in self.traces)

    @invariant()
    def evaluations_are_as_they_were_left(self) -> None:
        rows, total = self.catalog.evaluations.list(self.who, skip=0, limit=1000)
        assert total == len(rows)
        assert {row.id: (row.status, row.total_samples, row.metrics) for row in rows} == {
            name: (held["status"], held["samples"], held["metrics"]) for name, held in self.evaluations.items()
        }

    @invariant()
    def the_other_project_stays_empty(self) -> None:
        assert self.catalog.heads.episodes(self.other).items == []
        assert self.catalog.evaluations.list(self.other, skip=0, limit=10) == ([], 0)


def test_random_operations_do_what_the_model_says(catalog: Catalog) -> None:
    profile = settings()
    run_state_machine_as_test(
        lambda: CatalogMachine(catalog),
        settings=settings(max_examples=max(8, profile.max_examples // 2), stateful_step_count=20, deadline=None),
    )
