"""A run directory, uploaded: everything once, refused records by name, the run closed on every way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.errors import LockedError, PlatformError, SourceError, Unauthorized, UsageError
from evh.live.delivery import WholeUploadRefused
from evh.live.remote import identity_of
from evh.live.sync_folder import read_cursor, read_receipts, read_refusals, read_remote, read_state
from evh.live.uploaded_rows import accounts_of
from evh.protocol.models import RunManifest
from tests.unit.live.upload.fake_platform import FakePlatform
from tests.unit.live.upload.uploaded_run import LiveRunOnDisk, syncing


def test_everything_goes_and_the_run_is_closed(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(7)
    run.log(2, writer="other-9")
    run.end("completed", summary={"score": 0.5})
    with FakePlatform() as platform, syncing(run, platform) as sync:
        ending = sync.run()
        assert ending is not None
        assert platform.lines == run.documents("ev-1")
        evaluation = platform.evaluations["ev-1"]
        assert (evaluation["status"], evaluation["metrics"]["score"]) == ("COMPLETED", 0.5)
        assert evaluation["metadata"]["evh"]["run_id"] == "run1"
        assert [each["evh.segment"] for each in platform.contexts] == ["traces.jsonl", "traces/other-9.jsonl"]
        assert platform.contexts[0]["evh.run_id"] == "run1"
        assert platform.contexts[0]["run_type"] == "eval", "lists of runs go by it"
        before = len(platform.calls)
        sync.run()
        assert len(platform.calls) == before, "a second run of it sends nothing"
    assert accounts_of(run.directory, "eval") == (9, 9, 0, 0)
    assert not (run.directory / "sync" / "intent.json").exists()
    remote = read_remote(run.directory)
    assert remote is not None
    assert (remote.state, remote.url) == ("closed", f"{platform.url}/runs/ev-1")


def test_measured_runs_of_one_name_and_second_stay_apart() -> None:
    def begun(**more: object) -> RunManifest:
        return RunManifest(**{  # type: ignore[arg-type]
            "run_id": "arm_20261130T005035Z", "started_at": "2026-11-30T00:50:35.030Z", "harness_version": "0.4.0",
            "config": {}, "host": "a", "pid": 7, **more,
        })  # fmt: skip

    named = {identity_of(begun(**more)) for more in ({}, {"host": "b"}, {"pid": 8}, {"config": {"params": 1}})}
    assert len(named) == 4 and all(each.startswith("arm_20261130T005035Z@") for each in named)
    assert identity_of(begun()) == identity_of(begun()) in named
    assert identity_of(begun(kind="eval")) == "arm_20261130T005035Z"


def test_batches_follow_each_other_and_new_rows_go_on_from_the_cursor(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(40, size=500)
    with FakePlatform() as platform, syncing(run, platform, target=5000) as sync:
        assert sync.run() is None  # it is still written
        assert platform.evaluations["ev-1"]["status"] == "RUNNING"
        run.log(3, size=500)
        assert sync.send() == 3
        assert platform.lines == run.documents("ev-1")
        assert len(platform.uploads) > 8
        assert all(len(body) <= 5000 for body in platform.uploads.values())
    run.let_go()


def test_a_line_in_the_making_waits(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(2)
    path = run.directory / "traces.jsonl"
    whole = path.read_bytes()
    with FakePlatform() as platform, syncing(run, platform) as sync:
        path.write_bytes(whole + b'{"id": "half')
        assert sync.send() == 2
        path.write_bytes(whole)
        run.log(1)
        assert sync.send() == 1
        assert platform.lines == run.documents("ev-1")
    run.let_go()


def test_b055_whole_rows_of_a_crashed_run_go_and_the_torn_one_is_told(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(3)
    with (run.directory / "traces.jsonl").open("ab") as file:
        file.write(b'{"id": "half')
    with FakePlatform() as platform, syncing(run, platform) as sync:
        ending = sync.run()
        assert ending is not None
        assert ending.word == "crashed"
        assert platform.lines == run.documents("ev-1")
        evaluation = platform.evaluations["ev-1"]
        assert (evaluation["status"], evaluation["error_message"][:8]) == ("FAILED", "crashed:")
    state = read_state(run.directory)
    assert state is not None
    assert state.notes == ["traces.jsonl: a torn last line of 12 bytes was left out"]


@pytest.mark.parametrize(
    ("word", "status"),
    [("completed", "COMPLETED"), ("failed", "FAILED"), ("cancelled", "CANCELLED"), ("crashed", "FAILED")],
)
def test_b044_every_ending_is_told_and_a_closed_evaluation_is_closed(tmp_path: Path, word: str, status: str) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(1)
    run.end(word, error="because")
    with FakePlatform() as platform, syncing(run, platform) as sync:
        sync.run()
        evaluation = platform.evaluations["ev-1"]
        assert evaluation["status"] == status
        assert evaluation["metadata"]["model"] == "m"
        assert evaluation["metadata"]["evh"]["ended"] == word
        if word != "completed":
            assert "because" in evaluation["error_message"]
    other = LiveRunOnDisk(tmp_path, run_id="run2")
    other.end(word)
    with FakePlatform() as platform, syncing(other, platform) as sync:
        sync.open()
        platform.evaluations["ev-1"]["status"] = "CANCELLED"  # somebody closed it
        sync.run()
        remote = read_remote(other.directory)
        assert remote is not None
        assert (remote.state, remote.status) == ("closed", "CANCELLED")
    state = read_state(other.directory)
    told = [] if state is None else state.notes
    assert bool(told) == (word != "cancelled"), "that it is closed otherwise there is told"


def test_a_measured_run_that_stopped_stays_open_until_it_is_given_up(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path, "measured")
    run.log(2)
    with FakePlatform() as platform:
        with syncing(run, platform) as sync:
            ending = sync.run()
            assert ending is not None
            assert ending.word == "stopped"
        evaluation = platform.evaluations["ev-1"]
        assert (evaluation["status"], evaluation["metadata"]["evh"]["ended"]) == ("RUNNING", "stopped")
        named = evaluation["metadata"]["evh"]["run_id"]
        assert named.startswith("run1@") and {each["evh.run_id"] for each in platform.contexts} == {named}
        with syncing(run, platform) as sync:
            sync.run(abandon=True)
        assert evaluation["status"] == "CANCELLED"
        assert platform.lines == run.documents("ev-1")


def test_refused_records_are_isolated_and_the_others_go(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(17)
    run.end()
    bad = {b'"id":"ep-0"', b'"id":"ep-5"', b'"id":"ep-6"', b'"id":"ep-16"'}
    with FakePlatform() as platform:
        platform.refuses = lambda line: "invalid_trace" if any(each in line for each in bad) else None
        with syncing(run, platform) as sync:
            sync.run()
        good = [each for each in run.documents("ev-1") if not any(name in each for name in bad)]
        assert platform.lines == good
        assert platform.evaluations["ev-1"]["status"] == "COMPLETED"
        refused = list(read_refusals(run.directory))
        assert [(each.episode_id, each.row) for each in refused] == [
            ("ep-0", 1),
            ("ep-5", 6),
            ("ep-6", 7),
            ("ep-16", 17),
        ]
        assert all((each.code, each.status) == ("invalid_trace", 400) for each in refused)
        data = (run.directory / "traces.jsonl").read_bytes()
        assert json.loads(data[refused[1].start : refused[1].end])["id"] == "ep-5"
        assert accounts_of(run.directory, "eval") == (17, 13, 4, 0)
        calls = platform.count("POST", "/traces")
        with syncing(run, platform) as sync:
            sync.run()
        assert platform.count("POST", "/traces") == calls, "a refused record is not sent again by itself"


def test_refused_records_are_sent_again_on_demand(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(6)
    run.end()
    with FakePlatform() as platform:
        platform.refuses = lambda line: "invalid_trace" if b'"id":"ep-2"' in line or b'"id":"ep-4"' in line else None
        with syncing(run, platform) as sync:
            sync.run()
            platform.refuses = lambda line: "invalid_trace" if b'"id":"ep-4"' in line else None
            assert sync.retry_refused() == 1
        assert accounts_of(run.directory, "eval") == (6, 5, 1, 0)
        platform.refuses = lambda line: None
        with syncing(run, platform) as sync:
            assert sync.retry_refused() == 1
            assert sync.retry_refused() == 0
        assert sorted(platform.lines) == sorted(run.documents("ev-1"))
    assert accounts_of(run.directory, "eval") == (6, 6, 0, 0)


def test_a_line_beyond_the_service_s_limit_is_refused_here(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(1)
    run.log(1, size=5000)
    run.log_line(b"no episode at all")
    run.log(1)
    run.end()
    with FakePlatform(max_line_bytes=4000) as platform, syncing(run, platform) as sync:
        sync.run()
        documents = run.documents("ev-1")
        assert platform.lines == [documents[0], documents[2]]
        assert platform.count("POST", "/traces") == 2
        assert [each.code for each in read_refusals(run.directory)] == ["line_too_long", "not_a_row"]
        assert sync.retry_refused() == 0
    assert accounts_of(run.directory, "eval") == (4, 2, 2, 0)


def test_what_is_wrong_with_every_upload_is_no_record_s_fault(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(30)
    run.end()
    with FakePlatform() as platform, syncing(run, platform) as sync:
        platform.breaks("POST", "/traces", status=400, code="unsupported_schema_version", times=99)
        with pytest.raises(WholeUploadRefused, match="unsupported_schema_version"):
            sync.run()
        platform.heals()
        platform.breaks("POST", "/traces", status=422, times=9999)  # and does not say why
        with pytest.raises(WholeUploadRefused, match="every record"):
            sync.run()
        platform.heals()
        sync.run()
        assert sync.retry_refused() + len(platform.lines) >= 30
        assert sorted(platform.lines) == sorted(run.documents("ev-1"))


def test_a_rewritten_segment_is_refused_by_name(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(4)
    path = run.directory / "traces.jsonl"
    with FakePlatform() as platform:
        with syncing(run, platform) as sync:
            sync.send()
        before = path.read_bytes()
        calls = platform.count("POST", "/traces")
        for spoilt in (before.replace(b"hello 1", b"hallo 1"), before[:-20] + b"\n", b""):
            path.write_bytes(spoilt + b'{"id":"new"}\n')
            with syncing(run, platform) as sync, pytest.raises(SourceError, match="was rewritten") as found:
                sync.send()
            assert found.value.source == str(path)
        assert platform.count("POST", "/traces") == calls
    run.let_go()


def test_without_a_traces_service_episodes_go_as_samples(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(5)
    with FakePlatform(ours=False) as platform:
        platform.breaks("POST", "/traces", status=403, code="service_not_enabled")
        with syncing(run, platform) as sync:
            sync.send()
        with syncing(run, platform, target=3000) as sync:  # a restart goes on counting rollouts
            run.log(4)
            run.end()
            sync.run()
        samples = platform.samples["ev-1"]
        assert [each["sample_id"] for each in samples] == [each.id for each in run.episodes]
        assert [each["rollout_number"] for each in samples] == [1, 2, 1, 2, 1, 2, 1, 2, 1]
        assert {each["info"]["native_wrapper"]["run"]["id"] for each in samples} == {"ev-1"}
        assert platform.count("POST", "/traces") == 1
    assert accounts_of(run.directory, "eval") == (9, 9, 0, 0)
    assert {each.kind for each in read_receipts(run.directory)} == {"samples"}


def test_after_a_first_upload_a_service_that_is_gone_is_a_pause(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.hold()
    run.log(1)
    with FakePlatform() as platform, syncing(run, platform) as sync:
        sync.send()
        run.log(1)
        platform.breaks("POST", "/traces", status=403, code="service_not_enabled")
        with pytest.raises(PlatformError, match="service_not_enabled"):
            sync.send()
        sync.send()
        assert platform.lines == run.documents("ev-1")
    run.let_go()


def test_a_training_run_sends_metrics_and_tables_too(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    run = LiveRunOnDisk(tmp_path, "train", model="base")
    run.hold()
    with FakePlatform() as platform:
        with syncing(run, platform) as sync:
            for step in range(10, 22):
                run.log(2, step=step)
                run.log_metrics(step, loss=1 / step)
            sync.send()
            assert platform.lines == run.documents("run-1")
            assert {each["run_type"] for each in platform.contexts} == {"train"}
            assert [each["step"] for each in platform.metrics] == list(range(10, 22))
            assert [step for step, _ in platform.confirmed] == [10, 20]
        run.log(1, step=20)
        run.end()
        with syncing(run, platform) as sync:
            sync.run()
        assert [step for step, _ in platform.confirmed] == [10, 20, 20]
        import pyarrow.parquet

        ids = [
            row for step, key in platform.confirmed for row in _column(platform.tables[key], "sample_id") if step == 20
        ]
        assert len(set(ids)) == len(ids) == 3
        assert pyarrow.parquet is not None
        assert platform.training["run-1"]["status"] == "completed"
        assert platform.training["run-1"]["run_config"]["evh"]["run_id"] == "run1"
    assert accounts_of(run.directory, "train") == (37, 37, 0, 0)


def _column(table: bytes, name: str) -> list[object]:
    import io

    import pyarrow.parquet

    found: list[object] = pyarrow.parquet.read_table(io.BytesIO(table)).column(name).to_pylist()
    return found


def test_nothing_goes_to_another_platform_than_the_run_s(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(1)
    run.end()
    with FakePlatform() as first, FakePlatform() as second:
        with syncing(run, first) as sync:
            sync.open()
        with syncing(run, second) as sync, pytest.raises(UsageError, match="PRIME_API_BASE_URL"):
            sync.run()
        with syncing(run, first, team_id="other") as sync, pytest.raises(UsageError, match="PRIME_TEAM_ID"):
            sync.run()
        assert second.calls == []


def test_one_process_uploads_a_run(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    with FakePlatform() as platform, syncing(run, platform), pytest.raises(LockedError, match="is being uploaded by"):
        syncing(run, platform)


def test_a_key_that_is_not_taken_leaves_the_run_on_disk(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.log(2)
    run.end()
    with FakePlatform() as platform:
        with syncing(run, platform, api_key="wrong-key-00") as sync, pytest.raises(Unauthorized) as found:
            sync.run()
        assert "wrong-key-00" not in str(found.value)
        assert accounts_of(run.directory, "eval") == (2, 0, 0, 2)
        with syncing(run, platform) as sync:
            sync.run()
        assert platform.lines == run.documents("ev-1")
    written = b"".join(path.read_bytes() for path in (run.directory / "sync").iterdir())
    assert platform.key.encode() not in written
    assert b"wrong-key-00" not in written


def test_a_run_without_rows_is_opened_and_closed(tmp_path: Path) -> None:
    run = LiveRunOnDisk(tmp_path)
    run.end("failed", error="it could not begin")
    with FakePlatform() as platform, syncing(run, platform) as sync:
        sync.run()
        assert platform.evaluations["ev-1"]["status"] == "FAILED"
        assert read_cursor(run.directory) is None
