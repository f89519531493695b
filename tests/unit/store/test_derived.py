"""The other constructor of records, chains and fingerprints of derived runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from evh.errors import RecordError
from evh.protocol import models
from evh.protocol.codec import decode, decode_strict, encode
from evh.store.aggregate import aggregate
from evh.store.derived import MOST, chain, derived_fingerprint, derived_record
from evh.store.record import Declared
from evh.store.rows import MetricRow

SHA = "a" * 64


class Set(NamedTuple):
    reference_id: str
    tier: Any
    sha256: str


def measured(**more: Any) -> models.RunRecord:
    plain = {
        "run_id": "a_1", "dataset_id": "qa", "config_id": "a", "build": {"ref": "v1"},
        "created_at": "2026-10-04T08:15:30Z", "scores": {"old": 1.0}, "n_items": 2, "params": {"k": 1},
        "goal": "g", "format": "f", "round": "r", "repeat_index": 2, "providers_seen": {"p": 2}, "warmup_ms": 3.5,
        "imported": {"from": "x", "at": "2026-10-04T08:15:30Z", "sha256": SHA},
    }  # fmt: skip
    return decode(__import__("json").dumps(plain | more).encode(), models.RunRecord)


def block(at: str = "2026-10-05T00:00:00Z", source: Any = None) -> models.RescoreDerived:
    return models.RescoreDerived(
        from_="runs/a_1", at=at, with_=models.RescoreWith(adapter="a.py", sha256=SHA), source=source
    )


def rows() -> Any:
    return aggregate([MetricRow("i0", {"new": 1}, False, None, 1), MetricRow("i1", {}, True, None, 2)])


def test_the_record_is_the_sources_with_the_numbers_of_the_rows() -> None:
    made = derived_record(measured(), rows(), block(), run_id="a_1", declared=Declared(primary_metric="new"))
    assert decode_strict(encode(made), models.RunRecord) == made
    assert (made.created_at, made.source_created_at) == ("2026-10-05T00:00:00Z", "2026-10-04T08:15:30Z")
    assert (made.scores, made.n_items, made.n_errors) == ({"new": 1.0}, 2, 1)
    assert (made.goal, made.format, made.round, made.repeat_index) == ("g", "f", "r", 2)
    assert made.providers_seen == {"p": 2} and made.params == {"k": 1}
    assert made.imported is None and made.resume is None and made.warmup_ms is None


def test_e25_derived_of_derived_of_derived_nests_every_block() -> None:
    record = measured()
    for day in ("05", "06", "07"):
        before = record
        record = derived_record(record, rows(), block(f"2026-10-{day}T00:00:00Z"), run_id="a_1")
        assert record.source_created_at == before.created_at
    assert [each.at[8:10] for each in chain(record)] == ["07", "06", "05"]
    assert decode_strict(encode(record), models.RunRecord).derived == record.derived


def test_a_chain_that_is_too_deep_is_refused_by_name() -> None:
    deep: Any = None
    for second in range(MOST):
        deep = block(f"2026-10-05T00:{second // 60:02}:{second % 60:02}Z", deep)
    record = measured()
    record.derived = deep
    assert len(chain(record)) == MOST
    with pytest.raises(RecordError, match="too deep: more than 64"):
        derived_record(record, rows(), block("2026-10-06T00:00:00Z"), run_id="a_1")


def test_a_derivation_that_stands_twice_is_refused() -> None:
    record = measured()
    record.derived = block(source=block())
    with pytest.raises(RecordError, match="twice"):
        chain(record)


def test_kinds_of_newer_releases_are_walked_through() -> None:
    inner = {"kind": "rescore", "from": "runs/a_1", "at": "2026-10-05T00:00:00Z"}
    newer = {"kind": "distil", "from": "runs/b", "at": "2026-10-06T00:00:00Z", "source": inner}
    assert len(chain(measured(derived=newer))) == 2


def test_e51_a_member_of_a_newer_release_is_not_copied() -> None:
    source = measured(invented=1, build={"ref": "v1", "also": 2})
    made = derived_record(source, rows(), block(), run_id="a_1")
    assert b"invented" not in encode(made) and b"also" not in encode(made)


def test_a_derived_run_of_0_3_0_is_read_as_measured() -> None:
    source = measured(rescored_from="runs/x", rescored_at="2026-10-04T08:15:30Z")
    assert chain(source) == []
    made = derived_record(source, rows(), block(), run_id="a_1")
    assert made.derived is not None and getattr(made.derived, "source", 1) is None


def fingerprint(reference_id: str | None = "silver/qa", sha256: str | None = SHA) -> models.Fingerprint:
    return models.Fingerprint(
        version=3,
        instrument=models.FingerprintInstrument(
            harness=models.FingerprintHarness(), adapter=models.FingerprintAdapter(id="old.py", sha256=SHA)
        ),
        data=models.FingerprintData(
            dataset_id="qa", items_sha256=SHA, n_items=2, reference_id=reference_id, references_sha256=sha256
        ),
        arm=models.FingerprintArm(config_id="a"),
        hash=SHA,
    )


def moved(source: models.Fingerprint, name: str, sha256: str, known: str | None = None) -> models.Fingerprint:
    found = derived_fingerprint(source, "new.py", "b" * 64, Set(f"{name}/qa", name, sha256), known_sha256=known)
    assert found is not None
    return found


def test_the_hash_goes_with_a_reason_and_the_scorer_is_the_new_one() -> None:
    source = fingerprint()
    found = moved(source, "silver", SHA)
    assert found.hash is None and found.hash_invalid_because
    assert found.instrument.adapter.id == "new.py" and source.hash == SHA
    assert found.data.reference_id_at_measurement is None and found.data.references_sha256_at_measurement is None


def test_e28_another_set_keeps_the_first_id_and_raises_no_flag() -> None:
    found = moved(fingerprint(), "gold", "c" * 64).data
    assert (found.reference_id, found.reference_tier) == ("gold/qa", "gold")
    assert found.reference_id_at_measurement == "silver/qa"
    assert found.references_sha256_at_measurement is None


def test_e29_the_same_set_with_other_files_keeps_the_old_digest() -> None:
    found = moved(fingerprint(), "silver", "c" * 64)
    assert found.data.references_sha256_at_measurement == SHA
    assert found.data.reference_id_at_measurement is None
    assert moved(found, "silver", "d" * 64).data.references_sha256_at_measurement == SHA
    assert moved(found, "silver", SHA).data.references_sha256_at_measurement is None


def test_e30_there_and_back_keeps_the_first_id_and_flags_only_other_bytes() -> None:
    gold = moved(fingerprint(), "gold", "c" * 64)
    back = moved(gold, "silver", SHA, known=SHA).data
    assert back.reference_id_at_measurement == "silver/qa" and back.references_sha256_at_measurement is None
    assert moved(gold, "silver", "d" * 64, known=SHA).data.references_sha256_at_measurement == SHA


def test_no_fingerprint_is_invented() -> None:
    assert derived_fingerprint(None, "new.py", SHA, None) is None
