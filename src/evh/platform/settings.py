"""Where the platform is and who is asking: arguments, environment, `~/.prime/config.json`, defaults, in this order.

Promise: the answer depends on the three arguments of `resolve` alone, and says of every setting where it came from. An
argument that was given counts, an empty text included; of the environment only `PRIME_TEAM_ID` counts when it is set
and empty (it means: no team). A config file that cannot be read or holds no object counts as empty, with a notice. The
key is in no `repr`, and in no message.
Policy: where nobody says where traces go, they go where everything else goes: a program that was pointed at a server of
its own sends nothing elsewhere.
When it breaks: `UsageError` for an address or a key that cannot be one, naming where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from evh.errors import Notice, UsageError, cut

__all__ = ["CONFIG_FILE", "DEFAULTS", "Settings", "resolve"]

CONFIG_FILE = Path(".prime") / "config.json"
"""The config file, below the home folder."""
HOSTED = "https://api.primeintellect.ai"
DEFAULTS = {
    "api_key": "",
    "team_id": "",
    "base_url": HOSTED,
    "frontend_url": "https://app.primeintellect.ai",
    "traces_url": HOSTED,
    "inference_url": "https://api.pinference.ai/api/v1",
    "runs_mode": "",
}
VARIABLES: dict[str, tuple[str, ...]] = {
    "api_key": ("PRIME_API_KEY",),
    "team_id": ("PRIME_TEAM_ID",),
    "base_url": ("PRIME_API_BASE_URL", "PRIME_BASE_URL"),
    "frontend_url": ("PRIME_FRONTEND_URL",),
    "traces_url": ("PRIME_TRACES_URL",),
    "inference_url": ("PRIME_INFERENCE_URL",),
    "runs_mode": ("PRIME_RUNS_MODE",),
}
COUNTS_WHEN_EMPTY = frozenset({"PRIME_TEAM_ID"})
NOT_IN_THE_FILE = frozenset({"runs_mode"})
ADDRESSES = ("base_url", "frontend_url", "traces_url", "inference_url")
API_ROOT = "/api/v1"
OPT_OUT = "PRIME_TRACES_OPT_OUT"
YES, NO = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True)
class Settings:
    """What a client needs to know. `sources` says of each setting where it came from: `argument`, the name of a
    variable, the path of the config file, or `default`; `notices` what was passed over on the way."""

    api_key: str = field(default="", repr=False)
    team_id: str = ""
    base_url: str = HOSTED
    frontend_url: str = DEFAULTS["frontend_url"]
    traces_url: str = HOSTED
    inference_url: str = DEFAULTS["inference_url"]
    runs_mode: str = ""
    traces_opt_out: bool = False
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    notices: tuple[Notice, ...] = field(default=(), repr=False)


def resolve(
    arguments: Mapping[str, str | None] | None = None, *, environ: Mapping[str, str], home: Path | None
) -> Settings:
    """The settings of a client. `arguments` are those of the caller by name, None for one that was not given.

    `environ` is the environment (`os.environ`, as a rule) and `home` the home folder; None: there is no config file.
    Raises `UsageError` for an argument that is no setting, an address that is none, a key that no header can carry.
    """
    given = dict(arguments or {})
    unknown = given.keys() - DEFAULTS.keys()
    if unknown:
        raise UsageError(f"{', '.join(sorted(unknown))}: no such setting; there are {', '.join(DEFAULTS)}")
    file_name = "" if home is None else str(home / CONFIG_FILE)
    notices: list[Notice] = []
    in_file = {} if home is None else _read_config(home / CONFIG_FILE, notices)
    found: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name, default in DEFAULTS.items():
        found[name], sources[name] = _one(name, given, environ, in_file, file_name) or (default, "default")
    for name in ADDRESSES:
        found[name] = _address(found[name], f"{name} (from {sources[name]})", whole=name == "inference_url")
    if sources["traces_url"] == "default":
        found["traces_url"], sources["traces_url"] = found["base_url"], sources["base_url"]
    _check_header("the API key", found["api_key"], sources["api_key"])
    _check_header("the team's id", found["team_id"], sources["team_id"])
    opt_out, sources["traces_opt_out"] = _opt_out(environ, in_file, file_name)
    return Settings(**found, traces_opt_out=opt_out, sources=sources, notices=tuple(notices))


def _one(
    name: str,
    given: Mapping[str, str | None],
    environ: Mapping[str, str],
    in_file: Mapping[str, Any],
    file_name: str,
) -> tuple[str, str] | None:
    argument = given.get(name)
    if argument is not None:
        if argument or name not in ADDRESSES:
            return argument, "argument"
        raise UsageError(f"{name} is empty: give the address of the platform, or leave it out")
    for variable in VARIABLES[name]:
        value = environ.get(variable)
        if value or (value is not None and variable in COUNTS_WHEN_EMPTY):
            return value, variable
    value = in_file.get(name)
    return (value, file_name) if value and name not in NOT_IN_THE_FILE else None


def _read_config(path: Path, notices: list[Notice]) -> dict[str, Any]:
    """The members of the config file that can be settings."""
    try:
        document = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        notices.append(Notice("config-file", "", f"{path}: not read: {error.strerror}"))
        return {}
    except (msgspec.MsgspecError, ValueError, RecursionError):
        notices.append(Notice("config-file", "", f"{path}: not JSON, passed over"))
        return {}
    if not isinstance(document, dict):
        notices.append(Notice("config-file", "", f"{path}: holds no object, passed over"))
        return {}
    kept: dict[str, Any] = {}
    for name in (*DEFAULTS, "traces_opt_out"):
        value = document.get(name)
        if value is None or isinstance(value, str | bool):
            kept[name] = value
        else:
            notices.append(Notice("config-file", f"/{name}", f"{path}: {name} is no text, passed over"))
    return {name: value for name, value in kept.items() if name == "traces_opt_out" or isinstance(value, str)}


def _address(url: str, what: str, *, whole: bool) -> str:
    """An address without its `/api/v1`, which calls add themselves."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{what} holds a name or a password: keys go into PRIME_API_KEY, never into an address")
    odd = parts.query or parts.fragment or any(char.isspace() or not char.isprintable() for char in url.strip())
    if parts.scheme not in ("http", "https") or not host or odd:
        raise UsageError(f"{what} is {cut(url)}: expected an address such as https://host or http://127.0.0.1:8000")
    trimmed = url.strip().rstrip("/")
    return trimmed if whole else trimmed.removesuffix(API_ROOT).rstrip("/")


def _check_header(what: str, text: str, source: str) -> None:
    if any(not "!" <= char <= "~" for char in text):
        raise UsageError(
            f"{what} (from {source}) holds a character that no header can carry, such as a space or a line end"
        )


def _opt_out(environ: Mapping[str, str], in_file: Mapping[str, Any], file_name: str) -> tuple[bool, str]:
    value: Any = environ.get(OPT_OUT)
    source = OPT_OUT
    if not value:
        value, source = in_file.get("traces_opt_out"), file_name
    if value is None:
        return False, "default"
    text = str(value).strip().lower()
    if text not in YES | NO:
        raise UsageError(f"{source}: traces_opt_out is {cut(value)}: expected true or false")
    return text in YES, source
