"""What tests of programs that read or write these records need: documents of every type, and documents gone wrong.

    from hypothesis import given
    from evh.testing import documents, mangled, mutated, records

    @given(documents("Episode"))                  # JSON values, valid by construction
    @given(records("Trace", coherent=True))       # records that `verify` finds nothing against
    @given(mutated(documents("RunRecord")))       # the same, bent: most are invalid, some are not
    @given(mangled(documents("Episode")))         # JSON text gone wrong, as bytes

Promise: these names. The strategies need Hypothesis (`pip install 'evh[testing]'`) and are loaded on first use; the
bending itself (`mutate`, `mangle`, `mangle_msgpack`) needs only a `random.Random`. Without Hypothesis, asking for a
strategy is an ImportError that says what to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evh.testing.mutations import mangle, mangle_msgpack, mutate

if TYPE_CHECKING:
    from evh.testing.strategies import document_types, documents, json_values, mangled, mutated, records, sample

__all__ = [
    "document_types",
    "documents",
    "json_values",
    "mangle",
    "mangle_msgpack",
    "mangled",
    "mutate",
    "mutated",
    "records",
    "sample",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        strategies = import_module("evh.testing.strategies")
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise ImportError("evh.testing needs Hypothesis: pip install 'evh[testing]'", name="hypothesis") from error
    return getattr(strategies, name)
