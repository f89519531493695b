"""An adapter: the functions that call one system and score its outputs, whatever kind they are of.

Promise
    `call` and `score` may be used from many threads at a time, and give the same for plain and for async functions.
    What `call` returns is checked (`evh.harness.result`). What the system raises comes out of `call` as it is, so that
    retries can judge it; `sys.exit` is a failure like another. Every other fault of the adapter is an `EvhError` with
    its file. No function can change the settings it is given: each gets a copy.
    `cancel` gives up what runs: coroutines are cancelled, commands killed, connections shut; `Stopped` is what those
    calls raise. A plain function of a Python file can't be interrupted: it ends by itself.
    `fingerprint` never raises.
Policy
    `score` gets the item's source text when it takes three positional arguments or more, which is looked at once.
When it breaks: no item is measured.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evh.errors import EvhError, RecordError, SourceError, UsageError, cut
from evh.harness.adapters.declarations import checked_digests, declared
from evh.harness.adapters.errors import AdapterError
from evh.harness.adapters.loaded import Loaded, line_in
from evh.harness.adapters.module import short
from evh.harness.adapters.workplace import Workplace, entered
from evh.harness.result import Result, checked_result
from evh.protocol.jsontext import dumps
from evh.protocol.models import Episode

__all__ = ["Adapter"]

FUNCTIONS = {"call_system": 2, "score_episode": 2, "warmup": 1, "fingerprint": 1, "scorer_id": 0}


class Adapter(Loaded):
    """One loaded adapter. Made by `load_adapter`; `close` it when no call is running any more."""

    id: str
    """Its file's path below the project's root, with forward slashes; the bare name of a file elsewhere; `evh:…`."""
    path: Path | None
    """Its file; None for those that come with the harness."""
    sha256: str
    """Digest of its file."""
    metric_kinds: dict[str, str]
    metric_directions: dict[str, str]
    metric_descriptions: dict[str, str]
    primary_metric: str | None
    transient_markers: tuple[str, ...]
    warmup: Callable[[Mapping[str, Any]], None] | None
    """Builds what the system needs before the clock runs (an index, a model); None when there is nothing to build."""
    wants_source: bool
    """Whether `score` is to be given the source text."""

    def __init__(self, names: object, *, id: str, path: Path | None, sha256: str, workplace: Workplace) -> None:
        self.id = id
        self.path = path
        self.sha256 = sha256
        self._file = str(path) if path is not None else id
        super().__init__(workplace)
        self._functions = {name: _function(names, name, count, self._file) for name, count in FUNCTIONS.items()}
        self._score, self.wants_source = _scorer(names, self._file)
        self._check = getattr(names, "check", None) if path is None else None
        if self._functions["call_system"] is None and self._score is None:
            raise UsageError(
                "an adapter defines call_system(text, params), score(output, reference), or both; this one has neither",
                source=self._file,
            )
        said = declared(names, self._file)
        self.metric_kinds = said.metric_kinds
        self.metric_directions = said.metric_directions
        self.metric_descriptions = said.metric_descriptions
        self.primary_metric = said.primary_metric
        self.transient_markers = said.transient_markers
        self.warmup = self._warm_up if self._functions["warmup"] is not None else None

    @property
    def can_call(self) -> bool:
        """Whether it can call the system; one that can't still scores what was made elsewhere."""
        return self._functions["call_system"] is not None

    @property
    def is_concurrent(self) -> bool:
        """Whether several calls at once suit it: an endpoint, or an async function. Other code may not bear threads."""
        return self.id == "evh:chat" or inspect.iscoroutinefunction(self._functions["call_system"])

    @property
    def has_score(self) -> bool:
        return self._score is not None

    @property
    def has_score_episode(self) -> bool:
        return self._functions["score_episode"] is not None

    def check(self, params: Mapping[str, Any]) -> None:
        """Refuse settings that the first call would refuse, before anything is paid. Raises UsageError.

        The adapters that come with the harness know their settings; a Python file is not asked.
        """
        if not self.can_call:
            raise UsageError("the adapter has no call_system(text, params): it can only score", source=self.id)
        if self._check is not None:
            with entered(self._workplace):
                self._check(copy.deepcopy(dict(params)))

    def call(self, text: str, params: Mapping[str, Any], *, item_id: str | None = None) -> Result | Episode:
        """Call the system with one item's text. `item_id` only names the item in messages."""
        function = self._functions["call_system"]
        if function is None:
            raise UsageError("the adapter has no call_system(text, params): it can only score", source=self.id)
        try:
            value = self._settled(function, text, copy.deepcopy(dict(params)))
        except SystemExit as error:
            raise AdapterError(
                f"call_system ended with sys.exit({error.code})", transient=False, source=self.id
            ) from error
        try:
            return checked_result(value, item_id)
        except RecordError as error:
            raise error.at(self.id, None) from None

    def score(self, output: str, reference: str | None, source_text: str | None = None) -> Mapping[str, Any] | None:
        """The metrics of an output as the scorer gave them (`row_metrics` makes them plain); None when it has none."""
        if self._score is None:
            return None
        arguments = (output, reference, source_text) if self.wants_source else (output, reference)
        return self._metrics("score", self._guarded("score", self._score, *arguments))

    def score_episode(self, episode: Episode, reference: str | None) -> Mapping[str, Any] | None:
        """The same for an episode; None when the adapter leaves that to the episode's own rewards."""
        function = self._functions["score_episode"]
        if function is None:
            return None
        return self._metrics("score_episode", self._guarded("score_episode", function, episode, reference))

    def fingerprint(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What the system is: the hook's own words, or that it has none to say. Never raises."""
        function = self._functions["fingerprint"]
        nothing: dict[str, Any] = {"identity_declared": False, "revision": None, "revision_source": "unavailable"}
        if function is None:
            return nothing
        try:
            said = self._settled(function, copy.deepcopy(dict(params)))
            if not isinstance(said, Mapping):
                return {**nothing, "error": f"fingerprint returned {cut(said)}, not a mapping"}
            found = dict(said)
            dumps(found)
            for name in ("revision", "revision_source"):
                if found.get(name) is not None and not isinstance(found[name], str):
                    return {**nothing, "error": f"fingerprint: {name} is a text or None, not {cut(found[name])}"}
        except (Exception, SystemExit) as error:
            return {**nothing, "error": error.message if isinstance(error, EvhError) else short(error)}
        revision = found.get("revision")
        source = (found.get("revision_source") or "adapter") if revision is not None else "unavailable"
        found.pop("error", None)
        return {**found, "identity_declared": True, "revision": revision, "revision_source": source}

    def scorer_id(self) -> dict[str, str]:
        """Digests of what decides a score beside the adapter's file, by name; empty when the adapter gives none."""
        function = self._functions["scorer_id"]
        if function is None:
            return {}
        found = self._guarded("scorer_id", function)
        return checked_digests(found, self.id)

    def _warm_up(self, params: Mapping[str, Any]) -> None:
        function = self._functions["warmup"]
        if function is not None:
            self._guarded("warmup", function, copy.deepcopy(dict(params)))

    def _guarded(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The same, for functions whose failing is never the system's: told with the line of the adapter's file."""
        try:
            return self._settled(function, *arguments)
        except EvhError:
            raise
        except (Exception, SystemExit) as error:
            line = line_in(self._file, error)
            raise AdapterError(f"{name} failed: {short(error)}", transient=False, source=self.id, line=line) from error

    def _metrics(self, name: str, found: Any) -> Mapping[str, Any] | None:
        if found is None or isinstance(found, Mapping):
            return found
        raise AdapterError(
            f"{name} returns a mapping of metrics to numbers, or None, not {cut(found)}",
            transient=False,
            source=self.id,
        )


def _function(names: object, name: str, count: int, source: str) -> Callable[..., Any] | None:
    """The adapter's function of that name, which must be callable with `count` positional arguments."""
    found = getattr(names, name, None)
    if found is None:
        return None
    if not callable(found):
        raise SourceError(f"{name} is to be a function, not {cut(found)}", source=source)
    signature = _signature(found)
    if signature is not None:
        try:
            signature.bind(*[None] * count)
        except TypeError:
            arguments = "argument" if count == 1 else "arguments"
            raise SourceError(
                f"{name}{signature} is called with {count} positional {arguments}", source=source, line=_line(found)
            ) from None
    return found  # type: ignore[no-any-return]


def _scorer(names: object, source: str) -> tuple[Callable[..., Any] | None, bool]:
    """The `score` function, and whether it takes the source text."""
    found = getattr(names, "score", None)
    if found is None:
        return None, False
    if not callable(found):
        raise SourceError(f"score is to be a function, not {cut(found)}", source=source)
    signature = _signature(found)
    places = 0
    for each in signature.parameters.values() if signature is not None else ():
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            places += 1
        elif each.kind is each.VAR_POSITIONAL:
            places += 3
    wants_source = places >= 3
    return _function(names, "score", 3 if wants_source else 2, source), wants_source


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):  # some functions written in C have none
        return None


def _line(function: object) -> int | None:
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return getattr(code, "co_firstlineno", None)
