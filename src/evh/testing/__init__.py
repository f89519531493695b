"""What tests of programs that read or write these records need: documents of every type, and documents gone wrong.

    from hypothesis import given
    from evh.testing import documents, mangled, mutated, records

    @given(documents("Episode"))                  # JSON values, valid by construction
    @given(records("Trace", coherent=True))       # records that `verify` finds nothing against
    @given(mutated(documents("RunRecord")))       # the same, bent: most are invalid, some are not
    @given(mangled(documents("Episode")))         # JSON text gone wrong, as bytes

Also assertions (`assert_valid`, `assert_roundtrip`), the contracts of consumers (`recording`, `load_contract`,
`check_contract`), and, through pytest's own plugins, fixtures: docs/testing.md.

Promise: these names, each loaded on first use. The strategies need Hypothesis (`pip install 'evh[testing]'`); the
bending itself (`mutate`, `mangle`, `mangle_msgpack`) needs only a `random.Random`. Without Hypothesis, asking for a
strategy is an ImportError that says what to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.testing._schema_paths import SchemaSet
    from evh.testing.assertions import assert_roundtrip, assert_valid
    from evh.testing.contracts import Broken, check_contract, contract_text, load_contract
    from evh.testing.mutations import mangle, mangle_msgpack, mutate
    from evh.testing.recorder import Recording, recording
    from evh.testing.samples import EpisodeMaker, make_run_directory
    from evh.testing.strategies import document_types, documents, json_values, mangled, mutated, records, sample

__all__ = [
    "Broken",
    "EpisodeMaker",
    "Recording",
    "SchemaSet",
    "assert_roundtrip",
    "assert_valid",
    "check_contract",
    "contract_text",
    "document_types",
    "documents",
    "json_values",
    "load_contract",
    "make_run_directory",
    "mangle",
    "mangle_msgpack",
    "mangled",
    "mutate",
    "mutated",
    "recording",
    "records",
    "sample",
]

_HOMES = {
    "_schema_paths": ("SchemaSet",),
    "assertions": ("assert_roundtrip", "assert_valid"),
    "contracts": ("Broken", "check_contract", "contract_text", "load_contract"),
    "mutations": ("mangle", "mangle_msgpack", "mutate"),
    "recorder": ("Recording", "recording"),
    "samples": ("EpisodeMaker", "make_run_directory"),
    "strategies": ("document_types", "documents", "json_values", "mangled", "mutated", "records", "sample"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"evh.testing.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise ImportError("evh.testing needs Hypothesis: pip install 'evh[testing]'", name="hypothesis") from error
    globals()[name] = value  # else the submodule of the same name stands in its place
    return value
