"""Joining the tensors of several nodes without numpy: they are dtype, shape and C-contiguous bytes, which suffices.

Promise: what doesn't fit together is a `RecordError` at the tensor's place; nothing is guessed.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evh.errors import RecordError, cut

if TYPE_CHECKING:
    from evh.protocol.models import Tensor

__all__ = ["fault_of", "integers", "joined", "rows_of", "tensor_like"]

_CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q"}
_CODES |= {"uint64": "Q", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q"}
_SIZES = {name: array(code).itemsize for name, code in _CODES.items()}
_SIZES |= {"bool": 1, "float16": 2, "float32": 4, "float64": 8, "f2": 2, "f4": 4, "f8": 8, "b1": 1}
_ORDERS = {"<": "little", ">": "big", "=": sys.byteorder, "|": sys.byteorder}


def _named(dtype: str) -> tuple[str, str]:
    """A dtype's name without its byte order, and the order."""
    return (dtype[1:], _ORDERS[dtype[0]]) if dtype[:1] in _ORDERS else (dtype, sys.byteorder)


def fault_of(tensor: Any) -> str | None:
    """What is wrong with a tensor by itself, None when its bytes fill its shape."""
    dtype, shape, data = tensor.dtype, tensor.shape, tensor.data
    if not isinstance(dtype, str) or not isinstance(data, bytes | bytearray | memoryview):
        return "a tensor needs a dtype name and raw bytes"
    if not isinstance(shape, list | tuple) or any(type(size) is not int or size < 0 for size in shape):
        return f"a shape is a list of sizes, not {cut(shape)}"
    count = math.prod(shape)
    size = _SIZES.get(_named(dtype)[0])
    if size is None:
        return None if (len(data) % count == 0 if count else not len(data)) else "the bytes don't fill the shape"
    return None if len(data) == count * size else f"expected {count * size} bytes for its shape, found {len(data)}"


def _sound(tensor: Any, place: str) -> None:
    fault = fault_of(tensor)
    if fault is not None:
        raise RecordError(fault, pointer=place)


def rows_of(tensor: Any, place: str) -> int:
    """The size of the first axis; a `RecordError` at `place` for a tensor without axes or with the wrong bytes."""
    _sound(tensor, place)
    if not tensor.shape:
        raise RecordError("expected a tensor with at least one axis", pointer=place)
    rows: int = tensor.shape[0]
    return rows


def integers(tensor: Any, place: str) -> Sequence[int]:
    """The flat values of a tensor of integers; a `RecordError` at `place` for other dtypes or the wrong bytes."""
    _sound(tensor, place)
    name, order = _named(tensor.dtype)
    code = _CODES.get(name)
    if code is None:
        raise RecordError(f"expected a tensor of integers, not of {cut(tensor.dtype)}", pointer=place)
    values = array(code)
    values.frombytes(bytes(tensor.data))
    if order != sys.byteorder:
        values.byteswap()
    return values


def joined(parts: Iterable[tuple[str, Any]]) -> Tensor:
    """Tensors (with their places) laid end to end along their first axis: at least one is needed."""
    pieces = list(parts)
    _, first = pieces[0]
    rows = 0
    for place, tensor in pieces:
        rows += rows_of(tensor, place)
        if tensor.dtype != first.dtype or list(tensor.shape[1:]) != list(first.shape[1:]):
            raise RecordError(
                f"expected {cut(first.dtype)} rows of shape {list(first.shape[1:])} as in the nodes before, "
                f"not {cut(tensor.dtype)} rows of {list(tensor.shape[1:])}",
                pointer=place,
            )
    data = b"".join(bytes(tensor.data) for _, tensor in pieces)
    whole: Tensor = type(first)(dtype=first.dtype, shape=[rows, *first.shape[1:]], data=data)
    return whole


def tensor_like(sample: Any, values: Iterable[int], place: str) -> Tensor:
    """A flat int32 tensor of the sample's class; a `RecordError` at `place` when a value needs more bits."""
    try:
        flat = array("i", values)
    except OverflowError as error:
        raise RecordError("a sampling mask holds a number of more than 32 bits", pointer=place) from error
    made: Tensor = type(sample)(dtype="int32", shape=[len(flat)], data=flat.tobytes())
    return made
