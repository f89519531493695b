"""Small projects to measure: a dataset, references, a config and an adapter, written as files in milliseconds."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import evh.errors
from evh.store import RunDir, open_run_dir

SOURCES = str(Path(evh.errors.__file__).parents[1])
SECONDS = 60.0
"""How long a child may take before a test fails; none should take a tenth of it."""

ADAPTER = '''
"""Answers with the item's text. Each call is a line, in one write, in the file that CALLS names."""

import os
import time

from evh.harness.result import Result

PRIMARY_METRIC = "same"
METRIC_KINDS = {"same": "quality"}


def told(text):
    descriptor = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, text.encode("utf-8", "surrogatepass").replace(b"\\n", b" ") + b"\\n")
    os.close(descriptor)


def call_system(text, params):
    told(text)
    return Result(text.upper(), tokens_in=3, tokens_out=2, cost_usd=0.25, extra={"size": len(text)})


def score(output, reference):
    return {"same": float(output == reference)} if reference is not None else {"length": len(output)}
'''


class RunProject:
    """A project below `root`: the dataset `small` of `items` (id to text), the config `arm` with `adapter`, whose calls
    are lines of the file `calls`, outside of everything that a run may touch."""

    def __init__(
        self,
        root: Path,
        items: int | Mapping[str, str] = 3,
        *,
        adapter: str = ADAPTER,
        params: Mapping[str, Any] | None = None,
        references: Mapping[str, str] | None = None,
    ) -> None:
        self.root = root
        self.items = {f"i{n}": f"text {n}" for n in range(items)} if isinstance(items, int) else dict(items)
        self.calls_file = root.with_name(root.name + "-calls")
        self.runs = root / "data" / "runs"
        self.dataset = root / "data" / "datasets" / "small.json"
        self.adapter = root / "data" / "configs" / "adapter.py"
        self.config = root / "data" / "configs" / "arm.yaml"
        self.environ = {"CALLS": str(self.calls_file), "EVAL_BUILD_REF": "v1", "EVAL_MAX_RETRIES": "1"}
        for folder in (self.dataset.parent, self.config.parent, root / "data" / "materialized" / "small"):
            folder.mkdir(parents=True, exist_ok=True)
        self.freeze()
        self.adapter.write_text(adapter, "utf-8")
        self.configure(**(params or {}))
        if references is not None:
            gold = root / "data" / "references" / "gold" / "small"
            gold.mkdir(parents=True)
            for item_id, text in references.items():
                (gold / f"{item_id}.txt").write_text(text, "utf-8")

    def freeze(self, *, repeated: str | None = None) -> None:
        """Write the dataset and its copies; `repeated` stands in it twice."""
        listed = []
        for number, (item_id, text) in enumerate(self.items.items()):
            data = text.encode()
            name = f"source-{number}.txt"
            (self.root / "data" / "materialized" / "small" / name).write_bytes(data)
            listed.append({"item_id": item_id, "source_sha256": hashlib.sha256(data).hexdigest(), "source_path": name})
        listed += [each for each in listed if each["item_id"] == repeated]
        document = {"dataset_id": "small", "version": "1.0", "created_at": "2026-10-04T08:15:30Z", "items": listed}
        self.dataset.write_text(json.dumps(document), "utf-8")

    def configure(self, *, config_id: str = "arm", dataset_id: str = "small", **params: Any) -> Path:
        """Write the config anew."""
        members: dict[str, Any] = {"config_id": config_id, "dataset_id": dataset_id, "adapter": "adapter.py"}
        self.config.write_text(yaml.safe_dump(members | ({"params": params} if params else {})), "utf-8")
        return self.config

    @property
    def calls(self) -> list[str]:
        """The texts that the adapter was called with so far, in order."""
        if not self.calls_file.exists():
            return []
        return self.calls_file.read_bytes().decode("utf-8", "surrogatepass").splitlines()

    @property
    def run(self) -> RunDir:
        """The only run that there is."""
        (path,) = (path for path in self.runs.iterdir() if not path.name.startswith("."))
        return open_run_dir(path)

    def child_environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("EVAL_", "EVH_"))}
        return {**kept, **self.environ, "PYTHONPATH": SOURCES, "NO_COLOR": "1", **more}

    def start(self, *arguments: str | Path, **environ: str) -> subprocess.Popen[str]:
        """`evh …` in a process of its own, in the project's root; take it in a `with` block."""
        return subprocess.Popen(
            [sys.executable, "-m", "evh", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.root,
            env=self.child_environment(**environ),
        )

    def process(self, *arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """`evh …` in a process of its own, from beginning to end."""
        with self.start(*arguments, **environ) as child:
            out, error = child.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(child.args, child.returncode, out, error)


def listing(folder: Path) -> dict[str, Any]:
    """Everything below a folder: the bytes of files, the targets of links, the sorts of the rest."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))  # noqa: PTH115
        else:
            found[name] = path.read_bytes() if path.is_file() else "folder" if path.is_dir() else "other"
    return found


TIMES = ("created_at", "warmup_ms", "run_id", "resume")
"""Members of a record in which a run that was disturbed differs from one that was not."""


def settled(run: RunDir) -> dict[str, Any]:
    """A run's record, without what depends on when it was made and how often it was stopped."""
    record = json.loads((run.path / "metrics.json").read_bytes())
    for name in TIMES:
        record.pop(name, None)
    record["scores"].pop("latency_ms", None)
    return record
