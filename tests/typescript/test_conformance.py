"""The TypeScript reader agrees with every conformance vector, over the protocol that any other program speaks."""

from __future__ import annotations

from evh.testing.conformance import check
from evh.testing.vectors import load_vectors
from tests.support.node import PACKAGE, node


def test_the_reader_agrees_with_every_vector() -> None:
    outcome = check([node(), str(PACKAGE / "bin" / "reader.mjs")], load_vectors(), timeout=60)
    assert outcome.agrees, outcome.disagreements[:5] or outcome.falls
    assert set(outcome.unsupported) <= {"upgrade"}
