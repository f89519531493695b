"""Where a configuration keeps its secrets: told by place, so that no value has to be recognized.

Promise
    A secret table is an object or list, not empty, under a name such as `headers` or `env`, wherever it is: each value
    in it is one, whatever its key. So is a credential that stands elsewhere and is one by its name (`api_key`), its
    form (`sk-…`) or its place in a URL. What is found is named by its JSON Pointer; a value is never shown.
    An object named `env` that describes the *environment* an evaluation runs in, as the configs of eval frameworks have
    one at their root, is no table of variables; the tables inside it are.
Policy
    An `env`, `environ` or `environment` is taken for a description when it holds an object or a list, or a member `id`
    or `taskset`, and does not stand below a `harness`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from evh.errors import pointer
from evh.store.credentials import credentials
from evh.store.masking import MASK, Masker, is_secret_table

__all__ = ["Pairs", "learn", "masked", "secret_flags", "secret_places"]

AMBIGUOUS = frozenset({"env", "environ", "environment"})
DESCRIBING = frozenset({"id", "taskset"})
HARNESS = "harness"
USER_IN_URL = re.compile(r"(?<=://)[^\s/?#@]{1,500}(?=@)")
VALUE_IN_URL = re.compile(r"(?<==)[^&\s=]{8,}")
Path = tuple[str | int, ...]


class Pairs(list[tuple[str, Any]]):
    """The members of an object in which a name may stand twice."""


def secret_places(document: Any) -> list[str]:
    """The places (JSON Pointers) of the secrets of a config: its tables, then what is one elsewhere."""
    return [pointer(*path) for path, _ in _tables(document)] + [place for place, _ in _elsewhere(document)]


def learn(masker: Masker, document: Any) -> None:
    """Teach a masker the values of a config's secrets."""
    for path, table in _tables(document):
        masker.learn({str(path[-1]): _unpaired(table)})
    for _, value in _elsewhere(document):
        masker.add(_parts_of(value))


def masked(document: Any, masker: Masker) -> Any:
    """A config with its secrets masked: by place, and wherever a value that the masker knows recurs."""
    tables = {path for path, _ in _tables(document)}
    single = {place for place, _ in _elsewhere(document)}

    def below(node: Any, path: Path, blank: bool) -> Any:
        blank = blank or path in tables
        if isinstance(node, Mapping):
            return masker.names({key: below(value, (*path, key), blank) for key, value in node.items()})
        if isinstance(node, list | tuple):
            return [below(value, (*path, at), blank) for at, value in enumerate(node)]
        if node is None or (not blank and not isinstance(node, str | int | float)):
            return node
        if blank:
            return MASK
        if pointer(*path) in single:
            return USER_IN_URL.sub(MASK, node) if isinstance(node, str) and USER_IN_URL.search(node) else MASK
        return masker.value(node)

    return below(document, (), False)


def _parts_of(value: str) -> Iterator[str]:
    """A credential, and of a URL the parts of it that are one."""
    if "://" not in value:
        yield value
        return
    for found in USER_IN_URL.finditer(value):
        yield from (found[0], *found[0].split(":"))
    yield from (found[0] for found in VALUE_IN_URL.finditer(value))


def secret_flags(argv: Sequence[str]) -> Iterator[str]:
    """The values that a command line puts into secret tables: `--client.headers.X-Key VALUE`,
    `--env.agent.harness.env.TOKEN=VALUE`."""
    for at, word in enumerate(argv):
        if not word.startswith("--"):
            continue
        name, given, value = word[2:].partition("=")
        if not given and at + 1 < len(argv) and not argv[at + 1].startswith("--"):
            value = argv[at + 1]
        parts = name.replace("-", "_").lower().split(".")
        if not value:
            continue
        if any(_names_a_table(parts, place) for place in range(len(parts) - 1)):
            yield value
        elif value.startswith("{") and is_secret_table(parts[-1], {}):
            try:
                yield from map(str, msgspec.json.decode(value, type=dict[str, Any]).values())
            except msgspec.MsgspecError:
                yield value


def _names_a_table(parts: list[str], place: int) -> bool:
    """Whether a part of a dotted flag names a secret table and the next one a key in it."""
    name = parts[place]
    if not is_secret_table(name, {}):
        return False
    return name not in AMBIGUOUS or HARNESS in parts[:place] or (place > 0 and place == len(parts) - 2)


def _tables(document: Any) -> Iterator[tuple[Path, Any]]:
    stack: list[tuple[Path, Any, bool]] = [((), document, False)]
    while stack:
        path, node, in_harness = stack.pop()
        for key, value in _members(node):
            below = (*path, key)
            if (
                isinstance(key, str)
                and value
                and is_secret_table(key, value)
                and not _describes(key, value, in_harness)
            ):
                yield below, value
            elif isinstance(value, Mapping | list | tuple):
                stack.append((below, value, in_harness or key == HARNESS))


def _describes(key: str, value: Any, in_harness: bool) -> bool:
    """Whether something called `env` describes an environment rather than setting variables."""
    if key.lower() not in AMBIGUOUS or in_harness or not isinstance(value, Mapping | Pairs):
        return False
    members = list(_members(value))
    return any(isinstance(each, Mapping | list | tuple) for _, each in members) or any(
        name in DESCRIBING for name, _ in members
    )


def _elsewhere(document: Any) -> Iterator[tuple[str, str]]:
    """The credentials that stand in no table: their places and values, as text."""
    tables = {path for path, _ in _tables(document)}
    leaves: dict[str, Any] = {}

    def plain(node: Any, path: Path) -> Any:
        if path in tables:
            return None
        if isinstance(node, Mapping | Pairs):
            return {str(key): plain(value, (*path, key)) for key, value in _unlike(_members(node))}
        if isinstance(node, list | tuple):
            return [plain(value, (*path, at)) for at, value in enumerate(node)]
        leaves[pointer(*path)] = node
        return node

    for place, _ in credentials(plain(document, ())):
        if isinstance(leaves.get(place), str | int) and leaves[place] != MASK:
            yield place, str(leaves[place])


def _unlike(members: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Members, of which a name that stands twice is told apart by a blank."""
    seen: set[Any] = set()
    for key, value in members:
        while key in seen:
            key = f"{key} "
        seen.add(key)
        yield key, value


def _unpaired(node: Any) -> Any:
    """Pairs as objects of one member each: their names are no values."""
    if isinstance(node, Pairs):
        return [{key: _unpaired(value)} for key, value in node]
    return [_unpaired(value) for value in node] if isinstance(node, list | tuple) else node


def _members(node: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, Mapping):
        yield from node.items()
    elif isinstance(node, Pairs):
        yield from node
    elif isinstance(node, list | tuple):
        yield from enumerate(node)
