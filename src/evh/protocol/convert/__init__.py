"""Rows for named releases of another library: `convert_document` shapes one, `restore_document` undoes it.

Both work on plain values of today's form; the steps they return say what was moved, kept, put in or lost.
"""

from __future__ import annotations

from evh.protocol.convert.document import Counts, convert_document, restore_document
from evh.protocol.convert.targets import TARGETS

__all__ = ["TARGETS", "Counts", "convert_document", "restore_document"]
