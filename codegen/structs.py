"""Runs datamodel-code-generator with pinned flags and our template; any warning of the tool is an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .shapes import Contract
from .struct_input import struct_input

TEMPLATES = Path(__file__).parent / "templates"
SUPPORT = "evh.protocol._base"
SUPPORT_NAMES = (
    "ABSENT",
    "ArmValue",
    "BoolStream",
    "ComputedSlot",
    "FloatStream",
    "IntStream",
    "MINTED",
    "Model",
    "OptionalFloatStream",
    "OptionalFloatStreams",
    "OverflowSlot",
    "RetiredSlot",
    "Tensor",
    "UnknownArm",
    "WireObjectSlot",
    "always",
    "new_dict",
    "new_list",
)
FLAGS = [
    "--input-file-type=jsonschema",
    "--schema-version=2020-12",
    "--schema-version-mode=strict",
    "--strict-refs",
    "--no-allow-remote-refs",
    "--output-model-type=msgspec.Struct",
    "--target-python-version=3.11",
    "--disable-timestamp",
    "--use-annotated",
    "--keyword-only",
    "--enum-field-as-literal=all",
    "--use-schema-description",
    "--use-msgspec-tagged-unions",
    "--use-tag-as-union-variant-name",
    "--strict-nullable",
    "--keep-model-order",
    "--collapse-root-models",
    "--use-exact-imports",
    "--field-include-all-keys",
    "--ignore-pyproject",
    "--no-formatters",
]
BEHAVIOUR = {
    "Episode": "EpisodeBehaviour",
    "Trace": "TraceBehaviour",
    "MessageNode": "NodeBehaviour",
    "Usage": "UsageBehaviour",
    "TimeSpan": "SpanBehaviour",
    "AgentSpan": "SpanBehaviour",
}


class GenerationError(Exception):
    """The schemas cannot be turned into code; the message says where and why."""


def generate_structs(contract: Contract, work: Path) -> dict[str, str]:
    """Module file name to unformatted source, for every schema file with closed objects."""
    source, target, extra = work / "struct_input", work / "structs", work / "extra.json"
    source.mkdir()
    for name, schema in struct_input(contract).items():
        (source / name).write_text(json.dumps(schema, indent=1), "utf-8")
    extra.write_text(json.dumps(_template_data(contract)), "utf-8")
    imports = [f"{SUPPORT}.{name}" for name in SUPPORT_NAMES]
    imports += [f"evh.protocol.behaviour.{name}" for name in sorted(set(BEHAVIOUR.values()))]
    for shape in contract.shapes.values():
        if not shape.closed:
            imports += [f"evh.protocol.models._open.{shape.name}", f"evh.protocol.models._slots.{shape.name}Slot"]
    imports += ["typing.Any", "typing.ClassVar", "typing.Literal"]
    command = [sys.executable, "-m", "datamodel_code_generator", *FLAGS]
    command += [f"--input={source}", f"--output={target}", f"--custom-template-dir={TEMPLATES}"]
    command += [f"--base-class={SUPPORT}.Model", f"--additional-imports={','.join(imports)}"]
    command += [f"--extra-template-data={extra}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr.strip():
        raise GenerationError(f"datamodel-code-generator: {done.stderr.strip() or done.returncode}")
    sources = {path.name: path.read_text("utf-8") for path in sorted(target.glob("*.py"))}
    return {name: text for name, text in sources.items() if "class " in text}


def _template_data(contract: Contract) -> dict[str, dict[str, str]]:
    data = {name: {"bases": f"{mixin}, Model"} for name, mixin in BEHAVIOUR.items()}
    return data | {f"Unknown{name}": {"bases": "UnknownArm, Model"} for name in contract.unions}
