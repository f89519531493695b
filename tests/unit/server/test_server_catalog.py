"""The contract of the catalog: the same on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from server_support import batch_key, body, episode, principal, taken, trace

from evh.errors import UsageError
from evh.server.catalog import Catalog
from evh.server.faults import ServerFault
from evh.server.filters import Compare
from evh.server.records import BatchKey, LineFormat, Placement, Principal, Receipt
from evh.server.text import instant

ODD = "nul\0 and \ud800 and ü\u2028"


def upload(
    catalog: Catalog, who: Principal, *records: dict[str, Any], line_format: LineFormat = "episode",
    context: dict[str, str] | None = None, now: int = 5,
) -> Receipt:  # fmt: skip
    data = body(*records)
    lines, places = taken(data, line_format, now=now)
    return catalog.uploads.commit(who, batch_key(data, line_format), lines, places, context or {}, len(data))


def refused(status: int, code: str) -> Any:
    """A block that must be refused so."""

    class Refused:
        def __enter__(self) -> None: ...

        def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
            assert isinstance(error, ServerFault), error
            assert (error.status, error.code) == (status, code)
            return True

    return Refused()


class TestUploads:
    def test_a_receipt_counts_and_comes_again_for_the_same_bytes(self, catalog: Catalog, who: Principal) -> None:
        records = (episode("a"), episode("b"))
        first = upload(catalog, who, *records)
        assert (first.accepted, first.duplicates, first.new_versions, first.replayed) == (2, 0, 0, False)
        again = upload(catalog, who, *records)
        assert again == Receipt(
            first.upload_id, 2, 0, 0, first.bytes, first.committed_us, status="committed", replayed=True
        )
        assert len(catalog.heads.episodes(who).items) == 2
        usage = catalog.projects.usage(who.project)
        assert (usage.bytes, usage.episodes, usage.traces, usage.batches) == (first.bytes, 2, 2, 1)
        key = batch_key(body(*records))
        assert catalog.uploads.begin(who, key) == again == catalog.heads.receipt(who, key.key)
        assert catalog.uploads.begin(who, batch_key(b"new\n")) is None

    def test_a_key_with_other_bytes_is_a_conflict_that_names_both_digests(
        self, catalog: Catalog, who: Principal
    ) -> None:
        data = body(episode("a"))
        lines, places = taken(data)
        catalog.uploads.commit(who, BatchKey("mine", "a" * 64, "episode"), lines, places, {}, 1)
        with pytest.raises(ServerFault, match=f"{'a' * 64}.*{'b' * 64}") as caught:
            catalog.uploads.begin(who, BatchKey("mine", "b" * 64, "episode"))
        assert (caught.value.status, caught.value.code) == (409, "idempotency_conflict")

    def test_the_same_bytes_as_another_line_format_are_a_conflict(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, trace("a"), line_format="trace")
        with refused(409, "line_format_conflict"):
            catalog.uploads.begin(who, batch_key(body(trace("a")), "episode"))

    def test_content_that_came_in_another_batch_is_counted_once(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a"))
        second = upload(catalog, who, episode("a"), episode("b"))
        assert (second.accepted, second.duplicates, second.new_versions) == (1, 1, 0)
        assert sorted(head.episode_id for head in catalog.heads.episodes(who).items) == ["a", "b"]
        assert len(catalog.heads.traces(who).items) == 2

    def test_other_content_under_an_id_is_a_new_version_and_the_old_one_stays(
        self, catalog: Catalog, who: Principal
    ) -> None:
        upload(catalog, who, episode("a"))
        second = upload(catalog, who, episode("a", ok=False))
        assert (second.accepted, second.duplicates, second.new_versions) == (1, 0, 1)
        third = upload(catalog, who, episode("a"), episode("c"))  # the first content again changes nothing
        assert (third.accepted, third.duplicates) == (1, 1)
        (shown,) = catalog.heads.episodes(who, Compare("episode_id", "eq", "a")).items
        assert (shown.version, shown.versions, shown.ok, shown.has_error) == (2, 2, False, True)
        versions = catalog.heads.episode_versions(who, "a", "r1")
        assert [(head.version, head.versions, head.ok) for head in versions] == [(1, 2, True), (2, 2, False)]
        (member,) = catalog.heads.traces(who, Compare("episode_id", "eq", "a")).items
        assert member.episode_seq == shown.seq
        assert [len(catalog.heads.episode_traces(who, head)) for head in versions] == [1, 1]

    def test_an_id_in_another_run_is_another_episode(self, catalog: Catalog, who: Principal) -> None:
        receipts = [upload(catalog, who, episode("a", run)) for run in ("r1", "r2", None)]
        assert [each.new_versions for each in receipts] == [0, 0, 0]
        assert catalog.heads.episode(who, "a").run_id is None
        assert catalog.heads.episode(who, "a", "r1").run_id == "r1"
        assert len(catalog.heads.episode_versions(who, "a", None)) == 1

    def test_bare_traces_follow_the_same_rules(self, catalog: Catalog, who: Principal) -> None:
        run = {"type": "eval", "id": "r9"}
        upload(catalog, who, trace("a", run=run), line_format="trace")
        again = upload(catalog, who, trace("a", run=run), trace("b"), line_format="trace")
        changed = upload(catalog, who, trace("a", run=run, ok=False), line_format="trace")
        assert (again.accepted, again.duplicates, changed.new_versions) == (1, 1, 1)
        head = catalog.heads.trace(who, "a")
        assert (head.run_id, head.has_error, head.position, head.episode_id) == ("r9", True, -1, None)
        assert len(catalog.heads.traces(who).items) == 2

    def test_what_came_with_an_upload_comes_back_whatever_it_is(self, catalog: Catalog, who: Principal) -> None:
        receipt = upload(catalog, who, episode(ODD, ODD, env={"id": ODD}, traces=[trace(ODD)]), context={ODD: ODD})
        head = catalog.heads.episode(who, ODD)
        assert (head.episode_id, head.run_id, head.environment_id, head.context) == (ODD, ODD, ODD, {ODD: ODD})
        assert head.upload_id == receipt.upload_id
        assert catalog.heads.traces(who, Compare(f"context.{ODD}", "eq", ODD)).items[0].trace_id == ODD
        assert catalog.heads.upload_context(who, receipt.upload_id) == {ODD: ODD}
        assert catalog.heads.upload_context(who, "0" * 64) is None

    def test_a_limit_on_the_total_refuses_the_whole_upload(self, catalog: Catalog, who: Principal) -> None:
        catalog.projects.limit(who.project_name, max_episodes=2)
        upload(catalog, who, episode("a"))
        with refused(429, "ingest_capacity_exceeded"):
            upload(catalog, who, episode("b"), episode("c"))
        assert len(catalog.heads.episodes(who).items) == 1
        upload(catalog, who, episode("a"), episode("b"))  # what is there already does not count
        assert catalog.projects.usage(who.project).episodes == 2

    def test_many_at_once_are_each_stored_once(self, catalog: Catalog, who: Principal) -> None:
        gate = threading.Barrier(6)
        receipts: list[Receipt] = []

        def work(index: int) -> None:
            gate.wait(20)
            for step in range(4):
                shared = [episode(f"s{step}")] if index % 2 else [episode(f"s{step}"), episode(f"own{index}-{step}")]
                receipts.append(upload(catalog, who, *shared))

        threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        assert len(receipts) == 24
        names = [head.episode_id for head in catalog.heads.episodes(who, limit=100).items]
        assert len(names) == len(set(names)) == 4 + 12
        assert sum(each.accepted for each in receipts if not each.replayed) == 16
        seqs = [head.seq for head in catalog.heads.traces(who, limit=100).items]
        assert len(set(seqs)) == 16

    def test_every_line_is_cited_once_with_its_digest(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a", traces=[trace("x"), trace("y")]))
        upload(catalog, who, trace("z"), line_format="trace")
        made, _ = catalog.evaluations.create(who, {"name": "n"})
        catalog.evaluations.add_samples(who, made.id, [Placement("s", 1, 2)])
        cited = list(catalog.uploads.cited())
        assert len(cited) == 3 and cited[2] == (Placement("s", 1, 2), None)
        assert [digest for _, digest in cited[:2]] == [
            catalog.heads.episode(who, "a").digest, catalog.heads.trace(who, "z").digest
        ]  # fmt: skip


class TestListings:
    def test_pages_follow_each_other_in_every_order(self, catalog: Catalog, who: Principal) -> None:
        for index in range(7):  # two of each instant
            upload(catalog, who, episode(f"e{index}", traces=[trace(f"t{index}", timing={"start": 1e9 + index // 2})]))
        for order in ("created_at", "-created_at", "ingested_at", "-ingested_at"):
            found, cursor = [], None
            while True:
                page = catalog.heads.traces(who, order=order, limit=3, cursor=cursor)  # type: ignore[arg-type]
                found += page.items
                cursor = page.next_cursor
                if cursor is None:
                    break
            name = "created_us" if "created" in order else "seq"
            keys = [(getattr(head, name), head.seq) for head in found]
            assert keys == sorted(keys, reverse=order.startswith("-")) and len(found) == 7

    def test_a_page_that_is_just_full_ends_the_listing(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a"), episode("b"))
        assert catalog.heads.episodes(who, limit=2).next_cursor is None
        assert catalog.heads.episodes(who, limit=1).next_cursor is not None

    def test_a_cursor_works_only_where_it_was_made(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a"), episode("b"))
        cursor = catalog.heads.episodes(who, limit=1).next_cursor
        assert cursor is not None
        other = principal(catalog, "other")
        calls = [
            lambda: catalog.heads.episodes(other, limit=1, cursor=cursor),
            lambda: catalog.heads.traces(who, limit=1, cursor=cursor),
            lambda: catalog.heads.episodes(who, limit=1, cursor=cursor, order="created_at"),
            lambda: catalog.heads.episodes(who, Compare("ok", "eq", True), limit=1, cursor=cursor),
            *(
                lambda text=text: catalog.heads.episodes(who, limit=1, cursor=text)
                for text in ("", "x", "é", cursor[:-2], cursor + "AAAA", "A" * 9999, "\0")
            ),
        ]
        for call in calls:
            with refused(400, "invalid_cursor"):
                call()

    def test_pages_of_no_size_and_orders_of_no_kind_are_refused(self, catalog: Catalog, who: Principal) -> None:
        for settings in ({"limit": 0}, {"limit": 10**6}, {"order": "name"}):
            with refused(400, "invalid_filter"):
                catalog.heads.episodes(who, **settings)  # type: ignore[arg-type]

    def test_heads_say_what_the_document_says(self, catalog: Catalog, who: Principal) -> None:
        work = {"type": "train", "step": 12}
        failed = trace("t2", ok=False, stop_condition="max_turns", agent={"config": {}, "name": "judge"}, rewards={})
        errors = [{"type": "ValueError", "message": "bad"}]
        data = episode(
            "e", {"type": "train", "id": "r", "work": work}, [trace("t1"), failed], ok=False,
            errors=errors, group={"id": "g"}, is_timeout=True, env={"id": "env", "name": "named"},
        )  # fmt: skip
        receipt = upload(catalog, who, data)
        head = catalog.heads.episode(who, "e")
        shown = (
            head.run_id, head.step, head.work, head.environment_id, head.environment_name, head.group_id, head.ok,
            head.is_timeout, head.outcome, head.error_type, head.error_message, head.n_traces, head.reward,
            head.task_id, head.created_us,
        )  # fmt: skip
        assert shown == (
            "r", 12, "train", "env", "named", "g", False, True, "error", "ValueError", "bad", 2, 1.0, "7",
            1_700_000_000_000_000,
        )  # fmt: skip
        one, two = catalog.heads.episode_traces(who, head)
        assert (one.model_id, one.model_provider, one.reward, one.total_tokens, one.duration_ms) == (
            "m1", "eval", 1.0, 7, 2500
        )  # fmt: skip
        assert (two.agent_name, two.reward, two.has_error, two.is_truncated, two.outcome) == (
            "judge", None, True, True, "error"
        )  # fmt: skip
        assert (one.position, two.position, one.step, one.upload_id) == (0, 1, 12, receipt.upload_id)
        assert catalog.heads.trace_aggregate(who, head).agent_names == ["agent", "judge"]

    def test_runs_are_counted_from_their_traces(self, catalog: Catalog, who: Principal) -> None:
        for step, run in ((1, "r1"), (1, "r1"), (2, "r1"), (0, "r2")):
            info = {"type": "train", "id": run, "work": {"type": "train", "step": step}}
            name = f"{run}-{len(catalog.heads.episodes(who, limit=99).items)}"
            upload(catalog, who, episode(name, info), context={"step": str(step)})
        run = catalog.runs.run(who, "r1")
        assert (run.trace_count, run.episode_count, run.avg_reward, run.step_min, run.step_max, run.step_count) == (
            3, 3, 1.0, 1, 2, 2
        )  # fmt: skip
        assert (run.environment_ids, run.model_ids, run.context, run.has_error) == (
            ["gsm8k"],
            ["m1"],
            {"step": "2"},
            False,
        )
        assert [(each.step, each.trace_count) for each in catalog.runs.steps(who, "r1")] == [(1, 2), (2, 1)]
        first = catalog.runs.runs(who, limit=1)
        second = catalog.runs.runs(who, limit=1, cursor=first.next_cursor)
        assert [first.items[0].run_id, second.items[0].run_id, second.next_cursor] == ["r2", "r1", None]
        assert catalog.runs.runs(who, created_after=2 * 10**15).items == []
        assert catalog.runs.steps(who, "none") == []
        with refused(404, "run_not_found"):
            catalog.runs.run(who, "none")
        with refused(400, "invalid_cursor"):
            catalog.runs.runs(who, limit=1, created_after=1, cursor=first.next_cursor)


class TestDeletions:
    def test_a_deleted_trace_is_gone_everywhere_and_once(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a", traces=[trace("x"), trace("y")]))
        upload(catalog, who, episode("b", "r2", traces=[trace("x", ok=False)]))
        assert catalog.heads.delete_trace(who, "x") == 2
        with refused(404, "trace_not_found"):
            catalog.heads.trace(who, "x")
        with refused(404, "trace_not_found"):
            catalog.heads.delete_trace(who, "x")
        head = catalog.heads.episode(who, "a")
        assert [each.trace_id for each in catalog.heads.episode_traces(who, head)] == ["y"]
        assert [each.trace_id for each in catalog.heads.traces(who).items] == ["y"]

    def test_a_hint_that_fits_no_copy_finds_nothing(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a"))
        with refused(404, "trace_not_found"):
            catalog.heads.delete_trace(who, "t-a", created_us=1)
        assert catalog.heads.delete_trace(who, "t-a", created_us=instant("2023-11-14T22:13:20Z")) == 1

    def test_a_run_loses_its_traces_and_keeps_its_episodes(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a"), episode("b"), episode("c", "r2"))
        assert catalog.heads.delete_run_traces(who, "r1") == 2
        with refused(404, "run_not_found"):
            catalog.heads.delete_run_traces(who, "r1")
        assert len(catalog.heads.episodes(who).items) == 3 and len(catalog.heads.traces(who).items) == 1

    def test_a_bare_trace_may_come_again_after_it_was_deleted(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, trace("x"), line_format="trace")
        catalog.heads.delete_trace(who, "x")
        assert upload(catalog, who, trace("x"), trace("y"), line_format="trace").accepted == 2
        assert catalog.heads.trace(who, "x").trace_id == "x"


class TestProjects:
    def test_projects_see_nothing_of_each_other(self, catalog: Catalog, who: Principal) -> None:
        upload(catalog, who, episode("a"))
        made, _ = catalog.evaluations.create(who, {"name": "n"})
        run = catalog.training.create(who, {"name": "n"})
        there = catalog.environments.resolve(who, "gsm8k")
        other = principal(catalog, "other")
        head = catalog.heads.episode(who, "a")
        assert catalog.heads.episodes(other).items == catalog.heads.traces(other).items == []
        assert catalog.heads.episode_versions(other, "a", "r1") == catalog.heads.episode_traces(other, head) == []
        assert catalog.runs.runs(other).items == [] and catalog.runs.steps(other, "r1") == []
        assert catalog.heads.receipt(other, batch_key(body(episode("a"))).key) is None
        assert catalog.heads.upload_context(other, head.upload_id) is None
        assert catalog.evaluations.list(other) == ([], 0) and catalog.training.list(other) == ([], 0)
        assert catalog.environments.resolve(other, "gsm8k").id != there.id
        calls: list[tuple[str, Any]] = [
            ("episode", lambda: catalog.heads.episode(other, "a")),
            ("trace", lambda: catalog.heads.trace(other, "t-a")),
            ("trace", lambda: catalog.heads.delete_trace(other, "t-a")),
            ("run", lambda: catalog.heads.delete_run_traces(other, "r1")),
            ("run", lambda: catalog.runs.run(other, "r1")),
            ("environment", lambda: catalog.environments.get(other, there.id)),
            ("evaluation", lambda: catalog.evaluations.get(other, made.id)),
            ("evaluation", lambda: catalog.evaluations.update(other, made.id, {"name": "x"})),
            ("evaluation", lambda: catalog.evaluations.finalize(other, made.id, None)),
            ("evaluation", lambda: catalog.evaluations.add_samples(other, made.id, [])),
            ("evaluation", lambda: catalog.evaluations.samples(other, made.id, skip=0, limit=1)),
            ("run", lambda: catalog.training.get(other, run.id)),
            ("run", lambda: catalog.training.log_metrics(other, run.id, {}, 1)),
            ("run", lambda: catalog.training.metrics(other, run.id)),
            ("run", lambda: catalog.training.presign(other, run.id, 1)),
            ("run", lambda: catalog.training.uploads(other, run.id)),
            ("run", lambda: catalog.training.confirm(other, run.id, 1, "k")),
            ("run", lambda: catalog.training.close_run(other, run.id, "completed", None)),
        ]
        for kind, call in calls:
            with refused(404, f"{kind}_not_found"):
                call()
        # The same bytes are the other project's own first time.
        assert upload(catalog, other, episode("a")).replayed is False

    def test_projects_are_made_once_and_named_sensibly(self, catalog: Catalog) -> None:
        assert catalog.projects.ensure("p") == catalog.projects.ensure("p") == catalog.projects.get("p")
        assert [each.name for each in catalog.projects.all()] == ["p"]
        for name in ("", "a b", ".", "é", "x" * 101, "a/b"):
            with pytest.raises(UsageError, match="no name of a project"):
                catalog.projects.ensure(name)
        for call in (
            lambda: catalog.projects.get("q"),
            lambda: catalog.projects.by_id(99),
            lambda: catalog.projects.usage(99),
        ):
            with refused(404, "project_not_found"):
                call()

    def test_limits_are_set_and_lifted(self, catalog: Catalog) -> None:
        catalog.projects.ensure("p")
        assert catalog.projects.limit("p", max_bytes=5, bytes_per_second=7).max_bytes == 5
        lifted = catalog.projects.limit("p", max_bytes=None)
        assert (lifted.max_bytes, lifted.bytes_per_second) == (None, 7)
        with pytest.raises(UsageError, match="is no limit"):
            catalog.projects.limit("p", max_bytes=0)
        with pytest.raises(UsageError, match="is no limit"):
            catalog.projects.limit("p", colour=1)

    def test_a_ping_commits(self, catalog: Catalog) -> None:
        catalog.projects.ensure("p")
        catalog.ping()


class TestEvaluations:
    def test_an_evaluation_from_open_to_closed(self, catalog: Catalog, who: Principal) -> None:
        environment = catalog.environments.resolve(who, "gsm8k")
        body = {
            "name": ODD, "environments": [{"id": environment.id}, {"id": "elsewhere"}], "tags": ["a", ODD],
            "model_name": "m", "metadata": {"k": ODD}, "is_public": False, "dataset": "d",
        }  # fmt: skip
        made, fresh = catalog.evaluations.create(who, body)
        assert fresh and made.status == "RUNNING" and made.environment_names == ["gsm8k", "elsewhere"]
        assert (made.name, made.tags, made.metadata) == (ODD, ["a", ODD], {"k": ODD})
        assert made.document == {"is_public": False, "dataset": "d"} and made.environments == body["environments"]
        changed = catalog.evaluations.update(who, made.id, {"metadata": {"n": 1}, "metrics": {"m": 0.5}, "x": 2})
        assert (changed.metadata, changed.metrics, changed.document["x"], changed.name) == (
            {"n": 1},
            {"m": 0.5},
            2,
            ODD,
        )
        done = catalog.evaluations.finalize(who, made.id, {"m": 1})
        assert (done.status, done.metrics) == ("COMPLETED", {"m": 1}) and done.closed_us is not None
        for call in (
            lambda: catalog.evaluations.finalize(who, made.id, {"m": 2}),
            lambda: catalog.evaluations.update(who, made.id, {"status": "FAILED", "metadata": {}}),
        ):
            with refused(409, "evaluation_closed"):
                call()
        assert catalog.evaluations.get(who, made.id) == done
        assert catalog.evaluations.update(who, made.id, {"metadata": {"late": 1}}).metadata == {"late": 1}

    def test_a_failure_keeps_its_message(self, catalog: Catalog, who: Principal) -> None:
        made, _ = catalog.evaluations.create(who, {"name": "n"})
        failed = catalog.evaluations.update(who, made.id, {"status": "FAILED", "error_message": ODD * 300})
        assert (failed.status, failed.error_message) == ("FAILED", ODD * 300)

    def test_a_status_of_no_kind_is_refused(self, catalog: Catalog, who: Principal) -> None:
        made, _ = catalog.evaluations.create(who, {"name": "n"})
        with refused(400, "invalid_status"):
            catalog.evaluations.update(who, made.id, {"status": "DONE"})

    def test_a_second_create_for_the_same_run_is_the_first(self, catalog: Catalog, who: Principal) -> None:
        body = {"name": "n", "metadata": {"evh": {"run_id": "ours"}}}
        first, fresh = catalog.evaluations.create(who, body)
        second, again = catalog.evaluations.create(who, body | {"name": "other"})
        assert (fresh, again, second) == (True, False, first)
        assert catalog.evaluations.create(principal(catalog, "other"), body)[1]
        assert catalog.evaluations.list(who, evh_run_id="ours") == ([first], 1)
        replaced = catalog.evaluations.update(who, first.id, {"metadata": {}})
        assert replaced.evh_run_id == "ours"

    def test_listings_are_narrowed_and_paged(self, catalog: Catalog, who: Principal) -> None:
        names = ["a", "b", "a"]
        made = [
            catalog.evaluations.create(
                who, {"name": f"n{index}", "environments": [{"id": name}], "suite_id": f"s{index % 2}", "team_id": "t"}
            )[0]
            for index, name in enumerate(names)
        ]
        assert catalog.evaluations.list(who, environment_name="a") == ([made[2], made[0]], 2)
        assert catalog.evaluations.list(who, suite_id="s1", team_id="t") == ([made[1]], 1)
        assert catalog.evaluations.list(who, skip=1, limit=1) == ([made[1]], 3)
        assert catalog.evaluations.list(who, environment_name=ODD) == ([], 0)
        for skip, limit in ((-1, 1), (0, -1), (0, 10**9), (2**63, 1)):
            with refused(400, "invalid_filter"):
                catalog.evaluations.list(who, skip=skip, limit=limit)

    def test_samples_are_appended_in_order(self, catalog: Catalog, who: Principal) -> None:
        made, _ = catalog.evaluations.create(who, {"name": "n"})
        places = [Placement("s", index, 10) for index in range(5)]
        assert catalog.evaluations.add_samples(who, made.id, places[:3]) == 3
        assert catalog.evaluations.add_samples(who, made.id, places[3:]) == 5
        rows, total = catalog.evaluations.samples(who, made.id, skip=1, limit=3)
        assert ([row.placement for row in rows], total) == (places[1:4], 5)
        assert catalog.evaluations.get(who, made.id).total_samples == 5

    @pytest.mark.parametrize("name", ["", "\0", "é", "x" * 300, "a/../b", "\ud800"])
    def test_ids_of_no_kind_are_not_found(self, catalog: Catalog, who: Principal, name: str) -> None:
        with refused(404, "evaluation_not_found"):
            catalog.evaluations.get(who, name)
        with refused(404, "run_not_found"):
            catalog.training.get(who, name)
        with refused(404, "environment_not_found"):
            catalog.environments.get(who, name)
        with refused(404, "episode_not_found"):
            catalog.heads.episode(who, name)
        with refused(404, "trace_not_found"):
            catalog.heads.trace(who, name)

    def test_an_environment_is_made_when_it_is_asked_for(self, catalog: Catalog, who: Principal) -> None:
        first = catalog.environments.resolve(who, ODD)
        assert catalog.environments.resolve(who, ODD) == first == catalog.environments.get(who, first.id)
        assert (first.owner, first.name) == (who.project_name, ODD)
        assert catalog.environments.resolve(who, ODD, "owner").id != first.id
        for name in ("", "x" * 600):
            with refused(400, "invalid_environment"):
                catalog.environments.resolve(who, name)


class TestTraining:
    def test_a_training_run_from_start_to_end(self, catalog: Catalog, who: Principal) -> None:
        run = catalog.training.create(who, {"name": ODD, "base_model": "m", "max_steps": 0})
        assert (run.status, run.name, run.document["base_model"]) == ("running", ODD, "m")
        catalog.training.log_metrics(who, run.id, {"loss": 0.5}, 1)
        catalog.training.log_metrics(who, run.id, {"loss": 0.5}, 1)  # a replay
        catalog.training.log_metrics(who, run.id, {"loss": 0.5}, 2)
        catalog.training.log_metrics(who, run.id, {"x": 1}, None)
        catalog.training.log_metrics(who, run.id, {"x": 1}, None)  # no replay: it has no step
        rows = catalog.training.metrics(who, run.id)
        assert [(row.step, row.metrics) for row in rows] == [
            (1, {"loss": 0.5}), (2, {"loss": 0.5}), (None, {"x": 1}), (None, {"x": 1})
        ]  # fmt: skip
        assert catalog.training.metrics(who, run.id, after=rows[1].seq, limit=1) == [rows[2]]
        assert catalog.training.get(who, run.id).last_step == 2
        done = catalog.training.close_run(who, run.id, "failed", "why")
        assert (done.status, done.error_message) == ("failed", "why")
        for call in (
            lambda: catalog.training.close_run(who, run.id, "completed", None),
            lambda: catalog.training.presign(who, run.id, 1),
        ):
            with refused(409, "run_closed"):
                call()
        with refused(400, "invalid_status"):
            catalog.training.close_run(who, run.id, "paused", None)

    def test_an_address_opens_nothing_after_it_expired(
        self, catalog: Catalog, who: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = catalog.training.create(who, {})
        upload, secret = catalog.training.presign(who, run.id, 1)
        monkeypatch.setattr("evh.server.catalog.training.now_us", lambda: upload.expires_us + 1)
        with refused(403, "forbidden"):
            catalog.training.redeem(upload.key, secret)

    def test_a_table_is_presigned_stored_once_and_confirmed(self, catalog: Catalog, who: Principal) -> None:
        run = catalog.training.create(who, {"name": "n"})
        upload, secret = catalog.training.presign(who, run.id, 10)
        assert upload.state == "presigned" and catalog.training.redeem(upload.key, secret) == upload
        with refused(400, "upload_missing"):
            catalog.training.confirm(who, run.id, 10, upload.key)
        assert catalog.training.stored(upload.key, 3, "a" * 64).size == 3
        with refused(409, "upload_stored"):
            catalog.training.stored(upload.key, 4, "b" * 64)
        assert catalog.training.stored(upload.key, 3, "a" * 64).state == "stored"
        assert catalog.training.redeem(upload.key, secret).state == "stored"
        for key, word in ((upload.key, "x"), ("none", secret), ("\0", secret), ("é", "é")):
            with refused(403, "forbidden"):
                catalog.training.redeem(key, word)
        for step, key in ((11, upload.key), (10, "none"), (10, "\0")):
            with refused(400, "upload_missing"):
                catalog.training.confirm(who, run.id, step, key)
        confirmed = catalog.training.confirm(who, run.id, 10, upload.key)
        assert catalog.training.confirm(who, run.id, 10, upload.key) == confirmed
        assert (confirmed.state, catalog.training.uploads(who, run.id)) == ("confirmed", [confirmed])
        assert list(catalog.training.stored_tables()) == [confirmed]
        assert catalog.training.get(who, run.id).last_step == 10
