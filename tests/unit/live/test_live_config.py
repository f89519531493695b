"""The configuration that is recorded: what was set, without secrets, and the launch file only when it holds none."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Any

import pytest
from live_support import Told, episode, opened

import evh
from evh import SourceError, UsageError
from evh.live import upload_view
from evh.live.config_secrets import secret_flags, secret_places
from evh.live.config_upload import snapshot
from evh.store import Masker

CANARY = "canary-0123456789"
TOML = """
model = "Qwen/Qwen3-8B"
[env]
id = "gsm8k"
[env.agent.harness.env]
TOKEN = "canary-0123456789"
"""


def manifest_of(run: evh.LiveRun) -> evh.RunManifest:
    assert run.dir is not None
    return evh.decode_strict((run.dir / "run.json").read_bytes(), evh.RunManifest)


def nowhere(folder: Path, canary: str = CANARY) -> None:
    """Not one byte of the folder holds the canary."""
    found = [path for path in folder.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()]
    assert found == []


def test_b046_b070_secrets_of_tables_are_nowhere_even_where_they_recur(alone: Path) -> None:
    config = {
        "client": {"headers": {"Innocent-Name": f"Bearer {CANARY}"}, "base_url": f"https://me:{CANARY}@host/v1"},
        "agents": [{"harness": {"env": {"PLAIN": CANARY}}}],
        "prompt": f"use {CANARY}",
    }
    with opened(config=config, name=f"named {CANARY}", tags=[CANARY], description=CANARY) as run:
        made = episode(1)
        made.task.data["prompt"] = f"curl -H {CANARY}"
        run.log_episodes([made, episode(2, headers={"x": "another-canary-1"}, note="another-canary-1")])
        run.log_metrics({f"loss {CANARY}": 1})
        with pytest.raises(UsageError):
            run.log_episodes([CANARY])
        run.finish({"said": CANARY}, error=f"Traceback {CANARY}")
    nowhere(run.dir)  # type: ignore[arg-type]
    nowhere(run.dir, "another-canary-1")  # type: ignore[arg-type]
    assert manifest_of(run).config["client"] == {"headers": {"Innocent-Name": "***"}, "base_url": "https://***@host/v1"}
    assert manifest_of(run).config["prompt"] == "use ***"


def test_keys_of_the_environment_and_of_the_command_line_are_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-of-the-environment")
    monkeypatch.setattr("sys.argv", ["p", "--env.agent.harness.env.TOKEN", "from-the-command-line"])
    with opened(api_key="k-of-the-argument", secrets=["named-by-the-caller"]) as run:
        for text in ("sk-of-the-environment", "from-the-command-line", "k-of-the-argument", "named-by-the-caller"):
            made = episode()
            made.task.data["prompt"] = f"say {text}!"
            run.log_episodes([made])
    for text in ("sk-of-the-environment", "from-the-command-line", "k-of-the-argument", "named-by-the-caller"):
        nowhere(run.dir, text)  # type: ignore[arg-type]


def test_variables_that_the_configuration_names_are_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INNOCENT", "PLAIN", "PASSED_ON"):
        monkeypatch.setenv(name, f"value-of-{name}")
    config = {"api_key_var": "INNOCENT", "headers_from_env": {"X": "PLAIN"}, "forward_env": ["PASSED_ON", "HOME"]}
    with opened(config=config) as run:
        made = episode()
        made.task.data["prompt"] = "value-of-INNOCENT value-of-PLAIN value-of-PASSED_ON"
        run.log_episodes([made])
    nowhere(run.dir, "value-of")  # type: ignore[arg-type]
    assert manifest_of(run).config["forward_env"] == ["PASSED_ON", "HOME"]


def test_flags_that_set_a_table_are_found() -> None:
    argv = [
        "--client.headers.X-Key", "v1", "--env.agent.harness.env.TOKEN=v2", "--env.taskset.id", "gsm8k", "--env.id",
        "e", "--client.headers", '{"A": "v3"}', "--agent.env.A", "v4", "--headers.B", "--next",
    ]  # fmt: skip
    assert list(secret_flags(argv)) == ["v1", "v2", "v3", "v4"]


def test_the_snapshot_is_of_the_moment_of_opening() -> None:
    config: dict[str, Any] = {"a": {"b": [1]}, "headers": {}}
    with opened(config=config) as run:
        config["a"]["b"].append(2)
        config["headers"]["Authorization"] = CANARY
        run.log_episodes([episode()])
    assert manifest_of(run).config["a"] == {"b": [1]}
    nowhere(run.dir)  # type: ignore[arg-type]


def test_b071_only_what_somebody_set_is_recorded() -> None:
    class Model:
        def model_dump(self, *, mode: str, exclude_unset: bool = False) -> dict[str, Any]:
            return {"set": 1} if exclude_unset else {"set": 1, "default": 2}

    assert snapshot(Model(), Masker()).fields == {"set": 1}


def test_values_that_json_has_no_form_for_are_said_in_words() -> None:
    class Colour(enum.Enum):
        RED = "red"

    fields = snapshot(
        {"p": Path("/x/y"), "c": Colour.RED, "n": float("nan"), "o": object(), "s": {3}, 5: "five", "t": (1, 2.5)},
        Masker(),
    ).fields
    assert fields == {"p": "/x/y", "c": "red", "n": "nan", "o": "<object>", "s": [3], "5": "five", "t": [1, 2.5]}
    deep: dict[str, Any] = {}
    deep["x"] = deep
    with pytest.raises(UsageError, match="within itself"):
        snapshot(deep, Masker())


@pytest.mark.parametrize(
    ("document", "places"),
    [
        ({"headers": {"a": 1}}, ["/headers"]),
        ({"headers": {}, "env": {}}, []),
        ({"env": {"id": "gsm8k", "taskset": {"id": "x"}}}, []),
        ({"env": {"taskset": {"headers": {"a": "b"}}}}, ["/env/taskset/headers"]),
        ({"env": {"TOKEN": "x"}}, ["/env"]),
        ({"agents": [{"env": {"A": "b"}}]}, ["/agents/0/env"]),
        ({"harness": {"env": {"id": "x"}}}, ["/harness/env"]),
        ({"default_headers": [["a", "b"]]}, ["/default_headers"]),
        ({"client": {"api_key": "abc"}}, ["/client/api_key"]),
        ({"client": {"api_key_var": "PRIME_API_KEY", "max_tokens": 5}}, []),
        ({"url": "https://u:p@host/"}, ["/url"]),
        ({"text": "sk-abcdefghij0123456789"}, ["/text"]),
    ],
)
def test_secrets_are_told_by_their_place(document: dict[str, Any], places: list[str]) -> None:
    assert secret_places(document) == places


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("eval.toml", 'model = "x" # the small one\nn = 3\n[client]\nheaders = {}\n'),
        ("eval.json", '{"model": "x",\n "env": {"id": "gsm8k"}}\n'),
        ("eval.yaml", "model: x\n# a remark\nbase: &b {k: v}\nother: *b\n"),
    ],
)
def test_a_launch_file_without_secrets_is_recorded_word_for_word(name: str, text: str, alone: Path) -> None:
    (alone / name).write_text(text)
    told = Told()
    with opened(config=name, notify=told) as run:
        pass
    manifest = manifest_of(run)
    assert manifest.config_source is not None
    assert (manifest.config_source.text, manifest.config_source.filename) == (text, name)
    assert manifest.config_source.format == name.partition(".")[2]
    assert manifest.config["model"] == "x"
    assert told == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", TOML, "it has secrets in /env/agent/harness/env"),
        ("a.json", '{"headers": {"a": "canary-0123456789"}, "headers": {}}', "it has secrets in /headers"),
        ("a.yaml", "x: &t {a: canary-0123456789}\nclient: {headers: *t}\n", "it has secrets in /client/headers"),
        ("a.yaml", "headers: {a: canary-0123456789}\nheaders: {}\n", "it has secrets in /headers"),
        ("a.toml", "a = 1 # sk-canary-01234567890123\n", "a secret stands in its text"),
        ("a.toml", 'url = "https://me:canary-0123456789@host"', "it has secrets in /url"),
        ("a.toml", "a = canary-0123456789", "it cannot be parsed as TOML"),
        ("a.yaml", "a: [", "it cannot be parsed as YAML"),
        ("a.ini", "key=canary-0123456789", "nobody can look into it"),
        ("a.toml", "x = '" + "y" * (256 << 10) + "'", "it is larger than 256 KiB"),
        ("a.toml", b"x = '\xff'", "it is not UTF-8"),
    ],
)
def test_a_launch_file_that_may_hold_a_secret_is_left_out_with_a_warning(
    name: str, text: str | bytes, said: str, alone: Path
) -> None:
    (alone / name).write_bytes(text.encode() if isinstance(text, str) else text)
    told = Told()
    with opened(
        config=(name, {"model": "x", "note": "canary-0123456789"} if "secrets" in said else {}), notify=told
    ) as run:
        pass
    assert manifest_of(run).config_source is None
    assert len(told) == 1
    assert said in told[0] and f"the launch file {name} is not recorded word for word" in told[0]
    assert "canary" not in told[0]
    nowhere(run.dir, "canary")  # type: ignore[arg-type]


def test_a_launch_file_that_is_not_there_is_an_error(alone: Path) -> None:
    with pytest.raises(SourceError, match="the launch file cannot be read"):
        opened(config="missing.toml")
    assert list(alone.iterdir()) == []


def test_what_is_uploaded_has_the_keys_that_lists_read_unconditionally(alone: Path) -> None:
    (alone / "eval.toml").write_text("n = 3\n")
    with opened(config="eval.toml", model="m") as run:
        pass
    assert upload_view(manifest_of(run)) == {
        "n": 3,
        "model": "m",
        "num_examples": -1,
        "rollouts_per_example": 1,
        "config_source": {"format": "toml", "text": "n = 3\n", "filename": "eval.toml"},
    }
    with opened(config={"model": "of the config"}, num_examples=7, rollouts_per_example=2) as run:
        pass
    view = upload_view(manifest_of(run))
    assert (view["model"], view["num_examples"], view["rollouts_per_example"]) == ("of the config", 7, 2)
    assert json.dumps(view)
