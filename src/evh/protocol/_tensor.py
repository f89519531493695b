"""Arrays of numbers on the MessagePack wire: `{"__nd__": true, "dtype", "shape", "data"}` (`spec/episodes.md` 1.9).

Promise: a tensor read from the wire and written back is the same bytes. JSON has no form for them: JSON writers leave
the members that hold them out and say so.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from evh.errors import RecordError, UsageError, cut

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["Tensor", "WireObject"]

MEMBERS = frozenset({"__nd__", "dtype", "shape", "data"})
LARGEST_INTEGER = 2**53 - 1


class Tensor:
    """An array: `dtype` as numpy names it, `shape` with a length per axis, `data` the elements in C order."""

    __slots__ = ("data", "dtype", "shape")

    def __init__(self, *, dtype: str, shape: list[int], data: bytes) -> None:
        self.dtype = dtype
        self.shape = shape
        self.data = data

    @classmethod
    def of(cls, array: NDArray[Any]) -> Tensor:
        """A copy of a numpy array."""
        return cls(dtype=str(array.dtype), shape=list(array.shape), data=array.tobytes())

    def numpy(self) -> NDArray[numpy.generic]:
        """The array, read-only over these bytes. Raises `RecordError` when dtype, shape and data do not fit
        together."""
        try:
            import numpy
        except ImportError as error:
            raise UsageError("arrays need numpy, which is not installed: install numpy, or read `data`") from error
        try:
            array: NDArray[numpy.generic] = numpy.frombuffer(self.data, dtype=numpy.dtype(self.dtype))
            return array.reshape(self.shape)
        except (TypeError, ValueError, OverflowError, SyntaxError) as error:
            raise RecordError(f"the bytes do not make an array of {cut(self.dtype)} {cut(self.shape)}") from error

    def json(self) -> dict[str, Any]:
        """The form that the schema gives it in JSON: base64 text."""
        return {**self.plain(), "data": base64.b64encode(self.data).decode("ascii")}

    def plain(self) -> dict[str, Any]:
        """The wire form."""
        return {"__nd__": True, "dtype": self.dtype, "shape": self.shape, "data": self.data}

    @classmethod
    def read(cls, value: Any) -> Tensor:
        """From the wire form (bytes, or base64 text as JSON has it); ValueError, for msgspec to place, else."""
        if type(value) is not dict or value.keys() != MEMBERS or type(value["__nd__"]) is not bool:
            raise ValueError("expected a tensor: __nd__, dtype, shape and data")
        dtype, shape, data = value["dtype"], value["shape"], value["data"]
        if type(dtype) is not str or type(shape) is not list:
            raise ValueError("expected a tensor with a dtype name and a list of axis lengths")
        lengths: list[Any] = [int(size) if type(size) is float and size.is_integer() else size for size in shape]
        if not all(type(size) is int and 0 <= size <= LARGEST_INTEGER for size in lengths):
            raise ValueError("expected axis lengths of 0 or more")
        if type(data) is str:
            try:
                data = base64.b64decode(data, validate=True)
            except (binascii.Error, ValueError):
                raise ValueError("expected base64 data") from None
        if type(data) is not bytes:
            raise ValueError("expected bytes as data")
        return cls(dtype=dtype, shape=lengths, data=data)

    read_strict = read

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        return (self.dtype, self.shape, self.data) == (other.dtype, other.shape, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tensor(dtype={self.dtype!r}, shape={self.shape!r}, data=<{len(self.data)} bytes>)"


class WireObject(MutableMapping[str, Any]):
    """A free object that may hold tensors at any depth (`multi_modal_data`)."""

    __slots__ = ("members",)

    def __init__(self, members: dict[str, Any] | None = None) -> None:
        self.members = {} if members is None else members

    @classmethod
    def read(cls, value: Any) -> WireObject:
        if type(value) is not dict:
            raise ValueError("expected an object")
        return cls(_with_tensors(value))

    read_strict = read

    def plain(self) -> dict[str, Any]:
        """The wire form."""
        plain: dict[str, Any] = _without_tensors(self.members)
        return plain

    def __getitem__(self, name: str) -> Any:
        return self.members[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.members[name] = value

    def __delitem__(self, name: str) -> None:
        del self.members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"WireObject({sorted(self.members)})"


def _with_tensors(value: Any) -> Any:
    if type(value) is list:
        return [_with_tensors(each) for each in value]
    if type(value) is not dict:
        return value
    if value.keys() == MEMBERS:
        try:
            return Tensor.read(value)
        except ValueError:
            return value
    return {name: _with_tensors(each) for name, each in value.items()}


def _without_tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.plain()
    if isinstance(value, dict):
        return {name: _without_tensors(each) for name, each in value.items()}
    return [_without_tensors(each) for each in value] if isinstance(value, list) else value
