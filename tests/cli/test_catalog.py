"""`evh catalog`: every arm of every runs directory, by an address that other commands take."""

from __future__ import annotations

from cli_support import Evh
from compared_support import Compared, values


def test_addresses_are_what_a_test_takes(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", values(0.0), values(0.1))
    compared.arm("arm", values(0.2), folder="runs-rescored")
    compared.arm("arm", values(0.3), folder="runs-judged/style")
    data = evh("catalog", "--json").json
    addresses = [each["address"] for each in data["arms"]]
    assert addresses == ["data/runs/d/arm", "data/runs-judged/style/d/arm", "data/runs-rescored/d/arm"]
    assert evh("pair-test", addresses[1], addresses[0], "--json").json["verdict"] == "better"
    ran = evh("catalog")
    assert ran.code == 0 and all(each in ran.out for each in addresses)
    assert [each["address"] for each in evh("catalog", "data/runs", "--json").json["arms"]] == addresses[:1]


def test_what_is_left_out_is_told(evh: Evh, compared: Compared) -> None:
    assert evh("catalog").out == "no arms: there is no finished run\n"
    compared.arms()
    (compared.runs / "dense" / "metrics.json").write_text("{")
    (compared.runs / "bm25" / "metrics.json").unlink()
    ran = evh("catalog")
    assert ran.code == 1 and "1 unfinished run left out" in ran.out and "left out: data/runs/dense" in ran.out
    data = evh("catalog", "--json").json
    assert not data["ok"] and [each["config_id"] for each in data["arms"]] == ["reranked"]
    assert evh("catalog", "--dataset-id", "other", "--json").json["arms"] == []
    assert evh("catalog", "nowhere").code == 1
