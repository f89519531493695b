"""`schema/v1/vectors`: conformance vectors, generated from the schemas.

Promise: the same schemas give the same bytes; every type, member, bound, variant and closed or open rule is reached,
which `python -m codegen.vectors` counts with code of its own. The form of the files is told in their README.

    patterns, samples   valid values of any schema          texts      vectors of the text and the canonical form
    cases               documents worth a vector            semantic   vectors of the rules between members
    judging, lenient    what must be said of them           upgraded   vectors of the upgrade
    coverage            what the files reach
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..shapes import Contract
from ..structs import GenerationError
from .cases import Cases
from .judging import Judging, Vector, compact
from .samples import Samples
from .semantic import Semantic
from .texts import Texts

__all__ = ["UPGRADE", "VECTORS", "upgrade_vectors", "vector_files"]

REPOSITORY = Path(__file__).resolve().parents[2]
VECTORS = Path("schema/v1/vectors")
UPGRADE = VECTORS / "upgrade.jsonl"
MANIFEST = VECTORS / "manifest.json"
FORMAT = 1


def vector_files(contract: Contract, folder: Path, upgrades: str) -> dict[Path, str]:
    """Every vector file with its text; `folder` holds the schemas, `upgrades` is the text of `upgrade.jsonl`."""
    samples = Samples(contract)
    judging = Judging(contract, folder, samples)
    cases = Cases(samples)
    texts = Texts(contract, samples, judging)
    files: dict[str, list[Vector]] = {}
    for file in contract.files:
        seen: set[str] = set()
        made = []
        for case in cases.of_file(file):
            key = f"{case.type} {compact(case.document)}"
            if key not in seen:
                seen.add(key)
                made.append(judging.vector(case.name, case.type, case.document))
        if made:
            files[f"{file}l"] = made
    files["text.jsonl"] = list(texts.texts())
    files["semantic.jsonl"] = list(Semantic(samples, judging).vectors())
    files["canonical.jsonl"] = list(texts.canonical())
    written = {VECTORS / name: "".join(f"{compact(each)}\n" for each in made) for name, made in files.items()}
    written[UPGRADE] = upgrades
    upgraded: list[Vector] = [json.loads(line) for line in upgrades.splitlines()]
    every = [each for made in files.values() for each in made] + upgraded
    _refuse_double(each["name"] for each in every)
    return written | {MANIFEST: _manifest(written, every)}


def _refuse_double(names: Iterable[str]) -> None:
    double = [name for name, times in Counter(names).items() if times > 1]
    if double:
        raise GenerationError(f"two vectors are called {double[0]}")


def _manifest(written: dict[Path, str], every: list[Vector]) -> str:
    files = {
        path.name: {"vectors": text.count("\n"), "sha256": hashlib.sha256(text.encode()).hexdigest()}
        for path, text in sorted(written.items())
    }
    types = Counter(each["type"] for each in every)
    made: dict[str, Any] = {
        "format": FORMAT,
        "vectors": len(every),
        "valid": sum(each.get("schema") == "ok" for each in every),
        "files": files,
        "types": {name: types[name] for name in sorted(types)},
    }
    return json.dumps(made, indent=1) + "\n"


def upgrade_vectors() -> str:
    """The text of `upgrade.jsonl`, made by the tree's own reader."""
    command = [sys.executable, "-m", "codegen.vectors.upgraded"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GenerationError(f"the rows of older shapes are not upgraded:\n{done.stderr}")
    return done.stdout
