"""`evh diff`: which differences are the point of a comparison, which are confounds, and which items moved."""

from __future__ import annotations

from cli_support import Evh
from compared_support import Compared, values

from tests.unit.stats.made_arms import OTHER, fingerprint, scores


def test_paths_of_the_arm_are_the_point_and_all_others_confounds(evh: Evh, compared: Compared) -> None:
    one, two = fingerprint(), fingerprint(adapter=OTHER)
    one["arm"] |= {"params": {"k": 1, "same": [1]}}
    two["arm"] |= {"params": {"k": 2, "same": [1]}}
    compared.arm("a", values(0.0), fingerprint=one | {"hash": "a" * 64})
    compared.arm("b", values(0.2), fingerprint=two | {"hash": "b" * 64}, build={"ref": "other"})
    data = evh("diff", "a", "b", "--json").json
    found = {each["path"]: each["confound"] for each in data["fingerprint"]}
    assert found["arm.params.k"] is False and found["instrument.adapter.sha256"] is True and found["build.ref"] is True
    assert "hash" not in found and "arm.params.same" not in found
    ran = evh("diff", "a", "b")
    assert ran.code == 0 and "confound" in ran.out and "the arm" in ran.out


def test_items_are_listed_by_how_much_they_moved(evh: Evh, compared: Compared) -> None:
    compared.arm("a", scores([0.5, 0.5, 0.5, 0.5]))
    compared.arm("b", {**scores([0.5, 0.75, 0.25]), "new": {"score": 1.0}})
    data = evh("diff", "a", "b", "--json").json
    assert [(each["item_id"], each["verdict"]) for each in data["items"]] == [("i1", "better"), ("i2", "worse")]
    assert data["shared"] == 3 and data["dropped"] == {"only in a": 1, "only in b": 1}
    ran = evh("diff", "a", "b", "--limit", "1")
    assert "2 items differ of 3 shared" in ran.out and "1 more, by --limit or --json" in ran.out
    assert "a has no fingerprint" in ran.out


def test_runs_of_two_datasets_or_none_are_refused(evh: Evh, compared: Compared) -> None:
    compared.arm("a", values(0.0))
    compared.arm("e", values(0.0), dataset_id="e")
    assert evh("diff", "a", "e").code == 1
    ran = evh("diff", "a", "b")
    assert ran.code == 1 and "holds no finished run 'b'" in ran.err


def test_values_of_a_fingerprint_are_shown_as_json_has_them(evh: Evh, compared: Compared) -> None:
    one, two = fingerprint(), fingerprint()
    one["arm"] |= {"params": {"model": "small", "deep": True, "k": 1, "only": 3}}
    two["arm"] |= {"params": {"model": "large", "deep": False, "k": "1"}}
    compared.arm("a", values(0.0), fingerprint=one)
    compared.arm("b", values(0.2), fingerprint=two)
    ran = evh("diff", "a", "b", "--limit", "0")
    shown = {line.split()[0]: line.split()[1:3] for line in ran.out.splitlines() if line.startswith("arm.params.")}
    assert shown == {
        "arm.params.model": ["small", "large"],
        "arm.params.deep": ["true", "false"],
        "arm.params.k": ["1", '"1"'],
        "arm.params.only": ["3", "–"],
    }
