"""Any reader held against the conformance vectors, over the line protocol of docs/conformance.md.

    outcome = check(["./your-reader"], load_vectors())
    assert outcome.agrees

Promise: the program is asked only for what its hello names, and only where a vector states what is right; each
answer is an agreement, a disagreement with what was expected and what was said, or not supported. A program that
hangs, ends or writes garbage is told with the vector it was at and started again, `MOST_FALLS` times; time and
memory are bounded.
Policy: how much of a disagreement is kept.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from evh.errors import UsageError, cut
from evh.testing._program import Fallen, Program
from evh.testing.comparison import LAYERS, MODES, Question, compare, question
from evh.testing.vectors import Vector, vector_bytes

__all__ = ["MOST_FALLS", "Disagreement", "Fall", "Hello", "Outcome", "check", "hold"]

PROTOCOL = 1
MOST_FALLS = 5
MOST_KEPT = 1000
TIMEOUT = 10.0
HELLO_FACTOR = 3
"""How much longer than for an answer is waited for the hello: some programs are built when they are first started."""

Ask = Callable[[dict[str, Any]], dict[str, Any]]


class Hello(NamedTuple):
    """What a reader says it can do; no `types` means all."""

    name: str
    modes: tuple[str, ...]
    layers: tuple[str, ...]
    types: frozenset[str] | None


class Disagreement(NamedTuple):
    """An answer that is not the vector's: in which mode and layer, what was expected and what was said."""

    vector: str
    type: str
    mode: str
    layer: str
    input: str
    expected: str
    said: str


class Fall(NamedTuple):
    """The vector that a program was at when it hung, ended or wrote garbage."""

    vector: str
    mode: str
    why: str
    stderr: str


class Outcome:
    """What came out of asking a reader: counts by type and layer, the disagreements, the falls."""

    def __init__(self, hello: Hello) -> None:
        self.hello = hello
        self.agreed: Counter[tuple[str, str]] = Counter()
        self.disagreed: Counter[tuple[str, str]] = Counter()
        self.unsupported: Counter[str] = Counter()
        """By mode, or `types`: what the reader does not do."""
        self.disagreements: list[Disagreement] = []
        self.falls: list[Fall] = []
        self.unasked = 0
        """Questions left when a program had fallen too often."""

    @property
    def agrees(self) -> bool:
        """Whether every answer was right; a program that was asked nothing proved nothing."""
        return bool(self.agreed) and not self.disagreed and not self.falls

    def add(self, vector: Vector, asked: Question, answer: dict[str, Any]) -> None:
        """Count an answer."""
        if answer.get("verdict") == "unsupported":
            self.unsupported[asked.mode] += 1
            return
        wrong = compare(vector, asked, answer, self.hello.layers)
        key = (vector["type"], asked.layer)
        if wrong is None:
            self.agreed[key] += 1
            return
        self.disagreed[key] += 1
        if len(self.disagreements) < MOST_KEPT:
            shown = vector_bytes(vector).decode("utf-8", "backslashreplace")
            where = (vector["name"], vector["type"], asked.mode, asked.layer)
            self.disagreements.append(Disagreement(*where, shown, *wrong))


def check(
    command: Sequence[str], vectors: Iterable[Vector], *, timeout: float = TIMEOUT, hello_timeout: float | None = None
) -> Outcome:
    """Start a program and hold it against the vectors; an answer may take `timeout` seconds, the hello three times that
    unless `hello_timeout` says otherwise.

    Raises `UsageError` when it cannot be started or says no hello.
    """
    running = _Restarted(command, timeout, HELLO_FACTOR * timeout if hello_timeout is None else hello_timeout)
    try:
        return hold(running.ask, vectors, running.hello)
    finally:
        running.stop()


def hold(ask: Ask, vectors: Iterable[Vector], hello: dict[str, Any]) -> Outcome:
    """Hold anything that answers requests against the vectors; `ask` raises `Fallen` when there is no answer."""
    outcome = Outcome(read_hello(hello))
    number = 0
    for vector in vectors:
        if outcome.hello.types is not None and vector["type"] not in outcome.hello.types:
            outcome.unsupported["types"] += 1
            continue
        for asked in _questions(vector, outcome):
            if len(outcome.falls) >= MOST_FALLS:
                outcome.unasked += 1
                continue
            number += 1
            try:
                answer = ask(_request(number, asked.mode, vector))
            except Fallen as fallen:
                outcome.falls.append(Fall(vector["name"], asked.mode, fallen.why, fallen.said))
            else:
                outcome.add(vector, asked, answer)
    return outcome


def _questions(vector: Vector, outcome: Outcome) -> Iterator[Question]:
    for mode in MODES:
        asked = question(vector, mode, outcome.hello.layers)
        if asked is not None:
            if mode in outcome.hello.modes:
                yield asked
            else:
                outcome.unsupported[mode] += 1


def _request(number: int, mode: str, vector: Vector) -> dict[str, Any]:
    data = vector_bytes(vector)
    try:
        given = {"input": data.decode("utf-8")}
    except UnicodeDecodeError:
        given = {"input_base64": base64.b64encode(data).decode()}
    return {"id": number, "mode": mode, "type": vector["type"], **given}


def read_hello(hello: dict[str, Any]) -> Hello:
    """A hello, held to the protocol. Raises `UsageError`."""
    if hello.get("evh_conformance") != PROTOCOL:
        raise UsageError(
            f'the hello must hold "evh_conformance": {PROTOCOL}, the version of the protocol; '
            f"found {cut(json.dumps(hello))}"
        )
    lists: dict[str, tuple[str, ...]] = {}
    for name, known in (("modes", MODES), ("layers", LAYERS), ("types", None)):
        found = hello.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise UsageError(f"the hello's {name} are a list of names, not {cut(found)}")
        strange = [] if known is None else [each for each in found if each not in known]
        if strange:
            raise UsageError(f"the hello names {cut(strange[0])} among its {name}: there are {', '.join(known or ())}")
        lists[name] = tuple(found)
    if not lists["modes"]:
        raise UsageError(f"the hello names no modes: there are {', '.join(MODES)}")
    types = frozenset(lists["types"]) if "types" in hello else None
    return Hello(str(hello.get("name", "unnamed")), lists["modes"], lists["layers"], types)


class _Restarted:
    """A program that is started again after it fell."""

    def __init__(self, command: Sequence[str], timeout: float, hello_timeout: float) -> None:
        self._start: Callable[[], Program] = partial(Program, command, timeout=timeout, hello_timeout=hello_timeout)
        first = self._start()
        self.hello = first.hello
        self._program: Program | None = first

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._program is None:
            try:
                self._program = self._start()
            except UsageError as error:
                raise Fallen(f"could not be started again: {error}") from error
        try:
            return self._program.ask(request)
        except Fallen:
            self._program.kill()
            self._program = None
            raise

    def stop(self) -> None:
        if self._program is not None:
            self._program.stop()
