"""The validators: JSON Schema's verdict on a plain value. The only module that knows jsonschema and jsonschema-rs.

Promise: `is_valid` and `violations` agree with each other and with `reference_violations`, which asks the reference
implementation; any Python value gets a verdict, none crashes an engine.
Policy: which engine is the fast one. What JSON cannot hold is a violation of its own, under the keywords `non-finite`,
`surrogate`, `depth`, `integer-size` and `not-json`, for both engines alike; the rest of the document is judged too.

`format: date-time` is checked, in both engines by `is_date_time`: RFC 3339 on a day of the calendar, years 1 to 9999.
Leap seconds are refused, because hardly any reader can hold one. Patterns mean what ECMA-262 says: `$` is the end of
the text, not a line end before it.

If this module breaks, nothing can be read strictly or written: every writer asks it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from evh.errors import DecodeError, UsageError, Violation, cut
from evh.protocol._bundle import SchemaFiles
from evh.protocol._chains import BLOCK, cut_chain
from evh.protocol._plain import is_plain, make_plain
from evh.protocol.report import Break, flatten, locate, ordered

if TYPE_CHECKING:
    import sys

    import jsonschema_rs

    if sys.version_info >= (3, 12):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

__all__ = ["Schemas", "is_date_time", "is_valid", "json_schema", "packaged", "reference_violations", "violations"]

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_FEBRUARY = 2
_CENTURY = 100
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_date_time(text: object) -> bool:
    """Whether a text is an RFC 3339 date-time on a day that exists; what is no text is none of its business."""
    if not isinstance(text, str):
        return True
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        return False
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    if year == 0 or not 1 <= month <= len(_DAYS):
        return False
    days = _DAYS[month - 1]
    if month == _FEBRUARY and year % 4 == 0 and (year % _CENTURY != 0 or year % (4 * _CENTURY) == 0):
        days += 1
    return 1 <= day <= days


class Schemas:
    """Validators over one folder of schema files, each built on first use; safe to share between threads.

    A root is the stem of a file (`"episode"`), or a definition in it (`"trace#MessageNode"`).
    """

    def __init__(self, folder: Traversable) -> None:
        self._files = SchemaFiles(folder)
        self._lock = threading.Lock()
        self._fast: dict[str, tuple[jsonschema_rs.Draft202012Validator, dict[str, Any]]] = {}
        self._reference: dict[str, tuple[Any, dict[str, Any]]] = {}

    def names(self) -> list[str]:
        """The stems of all schema files, sorted."""
        return self._files.names()

    def json_schema(self, name: str, bundle: bool = False) -> dict[str, Any]:
        """A fresh copy of a schema: as written, or, with `bundle`, one document that needs no other.

        In a bundle every definition that the root needs stands under `$defs` and every reference is `#/$defs/...`.
        Raises UsageError for a name that is not there, SourceError when schema files are missing or broken.
        """
        return self._files.bundle(name) if bundle else deepcopy(self._files.find(name))

    def is_valid(self, root: str, doc: Any, *, wire: bool = False) -> bool:
        """The verdict alone, as fast as it gets. With `wire`, bytes count as text, as MessagePack rows hold them."""
        validator, _ = self._fast_validator(root)
        if is_plain(doc):
            return validator.is_valid(doc)
        plain, oddities = make_plain(doc, wire=wire)
        return not oddities and validator.is_valid(plain)

    def violations(self, root: str, doc: Any, *, wire: bool = False) -> list[Violation]:
        """Every violation, by pointer, then keyword; empty exactly when `is_valid` says True."""
        return self._by_block(self._fast_violations, root, doc, wire)

    def reference_violations(self, root: str, doc: Any, *, wire: bool = False) -> list[Violation]:
        """The same list by the reference implementation, some hundred times slower.

        Raises DecodeError when the document is nested too deeply for it (records within records, some hundred deep).
        """
        return self._by_block(self._reference_violations, root, doc, wire)

    def _by_block(
        self, judge: Callable[[str, Any], list[Violation]], root: str, doc: Any, wire: bool
    ) -> list[Violation]:
        plain, oddities = make_plain(doc, wire=wire)
        plain, blocks = cut_chain(root, plain)
        found = judge(root, plain)
        for where, block in blocks:
            found += [each._replace(pointer=where + each.pointer) for each in judge(BLOCK, block)]
        return _merged(oddities, ordered(found))

    def _fast_violations(self, root: str, plain: Any) -> list[Violation]:
        validator, schema = self._fast_validator(root)
        try:
            breaks = [_fast_break(error, schema) for error in validator.iter_errors(plain)]
            if breaks and _has_empty_name(plain):
                return self._reference_violations(root, plain)
            return flatten(breaks, plain, schema)
        except (ValueError, LookupError, TypeError):
            # The fast engine cannot show values that are nested some hundred levels deep.
            return self._reference_violations(root, plain)

    def _reference_violations(self, root: str, plain: Any) -> list[Violation]:
        validator, schema = self._reference_validator(root)
        try:
            breaks = [_reference_break(error, schema) for error in validator.iter_errors(plain)]
        except RecursionError as error:
            raise DecodeError("nested too deeply for the reference validator") from error
        return flatten(breaks, plain, schema)

    def _fast_validator(self, root: str) -> tuple[jsonschema_rs.Draft202012Validator, dict[str, Any]]:
        if (built := self._fast.get(root)) is not None:
            return built
        import jsonschema_rs

        with self._lock:
            if root not in self._fast:
                schema = self._engine_schema(root)
                validator = jsonschema_rs.Draft202012Validator(
                    schema, validate_formats=True, formats={"date-time": is_date_time}, offline=True
                )
                self._fast[root] = validator, schema
            return self._fast[root]

    def _reference_validator(self, root: str) -> tuple[Any, dict[str, Any]]:
        if (built := self._reference.get(root)) is not None:
            return built
        import jsonschema
        from jsonschema.validators import extend

        with self._lock:
            if root not in self._reference:
                schema = self._engine_schema(root)
                checker = jsonschema.FormatChecker(formats=())
                checker.checks("date-time")(is_date_time)
                validator_class = extend(jsonschema.Draft202012Validator, {"pattern": _ecma_pattern})
                self._reference[root] = validator_class(schema, format_checker=checker), schema
            return self._reference[root]

    def _engine_schema(self, root: str) -> dict[str, Any]:
        # Without its $id the bundle's references can only mean the bundle.
        return {key: value for key, value in self._files.bundle(root).items() if key != "$id"}


@cache
def packaged() -> Schemas:
    """The schemas that came with the package."""
    from importlib.resources import files

    return Schemas(files("evh.protocol") / "schemas")


def is_valid(root: str, doc: Any, *, wire: bool = False) -> bool:
    """Whether the packaged schema of `root` (`"episode"`, `"trace#MessageNode"`) takes a plain value.

    With `wire`, bytes count as text. Raises UsageError for a root that is not there.
    """
    return packaged().is_valid(root, doc, wire=wire)


def violations(root: str, doc: Any, *, wire: bool = False) -> list[Violation]:
    """Every violation of the packaged schema of `root`, by pointer, then keyword; empty for a valid document."""
    return packaged().violations(root, doc, wire=wire)


def reference_violations(root: str, doc: Any, *, wire: bool = False) -> list[Violation]:
    """The same by the reference implementation: slow, for tests and for doubt."""
    return packaged().reference_violations(root, doc, wire=wire)


def json_schema(name: str | type, bundle: bool = False) -> dict[str, Any]:
    """A fresh copy of a packaged schema: of a file (`"episode"`), a class or its name, a definition (`"trace#Tool"`).

    With `bundle` it is one self-contained document: what it needs of other files stands under its `$defs`.
    Raises UsageError for a name that is not there.
    """
    from evh.protocol.tables import FILES, ROOTS

    known = name.__name__ if isinstance(name, type) else name
    if not isinstance(known, str):
        raise UsageError(f"expected the name of a schema or a class of evh, not {cut(name)}")
    if known in FILES:
        known = ROOTS.get(known, f"{FILES[known]}#{known}")
    return packaged().json_schema(known, bundle)


def _has_empty_name(plain: Any) -> bool:
    """Whether a member anywhere is named "": the fast engine leaves such names out of its paths."""
    stack = [plain]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "" in value:
                return True
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return False


def _merged(oddities: list[Violation], found: list[Violation]) -> list[Violation]:
    # Where a stand-in was judged, only the reason for the stand-in counts.
    places = {violation.pointer for violation in oddities}
    return ordered([*oddities, *(violation for violation in found if violation.pointer not in places)])


def _fast_break(error: Any, schema: dict[str, Any]) -> Break:
    path, secret = locate(schema, error.evaluation_path)
    branches: Iterable[Iterable[Any]] = error.kind.context if error.kind.name in ("oneOf", "anyOf") else ()
    if any(not list(branch) for branch in branches):
        branches = ()  # a variant without errors fits: then more than one did
    return Break(
        tuple(error.instance_path),
        path,
        secret,
        tuple(tuple(_fast_break(inner, schema) for inner in branch) for branch in branches),
    )


def _reference_break(error: Any, schema: dict[str, Any]) -> Break:
    path, secret = locate(schema, error.absolute_schema_path)
    branches: dict[int, list[Break]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(_reference_break(inner, schema))
    return Break(tuple(error.absolute_path), path, secret, tuple(tuple(branches[index]) for index in sorted(branches)))


def _ecma_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Any:
    import jsonschema

    if isinstance(instance, str) and not _ecma_search(pattern)(instance):
        yield jsonschema.ValidationError("does not match the pattern")


@cache
def _ecma_search(pattern: str) -> Callable[[str], Any]:
    ends = pattern.endswith("$") and not pattern.endswith("\\$")
    return re.compile(pattern[:-1] + r"\Z" if ends else pattern).search
