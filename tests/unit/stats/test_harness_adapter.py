"""`HarnessAdapter`: the catalog has one entry an arm, and the numbers of its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import SourceError, UsageError
from evh.stats import HarnessAdapter, pair_test
from tests.unit.stats.made_arms import OTHER, fingerprint, make_arm, rescored, scores
from tests.unit.store.made_runs import make_run


def test_an_entry_is_an_arm_averaged_per_item(tmp_path: Path) -> None:
    make_arm(tmp_path, "arm", scores([1, 1, 1]), scores([0]), primary_metric="score", reference_tier="gold")
    catalog = HarnessAdapter(tmp_path)
    [entry] = catalog
    assert entry.address == f"{tmp_path.as_posix()}/d/arm" and entry.run_ids == ["arm_r1", "arm_r2"]
    assert (entry.n_items, entry.on_all_repeats, entry.primary, entry.tiers) == (3, 1, "score", ["gold"])
    metric = entry.metrics["score"]
    assert (metric.value, metric.n, metric.kind, metric.direction, metric.spread) == (
        2.5 / 3,
        3,
        "quality",
        "higher",
        1,
    )
    assert catalog.values(entry.address, "score") == {"i0": 0.5, "i1": 1.0, "i2": 1.0}


def test_its_arms_are_what_tests_take(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1, 2, 3]))
    make_arm(tmp_path, "b", scores([0, 0, 0]))
    catalog = HarnessAdapter(tmp_path)
    a, b = (catalog.arm(address) for address in catalog.addresses)
    found = pair_test(a, b, "score")
    assert found.mean_a == catalog.entry(catalog.addresses[0]).metrics["score"].value == 2


def test_money_of_a_pass_is_not_what_was_spent(tmp_path: Path) -> None:
    rows = {"i0": {"cost_usd": 0.5}, "i1": {"cost_usd": 1.5}}
    make_arm(tmp_path, "a", rows, rows)
    [entry] = HarnessAdapter(tmp_path)
    assert (entry.per_pass, entry.spent) == (2.0, 4.0)


def test_the_same_run_counts_once_and_two_folders_are_two_entries(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    make_arm(one, "a", scores([1]))
    make_arm(two, "a", scores([0]))
    link = tmp_path / "link"
    link.symlink_to(one)
    catalog = HarnessAdapter(one, link, two, one)
    assert [entry.metrics["score"].value for entry in catalog] == [1, 0] and len(catalog) == 2


def test_a_folder_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1]))
    make_arm(tmp_path, "bad", scores([1]))
    (tmp_path / "bad" / "metrics.json").write_text("{", "utf-8")
    (tmp_path / "a" / "inner").mkdir()
    catalog = HarnessAdapter(tmp_path / "a", tmp_path, tmp_path / "a" / ".." / "a" / "..")
    assert len(catalog.faults) == 1 and [entry.config_id for entry in catalog] == ["a"]


def test_two_arms_of_one_address_do_not_hide_each_other(tmp_path: Path) -> None:
    make_run(tmp_path, "one", [{"item_id": "i", "score": 1}], dataset_id="a", config_id="b/c")
    make_run(tmp_path, "two", [{"item_id": "i", "score": 0}], dataset_id="a/b", config_id="c")
    catalog = HarnessAdapter(tmp_path)
    assert len(catalog) == 1
    assert [(fault.path, "two arms have this address" in fault.why) for fault in catalog.faults] == [
        (f"{tmp_path.as_posix()}/a/b/c", True)
    ]


def test_entries_of_one_dataset_read_no_other(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1]))
    make_arm(tmp_path, "b", scores([1]), dataset_id="other")
    (tmp_path / "b" / "predictions.jsonl").write_text("nonsense\n{}\n", "utf-8")
    catalog = HarnessAdapter(tmp_path)
    assert [entry.config_id for entry in catalog.entries("d")] == ["a"] and not catalog.faults
    assert list(catalog.entries("other")) == [] and len(catalog.faults) == 1


def test_a_record_that_counts_other_rows_is_told(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1, 0]), n_items=7)
    [entry] = HarnessAdapter(tmp_path)
    assert len(entry.notices) == 1 and "says n_items 7, predictions.jsonl has 2 rows" in entry.notices[0]


def test_the_first_and_the_last_run_are_told_by_the_instant(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1]), scores([1]))
    for number, at in ((1, "2026-10-04T08:15:30.5Z"), (2, "2026-10-04T08:15:30Z")):
        path = tmp_path / f"a_r{number}" / "metrics.json"
        path.write_text(path.read_text("utf-8").replace("2026-10-04T08:15:30Z", at), "utf-8")
    [entry] = HarnessAdapter(tmp_path)
    assert entry.created_at == ("2026-10-04T08:15:30Z", "2026-10-04T08:15:30.5Z")


def test_what_does_not_belong_together_is_flagged(tmp_path: Path) -> None:
    make_arm(tmp_path, "a", scores([1]), scores([1]), fingerprint=fingerprint())
    record = tmp_path / "a_r2" / "metrics.json"
    import json

    document = json.loads(record.read_text("utf-8")) | rescored(OTHER)
    record.write_text(json.dumps(document), "utf-8")
    [entry] = HarnessAdapter(tmp_path)
    assert entry.kinds == ["measured", "rescore"]
    assert entry.flags == ["mixes measured and derived runs", "scored by 2 scorers"]


def test_faults_are_told_and_hide_no_other(tmp_path: Path) -> None:
    make_arm(tmp_path, "good", scores([1]))
    make_arm(tmp_path, "bad", scores([1]))
    make_arm(tmp_path, "torn", scores([1]))
    (tmp_path / "bad" / "metrics.json").write_text("{", "utf-8")
    (tmp_path / "torn" / "predictions.jsonl").write_text("nonsense\n{}\n", "utf-8")
    catalog = HarnessAdapter(tmp_path)
    assert [entry.config_id for entry in catalog] == [entry.config_id for entry in catalog] == ["good"]
    assert sorted(Path(each.path).name for each in catalog.faults) == ["bad", "torn"]


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        HarnessAdapter()
    with pytest.raises(SourceError, match="is no folder of runs"):
        HarnessAdapter(tmp_path / "none")
    with pytest.raises(SourceError, match="the catalog has no arm"):
        HarnessAdapter(tmp_path).arm("x")
