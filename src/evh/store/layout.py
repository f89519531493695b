"""The files of a run directory, and the rule from an item's id to the name of its file.

    run.json           what the run set out to do: durable before the first item, never changed
    attempts.jsonl     one line per launch (the first, and each resume)
    predictions.jsonl  one row per item as measured        outputs/   what the arm wrote, a file per item
    traces.jsonl       one Episode a line, when the arm makes episodes; traces/ those of a live run's other processes
    steps.jsonl        metrics by step of a live run; steps/ those of its other processes
    errors.jsonl       failed attempts at items
    metrics.json       the run record: only on a clean exit
    end.json           how a live run ended, written last
    sync/              what was uploaded of it
    lease.json         who writes now

Promise: `output_name` is a function of the id alone, so nothing about it is stored and every reader finds the same
file; two ids never share a name, not on a disk that folds case either; an id never becomes a path. An id of 1 to 100 of
`a-z 0-9 . _ -` that begins with a letter or digit, does not end in a dot and is no device name of Windows is its own
name; any other gets its first 40 safe characters, `~`, and 32 hexadecimal digits of its SHA-256.
"""

from __future__ import annotations

import hashlib
import re

from evh.errors import UsageError, cut

__all__ = [
    "ATTEMPTS", "END", "ERRORS", "LEASE", "LIVE_KINDS", "MANIFEST", "OUTPUTS", "PREDICTIONS", "RECORD", "SEGMENTS",
    "STEPS", "STEP_SEGMENTS", "SYNC", "TRACES", "output_name", "safe_name",
]  # fmt: skip

MANIFEST = "run.json"
ATTEMPTS = "attempts.jsonl"
PREDICTIONS = "predictions.jsonl"
OUTPUTS = "outputs"
TRACES = "traces.jsonl"
SEGMENTS = "traces"
STEPS = "steps.jsonl"
STEP_SEGMENTS = "steps"
ERRORS = "errors.jsonl"
RECORD = "metrics.json"
LEASE = "lease.json"
END = "end.json"
SYNC = "sync"
LIVE_KINDS = frozenset({"eval", "train"})
"""Kinds of runs that are held open by the program that runs them, and closed by `end.json`."""
RUN_FILES = (MANIFEST, RECORD, PREDICTIONS)
"""Any of these makes a folder a run."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_DEVICES = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)})


def output_name(item_id: str) -> str:
    """The name of an item's file in `outputs/`. Raises `UsageError` for an id that is empty or holds NUL."""
    return safe_name(item_id) + ".txt"


def safe_name(text: str) -> str:
    """A text as a file name of at most 100 characters (without suffix), by the rule of this module."""
    if _PLAIN.fullmatch(text) and text[-1] != "." and text.partition(".")[0] not in _DEVICES:
        return text
    if not text or "\x00" in text:
        raise UsageError(f"{cut(text)} cannot name a file: a name is not empty and holds no NUL")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_UNSAFE.sub('', text)[:40]}~{digest[:32]}"
