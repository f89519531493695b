"""`models/__init__.py`: every record and alias under one roof, completed by `evh.protocol._finish`."""

from __future__ import annotations

from .shapes import Contract
from .struct_input import arm_name


def models_module(contract: Contract) -> str:
    modules: dict[str, list[str]] = {}
    for shape in contract.shapes.values():
        modules.setdefault("_open" if not shape.closed else shape.file.removesuffix(".json"), []).append(shape.name)
    for union in contract.unions.values():
        modules.setdefault(union.file.removesuffix(".json"), []).append(arm_name(union))
    lines = [
        '"""The records of the contract."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TypeAlias",
        "",
    ]
    lines.append("from evh.protocol._finish import finish")
    lines.append("from evh.protocol._tensor import Tensor")
    for module, names in sorted(modules.items()):
        lines.append(f"from evh.protocol.models.{module} import {', '.join(sorted(names))}")
    lines.append("")
    for union in contract.unions.values():
        variants = " | ".join((*union.variants, arm_name(union)))
        lines += [f"{union.name}: TypeAlias = {variants}", f'"""{union.description}"""', ""]
    names = sorted({name for each in modules.values() for name in each} | set(contract.unions) | {"Tensor"})
    lines += ["__all__ = " + repr(names), "", "finish(globals())", ""]
    return "\n".join(lines)
