"""Vectors of the upgrade: a row of each older shape and what becomes of it. `python -m codegen.vectors.upgraded`
prints them.

Promise: the rows are those of `tests/data/upgrade`, one for each rule; the results come from `evh.upgrade` of the
tree as it is, which is the only reader that upgrades. It runs in a process of its own, since it needs the code that
the generator writes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROWS = Path(__file__).resolve().parents[2] / "tests" / "data" / "upgrade"


def lines() -> Iterator[str]:
    """The vectors, one a line."""
    from evh.errors import EvhError
    from evh.protocol import models
    from evh.protocol.codec import encode
    from evh.protocol.jsontext import canonical, parse
    from evh.protocol.upgraded import upgrade

    for name, kind, text in rows():
        made: dict[str, Any] = {"name": f"upgrade/{name}", "type": kind, "text": text, "json": "ok"}
        try:
            up = upgrade(text, getattr(models, kind))
            data = canonical(parse(encode(up.record))[0])
            made["upgrade"] = {"steps": len(up.steps), "sha256": hashlib.sha256(data).hexdigest()}
        except EvhError:
            made["upgrade"] = {"refused": True}
        yield json.dumps(made, separators=(",", ":"))


def rows() -> Iterator[tuple[str, str, str]]:
    """Name, type and text of each row."""
    for path in sorted(ROWS.glob("*.json")):
        kept = json.loads(path.read_text("utf-8"))
        yield path.stem, "Episode", _text(kept["source"])
        yield f"{path.stem}-today", "Episode", _text(kept["result"])
        for number, trace in enumerate(kept["source"].get("traces", ())):
            yield f"{path.stem}-trace-{number}", "Trace", _text(trace)
    yield "no-episode", "Episode", '{"some":"thing"}'
    yield "no-object", "Episode", "[]"
    yield "no-trace", "Trace", '{"id":"x"}'


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines())
