"""A judge: the Python file that says how a model is asked about an output, and how its reply is read.

Promise: what is wrong with the file is told with its name and line before any call. `sha256` covers all that decides a
score: the code and texts of the prompt, the parser, the parameters and the model; `asked_sha256` what decides a reply,
which is the same without the parser. Neither depends on the machine, on keys, or on what only costs time or money.
`prompt` and `parse` may be async.
Policy: a judge is asked through the chat endpoint of `PARAMS`, with the settings of `evh:chat` but for its prompt.
A conversation of several turns goes out as it is; its settings are those of a text.
When it breaks: nothing is judged.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evh.errors import EvhError, RecordError, SourceError, UsageError, cut
from evh.harness.adapters.chat import call_chat
from evh.harness.adapters.chat_settings import ChatSettings
from evh.harness.adapters.declarations import checked_digests, declared
from evh.harness.adapters.errors import AdapterError, Stopped
from evh.harness.adapters.loaded import Loaded, line_in
from evh.harness.adapters.module import load_module, short
from evh.harness.adapters.workplace import Workplace, entered
from evh.harness.cost import cost_of
from evh.harness.judging.code_digest import code_digest
from evh.harness.judging.conversation import Messages, checked_messages
from evh.harness.judging.stated import (
    COST,
    OURS,
    UNPARSED,
    function_of,
    params_of,
    parse_of,
    prompt_of,
    refuse_ours,
    scorer_id_of,
    with_ours,
)
from evh.harness.result import Result, row_metrics
from evh.protocol.jsontext import canonical
from evh.protocol.models import Episode
from evh.store.masking import Masker
from evh.store.secret_values import masker_for

__all__ = ["COST", "UNPARSED", "JudgeScorer", "load_judge_scorer"]

NO_SCORE = frozenset({"api_key_env", "headers", "timeout_s", "usd_per_mtok_in", "usd_per_mtok_out"})
"""Settings that cannot change a reply: they are no part of the digest."""


class JudgeScorer(Loaded):
    """One loaded judge. Made by `load_judge_scorer`; `close` it when no call is running any more."""

    def __init__(
        self, names: object, data: bytes, *, path: Path, shown: str, workplace: Workplace, environ: Any
    ) -> None:
        self.path = path
        self.file = shown
        """Its path below the project's root, with forward slashes; the bare name of a file elsewhere."""
        self.file_sha256 = hashlib.sha256(data).hexdigest()
        super().__init__(workplace)
        self.scorer_id = scorer_id_of(names, str(path))
        self.params = params_of(names, str(path))
        self.masker: Masker = masker_for(self.params, environ)
        self.model: str = self.params["model"]
        self._prompt = prompt_of(names, str(path))
        self.judges_episodes = self._prompt.name == "prompt_episode"
        self._parse = parse_of(names, str(path))
        said = declared(names, str(path))
        refuse_ours(said, str(path))
        self.declared = with_ours(said)
        self.transient_markers = said.transient_markers
        self.prompt_sha256 = code_digest(names, data, path, self._prompt.name)
        self.parser_sha256 = code_digest(names, data, path, "parse")
        public = {name: value for name, value in self.params.items() if name not in NO_SCORE and value is not None}
        parts = self._parts(names)
        asks = {"scorer": self.scorer_id, "prompt": self.prompt_sha256, "params": public, "parts": parts}
        self.asked_sha256 = hashlib.sha256(canonical(asks)).hexdigest()
        self.sha256 = hashlib.sha256(canonical({**asks, "parser": self.parser_sha256})).hexdigest()

    @property
    def shown_params(self) -> dict[str, Any]:
        """The settings as a record shows them: without the model, secrets masked."""
        masked: dict[str, Any] = self.masker.value({k: v for k, v in self.params.items() if k != "model"})
        return masked

    @property
    def wants_reference(self) -> bool:
        return self._prompt.reference

    @property
    def needs_reference(self) -> bool:
        """Whether it cannot be asked without one."""
        return self._prompt.reference_needed

    @property
    def wants_source(self) -> bool:
        return self._prompt.source

    def check(self) -> None:
        """Refuse settings that the first call would refuse, before anything is paid. Raises `SourceError` for those of
        the file, `UsageError` when nothing can be asked from here."""
        with entered(self._workplace):
            self._workplace.client()
            try:
                ChatSettings(self.params, self._workplace)
            except UsageError as error:
                raise SourceError(f"PARAMS: {error.message}", source=str(self.path)) from None

    def prompt(self, asked: str | Episode, reference: str | None, source_text: str | None) -> str | Messages:
        """What the judge is asked about an output or episode. Raises `SourceError` for a fault of the file."""
        given: dict[str, Any] = {}
        if self._prompt.reference:
            given["reference"] = reference
        if self._prompt.source:
            given["source_text"] = source_text
        name = self._prompt.name
        found = self._guarded(name, self._prompt.function, asked, **given)
        if isinstance(found, str):
            if found.strip():
                return found
            raise SourceError(f"{name} returned an empty text: there is nothing to ask", source=str(self.path))
        return checked_messages(found, name, str(self.path))

    def ask(self, question: str | Messages) -> Result:
        """One call of the judge. Raises what a chat call raises."""
        with entered(self._workplace):
            return call_chat(question, copy.deepcopy(self.params))

    def parse(self, reply: str) -> Mapping[str, Any] | None:
        """The metrics that a reply states; None when it cannot be read. Raises `SourceError` for the file's fault."""
        found = self._guarded("parse", self._parse, reply)
        if found is None or (isinstance(found, Mapping) and not found):
            return None
        if not isinstance(found, Mapping):
            raise SourceError(
                f"parse returns a mapping of metrics to numbers, or None, not {cut(found)}", source=str(self.path)
            )
        for name in (*OURS, "output_words"):
            if name in found:
                raise SourceError(f"parse returned {name}, which the harness writes itself", source=str(self.path))
        return found

    def read(self, reply: str, item_id: str, taken: frozenset[str]) -> dict[str, int | float] | None:
        """The metrics of a row by the reply: plain finite numbers, none named like one that the row has (`taken`).

        None when the reply cannot be read. Raises `SourceError` for a fault of the file.
        """
        said = self.parse(reply)
        if said is None:
            return None
        try:
            metrics = row_metrics(said, {}, item_id)
        except RecordError as error:
            raise SourceError(f"parse returned what is no metric: {error.message}", source=str(self.path)) from None
        if clash := sorted(taken & metrics.keys()):
            raise SourceError(
                f"parse returned {cut(clash[0])}, which rows of the run have in `_extra`: rename it",
                source=str(self.path),
            )
        return metrics

    def cost(self, result: Result) -> float | None:
        """What a call cost: the provider's bill, else the prices of `PARAMS`; None when nobody says."""
        return cost_of(result, self.params)[0]

    def _parts(self, names: object) -> dict[str, str]:
        """What else decides a score, by the file's own `scorer_id` hook."""
        hook = function_of(names, "scorer_id", str(self.path))
        found = {} if hook is None else self._guarded("scorer_id", hook)
        return checked_digests(found, str(self.path))

    def _guarded(self, name: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        try:
            return self._settled(function, *arguments, **named)
        except Stopped:
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, EvhError) and not isinstance(error, AdapterError):
                raise
            line = line_in(str(self.path), error)
            raise SourceError(f"{name} failed: {short(error)}", source=str(self.path), line=line) from error


def load_judge_scorer(name: str | Path, *, root: Path, environ: Mapping[str, str]) -> JudgeScorer:
    """The judge of a Python file; a relative path is looked for in the current folder, then in the project's root.

    Raises `SourceError` when the file is missing, does not load or is no judge's.
    """
    workplace = Workplace(Path(), root)
    path = workplace.find(str(name))
    if path is None:
        raise SourceError(f"no scorer file {cut(str(name), 200)}; a judge is a Python file", source=str(name))
    path = path.resolve()
    module, digest = load_module(path)
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise SourceError("was changed while it was loaded: try again", source=str(path))
    top = root.resolve()
    shown = path.relative_to(top).as_posix() if path.is_relative_to(top) else path.name
    workplace = Workplace(path.parent, root)
    try:
        return JudgeScorer(module, data, path=path, shown=shown, workplace=workplace, environ=environ)
    except UsageError as error:  # the fault of a file, not of an argument
        raise SourceError(error.message, source=error.source or str(path), line=error.line) from None
