"""Methods and derived properties of the records, mixed into the generated structs.

Promise: everything here is computed from what a record holds and is stored nowhere, so two readers of one record agree.
Where releases of the format differed, 0.4.0's meaning counts; each docstring says what it is. Walking the message graph
checks it once: a cycle or a dangling parent is a `RecordError` with a pointer, never a hang.
Policy: nothing is cached, so a property costs what its docstring says on each read.
When it breaks: only classes of `evh.errors` come out (and the `AttributeError` of the retired `Trace.run`).

The mixins are plain classes with empty `__slots__`; they know the structs by their members only.
"""

from __future__ import annotations

from evh.protocol.behaviour.branch import Branch
from evh.protocol.behaviour.dump import DumpBehaviour
from evh.protocol.behaviour.episode import EpisodeBehaviour
from evh.protocol.behaviour.node import NodeBehaviour
from evh.protocol.behaviour.spans import SpanBehaviour
from evh.protocol.behaviour.trace import TraceBehaviour
from evh.protocol.behaviour.usage import UsageBehaviour

__all__ = [
    "Branch",
    "DumpBehaviour",
    "EpisodeBehaviour",
    "NodeBehaviour",
    "SpanBehaviour",
    "TraceBehaviour",
    "UsageBehaviour",
]
