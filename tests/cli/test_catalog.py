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
    assert evh("catalog", "--dataset-id", "other").out.startswith(
        "no arms: there is no finished run of the dataset 'other'"
    )


def test_what_is_odd_about_a_run_is_told_and_hidden_folders_are_passed_over(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", values(0.0), n_items=7)
    compared.arm("arm", values(0.0), folder="runs-judged/.partial")
    ran = evh("catalog")
    assert ran.code == 0 and "says n_items 7, predictions.jsonl has 12 rows" in ran.out and ".partial" not in ran.out


def test_what_is_left_out_is_not_said_to_be_not_there(evh: Evh, compared: Compared) -> None:
    compared.arm("arm", values(0.0))
    (compared.runs / "arm" / "metrics.json").write_text("{")
    assert evh("catalog").out.startswith("no arms: there is no finished run but what was left out\n")


def test_money_stands_where_it_is_known(evh: Evh, compared: Compared) -> None:
    compared.arm("free", {"i": {"score": 1.0}})
    assert "cost of a pass" not in evh("catalog").out
    compared.arm("paid", values(0.0))
    assert "cost of a pass" in evh("catalog").out
