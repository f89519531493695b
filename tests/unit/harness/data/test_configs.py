"""Configs: JSON values from safe YAML, every refusal with file and line, no credential published."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import SourceError
from evh.harness._yaml import read_yaml
from evh.harness.config import find_config, load_config
from evh.harness.project import Project
from evh.store.credentials import credentials

HEAD = "config_id: c\ndataset_id: d\n"


def config(tmp_path: Path, text: str | bytes, name: str = "c.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_config_is_read_as_it_stands(tmp_path: Path) -> None:
    text = HEAD + "params: {model: m, temperature: 0.0, max_tokens: 7, stop: [a, b], seed: null, api_key_env: K}\n"
    loaded = load_config(config(tmp_path, text))
    assert (loaded.config.config_id, loaded.config.dataset_id, loaded.text) == ("c", "d", text)
    assert loaded.config.params == {
        "model": "m", "temperature": 0.0, "max_tokens": 7, "stop": ["a", "b"], "seed": None, "api_key_env": "K",
    }  # fmt: skip
    assert type(loaded.config.params["temperature"]) is float and type(loaded.config.params["max_tokens"]) is int


def test_aliases_stand_for_what_they_name(tmp_path: Path) -> None:
    loaded = load_config(config(tmp_path, HEAD + "params:\n  a: &x {k: 1}\n  b: *x\n"))
    assert loaded.config.params == {"a": {"k": 1}, "b": {"k": 1}}


LAUGHS = "params:\n  a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"  a{at}: &a{at} [{','.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "is empty"),
        ("# nothing\n", None, "is empty"),
        ("- a\n- b\n", 1, "found a list"),
        ("just text\n", 1, "found the value"),
        ("~\n", 1, "found nothing"),
        (HEAD + "---\n" + HEAD, 4, "several documents"),
        (HEAD + "parms: {}\n", 3, "did you mean 'params'"),
        (HEAD + "temperature: 1\n", 3, "below `params`"),
        (HEAD + "config_id: again\n", 3, "/config_id stands twice"),
        (HEAD + "params:\n  a: 1\n  b: 2\n  a: 3\n", 6, "/params/a stands twice"),
        (HEAD + "params:\n  when: 2026-01-01\n", 4, "/params/when is a date.*quote it"),
        (HEAD + "params:\n  x: [1, .nan]\n", 4, "/params/x/1 is not a finite"),
        (HEAD + "params:\n  x: -.inf\n", 4, "finite"),
        (HEAD + "params:\n  x: !!binary aGk=\n", 4, "binary"),
        (HEAD + "params:\n  x: !!set {a, b}\n", 4, "a set"),
        (HEAD + "params:\n  1: x\n", 4, "key that is no text"),
        (HEAD + "params:\n  yes: x\n", 4, "key that is no text"),
        (HEAD + "params:\n  [a]: x\n", 4, "key that is no text"),
        (HEAD + "params:\n  x: !!python/object/apply:os.system [id]\n", 4, "not read"),
        (HEAD + "params:\n  x: !custom 1\n", 4, "not read"),
        (HEAD + "params:\n  <<: {a: 1}\n", 4, "merge key"),
        (HEAD + "params:\n  x: 010\n", 4, "easily misread"),
        (HEAD + "params:\n  x: 1:30\n", 4, "easily misread"),
        (HEAD + "params:\n  x: 1e-3\n", 4, "read as text: write 0.001"),
        (HEAD + "params:\n  x: 9007199254740993\n", 4, "2\\^53"),
        (HEAD + "params: &a\n  x: *a\n", 3, "holds itself"),
        (HEAD + "params:\n  x: " + "[" * 80 + "]" * 80 + "\n", 4, "nested too deeply"),
        (HEAD + "params:\n  x: " + "[" * 20000, None, "nested too deeply"),
        (HEAD + LAUGHS, None, "more than 100,000 values"),
        (HEAD + "params: [\n", 4, "is not YAML"),
        (HEAD + "params: *nope\n", 3, "is not YAML"),
        (HEAD + "params:\n\tx: 1\n", 4, "is not YAML"),
        (HEAD + "params: \x00\n", 3, "control character"),
        (HEAD + 'params: {x: "\\ud800"}\n', 3, "lone surrogate"),
        (HEAD.encode() + b"goal: \xff\n", 3, "not UTF-8"),
        (HEAD + "params:\n", 3, "/params: "),
        (HEAD + "round: 3\n", 3, "/round: "),
        ("config_id: c\n", None, "dataset_id"),
        ("config_id: ''\ndataset_id: d\n", 1, "/config_id: "),
        (HEAD + "#" * (1 << 20), None, "more than 1 MiB"),
    ],
)
def test_what_is_no_config_is_refused_with_file_and_line(
    tmp_path: Path, text: str | bytes, line: int | None, said: str
) -> None:
    path = config(tmp_path, text)
    with pytest.raises(SourceError, match=said) as told:
        load_config(path)
    assert told.value.source == str(path)
    assert line is None or told.value.line == line


def test_a_config_that_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(SourceError) as told:
            load_config(path)
        assert told.value.source == str(path)


def test_without_the_yaml_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(SourceError, match=r"pip install 'evh\[run\]'"):
        load_config(config(tmp_path, HEAD))


VALUE = "Canary5ecretCanary5ecret"


@pytest.mark.parametrize(
    "params",
    [
        {"api_key": VALUE}, {"apiKey": VALUE}, {"OPENAI_API_KEY": VALUE}, {"token": VALUE}, {"hub_token": VALUE},
        {"password": VALUE}, {"password": 12345}, {"nested": [{"client_secret": VALUE}]}, {"Authorization": VALUE},
        {"credential": {"user": VALUE}}, {"auth": {"access_key": VALUE}}, {"api_keys": [VALUE]},
        {"base_url": f"https://user:{VALUE}@host/v1"}, {"base_url": f"https://{VALUE}@host/v1"},
        {"base_url": f"https://host/v1?api_key={VALUE}"}, {"x": f"sk-{VALUE}"}, {"x": f"say ghp_{VALUE}"},
        {"x": f"hf_{VALUE}"}, {"x": "AKIA" + "Z" * 16}, {"x": f"Bearer {VALUE}"},
        {"secrets": VALUE}, {"headers": f"Bearer {VALUE}"},
        {"x": "-----BEGIN RSA PRIVATE KEY-----\nabc"},
    ],
)  # fmt: skip
def test_e43_credentials_are_refused_by_place_and_never_shown(tmp_path: Path, params: dict[str, object]) -> None:
    path = config(tmp_path, yaml.safe_dump({"config_id": "c", "dataset_id": "d", "params": params}))
    with pytest.raises(SourceError, match=r"/params/.*`api_key_env`") as told:
        load_config(path)
    assert VALUE not in str(told.value) and told.value.line is not None


@pytest.mark.parametrize(
    "params",
    [
        {"api_key_env": "OPENAI_API_KEY"}, {"max_tokens": 5}, {"tokens_in": 1}, {"eos_token": "</s>"},
        {"usd_per_token": "0.1"}, {"headers": {"Authorization": VALUE}}, {"env": {"TOKEN": f"sk-{VALUE}1"}},
        {"a": {"extra_headers": {"api_key": VALUE}}}, {"secrets": {"x": VALUE}}, {"token": None}, {"password": ""},
        {"repo": "ssh://git@host/x"}, {"x": "task-learn-something-long-enough"}, {"x": "sk-learn-is-a-library-for-it"},
        {"monkey": "x"}, {"keyboard": "x"}, {"tokenizer": "x"}, {"prompt": "Write to a@b.c about tokens: secret!"},
        {"use_token": True},
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_credential_is_taken(params: dict[str, object]) -> None:
    assert list(credentials({"params": params})) == []


def test_b073_a_large_value_is_searched_in_linear_time() -> None:
    import time

    started = time.process_time()
    for text in ("A" * 2_000_000, "a" * 2_000_000, "sk-" * 600_000, "://" * 600_000, "eyJ" * 600_000):
        list(credentials({"x": text}))
    assert time.process_time() - started < 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(string.ascii_letters, min_size=1), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(JSON)
def test_json_written_as_yaml_comes_back(value: object) -> None:
    assert read_yaml(yaml.safe_dump(value, allow_unicode=True), "x.yaml").value == value


@given(st.text() | st.text("&*!|>'\"%@`{}[]:,-?# \nab<1.e~"))
def test_any_text_is_a_document_or_refused(text: str) -> None:
    try:
        read_yaml(text, "x.yaml")
    except SourceError as error:
        assert error.source == "x.yaml"


def test_a_config_is_found_by_its_id_and_two_of_one_id_are_refused(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert find_config(project, "c") is None
    project.configs.mkdir(parents=True)
    path = config(project.configs, HEAD, "one.yaml")
    config(project.configs, "broken: [", "two.yml")
    assert find_config(project, "c") == path
    with pytest.raises(SourceError, match=r"two\.yml"):
        find_config(project, "other")
    config(project.configs, HEAD, "three.yml")
    with pytest.raises(SourceError, match=r"one.yaml and three.yml both hold"):
        find_config(project, "c")
