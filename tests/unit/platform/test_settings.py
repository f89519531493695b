"""Where settings come from, in which order, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.errors import UsageError
from evh.platform import Settings, resolve

HOSTED = "https://api.primeintellect.ai"


def write_config(home: Path, document: Any) -> Path:
    path = home / ".prime" / "config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def test_without_anything_the_hosted_platform_and_no_key(tmp_path: Path) -> None:
    made = resolve(environ={}, home=tmp_path)
    assert (made.api_key, made.team_id, made.base_url, made.traces_url) == ("", "", HOSTED, HOSTED)
    assert made.frontend_url == "https://app.primeintellect.ai"
    assert made.inference_url == "https://api.pinference.ai/api/v1"
    assert set(made.sources.values()) == {"default"} and made.notices == ()


@pytest.mark.parametrize(
    ("setting", "variable"),
    [
        ("api_key", "PRIME_API_KEY"),
        ("team_id", "PRIME_TEAM_ID"),
        ("base_url", "PRIME_API_BASE_URL"),
        ("base_url", "PRIME_BASE_URL"),
        ("frontend_url", "PRIME_FRONTEND_URL"),
        ("traces_url", "PRIME_TRACES_URL"),
        ("inference_url", "PRIME_INFERENCE_URL"),
    ],
)
def test_argument_then_environment_then_file_then_default(tmp_path: Path, setting: str, variable: str) -> None:
    url = setting.endswith("url")

    def value(name: str) -> str:
        return f"https://{name}.example" if url else name

    path = write_config(tmp_path, {setting: value("file")})
    full = {"arguments": {setting: value("argument")}, "environ": {variable: value("variable")}, "home": tmp_path}
    for left_out, expected, source in (
        ({}, value("argument"), "argument"),
        ({"arguments": {setting: None}}, value("variable"), variable),
        ({"arguments": None, "environ": {variable: ""} if setting != "team_id" else {}}, value("file"), str(path)),
    ):
        made = resolve(**{**full, **left_out})  # type: ignore[arg-type]
        assert (getattr(made, setting), made.sources[setting]) == (expected, source)


def test_a_team_that_is_set_and_empty_means_no_team(tmp_path: Path) -> None:
    write_config(tmp_path, {"team_id": "team-of-the-file"})
    made = resolve(environ={"PRIME_TEAM_ID": ""}, home=tmp_path)
    assert (made.team_id, made.sources["team_id"]) == ("", "PRIME_TEAM_ID")
    assert resolve({"team_id": ""}, environ={"PRIME_TEAM_ID": "other"}, home=tmp_path).team_id == ""


def test_the_first_name_of_the_base_address_counts(tmp_path: Path) -> None:
    environ = {"PRIME_API_BASE_URL": "https://one.example", "PRIME_BASE_URL": "https://two.example"}
    assert resolve(environ=environ, home=tmp_path).base_url == "https://one.example"
    assert resolve(environ={**environ, "PRIME_API_BASE_URL": ""}, home=tmp_path).base_url == "https://two.example"


@pytest.mark.parametrize("given", ["https://a.example/api/v1", "https://a.example/api/v1/", "https://a.example/"])
def test_addresses_lose_what_calls_add(tmp_path: Path, given: str) -> None:
    made = resolve({"base_url": given}, environ={}, home=tmp_path)
    assert (made.base_url, made.traces_url) == ("https://a.example", "https://a.example")
    assert made.sources["traces_url"] == "argument"


def test_traces_go_where_the_rest_goes_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    environ = {"PRIME_API_BASE_URL": "http://127.0.0.1:8000"}
    assert resolve(environ=environ, home=tmp_path).traces_url == "http://127.0.0.1:8000"
    environ["PRIME_TRACES_URL"] = "http://127.0.0.1:9000"
    assert resolve(environ=environ, home=tmp_path).traces_url == "http://127.0.0.1:9000"


@pytest.mark.parametrize("text", ["{", "[1]", '"text"', "\udcff", "null"])
def test_a_config_file_that_holds_no_object_counts_as_empty_and_is_noticed(tmp_path: Path, text: str) -> None:
    path = write_config(tmp_path, {})
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    made = resolve(environ={}, home=tmp_path)
    assert made.base_url == HOSTED
    assert [notice.kind for notice in made.notices] == ["config-file"]


def test_members_of_another_type_and_a_folder_in_its_place_are_passed_over(tmp_path: Path) -> None:
    path = write_config(tmp_path, {"api_key": 7, "base_url": None, "team_id": "t", "other": 1})
    made = resolve(environ={}, home=tmp_path)
    assert (made.api_key, made.team_id, len(made.notices)) == ("", "t", 1)
    path.unlink()
    path.mkdir()
    assert len(resolve(environ={}, home=tmp_path).notices) == 1
    assert resolve(environ={}, home=None).notices == ()


@pytest.mark.parametrize(
    "url",
    ["", "a.example", "ftp://a.example", "https://", "https://user:password@a.example", "https://a.example/?q=1",
     "http://[::1", "http://a.example:port", "http://two words.example", "http://a.example/\x00"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_and_says_where_it_came_from(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="base_url") as caught:
        resolve({"base_url": url}, environ={}, home=tmp_path)
    assert "password" not in str(caught.value).replace("a name or a password", "")


@pytest.mark.parametrize("key", ["two words", "line\nend", "clé", "null\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match="PRIME_API_KEY") as caught:
        resolve(environ={"PRIME_API_KEY": key}, home=tmp_path)
    assert key not in str(caught.value)


def test_a_setting_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="api_kee"):
        resolve({"api_kee": "x"}, environ={}, home=tmp_path)


@pytest.mark.parametrize(("text", "expected"), [("1", True), ("TRUE", True), ("0", False), ("", False)])
def test_opting_out_of_traces(tmp_path: Path, text: str, expected: bool) -> None:
    assert resolve(environ={"PRIME_TRACES_OPT_OUT": text}, home=tmp_path).traces_opt_out is expected


def test_opting_out_in_the_file_and_a_value_that_says_nothing(tmp_path: Path) -> None:
    write_config(tmp_path, {"traces_opt_out": True})
    assert resolve(environ={}, home=tmp_path).traces_opt_out is True
    assert resolve(environ={"PRIME_TRACES_OPT_OUT": "no"}, home=tmp_path).traces_opt_out is False
    with pytest.raises(UsageError, match="PRIME_TRACES_OPT_OUT"):
        resolve(environ={"PRIME_TRACES_OPT_OUT": "perhaps"}, home=tmp_path)


def test_the_key_is_in_no_repr() -> None:
    assert "pit-canary" not in repr(Settings(api_key="pit-canary"))
